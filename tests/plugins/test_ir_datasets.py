"""Collections of ir_datasets, read from tiny files where ir_datasets itself would have put the real ones."""

import gzip
import importlib
import io
import json
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import harness
from harness import testing
from harness.errors import HarnessError
from harness.types import Document, Judgement, Passage, Query
from harness_ir_datasets import IrDatasetsParams, harness_datasets, survey

pytest.importorskip("ir_datasets", reason="needs the extra ir-datasets")

pytestmark = pytest.mark.extras

RECORD = next(iter(harness_datasets()))
SECRET = "http://127.0.0.1:9"  # where nothing answers
OURS = ("source", "downloads", "naming")  # the modules that hold on to ir_datasets


def forget() -> None:
    for name in list(sys.modules):
        if name.partition(".")[0] == "ir_datasets" or name in [f"harness_ir_datasets.{it}" for it in OURS]:
            del sys.modules[name]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """IR_DATASETS_HOME with four collections in four layouts. ir_datasets reads the variable as it is imported."""
    folder = tmp_path_factory.mktemp("ir_datasets")
    beir(folder / "beir/nfcorpus/source.zip")
    tables(folder / "msmarco-passage")
    cranfield(folder / "cranfield/cran.tar.gz")
    miracl(folder / "miracl/v1.0/yo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IR_DATASETS_HOME", str(folder))
        patch.setenv("IR_DATASETS_DL_TRIES", "1")
        for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
            patch.setenv(name, SECRET)
        patch.setenv("NO_PROXY", "")
        patch.setenv("no_proxy", "")
        forget()
        importlib.import_module("ir_datasets")
        yield folder
    forget()


def beir(path: Path) -> None:
    path.parent.mkdir(parents=True)
    docs = [
        {"_id": "MED-1", "title": "Tea", "text": "Tea has caffeine.\u2028More.", "metadata": {"url": "u"}},
        {"_id": "MED-2", "title": "", "text": "Water has none.", "metadata": {"url": "u"}},
    ]
    queries = [
        {"_id": "PLAIN-1", "text": "what has caffeine", "metadata": {"url": "u"}},
        {"_id": "PLAIN-2", "text": "a query of another split", "metadata": {"url": "u"}},
    ]
    with zipfile.ZipFile(path, "w") as packed:
        for name, rows in (("corpus", docs), ("queries", queries)):
            packed.writestr(f"nfcorpus/{name}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        packed.writestr("nfcorpus/qrels/test.tsv", "query-id\tcorpus-id\tscore\nPLAIN-1\tMED-1\t2\n")
        packed.writestr("nfcorpus/qrels/dev.tsv", "query-id\tcorpus-id\tscore\nPLAIN-2\tMED-2\t1\n")


def tables(folder: Path) -> None:
    (folder / "dev/small").mkdir(parents=True)
    (folder / "collectionandqueries.tar.gz").write_bytes(
        packed(
            {
                "collection.tsv": "0\tBerlin is a city.\n1\tParis is another.\n",
                "queries.dev.small.tsv": "7\twhat is paris\n",
                "qrels.dev.small.tsv": "7\t0\t1\t1\n",
            }
        )
    )


def cranfield(path: Path) -> None:
    path.parent.mkdir(parents=True)
    docs = ".I 1\n.T\nwings\n.A\na\n.B\nb\n.W\nwings lift .\n.I 2\n.T\nheat\n.A\na\n.B\nb\n.W\nheat flows .\n"
    files = {"cran.all.1400": docs, "cran.qry": ".I 001\n.W\nwhat lifts .\n", "cranqrel": "1 1 3\n1 2 -1\n"}
    path.write_bytes(packed(files))


def miracl(folder: Path) -> None:
    (folder / "docs").mkdir(parents=True)
    (folder / "dev").mkdir()
    rows = [
        {"docid": "12#0", "title": "Eko", "text": "Eko ni ilu kan."},
        {"docid": "12#1", "title": "Eko", "text": "O tobi."},
        {"docid": "9#0", "title": "Ibadan", "text": "Ilu miran."},
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "docs/docs-1.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (folder / "dev/topics.tsv").write_text("1#0\tkini Eko\n")
    (folder / "dev/qrels.tsv").write_text("1#0 Q0 12#0 1\n1#0 Q0 9#0 0\n")


def packed(files: dict[str, str]) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as tar:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            tar.addfile(info, io.BytesIO(text.encode()))
    return made.getvalue()


def source(id: str, **given):
    from harness_ir_datasets.source import IrDatasets

    return IrDatasets(IrDatasetsParams(id=id, **given))


def alone(id: str, text: str, title: str = "") -> Document:
    return Document(id, title, (Passage(id, text),))


@pytest.mark.parametrize(
    "id", ["beir/nfcorpus/test", "msmarco-passage/dev/small", "cranfield", "miracl/yo/dev"]
)
@pytest.mark.parametrize("case", testing.cases("dataset", RECORD), ids=lambda case: case.name)
def test_it_keeps_the_contract_of_datasets(home, case, id, tmp_path):
    testing.Case(case.kind, case.method, case.check, {"id": id})(tmp_path)


def test_a_collection_of_beir_has_titles_apart_and_the_queries_of_its_split(home):
    read = source("beir/nfcorpus/test")
    assert list(read.documents()) == [
        alone("MED-1", "Tea has caffeine.\u2028More.", "Tea"),
        alone("MED-2", "Water has none."),
    ]
    assert list(read.queries()) == [Query("PLAIN-1", "what has caffeine")]
    assert list(read.judgements()) == [Judgement("PLAIN-1", "MED-1", 2)]


def test_another_split_takes_the_place_of_the_one_in_the_id(home):
    read = source("beir/nfcorpus/test", split="dev")
    assert (read.id, read.card().split) == ("beir/nfcorpus/dev", "dev")
    assert [query.id for query in read.queries()] == ["PLAIN-2"]


def test_a_name_of_the_survey_is_the_same_collection(home):
    named, plain = source("NFCorpus"), source("beir/nfcorpus/test")
    assert named.id == plain.id
    assert [named.inputs(part) for part in ("corpus", "judgements")] == [
        plain.inputs(part) for part in ("corpus", "judgements")
    ]
    settings = {official.source: official.counts for official in named.card().official}
    assert settings[survey.SOURCE] == {"passages": 3633, "queries": 323}
    assert settings["ir_datasets' own count"] == {"passages": 3633, "queries": 323, "judgements": 12334}


def test_tables_of_ms_marco_and_files_of_cranfield_are_read(home):
    assert list(source("msmarco-passage/dev/small").documents())[1] == alone("1", "Paris is another.")
    read = source("cranfield")
    assert list(read.documents())[0] == alone("1", "wings lift .", "wings")
    assert list(read.judgements()) == [Judgement("1", "1", 3), Judgement("1", "2", -1)]
    assert read.card().split == "test"


def test_passages_of_miracl_stand_in_their_articles(home):
    read = source("miracl/yo/dev")
    assert list(read.documents()) == [
        Document("12", "Eko", (Passage("12#0", "Eko ni ilu kan."), Passage("12#1", "O tobi."))),
        Document("9", "Ibadan", (Passage("9#0", "Ilu miran."),)),
    ]
    assert (read.card().language, read.card().split) == ("yo", "dev")


def test_languages_of_miracl_and_mmarco_are_known(home):
    cards = {id: source(id).card() for id in ("miracl/zh/dev", "mMARCO/de", "mmarco/v2/dt/dev")}
    assert [card.language for card in cards.values()] == ["zh", "de", "nl"]
    with pytest.raises(HarnessError, match="mMARCO is several; write mMARCO/ and one of ar, de, dt"):
        source("mMARCO")


def test_planning_downloads_nothing_and_knows_the_data_by_its_digest(home):
    def files() -> list[Path]:  # ir_datasets notes its own version beside them
        return sorted(path for path in home.rglob("*") if path.is_file() and path.name != "irds_version.txt")

    before = files()
    read = source("beir/scifact/test")
    inputs = [read.inputs(part) for part in ("corpus", "queries", "judgements")]
    assert all(item.params["md5"] and len(item.params["md5"][0]) == 32 and not item.files for item in inputs)
    assert files() == before


def test_without_a_network_it_says_what_is_missing_and_where_to_put_it(home):
    with pytest.raises(HarnessError) as caught:
        list(source("beir/scifact/test").documents())
    message = str(caught.value)
    assert message.startswith("beir/scifact/test: ir_datasets: ")
    assert (
        f"put what https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets/scifact.zip gives to {home}/beir/scifact/source.zip (MD5 "
        in message
    )


def test_a_plan_names_the_place_of_a_licensed_file(home):
    files = source("wapo/v2/trec-news-2019", query="doc_id").inputs("corpus").files
    assert files == (home / "wapo/WashingtonPost.v2.tar.gz",)


def test_a_damaged_file_is_named(home):
    place = home / "beir/arguana/source.zip"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"PK\x03\x04 cut")
    with pytest.raises(HarnessError, match=rf"beir/arguana: .*: {place}"):
        list(source("beir/arguana").queries())
    place.unlink()


def test_the_field_that_is_asked_can_be_chosen(home):
    with pytest.raises(
        HarnessError, match="these queries have no text 'narrative'; choose from query_id, text, url"
    ):
        list(source("beir/nfcorpus/test", query="narrative").queries())
    assert [query.text for query in source("beir/nfcorpus/test", query="url").queries()] == ["u"]


def test_a_file_of_ids_keeps_some_queries_and_their_judgements(home, tmp_path):
    whole, ids = source("beir/nfcorpus/test"), tmp_path / "ids.txt"
    kept = list(whole.queries())[0].id
    ids.write_text(f"{kept}\n")
    some = source("beir/nfcorpus/test", only=ids)
    assert [query.id for query in some.queries()] == [kept]
    assert list(some.judgements()) == [each for each in whole.judgements() if each.query == kept]
    assert some.inputs("corpus") == whole.inputs("corpus")
    for part in ("queries", "judgements"):
        assert some.inputs(part).files == (*whole.inputs(part).files, ids)
    for content, fault in (("", "names no query"), ("no-such", "has no query 'no-such'")):
        ids.write_text(content)
        with pytest.raises(HarnessError, match=f"ids.txt: .*{fault}"):
            list(some.queries())


def test_a_passage_with_the_querys_own_id_can_be_left_out(home):
    assert [query.exclude for query in source("cranfield", exclude_self=True).queries()] == [("1",)]


@pytest.mark.parametrize(("id", "split", "fault"), [
    ("beir/nfcorpos/test", None, "'beir/nfcorpos/test'; did you mean beir/nfcorpus/test"),
    ("beir/nfcorpus/test", "eval", "'beir/nfcorpus/eval'"),
    ("SQuAD", None, "SQuAD; https://rajpurkar"),
    ("ArguAna", "train", "ArguAna .*'train' .*test"),
    ("ArguAna/en", None, "'ArguAna/en' .*write ArguAna"),
    ("nyt", None, "'nyt' .*nyt/trec-core-2017"),
])  # fmt: skip
def test_what_ir_datasets_lacks_is_named(home, id, split, fault):
    with pytest.raises(HarnessError, match=fault):
        source(id, split=split)


@pytest.mark.parametrize("entry", [*survey.TABLE, *survey.BESIDE], ids=lambda entry: entry.name)
def test_every_name_of_the_table_is_an_id_or_says_where_to_get_it(home, entry):
    """And what ir_datasets counts is what the table prints, where the entry's note does not say otherwise."""
    if not entry.ids:
        with pytest.raises(HarnessError, match="ir_datasets does not have"):
            source(entry.name)
        assert entry.elsewhere
    for part in entry.parts or ("",):
        for split in entry.ids:
            read = source(f"{entry.name}/{part}".rstrip("/"), split=split)
            assert read.split == split
            counted, printed = (official.counts for official in read.card().official)
            differ = {name for name in printed if counted.get(name) not in (printed[name], None)}
            assert not differ or entry.note


WITHOUT_TEXT = {  # ir_datasets does not say which of their fields are the text
    "ArgsMeProcessedDoc", "ClinicalTrialsDoc", "CodeSearchNetDoc", "ToucheImageDoc", "TrecBackgroundLinkingQuery",
}  # fmt: skip


def test_all_types_of_documents_and_queries_have_a_text_or_are_refused(home):
    """There are a hundred, of several hundred collections; those that are refused are named here."""
    fields = importlib.import_module("harness_ir_datasets.fields")
    ir_datasets = importlib.import_module("ir_datasets")
    reads = {"docs": fields.text_of, "queries": lambda query: fields.question_of(query, None)}
    seen, refused = set(), set()
    for id in ir_datasets.registry:
        loaded = ir_datasets.load(id)
        for kind, read in reads.items():
            if getattr(loaded, f"has_{kind}")():
                cls = getattr(getattr(loaded, f"{kind}_handler")(), f"{kind}_cls")()
                if cls in seen:
                    continue
                seen.add(cls)
                try:
                    assert isinstance(read(invented(cls)), str)
                except HarnessError:
                    refused.add(cls.__name__)
    assert len(seen) >= 90
    assert refused == WITHOUT_TEXT


def invented(cls):
    kinds = {name: str(cls.__annotations__.get(name, str)) for name in cls._fields}
    values = {"ist": [], "uple": (), "ict": {}, "bytes": b"<p>text</p>", "int": 1, "float": 1.0}
    return cls(
        *(
            next((value for word, value in values.items() if word in kind), name)
            for name, kind in kinds.items()
        )
    )


def test_a_suite_over_three_official_layouts_runs(home, tmp_path):
    """Of ir_datasets, MTEB and T2Ranking: in child processes, as every suite."""
    (tmp_path / "task/qrels").mkdir(parents=True)
    (tmp_path / "task/corpus.jsonl").write_text('{"_id": "1", "title": "", "text": "green tea"}\n')
    (tmp_path / "task/queries.jsonl").write_text('{"_id": "q", "text": "tea"}\n')
    (tmp_path / "task/qrels/test.jsonl").write_text('{"query-id": "q", "corpus-id": "1", "score": 1}\n')
    (tmp_path / "t2").mkdir()
    (tmp_path / "t2/collection.tsv").write_text("pid\ttext\n0\t桂花\n", encoding="utf-8")
    (tmp_path / "t2/queries.dev.tsv").write_text("qid\ttext\n7\t桂花\n", encoding="utf-8")
    (tmp_path / "t2/qrels.dev.tsv").write_text("qid\t-\tpid\trel\n7\t0\t0\t3\n")
    suite = {
        "suite": "three",
        "datasets": {
            "nfcorpus": {"ir_datasets": {"id": "NFCorpus"}},
            "task": {"mteb": {"path": "./task", "language": "en"}},
            "t2": {"t2ranking": {"path": "t2"}},
        },
        "systems": {"bm25": {"retriever": "bm25"}},
        "measures": ["RR@10"],
    }
    (tmp_path / "suite.yaml").write_text(json.dumps(suite))
    board = harness.run(tmp_path / "suite.yaml", store=tmp_path / "store", quiet=True)
    assert [(row.status, row.measures["RR@10"].mean) for row in board.rows] == [("ok", 1.0)] * 3
    assert [dataset.language for dataset in board.data.datasets] == ["en", "en", "zh"]
