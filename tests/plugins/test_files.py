"""The dataset `files` reads what people have on disk, and names file and line of what it cannot read."""

import dataclasses
import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import zstandard

from harness import catalogue
from harness.catalogue import params
from harness.collection.corpus import Corpus, write
from harness.collection.queries import write_judgements, write_queries
from harness.errors import HarnessError
from harness.types import Document, Judgement, Passage, Query
from harness_files.params import FilesParams
from harness_files.source import Files

CORPUS = (
    '{"_id": "p1", "title": "T", "text": "one\\u2028\\"x\\" \\ud83d\\ude00", "metadata": {"a": [1]}}\n'
    '{"_id": "p2", "title": "", "text": ""}\n'
    '{"_id": "p3", "text": "three\u2028é"}\n'
)
QUERIES = '{"_id": "q2", "text": "second"}\n{"_id": "q1", "text": "first", "metadata": {}}\n{"_id": "q3", "text": "x"}\n'
QRELS = "query-id\tcorpus-id\tscore\nq1\tp1\t1\nq2\tp9\t-1\nq1\tp2\t0\n"
TOPICS = (
    "<top>\n<num> Number: q1\n<title> Topic: first\n words\n<desc> Description:\nlong <b>text\n</top>\n\n"
)
TOPICS += "<top><num>q2</num><title>second</title></top>\n"


def quiet(done: int, total: int | None) -> None:
    pass


def folder(path: Path, corpus: str = CORPUS, queries: str = QUERIES, qrels: str = QRELS) -> FilesParams:
    (path / "qrels").mkdir(parents=True)
    (path / "corpus.jsonl").write_bytes(corpus.encode())
    (path / "queries.jsonl").write_bytes(queries.encode())
    (path / "qrels" / "test.tsv").write_bytes(qrels.encode())
    return FilesParams(path=path)


def single(path: Path, **contents: str | bytes) -> FilesParams:
    """Files named one by one; those that are not given are the ones of a BEIR folder."""
    given = {"corpus_jsonl": CORPUS, "queries_jsonl": QUERIES, "qrels_tsv": QRELS}
    paths = {}
    for name, text in {**given, **contents}.items():
        kind, _, suffix = name.partition("_")
        paths[kind] = path / f"{kind}.{suffix.replace('_', '.')}"
        paths[kind].write_bytes(text if isinstance(text, bytes) else text.encode())
    return FilesParams(**paths)


def read(values: FilesParams, target: Path) -> list[Document]:
    write(Files(values), target, quiet)
    corpus = Corpus(target)
    return list(corpus.documents_in(0, corpus.documents))


DOCUMENTS = [
    Document("p1", "T", (Passage("p1", 'one\u2028"x" 😀'),)),
    Document("p2", "", (Passage("p2", ""),)),
    Document("p3", "", (Passage("p3", "three\u2028é"),)),
]


def test_a_beir_folder_is_read(tmp_path):
    source = Files(folder(tmp_path / "data"))
    assert read(source.params, tmp_path / "corpus") == DOCUMENTS
    assert list(source.queries()) == [Query("q2", "second"), Query("q1", "first")]
    assert list(source.judgements()) == [
        Judgement("q1", "p1", 1),
        Judgement("q2", "p9", -1),
        Judgement("q1", "p2", 0),
    ]


def test_a_judgement_is_found_again(tmp_path):
    source = Files(folder(tmp_path))
    judged = list(source.judgements())
    assert source.locate_judgement(*judged[0][:2]) == f"{tmp_path}/qrels/test.tsv:2"


def test_its_documents_are_those_that_its_rows_make(tmp_path):
    assert list(Files(folder(tmp_path)).documents()) == DOCUMENTS


def test_passages_of_a_document_are_brought_together_in_order(tmp_path):
    lines = [
        {"_id": "b-1", "text": "b1", "title": "B", "doc_id": "b", "paragraph_no": 1, "is_candidate": False},
        {"_id": "a-0", "text": "a0", "title": "A", "doc_id": "a", "paragraph_no": 0, "total_paragraphs": 1},
        {"_id": "b-0", "text": "b0", "title": "B", "doc_id": "b", "paragraph_no": 0, "is_candidate": True},
        {"_id": "c", "text": "c", "title": None, "doc_id": None, "paragraph_no": None, "is_candidate": None},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    assert read(folder(tmp_path / "data", text), tmp_path / "corpus") == [
        Document("b", "B", (Passage("b-0", "b0"), Passage("b-1", "b1", False))),
        Document("a", "A", (Passage("a-0", "a0"),)),
        Document("c", "", (Passage("c", "c"),)),
    ]


@pytest.mark.parametrize(
    "corpus",
    [
        CORPUS.rstrip("\n"),
        CORPUS.replace("\n", "\r\n"),
        "\n \n" + CORPUS.replace("\n", "\n\n\r\n"),
        "\ufeff" + CORPUS,
    ],
    ids=["no last line end", "carriage returns", "blank lines", "byte order mark"],
)
def test_harmless_differences_are_tolerated(tmp_path, corpus):
    assert read(folder(tmp_path / "data", corpus), tmp_path / "corpus") == DOCUMENTS


@pytest.mark.parametrize("suffix", [".gz", ".zst"])
def test_compressed_files_are_read_even_in_several_members(tmp_path, suffix):
    compress = gzip.compress if suffix == ".gz" else zstandard.ZstdCompressor().compress
    values = folder(tmp_path / "data")
    for path in [path for path in sorted((tmp_path / "data").rglob("*")) if path.is_file()]:
        text = path.read_bytes()
        path.with_name(path.name + suffix).write_bytes(compress(text[:20]) + compress(text[20:]))
        path.unlink()
    source = Files(values)
    assert read(values, tmp_path / "corpus") == DOCUMENTS
    assert len(list(source.queries())) == 2
    assert len(list(source.judgements())) == 3
    assert [path.suffix for path in source.inputs("corpus").files] == [suffix]


def test_lines_longer_than_a_chunk_are_whole(tmp_path):
    texts = ["x" * 3_000_000, "y", "z" * 1_500_000]
    corpus = "".join(json.dumps({"_id": text[0], "text": text}) + "\n" for text in texts)
    expected = [Document(text[0], "", (Passage(text[0], text),)) for text in texts]
    assert read(folder(tmp_path / "plain", corpus), tmp_path / "a") == expected
    packed = single(tmp_path, corpus_jsonl_gz=gzip.compress(corpus.encode()))
    assert read(packed, tmp_path / "b") == expected


def test_keys_that_only_later_lines_have_are_read(tmp_path):
    plain = "".join(f'{{"_id": "p{number}", "text": "{"x" * 100}"}}\n' for number in range(30_000))
    corpus = plain + '{"_id": "last", "text": "x", "doc_id": "d", "is_candidate": false}\n'
    write(Files(folder(tmp_path / "data", corpus)), tmp_path / "corpus", quiet)
    written = Corpus(tmp_path / "corpus")
    assert written.document_ids(np.array([30_000])) == ["d"]
    assert not written.candidate[30_000]


@pytest.mark.parametrize("text", ["p1\tone\np2\t\n", "p1\tT\tone\n\np2\tU\t\n"], ids=["two columns", "three"])
def test_a_corpus_of_tabs_is_read(tmp_path, text):
    titles = ["T", "U"] if "T" in text else ["", ""]
    assert read(single(tmp_path, corpus_tsv=text), tmp_path / "corpus") == [
        Document("p1", titles[0], (Passage("p1", "one"),)),
        Document("p2", titles[1], (Passage("p2", ""),)),
    ]


def test_queries_of_tabs_and_of_topics_are_read(tmp_path):
    for number, contents in enumerate(
        ({"queries_tsv": "q1\tfirst words\nq2\tsecond\n"}, {"queries_txt": TOPICS})
    ):
        (tmp_path / str(number)).mkdir()
        source = Files(single(tmp_path / str(number), **contents))
        assert list(source.queries()) == [Query("q1", "first words"), Query("q2", "second")]


def test_trec_qrels_are_read(tmp_path):
    source = Files(single(tmp_path, qrels_txt="q1 0 p1 2\nq2\tQ0\tp2\t-1\n\n"))
    assert list(source.judgements()) == [Judgement("q1", "p1", 2), Judgement("q2", "p2", -1)]


def test_another_split_is_the_same_folder_with_other_judgements(tmp_path):
    values = folder(tmp_path)
    (tmp_path / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq3\tp1\t1\n")
    dev = Files(dataclasses.replace(values, split="dev"))
    assert [query.id for query in dev.queries()] == ["q3"]
    assert dev.card().split == "dev"
    assert dev.inputs("corpus") == Files(values).inputs("corpus")


def test_the_split_may_stand_in_the_names_of_single_files(tmp_path):
    values = dataclasses.replace(single(tmp_path), qrels=tmp_path / "qrels.{split}.tsv", split="dev")
    (tmp_path / "qrels.dev.tsv").write_text("query-id\tcorpus-id\tscore\nq3\tp1\t1\n")
    assert [query.id for query in Files(values).queries()] == ["q3"]


def test_a_passage_with_the_querys_id_can_be_excluded(tmp_path):
    values = dataclasses.replace(folder(tmp_path), exclude_self=True)
    assert [query.exclude for query in Files(values).queries()] == [("q2",), ("q1",)]


def test_a_changed_grade_changes_the_judgements_alone(tmp_path):
    values = folder(tmp_path)
    before = Files(values).inputs("queries")
    (tmp_path / "qrels" / "test.tsv").write_text(QRELS.replace("\t1", "\t2"))
    assert Files(values).inputs("queries") == before
    assert tmp_path / "qrels" / "test.tsv" not in (*before.files, *Files(values).inputs("corpus").files)
    (tmp_path / "qrels" / "test.tsv").write_text(QRELS + "q3\tp1\t1\n")
    assert Files(values).inputs("queries") != before


def test_planning_needs_no_file_to_be_there(tmp_path):
    source = Files(FilesParams(path=tmp_path))
    assert source.inputs("queries").files == (tmp_path / "queries.jsonl",)
    assert source.inputs("judgements").files == (tmp_path / "qrels" / "test.tsv",)
    for call, name in (
        (source.rows, "corpus.jsonl"),
        (source.queries, "test.tsv"),
        (source.judgements, "test.tsv"),
    ):
        with pytest.raises(HarnessError, match=f"{name}: there is no such file"):
            list(call())


@pytest.mark.parametrize(("given", "fault"), [
    ({}, "'path'"),
    ({"path": "a", "qrels": "b"}, "'path' and 'qrels'"),
    ({"corpus": "a"}, "'queries' is missing"),
    ({"path": "a", "split": "../b"}, "split '../b'"),
    ({"path": "a", "language": "English"}, "language 'English'"),
])  # fmt: skip
def test_parameters_are_checked_together(given, fault):
    value, [problem] = params.convert(FilesParams, given, Path())
    assert value is None
    assert fault in problem.text


def test_the_catalogue_has_it():
    record = catalogue.load().find("datasets", "files").record
    assert record.params is FilesParams
    assert catalogue.missing_modules(record, "passage-harness") is None


FAULTS = {
    "malformed": ('{"_id": "a", "text": "x"', "JSON"),
    "an array": ("[1]", "a list"),
    "two objects": ('{"_id": "a", "text": "x"}{"_id": "b", "text": "x"}', "JSON"),
    "half an object": ('{"_id": "a",', "JSON"),
    "no id": ('{"text": "x"}', "'_id' is missing"),
    "no text": ('{"_id": "a"}', "'text' is missing"),
    "a number as id": ('{"_id": 7, "text": "x"}', "'_id' must be a text, got a number"),
    "a text that is null": ('{"_id": "a", "text": null}', "'text' must be a text, got null"),
    "a list as title": ('{"_id": "a", "text": "x", "title": []}', "'title' must be a text, got a list"),
    "a number as document": (
        '{"_id": "a", "text": "x", "doc_id": 3}',
        "'doc_id' must be a text, got a number",
    ),
    "a place below 0": ('{"_id": "a", "text": "x", "paragraph_no": -1}', "does not fit"),
    "a place in words": ('{"_id": "a", "text": "x", "paragraph_no": "1"}', "'paragraph_no' must be a number"),
    "a candidate of 1": (
        '{"_id": "a", "text": "x", "is_candidate": 1}',
        "'is_candidate' must be true or false",
    ),
    "half a surrogate": ('{"_id": "a", "text": "\\ud800x"}', "surrogate"),
    "the other half": ('{"_id": "a", "text": "\\udc00x"}', "surrogate"),
    "deep nesting": ('{"_id": "a", "text": "x", "z": ' + "[" * 100_000, "nested"),
    "invalid UTF-8": (b'{"_id": "a", "text": "\xff"}', "byte 23 .* UTF-8"),
    "an encoded surrogate": (b'{"_id": "a", "text": "\xed\xa0\x80"}', "byte 23 .* UTF-8"),
    "a duplicate": ('{"_id": "p1", "text": "x"}', r"'p1' .*corpus\.jsonl:1;"),
    "an empty id": ('{"_id": "", "text": "x"}', "id is empty"),
}


@pytest.mark.parametrize(("line", "fault"), FAULTS.values(), ids=FAULTS)
def test_a_faulty_line_of_a_corpus_is_named(tmp_path, line, fault):
    line = line if isinstance(line, bytes) else line.encode()
    values = single(tmp_path, corpus_jsonl=CORPUS.encode() + line + b"\n")
    with pytest.raises(HarnessError, match=rf"^{values.corpus}:4: .*{fault}"):
        read(values, tmp_path / "corpus")


def test_the_line_is_right_after_blank_lines_and_many_others(tmp_path):
    many = "".join(f'{{"_id": "m{number}", "text": "{"x" * 200}"}}\n' for number in range(20_000))
    values = single(tmp_path, corpus_jsonl=CORPUS + "\n\n" + many + '{"_id": 3}\n')
    with pytest.raises(HarnessError, match=r"corpus\.jsonl:20006: .*'text'"):
        read(values, tmp_path / "corpus")
    values = single(tmp_path, corpus_jsonl=CORPUS + "\n\n" + many + '{"_id": "m7", "text": ""}\n')
    with pytest.raises(HarnessError, match=r"jsonl:20006: .*'m7' .*jsonl:13;"):
        read(values, tmp_path / "corpus")


@pytest.mark.parametrize(("text", "fault"), [
    ("a\tx\nb\n", "2: expected 2 columns.* 1;"),
    ("a\tt\tx\nb\tx\n", "2: expected 3 columns.* 2;"),
    ("a\n", r"1: expected 2 \(id, text\) or 3 \(id, title, text\).* 1;"),
    ("pid\tpassage\na\tx\n", "1: this line names the columns"),
    ("a\tx\na\ty\n", "2: .*'a' .*tsv:1;"),
    (b"a\tx\n\nb\t\xff\n", "3: byte 3 .*UTF-8"),
    ("", "1: the file is empty; check what wrote it .scanned pages of a PDF"),
    ("\n\n", "1: .*only blank lines; check what wrote it"),
])  # fmt: skip
def test_a_faulty_line_of_tabs_is_named(tmp_path, text, fault):
    values = single(tmp_path, corpus_tsv=text)
    with pytest.raises(HarnessError, match=f"^{values.corpus}:{fault}"):
        read(values, tmp_path / "corpus")


@pytest.mark.parametrize(("name", "text", "fault"), [
    ("queries_jsonl", QUERIES + '{"_id": "q1", "text": ""}\n', "4: .*'q1' .*line 2"),
    ("queries_jsonl", '\n{"_id": "", "text": ""}\n', "2: .*empty id"),
    ("queries_jsonl", '\n{"_id": "a\u2028b", "text": ""}\n', "2: the query id 'a.u2028b' has white space"),
    ("queries_jsonl", '{"_id": "q1"}\n', "1: .*'text' is missing"),
    ("queries_tsv", "qid\tquery\nq1\tfirst\n", "1: this line names the columns"),
    ("queries_tsv", "q1\tfirst\t[]\tmore\n", "1: .*got 4 columns"),
    ("queries_txt", TOPICS + "<top>\n<num> 3\n", "10: .*no </top>"),
    ("queries_txt", TOPICS + "</top>\n", "10: </top> .*other half"),
    ("queries_txt", TOPICS + "<top>\n<top>\n", "11: <top> .*other half"),
    ("queries_txt", "<top>\n<num> 3\n</top>\n", "1: .*no <title>"),
    ("queries_txt", "<top>\n<num> 3\n<num> 4\n", "3: .*second <num>"),
    ("queries_txt", TOPICS + "words\n", "10: text outside"),
])  # fmt: skip
def test_a_faulty_query_is_named(tmp_path, name, text, fault):
    values = single(tmp_path, **{name: text})
    with pytest.raises(HarnessError, match=f"^{values.queries}:{fault}"):
        write_queries(Files(values).queries(), tmp_path / "queries")


@pytest.mark.parametrize(("text", "fault"), [
    ("q1\tp1\t1\n", "1: the header is missing"),
    ("query-id\tcorpus-id\n", "1: the header must be"),
    (QRELS + "q1\tp3\n", "5: expected 3 columns.* 2;"),
    ("q1 0 p1 1\nq1 0 p2\n", "2: expected 4 columns.* 3;"),
    (QRELS + "q1\tp3\tyes\n", "5: .*'yes'"),
    (QRELS + "q1\tp3\t1.0\n", "5: .*'1.0'"),
    (QRELS + "q1\tp3\t2147483648\n", "5: .*'2147483648'"),
    (QRELS + "q1\tp1\t0\n", "5: .*'q1' .*'p1' .*line 2"),
    (QRELS + "\tp1\t0\n", "5: an id is empty"),
    ("query-id\tcorpus-id\tscore\n", "1: there is no judgement"),
    (b"q1 0 \xff 1\n", "1: byte 1 .*UTF-8"),
    ("", "1: the file is empty"),
])  # fmt: skip
def test_a_faulty_judgement_is_named(tmp_path, text, fault):
    values = single(tmp_path, qrels_tsv=text)
    with pytest.raises(HarnessError, match=f"^{values.qrels}:{fault}"):
        write_judgements(Files(values).judgements(), tmp_path / "judgements")


def test_a_judged_query_that_is_not_there_is_refused(tmp_path):
    values = single(tmp_path, qrels_tsv=QRELS + "q9\tp1\t1\n")
    with pytest.raises(HarnessError, match=rf"^{values.qrels}:5: .*'q9'.* {values.queries} "):
        Files(values).queries()


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"
PACKED = gzip.compress(CORPUS.encode(), mtime=0)


@pytest.mark.parametrize(("suffix", "data", "fault"), [
    ("jsonl", POINTER, "1: .*Git LFS"),
    ("jsonl_gz", POINTER, "1: .*Git LFS"),
    ("jsonl_gz", CORPUS.encode(), "1: .*not gzip"),
    ("jsonl_zst", CORPUS.encode(), "1: .*not Zstandard"),
    ("jsonl", PACKED, "1: .*compressed; .*[.]gz"),
    ("jsonl", zstandard.compress(CORPUS.encode()), "1: .*compressed; .*[.]zst"),
    ("jsonl_gz", PACKED[:-4], "4: .*gzip .*ends early"),
    ("jsonl_gz", PACKED[:-8] + b"\1" * 8, "1: .*gzip .*damaged"),
    ("jsonl_gz", PACKED + b"tail", "4: .*gzip .*damaged"),
    ("jsonl_zst", zstandard.compress(CORPUS.encode())[:-4], "1: .*Zstandard .*ends early"),
    ("jsonl_zst", b"\x28\xb5\x2f\xfd" + b"\xff" * 20, "1: .*Zstandard .*damaged"),
    ("jsonl_gz", b"", "1: the file is empty"),
])  # fmt: skip
def test_a_faulty_file_is_named(tmp_path, suffix, data, fault):
    values = single(tmp_path, **{f"corpus_{suffix}": data})
    with pytest.raises(HarnessError, match=f"^{values.corpus}:{fault}"):
        read(values, tmp_path / "corpus")


def test_a_folder_in_the_place_of_a_file_is_named(tmp_path):
    (tmp_path / "corpus.jsonl").mkdir()
    with pytest.raises(HarnessError, match=r"corpus\.jsonl: .*is a directory"):
        list(Files(FilesParams(path=tmp_path)).rows())


def test_a_collection_that_nobody_judged_has_all_its_queries(tmp_path):
    from harness_files.params import FilesParams
    from harness_files.source import Files

    (tmp_path / "c.jsonl").write_text('{"_id": "p", "text": "x"}\n')
    (tmp_path / "q.jsonl").write_text('{"_id": "q", "text": "y"}\n')
    files = {"corpus": tmp_path / "c.jsonl", "queries": tmp_path / "q.jsonl"}
    source = Files(FilesParams(**files, judged=False))
    assert [query.id for query in source.queries()] == ["q"]
    assert list(source.judgements()) == []
    with pytest.raises(ValueError, match="'judged: false' says that there are none"):
        FilesParams(**files, qrels=tmp_path / "qrels.tsv", judged=False)
