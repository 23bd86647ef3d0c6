"""The folders of backbones in the environment: every path can be named there."""

from pathlib import Path

import pytest

from harness import made_models
from harness.errors import HarnessError
from harness.step_context import CURRENT, StepContext


@pytest.mark.parametrize("name", ["a:b", "[a]", 'quo"ted', "with space ", "zeile\nzwei", "模型", "\udcff"])
def test_any_folder_can_be_named_and_is_read_back(name, monkeypatch):
    monkeypatch.setenv(made_models.FOLDERS, "/set/by/hand:/and/another")
    token = CURRENT.set(StepContext(backbones=(Path("/models") / name,)))
    try:
        folders = made_models.backbone_folders()
    finally:
        CURRENT.reset(token)
    assert folders == [Path(path) for path in (f"/models/{name}", "/set/by/hand", "/and/another")]


@pytest.mark.parametrize(
    ("text", "paths"),
    [("", []), ("[]", []), ("/one", ["/one"]), ("/one::/two", ["/one", "/two"]), (' ["/a:b"]', ["/a:b"])],
)
def test_folders_may_be_named_with_colons_between_them_or_as_a_json_list(text, paths, monkeypatch):
    monkeypatch.setenv(made_models.FOLDERS, text)
    assert made_models.backbone_folders() == [Path(path) for path in paths]


@pytest.mark.parametrize("text", ["[/one", "[1]", '[""]', '["/one"'])
def test_a_broken_list_is_refused(text, monkeypatch):
    monkeypatch.setenv(made_models.FOLDERS, text)
    with pytest.raises(HarnessError, match=r"HARNESS_BACKBONES: .*JSON list"):
        made_models.backbone_folders()
