"""The stand-in of the hub gives the hub's own client what the hub gives it."""

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from standins.server import SETTINGS, HubServer

hub_client = pytest.importorskip("huggingface_hub")
pytestmark = pytest.mark.extras
PINNED = "0123456789" * 4


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[HubServer]:
    model = tmp_path / "models/some/model"
    for name in ("config.json", "1_Pooling/config.json", "vocab.txt"):
        (model / name).parent.mkdir(parents=True, exist_ok=True)
        (model / name).write_text(name)
    (model / "model.safetensors").write_bytes(bytes(range(200)))
    dataset = tmp_path / "datasets/some/data@refs%2Fconvert%2Fparquet"
    (dataset / "default").mkdir(parents=True)
    (dataset / "default/0000.parquet").write_bytes(b"PAR1")
    (tmp_path / "datasets/some/data").mkdir()
    for name, settings in {
        "some/old": {"moved": "some/model"},
        "some/gated": {"gated": True},
        "some/pinned": {"commits": [PINNED, "f" * 40]},
    }.items():
        (tmp_path / "models" / name).mkdir()
        (tmp_path / "models" / name / "config.json").write_text("{}")
        (tmp_path / "models" / name / SETTINGS).write_text(json.dumps(settings))
    with HubServer(tmp_path, page=2) as server:
        yield server


def download(hub: HubServer, to: Path, name: str, **more: object) -> Path:
    return Path(hub_client.snapshot_download(name, endpoint=hub.url, cache_dir=to, token=False, **more))


def test_a_snapshot_has_every_file_of_every_page_and_is_named_by_its_commit(
    hub: HubServer, tmp_path: Path
) -> None:
    api = hub_client.HfApi(endpoint=hub.url)
    info = api.model_info("some/model")
    assert [file.rfilename for file in info.siblings] == [
        "1_Pooling/config.json",
        "config.json",
        "model.safetensors",
        "vocab.txt",
    ]
    here = download(hub, tmp_path / "cache", "some/model")
    assert here.name == info.sha
    assert (here / "1_Pooling/config.json").read_text() == "1_Pooling/config.json"
    assert (here / "model.safetensors").read_bytes() == bytes(range(200))
    assert sum(" cdn/" in line for line in hub.requests) == 1  # only weights come from elsewhere
    assert {file.path for file in api.list_repo_tree("some/model")} >= {"1_Pooling", "config.json"}


def test_revisions_are_commits_of_main_and_folders_beside_it(hub: HubServer, tmp_path: Path) -> None:
    assert download(hub, tmp_path / "cache", "some/pinned").name == PINNED
    assert download(hub, tmp_path / "cache", "some/pinned", revision="f" * 40).name == "f" * 40
    converted = {"repo_type": "dataset", "revision": "refs/convert/parquet"}
    here = download(hub, tmp_path / "cache", "some/data", **converted)
    assert (here / "default/0000.parquet").read_bytes() == b"PAR1"


def test_a_renamed_repository_is_found_by_its_old_name(hub: HubServer, tmp_path: Path) -> None:
    assert hub_client.HfApi(endpoint=hub.url).model_info("some/old").id == "some/model"
    assert (download(hub, tmp_path / "cache", "some/old") / "vocab.txt").is_file()


@pytest.mark.parametrize(
    ("name", "revision", "error"),
    [
        ("some/absent", "main", "RepositoryNotFoundError"),
        ("some/model", "v9", "RevisionNotFoundError"),
        ("some/model", "9" * 40, "RevisionNotFoundError"),
        ("some/gated", "main", "GatedRepoError"),
    ],
)
def test_it_refuses_as_the_hub_does(
    hub: HubServer, tmp_path: Path, name: str, revision: str, error: str
) -> None:
    with pytest.raises(getattr(hub_client.errors, error)):
        download(hub, tmp_path / "cache", name, revision=revision)


def test_a_file_that_is_absent_and_a_part_of_one(hub: HubServer, tmp_path: Path) -> None:
    with pytest.raises(hub_client.errors.EntryNotFoundError):
        hub_client.hf_hub_download("some/model", "none.json", endpoint=hub.url, cache_dir=tmp_path / "cache")
    url = f"{hub.url}/some/model/resolve/main/model.safetensors"
    with urllib.request.urlopen(urllib.request.Request(url, headers={"Range": "bytes=190-"})) as answer:
        assert (answer.status, answer.headers["Content-Range"]) == (206, "bytes 190-199/200")
        assert answer.read() == bytes(range(190, 200))
