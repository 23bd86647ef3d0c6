"""Where a model lies, found without a network and without loading anything."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.errors import HarnessError
from harness.toolkit.neural import model_folder, models, revisions

pytestmark = pytest.mark.extras

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """An empty hub cache, and a hub that nobody reaches."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(models, "_asked", lambda model, revision: None)
    return tmp_path / "hub" / "models--org--name"


def test_a_folder_is_itself(tmp_path):
    assert models.located(tmp_path) == (tmp_path, "main")
    assert models.folder(tmp_path) == tmp_path
    assert models.missing_files(tmp_path) == []


def test_a_folder_that_is_not_there_is_lacking_and_refused(tmp_path):
    absent = tmp_path / "absent"
    [missing] = models.missing_files(absent)
    assert str(absent) in missing
    with pytest.raises(HarnessError, match=f"model: .*{absent}"):
        models.folder(absent)


def test_a_hub_name_is_located_at_the_commit_that_the_cache_knows(cache):
    (cache / "refs").mkdir(parents=True)
    (cache / "refs" / "main").write_text(COMMIT)
    assert models.located("org/name") == ("org/name", COMMIT)


def test_a_commit_stands_for_itself_and_an_unknown_branch_keeps_its_name():
    assert models.located("org/name", COMMIT) == ("org/name", COMMIT)
    assert models.located("org/name", "branch") == ("org/name", "branch")


def test_a_hub_model_is_lacking_until_its_weights_are_in_the_cache(cache):
    snapshot = cache / "snapshots" / COMMIT
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    [missing] = models.missing_files("org/name", COMMIT)
    assert f"`hf download org/name --revision {COMMIT}`" in missing
    (snapshot / "model.safetensors").touch()
    assert models.missing_files("org/name", COMMIT) == []
    assert models.cached("org/name", COMMIT) == snapshot


def test_a_model_is_read_at_the_commit_that_is_known_unless_the_suite_names_another(cache):
    commits = json.loads(Path(revisions.__file__).with_suffix(".json").read_bytes())
    every = {model: commit for source in commits.values() for model, commit in source.items()}
    assert sum(map(len, commits.values())) == len(every)
    assert all(models.COMMIT.fullmatch(commit) for commit in every.values())
    for model, commit in every.items():
        assert models.located(model, "auto") == (model, commit)
        assert models.located(model, "main") == (model, "main")
    assert models.located("org/name", "auto") == ("org/name", "main")
    assert models.located(cache, "auto") == (cache, "main")


BIN = "is a pickle: it is read by torch's weights-only loader and kept as safetensors in the store"
OTHER = "f" * 40


@pytest.mark.parametrize(
    ("here", "listed", "main", "said"),
    [
        ((), None, None, []),  # the hub cannot be reached
        (("model.safetensors",), None, None, []),
        (("model.safetensors",), None, OTHER, [f"main has moved: {COMMIT} is read, and main is at {OTHER}"]),
        (("pytorch_model.bin",), None, COMMIT, [f"pytorch_model.bin {BIN}"]),
        ((), ("model.safetensors", "pytorch_model.bin"), COMMIT, ["a run downloads model.safetensors"]),
        (
            ("config.json",),
            ("pytorch_model.bin", "tf_model.h5"),
            OTHER,
            ["a run downloads pytorch_model.bin", f"pytorch_model.bin {BIN}", f"main is at {OTHER}"],
        ),
    ],
)
def test_what_a_run_will_read_is_said_before(cache, monkeypatch, here, listed, main, said):
    for name in here:
        (cache / "snapshots" / COMMIT).mkdir(parents=True, exist_ok=True)
        (cache / "snapshots" / COMMIT / name).touch()
    if main is not None and listed is None:
        (cache / "refs").mkdir(parents=True)
        (cache / "refs" / "main").write_text(main)
    answers = {COMMIT: (COMMIT, listed), "main": (main, listed)}
    monkeypatch.setattr(
        models, "_asked",
        lambda model, revision: SimpleNamespace(commit=answers[revision][0], files=listed) if listed else None,
    )  # fmt: skip
    lines = models.notes("org/name", COMMIT)
    assert len(lines) == len(said)
    assert all(
        line.startswith("org/name") and line.endswith(end) for line, end in zip(lines, said, strict=True)
    )


def test_a_package_s_folder_is_found_without_importing_it(tmp_path, monkeypatch):
    (tmp_path / "brings_a_model" / "weights").mkdir(parents=True)
    (tmp_path / "brings_a_model" / "__init__.py").write_text("raise ImportError('not to be imported')")
    monkeypatch.syspath_prepend(tmp_path)
    found = tmp_path / "brings_a_model" / "weights"
    assert models.located("package:brings_a_model/weights") == (found, "main")
    assert models.folder("package:brings_a_model/weights") == found
    assert "brings_a_model" not in sys.modules
    with pytest.raises(HarnessError, match="'other'"):
        models.folder("package:brings_a_model/other")


def test_a_package_that_is_not_installed_says_what_to_install():
    name = "package:no_such_package/model"
    assert models.located(name) == (name, "main")
    [missing] = models.missing_files(name)
    assert "`pip install no-such-package`" in missing
    with pytest.raises(HarnessError, match="pip install no-such-package"):
        models.folder(name)


@pytest.mark.parametrize("name", ["a/b/c", "", "a b", "/a//"])
def test_what_can_be_no_name_is_refused(name):
    with pytest.raises(HarnessError, match="org/name"):
        models.located(name)


def test_without_a_network_the_message_says_how_to_bring_the_model(monkeypatch):
    pytest.importorskip("huggingface_hub")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(HarnessError, match="`hf download org/name --revision v1`"):
        models.folder("org/name", "v1")


def refusal(kind):
    """An exception of the hub's library, as its answer 404 or 403 raises it."""
    from huggingface_hub import errors

    found = getattr(errors, kind)
    made = found.__new__(found)
    Exception.__init__(made, kind)
    return made


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("RevisionNotFoundError", "org/name has no revision 'v1'"),
        ("RepositoryNotFoundError", "no org/name, or not for you"),
        ("GatedRepoError", "org/name .*terms"),
        ("HfHubHTTPError", "not give org/name at revision v1"),
    ],
)
def test_each_refusal_of_the_hub_is_told_with_what_to_do(monkeypatch, kind, said):
    pytest.importorskip("huggingface_hub")
    from harness.toolkit.neural import hub

    def refuses(*args, **options):
        raise refusal(kind)

    monkeypatch.setattr(hub, "snapshot_download", refuses)
    with pytest.raises(HarnessError, match=said):
        models.folder("org/name", "v1")


LISTED = {
    "config.json model.safetensors pytorch_model.bin tf_model.h5 onnx/model.onnx onnx/model.safetensors": (
        "model.safetensors"
    ),
    "config.json pytorch_model.bin flax_model.msgpack training_args.bin openvino/openvino_model.bin": (
        "pytorch_model.bin"
    ),
    "pytorch_model.bin.index.json pytorch_model-00001-of-00002.bin pytorch_model-00002-of-00002.bin": (
        "pytorch_model-00001-of-00002.bin pytorch_model-00002-of-00002.bin pytorch_model.bin.index.json"
    ),
    "model.safetensors.index.json model-00001-of-00001.safetensors pytorch_model.bin": (
        "model-00001-of-00001.safetensors model.safetensors.index.json"
    ),
    "pytorch_model.bin colbert_linear.pt sparse_linear.pt onnx/model.onnx_data": (
        "pytorch_model.bin sparse_linear.pt colbert_linear.pt"
    ),
    "model.safetensors 2_Dense/pytorch_model.bin 2_Dense/model.safetensors 3_Other/pytorch_model.bin": (
        "model.safetensors 2_Dense/model.safetensors"
    ),
    "config.json tf_model.h5 sub/model.safetensors": None,
}


@pytest.mark.parametrize("names", LISTED)
def test_only_the_weights_that_are_read_are_fetched(tmp_path, monkeypatch, names):
    pytest.importorskip("huggingface_hub")
    from huggingface_hub.utils import filter_repo_objects

    from harness.toolkit.neural import hub

    files, fetched = names.split(), []

    def download(model, revision, allow_patterns):
        for name in filter_repo_objects(files, allow_patterns=allow_patterns):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(f'{{"weight_map": {{"a": "{files[1]}"}}}}')
            fetched.append(name)
        return str(tmp_path)

    if "2_Dense" in names:
        module = '{"type": "sentence_transformers.models.Dense", "path": "2_Dense"}'
        (tmp_path / "modules.json").write_text(f"[{module}]")
    monkeypatch.setattr(hub, "snapshot_download", download)
    monkeypatch.setattr(hub, "names", lambda model, revision: files)
    if LISTED[names] is None:
        with pytest.raises(HarnessError, match=r"org/name at revision v1 has none of model\.safetensors, "):
            models.folder("org/name", "v1")
    else:
        assert models.folder("org/name", "v1") == tmp_path
    assert {*fetched} - {"config.json"} == {*(LISTED[names] or "").split()}


class Told:
    """A hub that has these files at one commit."""

    def __init__(self, *files):
        self.files, self.calls = files, 0

    def model_info(self, model, revision, timeout):
        self.calls += 1
        return SimpleNamespace(sha=COMMIT, siblings=[SimpleNamespace(rfilename=name) for name in self.files])


def test_one_question_to_the_hub_tells_the_commit_and_the_files(monkeypatch):
    pytest.importorskip("huggingface_hub")
    from harness.toolkit.neural import hub

    told = Told("onnx/model.onnx", "config.json")
    monkeypatch.setattr(hub, "HfApi", lambda: told)
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", False)
    assert hub.ask("org/name", "main", 1) == (COMMIT, ("config.json", "onnx/model.onnx"))
    assert told.calls == 1
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", True)
    assert hub.ask("org/name", "main", 1) is None


def test_files_are_listed_only_by_a_hub_that_can_be_asked(tmp_path, monkeypatch):
    assert models.listed("org/name") == ()
    monkeypatch.setattr(
        models, "_asked", lambda model, revision: SimpleNamespace(commit=COMMIT, files=("a",))
    )
    assert models.listed("org/name") == ("a",)
    assert models.located("org/name", "v1") == ("org/name", COMMIT)
    assert models.listed(tmp_path) == models.listed("package:no_such_package/model") == ()


def test_weights_that_an_export_keeps_apart_are_fetched_with_it(tmp_path, monkeypatch):
    pytest.importorskip("huggingface_hub")
    from huggingface_hub.utils import filter_repo_objects

    from harness.toolkit.neural import hub

    files = [
        "config.json", "model.safetensors", "pytorch_model.bin", "openvino/openvino_model.bin",
        "onnx/model.onnx", "onnx/model.onnx_data", "onnx/model.onnx_data_1", "onnx/model.onnx.data",
        "onnx/model_fp16.onnx", "onnx/model_fp16.onnx_data",
    ]  # fmt: skip
    asked = []

    def download(model, revision, allow_patterns):
        asked.extend(filter_repo_objects(files, allow_patterns=allow_patterns))
        (tmp_path / "onnx").mkdir()
        (tmp_path / "onnx" / "model.onnx").touch()
        return str(tmp_path)

    monkeypatch.setattr(hub, "snapshot_download", download)
    models.folder("org/name", instead=model_folder.EXPORTS)
    assert asked == ["config.json", *files[4:8]]


def test_code_is_fetched_only_if_it_is_trusted(tmp_path, monkeypatch):
    pytest.importorskip("huggingface_hub")
    from harness.toolkit.neural import hub

    (tmp_path / "model.safetensors").touch()
    asked = []

    def download(model, revision, allow_patterns):
        asked.append(allow_patterns)
        return str(tmp_path)

    monkeypatch.setattr(hub, "snapshot_download", download)
    monkeypatch.setattr(hub, "names", lambda model, revision: [])
    models.folder("org/name")
    models.folder("org/name", trust_remote_code=True)
    assert ["*.py" in patterns for patterns in asked] == [False, True]
