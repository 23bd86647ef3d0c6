"""Each part of a dataset opens the files that its inputs name, or whose content they hold as a parameter."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from opened_files import opened

from harness.types import Part

QRELS = {"queries": {"test.tsv", "test.jsonl"}}  # the queries' inputs have a digest of the judged ids


def files(folder: Path) -> Any:
    from harness_files import FilesParams
    from harness_files.source import Files

    return Files(FilesParams(path=Path(__file__).parent / "data/beir", language="en"))


def dapr(folder: Path) -> Any:
    import test_dapr_dataset

    return test_dapr_dataset.Dapr(test_dapr_dataset.hub(folder))


def dapr_dump(folder: Path) -> Any:
    import test_dapr_dataset

    return test_dapr_dataset.Dapr(test_dapr_dataset.dump(folder))


def dureader(folder: Path) -> Any:
    import test_dureader

    return test_dureader.Dureader(test_dureader.release(folder))


def mteb(folder: Path) -> Any:
    import test_mteb

    test_mteb.on_the_hub(folder)
    return test_mteb.task(folder)


def t2ranking(folder: Path) -> Any:
    import test_t2ranking

    return test_t2ranking.T2Ranking(test_t2ranking.release(folder))


@pytest.mark.skipif(sys.platform != "linux", reason="files that are opened are told by Linux")
@pytest.mark.parametrize(
    ("source", "held"),
    [
        (files, QRELS),
        (dapr, {}),
        (dapr_dump, {"queries": {"test.jsonl"}}),  # their content, because judgements are in the same file
        (dureader, {"queries": {"dev.json"}}),  # likewise
        (mteb, QRELS),
        (t2ranking, {}),
    ],
)
def test_a_part_opens_the_files_that_its_inputs_name(
    source: Callable[[Path], Any], held: dict[str, set[str]], tmp_path: Path
) -> None:
    made = source(tmp_path)
    for part in get_args(Part):
        inputs = made.inputs(part)
        named = {path.resolve() for path in inputs.files}
        folder = (
            Path(next(iter(made.inputs("queries").files or made.inputs("corpus").files))).resolve().parent
        )
        with opened(tmp_path if folder.is_relative_to(tmp_path) else folder) as read:
            list(made.documents() if part == "corpus" else getattr(made, part)())
        others = {path.name for path in read if path.resolve() not in named}
        assert others - {"README.md"} <= held.get(part, set()), part  # a README says where the tables are
        assert not others or inputs.params
