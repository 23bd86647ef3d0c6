"""Invitations and sessions. A token is shown once; the log keeps only a digest of its session."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

from harness.plugin import HarnessError, unknown
from harness_annotate.events import Invited, Revoked, Role
from harness_annotate.journal import Journal
from harness_annotate.state import Person, State

NAME = re.compile(r"[^\W_][\w .@+-]{0,59}")


def invite(journal: Journal, name: str, role: Role, local: bool = False) -> str:
    """A new token for this person. Earlier tokens stay valid."""
    if not NAME.fullmatch(name) or name != name.strip():
        what = "is no name; use letters, digits, spaces and . @ + - _ (60 characters at most)"
        raise HarnessError(f"--invite '{name}': {what}")
    token = secrets.token_urlsafe(32)
    with journal.writing() as (state, append):
        known = state.people.get(name)
        if known is not None and known.role != role:
            raise HarnessError(f"--invite {name}: is {known.role} already; invite under another name")
        append(Invited(name, role, key_of(session_of(token)), local))
    return token


def revoke(journal: Journal, name: str) -> None:
    """Ends all links of this person."""
    with journal.writing() as (state, append):
        if name not in state.people:
            raise HarnessError(f"--revoke {name}: {unknown('person', name, sorted(state.people))}")
        append(Revoked(name))


def session_of(token: str) -> str:
    """The session in a browser's cookie instead of the token. The same token gives the same session."""
    return hmac.new(token.encode(), b"session", hashlib.sha256).hexdigest()


def key_of(session: str) -> str:
    """The digest of a session that the log keeps. A token has 256 random bits: a plain digest is enough."""
    return hashlib.sha256(session.encode()).hexdigest()


def csrf_of(session: str) -> str:
    """The token that a page of this session must send with every change. Another site cannot know it."""
    return hmac.new(session.encode(), b"csrf", hashlib.sha256).hexdigest()


def person_of(state: State, session: str) -> Person | None:
    key = key_of(session)
    for person in state.people.values():
        if any(hmac.compare_digest(key, known) for known in person.keys):
            return person
    return None


def too_few(state: State) -> str | None:
    """A note that fewer people can judge than the rules ask for each pair. None if there are enough."""
    rules = state.rules
    judging = sum(person.role == "annotator" and bool(person.keys) for person in state.people.values())
    if judging >= rules.votes + rules.more:
        return None
    more = f", and {rules.more} more where they disagree" if rules.more else ""
    what = f"people needed for each pair: {rules.votes}{more}; people who can judge: {judging}"
    return f"{what}. Invite others with --invite NAME, or begin a folder with other --votes and --more"
