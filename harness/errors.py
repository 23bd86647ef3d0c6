"""What a user did that cannot work, as errors that say where, what and what to do."""

from __future__ import annotations

from collections.abc import Iterable


class HarnessError(Exception):
    """A user's mistake: `where: what; what to do`, lowercase. The CLI prints it and exits with 2."""


class Problems(HarnessError):
    """Several mistakes at once, one line each, so that a user mends them in one go."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class NoLanguage(HarnessError):
    """A method goes by the dataset's language, and the dataset does not say it: told once a dataset."""


class StoreError(HarnessError):
    """The store cannot go on (no space, no permission); finished work is kept."""


class ContractError(Exception):
    """A plugin broke its contract: the systems that use it fail, with this reason in the leaderboard."""
