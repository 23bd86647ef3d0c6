"""The same recipe gives the same files, and a changed stage makes again only what depends on it."""

from collections import Counter

import pytest

from harness import cli

SUITE = """
suite: bytes
datasets:
  raw: {tour: {documents: 12}, scored: false}
  dev: {tour: {documents: 12, split: dev}, scored: false}
  mine:
    of: raw
    make:
      - clean-queries: {questions: false}
      - join-paragraphs: {limit: 300}
      - deduplicate: {by: minhash}
      - segment: {by: boundary, learn: dev, sigma: 0.4}
      - drop-similar: {to: [dev], threshold: 0.9}
      - propose: {of: [bm25, titles], depth: 5}
      - pool: {of: [bm25, titles], depth: 5}
systems:
  bm25: {retriever: bm25}
  titles: {context: [titles], retriever: bm25}
measures: [nDCG@10]
depth: 20
"""
FORMS = ("beir", "dureader", "t2ranking", "trec", "mteb", "pool")


def run(folder, name, jobs, text=SUITE):
    folder.mkdir(exist_ok=True)
    (folder / "suite.yaml").write_text(text, encoding="utf-8")
    places = ["--store", str(folder / "store"), "--out", str(folder / name)]
    assert cli.main(["run", str(folder / "suite.yaml"), *places, "--jobs", jobs]) == 0


def exported(folder):
    """The bytes of every file of every form."""
    for form in FORMS:
        out = ["--form", form, "--out", str(folder / form), "--store", str(folder / "store")]
        assert cli.main(["datasets", "export", str(folder / "suite.yaml"), "mine", *out]) == 0
    files = [path for form in FORMS for path in (folder / form).rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def artifacts(folder):
    return {path.name for path in (folder / "store").glob("*/*") if path.is_dir() and "-" in path.name}


@pytest.mark.slow
def test_two_stores_and_numbers_of_jobs_give_the_same_files_and_a_change_makes_few_steps(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    run(one, "board", "1")
    run(two, "board", "2")
    files = exported(one)
    assert files == exported(two)
    assert {name.partition("/")[0] for name in files} == set(FORMS)
    before = artifacts(one)
    assert before == artifacts(two)
    run(one, "again", "1", SUITE.replace("depth: 5}\n      - pool", "depth: 4}\n      - pool"))
    new = Counter(name.partition("-")[0] for name in artifacts(one) - before)
    assert new == {"make": 2, "made": 1}  # propose, its judgements, and pool: no index and no search
