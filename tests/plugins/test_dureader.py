"""DuReader-retrieval is read in the layouts of its release, and every fault is named by file and line."""

import gzip
import json
import os
import re
from pathlib import Path

import pytest

from harness import testing
from harness.collection.corpus import Corpus, write
from harness.errors import HarnessError
from harness.types import Card, Document, Judgement, Passage, Query
from harness_dureader import DureaderParams, harness_datasets, passage_ids
from harness_dureader.source import Dureader

RECORD = next(iter(harness_datasets()))
TEXTS = ["茶叶要放在阴凉处。\u2028第二段。", "绿茶用八十度的水。\x0b\x1c", "乌龙茶产自福建。", ""]
IDS = ["aa11", "bb22", "cc33", "dd44"]
DEV = [
    {
        "question_id": "q1",
        "question": "茶叶怎么保存\u2028好",
        "answer_paragraphs": [
            {"paragraph_id": "aa11", "paragraph_text": TEXTS[0]},
            {"paragraph_id": "gone", "paragraph_text": "不在段落库里"},
            {"paragraph_id": "aa11", "paragraph_text": TEXTS[0]},
        ],
    },
    {
        "question_id": "q2",
        "question": "绿茶水温",
        "answer_paragraphs": [{"paragraph_id": "bb22", "paragraph_text": ""}],
    },
]


def part(texts: list[str]) -> str:
    return "".join(f"-\t-\t{text}\t0\n" for text in texts)


def lines(rows: list[dict]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def flat(path: Path) -> dict[str, Path]:
    files = ("part-00", "part-01", "passage2id.map.json", "dev.json", "q2qid.dev.json")
    return {name: path / name for name in files}


def unpacked(path: Path) -> dict[str, Path]:
    """As the archive of the baseline's data unpacks."""
    base = path / "dureader-retrieval-baseline-dataset"
    collection = ("part-00", "part-01", "passage2id.map.json")
    return {
        name: base / ("passage-collection" if name in collection else "dev") / name for name in flat(path)
    }


def release(path: Path, layout=flat, **contents: str | bytes) -> DureaderParams:
    """A sample of the release; a file's content is replaced by the keyword of its name without the rest."""
    given: dict[str, str | bytes] = {
        "part-00": part(TEXTS[:3]),
        "part-01": part(TEXTS[3:]).rstrip("\n"),
        "passage2id.map.json": json.dumps({str(row): id for row, id in enumerate(IDS)}),
        "dev.json": lines(DEV),
        "q2qid.dev.json": json.dumps({row["question"]: row["question_id"] for row in DEV}),
    }
    names = {"part0": "part-00", "part1": "part-01", "map": "passage2id.map.json", "dev": "dev.json"}
    given |= {names[key]: value for key, value in contents.items()}
    for name, target in layout(path).items():
        target.parent.mkdir(parents=True, exist_ok=True)
        content = given[name]
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
    return DureaderParams(path=path)


def fault(values: DureaderParams, read=lambda source: list(source.rows())) -> str:
    with pytest.raises(HarnessError) as caught:
        read(Dureader(values))
    return str(caught.value).removeprefix(f"{values.path}/")


def judge(source) -> list[Judgement]:
    return list(source.judgements())


@pytest.mark.parametrize("case", testing.cases("dataset", RECORD), ids=lambda case: case.name)
def test_it_keeps_the_contract_of_datasets(case, tmp_path):
    release(tmp_path / "data")
    given = {"path": str(tmp_path / "data")}
    testing.Case(case.kind, case.method, case.check, given)(tmp_path)


@pytest.mark.parametrize("layout", [flat, unpacked])
def test_the_release_is_read_as_it_unpacks(tmp_path, layout):
    source = Dureader(release(tmp_path, layout))
    assert list(source.documents()) == [
        Document(id, "", (Passage(id, text),)) for id, text in zip(IDS, TEXTS, strict=True)
    ]
    assert list(source.queries()) == [Query("q1", DEV[0]["question"]), Query("q2", "绿茶水温")]


def test_a_positive_counts_once_and_one_that_the_collection_lacks_is_kept(tmp_path):
    judged = judge(Dureader(release(tmp_path)))
    assert judged == [Judgement("q1", "aa11", 1), Judgement("q1", "gone", 1), Judgement("q2", "bb22", 1)]


def test_the_card_names_the_languages(tmp_path):
    values = release(tmp_path)
    card = Dureader(values).card()
    assert isinstance(card, Card)
    assert (card.language, card.split, card.query_language) == ("zh", "dev", None)
    translated = DureaderParams(path=tmp_path, english=tmp_path / "english.json")
    assert Dureader(translated).card().query_language == "en"


def test_translated_queries_are_asked_with_the_judgements_of_their_split(tmp_path):
    release(tmp_path)
    english = tmp_path / "english.json"
    english.write_text('{"question_id": "q2", "question": "water for green tea"}\n', encoding="utf-8")
    source = Dureader(DureaderParams(path=tmp_path, english=english))
    assert list(source.queries()) == [Query("q2", "water for green tea")]
    assert judge(source) == [Judgement("q2", "bb22", 1)]
    english.write_text('{"question_id": "q2", "question": "x"}\n{"question_id": "q9", "question": "y"}\n')
    assert fault(source.params, judge) == (
        f"english.json:2: question 'q9' is not in {tmp_path}/dev.json; drop it"
    )


def test_queries_come_from_the_map_where_a_split_has_nothing_else(tmp_path):
    values = release(tmp_path)
    (tmp_path / "dev.json").unlink()
    assert list(Dureader(values).queries()) == [Query("q1", DEV[0]["question"]), Query("q2", "绿茶水温")]
    assert fault(values, judge) == "dev.json: there is no such file; it holds the judgements"
    (tmp_path / "q2qid.dev.json").write_text('{"a": "q1", "b": "q1"}')
    assert "q2qid.dev.json:1: the question id 'q1' is empty or there twice" in fault(
        values, lambda source: list(source.queries())
    )


def test_questions_without_published_judgements_are_read_but_not_judged(tmp_path):
    release(tmp_path)
    folder = tmp_path / "dureader-retrieval-test1"
    folder.mkdir()
    (folder / "test1.json").write_text('{"question_id": "t1", "question": "茶"}\n', encoding="utf-8")
    values = DureaderParams(path=tmp_path, split="test1")
    assert list(Dureader(values).queries()) == [Query("t1", "茶")]
    assert fault(values, judge).startswith(
        "dureader-retrieval-test1/test1.json:1: 'answer_paragraphs' is missing"
    )


def test_compressed_files_are_read(tmp_path):
    values = release(tmp_path)
    for path in flat(tmp_path).values():
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    source = Dureader(values)
    assert [document.id for document in source.documents()] == IDS
    assert len(list(source.queries())) == 2
    assert [path.suffix for path in source.inputs("corpus").files] == [".gz"] * 3


@pytest.mark.parametrize("segment", [1, 70_000])
def test_a_map_is_read_in_pieces_and_in_any_order(tmp_path, monkeypatch, segment):
    monkeypatch.setattr(passage_ids, "_SEGMENT", segment)
    ids = {str(row): f"id,{row}:}}{{" for row in range(20_000)}
    path = tmp_path / "map.json"
    path.write_text(json.dumps(ids, indent=1))
    assert passage_ids.passage_ids(path).to_pylist() == list(ids.values())
    path.write_text(json.dumps(dict(reversed(ids.items()))))
    assert passage_ids.passage_ids(path).to_pylist() == list(ids.values())


def test_what_a_part_is_made_from_is_kept_apart(tmp_path):
    """A changed judgement changes no query and no passage; a changed question changes no passage."""
    before = [Dureader(release(tmp_path)).inputs(part) for part in ("corpus", "queries", "judgements")]
    assert [path.name for path in before[0].files] == ["part-00", "part-01", "passage2id.map.json"]
    assert [path.name for path in before[2].files] == ["dev.json"]
    changed = json.loads(json.dumps(DEV))
    changed[1]["answer_paragraphs"][0]["paragraph_id"] = "cc33"
    source = Dureader(release(tmp_path, dev=lines(changed)))
    assert source.inputs("queries") == before[1]
    assert source.inputs("corpus") == before[0]
    changed[1]["question"] = "绿茶多少度"
    assert Dureader(release(tmp_path, dev=lines(changed))).inputs("queries") != before[1]


def test_a_plan_can_say_what_is_missing(tmp_path):
    source = Dureader(DureaderParams(path=tmp_path / "nowhere"))
    named = [path.name for part in ("corpus", "queries", "judgements") for path in source.inputs(part).files]
    assert named == ["part-00", "passage2id.map.json", "dev.json", "dev.json"]


def test_a_duplicated_passage_is_named_by_both_lines(tmp_path):
    values = release(tmp_path, map='{"0": "aa11", "1": "bb22", "2": "cc33", "3": "bb22"}')
    with pytest.raises(HarnessError) as caught:
        write(Dureader(values), tmp_path / "corpus", lambda done, total: None)
    assert f"{tmp_path}/part-00:2" in str(caught.value)
    assert f"{tmp_path}/part-01:1" in str(caught.value)


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"


MAP = "passage2id.map.json"


@pytest.mark.parametrize(("contents", "place", "culprit"), [
    ({"part0": "-\t-\t一\t0\n-\t二\t0\n"}, "part-00:2: ", "4 columns"),
    ({"part0": "-\t-\t一\t0\n\n"}, "part-00:2: ", "4 columns"),
    ({"part0": "-\t-\t一\u2028\t二\t0\n"}, "part-00:1: ", "4 columns"),
    ({"part0": b"-\t-\t\xff\t0\n"}, "part-00:1: ", "byte 5 "),
    ({"part0": ""}, "part-00:1: ", "empty"),
    ({"part0": POINTER}, "part-00:1: ", "Git LFS"),
    ({"part1": part(["多", "余"])}, "part-01:2: ", ""),
    ({"part0": part(["少"])}, f"{MAP}:1: ", "4 rows, but part-00, part-01 have 2"),
    ({"map": POINTER}, f"{MAP}:1: ", "Git LFS"),
    ({"map": "[]"}, f"{MAP}:1: ", "JSON object"),
    ({"map": ""}, f"{MAP}:1: ", "JSON object"),
    ({"map": "{}"}, f"{MAP}:1: ", "no passage id"),
    ({"map": '{"0": "a",\n "1": 2,\n "2": "c"}'}, f"{MAP}:2: ", "pairs"),
    ({"map": '{"0": "a",\n "1": "b'}, f"{MAP}:2: ", "brace"),
    ({"map": '{"0": "a", "2": "b"}'}, f"{MAP}:1: ", "row 1 is not there"),
    ({"map": '{"0": "a", "1": "b", "1": "c"}'}, f"{MAP}:1: ", "row 1 is twice"),
    ({"map": b'{"0": "\xff"}'}, f"{MAP}:1: ", "UTF-8"),
    ({"dev": '{"question_id": "q1"}\n'}, "dev.json:1: ", "'question' is missing"),
    ({"dev": '{"question_id": 1, "question": "x"}\n'}, "dev.json:1: ", "'question_id' must be a text"),
    ({"dev": lines([DEV[0], DEV[0]])}, "dev.json:2: ", "'q1' is already at line 1"),
    ({"dev": '{"question_id": "", "question": "x"}\n'}, "dev.json:1: ", "'question_id' is empty"),
    ({"dev": lines(DEV).replace('"paragraph_id": "bb22"', '"paragraph_id": ""')}, "dev.json:2: ", "'paragraph_id'"),
    ({"dev": lines(DEV).replace('"paragraph_id": "bb22", ', "")}, "dev.json:2: ", "does not fit"),
    ({"dev": json.dumps(DEV)}, "dev.json:1: ", "a list"),
    ({"dev": lines(DEV)[:-20]}, "dev.json:2: ", "JSON"),
    ({"dev": POINTER}, "dev.json:1: ", "Git LFS"),
])  # fmt: skip
def test_a_fault_of_the_release_is_named_by_file_and_line(tmp_path, contents, place, culprit):
    message = fault(release(tmp_path, **contents), *([judge] if "dev" in contents else []))
    assert message.startswith(place)
    assert culprit in message


def test_truncated_data_is_named_by_its_line(tmp_path):
    values = release(tmp_path)
    packed = gzip.compress(part(TEXTS[:3]).encode())
    (tmp_path / "part-00").unlink()
    (tmp_path / "part-00.gz").write_bytes(packed[:-9])
    assert re.search("part-00.gz:.*ends early", fault(values))


def test_a_split_is_a_plain_name():
    with pytest.raises(ValueError, match="no plain name"):
        DureaderParams(path=Path(), split="../dev")


def test_the_card_says_who_chose_what_was_judged_and_what_the_paper_prints(tmp_path):
    card = Dureader(release(tmp_path)).card()
    assert "the first 50 of BM25 and of four dense retrievers" in " ".join(card.notes)
    assert card.official[0].counts["positives"] == 9863
    assert "distant supervision" in Dureader(DureaderParams(path=tmp_path, split="train")).card().notes[0]
    english = DureaderParams(path=tmp_path, english=tmp_path / "english.json")
    assert Dureader(english).card().official[0].counts["query_words.mean"] == 6.55


def test_a_judgement_is_found_again(tmp_path):
    source = Dureader(release(tmp_path))
    assert source.locate_judgement("q1", "gone") == f"{tmp_path}/dev.json:1"
    assert source.locate_judgement("q2", "bb22") == f"{tmp_path}/dev.json:2"


@pytest.mark.real
def test_the_demo_collection_equals_its_form_as_a_beir_folder(tmp_path):
    if "HARNESS_REAL_DATA" not in os.environ:
        pytest.skip("HARNESS_REAL_DATA does not name the folder of the real collections")
    beir = Path(os.environ["HARNESS_REAL_DATA"]) / "dureader2-demo"
    source = Dureader(DureaderParams(path=beir / "dureader_retrieval"))
    write(source, tmp_path, lambda done, total: None)
    corpus = Corpus(tmp_path)
    plain = [json.loads(line) for line in (beir / "corpus.jsonl").read_bytes().split(b"\n") if line]
    by_id = {row["_id"]: row["text"] for row in plain}
    written = {
        passage.id: passage.text for d in corpus.documents_in(0, corpus.documents) for passage in d.passages
    }
    assert written == by_id
    asked = {query.id: query.text for query in source.queries()}
    mapped = json.loads((beir / "dureader_retrieval" / "q2qid.dev.json").read_bytes())
    assert {text: id for id, text in asked.items()} == mapped
    folder = [json.loads(line) for line in (beir / "queries.jsonl").read_bytes().split(b"\n") if line]
    texts = {row["_id"]: row["text"] for row in folder}
    qrels = [row.split("\t") for row in (beir / "qrels" / "test.tsv").read_text().splitlines()[1:]]
    judged = {(asked[row.query], row.passage, row.grade) for row in source.judgements()}
    assert judged == {(texts[query], passage, int(grade)) for query, passage, grade in qrels}
    assert len(judged) == 194
