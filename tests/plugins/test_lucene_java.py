"""Lucene at work: what it finds is what Anserini's own searcher finds; indexes of others are checked."""

import importlib.util
import json
from dataclasses import dataclass

import numpy as np
import pytest

from harness.errors import HarnessError
from harness.testing import cases
from harness.testing.texts import MemoryTexts, sentences, texts
from harness_lucene import LuceneBM25, LuceneQL, languages, prebuilt, runtime, writing
from harness_lucene.retriever import Lucene

pytestmark = pytest.mark.extras

if any(importlib.util.find_spec(name) is None for name in ("jnius", "pyserini")):
    pytest.skip("the extra 'lucene' is not installed", allow_module_level=True)

QUERIES = ("the castle of the island", "painter", "railway bridge built built", "winter festival")


@dataclass(frozen=True)
class Named:
    """The part of the harness's corpus that knows ids."""

    ids: tuple[str, ...]

    def positions(self, ids):
        return np.array([self.ids.index(id) if id in self.ids else -1 for id in ids], np.int64)

    document_positions = positions


@dataclass(frozen=True)
class NamedTexts(MemoryTexts):
    corpus: Named = Named(())


def named(every, candidates=None):
    plain = texts(every, candidates=candidates)
    return NamedTexts(
        **{name: getattr(plain, name) for name in MemoryTexts.__dataclass_fields__},
        corpus=Named(tuple(f"p{i}" for i in range(len(every)))),
    )


def opened(params, corpus, folder):
    folder.mkdir(exist_ok=True)
    method = Lucene(params)
    method.index(corpus, folder)
    return method.open(corpus, folder)


def anserini_index(folder, documents):
    """An index by Anserini's own indexer of (id, text)."""
    java = runtime.java()
    arguments = java("io.anserini.index.IndexCollection$Args")()
    arguments.index, arguments.storeDocvectors = str(folder), True
    arguments.collectionClass = "JsonCollection"
    arguments.generatorClass = "DefaultLuceneDocumentGenerator"
    indexer = java("io.anserini.index.SimpleIndexer")(arguments)
    for id, text in documents:
        assert indexer.addRawDocument(json.dumps({"id": id, "contents": text}))
    indexer.close()
    return folder


@pytest.fixture(scope="module")
def anserini(tmp_path_factory):
    """The usual sentences, shuffled, in an index by Anserini."""
    every = sentences(60)
    order = np.random.default_rng(3).permutation(len(every)).tolist()
    folder = tmp_path_factory.mktemp("anserini") / "index"
    return anserini_index(folder, [(f"p{i}", every[i]) for i in order])


def rows(hits):
    return [
        {int(p): float(s) for p, s in zip(row, scores, strict=True) if p >= 0}
        for row, scores in zip(hits.passages, hits.scores, strict=True)
    ]


def anserinis(folder, configure):
    """What Anserini's own searcher finds in its index: position -> score of each query."""
    searcher = runtime.java()("io.anserini.search.SimpleSearcher")(str(folder))
    configure(searcher)
    found = [{int(hit.docid[1:]): hit.score for hit in searcher.search(query, 60)} for query in QUERIES]
    searcher.close()
    return found


@pytest.mark.parametrize(
    ("params", "configure"),
    [
        (LuceneBM25(), lambda searcher: searcher.set_bm25(0.9, 0.4)),
        (LuceneBM25(k1=1.4, b=0.9), lambda searcher: searcher.set_bm25(1.4, 0.9)),
        (LuceneQL(), lambda searcher: searcher.set_qld(1000.0)),
        (LuceneQL(mu=50), lambda searcher: searcher.set_qld(50.0)),
        (LuceneBM25(rm3=True), lambda searcher: searcher.set_rm3()),
        (
            LuceneBM25(rm3=True, fb_docs=3, fb_terms=20, original_query_weight=0.2),
            lambda searcher: searcher.set_rm3(20, 3, 0.2),
        ),
    ],
)
def test_it_scores_as_anserinis_own_searcher_does(params, configure, anserini, tmp_path):
    expected = anserinis(anserini, configure)
    by_system = rows(opened(params, texts(sentences(60)), tmp_path).search(QUERIES, 60))
    assert [row.keys() for row in by_system] == [row.keys() for row in expected]
    for ours, theirs in zip(by_system, expected, strict=True):
        assert [ours[p] for p in theirs] == pytest.approx(
            list(theirs.values()), abs=6e-5
        )  # rounded to 4 digits


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("lucene-bm25", {"rm3": True}),
        ("lucene-bm25", {"title_weight": 0.5}),
        ("lucene-ql", {"smoothing": "jelinek-mercer"}),
    ],
)
def test_other_parameters_keep_the_contract_too(name, given, tmp_path):
    wanted = (
        "scores within exactly",
        "takes an empty corpus",
        "takes empty queries and texts",
        "takes any script",
    )
    chosen = [case for case in cases("retriever", name, given) if case.name in wanted]
    assert len(chosen) == len(wanted)
    for i, case in enumerate(chosen):
        (tmp_path / str(i)).mkdir()
        case(tmp_path / str(i))


def test_an_index_of_many_parts_finds_what_one_finds(monkeypatch, tmp_path):
    corpus = texts(sentences(300))
    whole = opened(LuceneBM25(), corpus, tmp_path / "whole").search(QUERIES, 100)
    monkeypatch.setattr(writing, "PART", 7)
    parts = opened(LuceneBM25(), corpus, tmp_path / "parts").search(QUERIES, 100)
    assert len(list((tmp_path / "parts" / "lucene").glob("part-*"))) == 43
    assert parts.passages.tolist() == whole.passages.tolist()
    assert parts.scores.tolist() == whole.scores.tolist()


def test_of_equal_scores_the_first_positions_are_found(tmp_path):
    hits = opened(LuceneBM25(), texts(["a stone castle"] * 50), tmp_path).search(["castle"], 20)
    assert hits.passages[0].tolist() == list(range(20))


def test_the_title_is_a_field_with_a_weight(tmp_path):
    corpus = texts(["a castle", "a tower", "a bridge"], titles=["stone", "castle", "iron"])
    without = rows(opened(LuceneBM25(), corpus, tmp_path / "a").search(["castle"], 3))[0]
    once = rows(opened(LuceneBM25(title_weight=1.0), corpus, tmp_path / "b").search(["castle"], 3))[0]
    thrice = rows(opened(LuceneBM25(title_weight=3.0), corpus, tmp_path / "c").search(["castle"], 3))[0]
    assert without.keys() == {0}
    assert once.keys() == thrice.keys() == {0, 1}
    assert thrice[0] == pytest.approx(once[0])
    assert thrice[1] == pytest.approx(3 * once[1])


def test_chinese_is_searched_by_pairs_of_characters(tmp_path):
    corpus = texts(["北京是中国的首都", "上海是中国的城市", "a castle"], language="zh")
    by_system = rows(opened(LuceneBM25(), corpus, tmp_path).search(["首都"], 3))
    assert by_system[0].keys() == {0}


@pytest.mark.parametrize(
    "code", sorted({*languages.CODES, languages.WHITESPACE} - {"th"})
)  # see test_languages
def test_every_analyser_of_the_table_is_one_of_anserinis(code):
    assert languages.analyser(runtime.java(), code).getClass().getName().endswith("Analyzer")


def test_the_table_leaves_none_of_anserinis_languages_out():
    known = runtime.java()("io.anserini.analysis.AnalyzerMap").analyzerMap
    assert {str(key) for key in known.keySet().toArray()} | {"en"} == set(languages.CODES)


def test_a_query_of_no_known_word_finds_nothing_and_one_of_thousands_is_no_mistake(tmp_path):
    search = opened(LuceneBM25(), texts(["a castle", "a tower"]), tmp_path)
    words = " ".join(f"word{i}" for i in range(5000)) + " tower"
    by_system = rows(search.search(["", " ", "...", "nowhere", "the", words], 2))
    assert [set(row) for row in by_system] == [set(), set(), set(), set(), set(), {1}]


def test_a_passage_of_a_megabyte_is_searched_to_its_end(tmp_path):
    corpus = texts(["word " * 250_000 + "castle", "a tower"])
    assert rows(opened(LuceneBM25(), corpus, tmp_path).search(["castle"], 2))[0].keys() == {0}


def test_explain_adds_up_to_the_score_and_names_each_term(tmp_path):
    search = opened(LuceneBM25(title_weight=0.5), texts(sentences(60), titles=["castle"] * 60), tmp_path)
    hits = search.search(["castle castle railway the"], 5)
    for position, score in rows(hits)[0].items():
        terms = search.explain("castle castle railway the", position)
        assert sum(term.score for term in terms) == pytest.approx(score, rel=1e-5)
    first = {
        term.term: term for term in search.explain("castle castle railway the", int(hits.passages[0, 0]))
    }
    assert first["title:castl"].df == 60
    assert first["castl"].query_tf == 2
    assert first["castl"].tf >= 1
    assert search.explain("castle", 60) == []


def test_an_index_of_anserinis_is_searched_by_the_corpus_positions(anserini, tmp_path):
    corpus = named(sentences(60))
    own = opened(LuceneBM25(), corpus, tmp_path / "own")
    theirs = opened(LuceneBM25(index=anserini), corpus, tmp_path / "theirs")
    assert rows(theirs.search(QUERIES, 60)) == rows(own.search(QUERIES, 60))
    within = np.array([[4, 9, -1, 30]] * len(QUERIES))
    assert rows(theirs.search(QUERIES, 4, within)) == rows(own.search(QUERIES, 4, within))


def test_rm3_reads_the_vectors_of_an_index_of_anserinis(anserini, tmp_path):
    corpus = named(sentences(60))
    own = opened(LuceneBM25(rm3=True), corpus, tmp_path / "own").search(QUERIES, 20)
    theirs = opened(LuceneBM25(rm3=True, index=anserini), corpus, tmp_path / "theirs").search(QUERIES, 20)
    assert rows(theirs) == [pytest.approx(row, rel=1e-6) for row in rows(own)]


def test_an_empty_text_may_be_missing_from_an_index(tmp_path):
    every = [*sentences(10), "", "  "]
    folder = anserini_index(tmp_path / "index", [(f"p{i}", text) for i, text in enumerate(every[:10])])
    hits = opened(LuceneBM25(index=folder), named(every), tmp_path / "step").search(["castle"], 12)
    assert (hits.passages < 10).all()


@pytest.mark.parametrize(
    ("documents", "said"),
    [
        ([("p0", "a castle"), ("x9", "a tower")], "is of another corpus: 1 of its 2 ids .* such as 'x9'"),
        ([("p0", "a castle")], "lacks 1 of the 2 texts of this corpus"),
        ([("p0", "a castle"), ("p1", "a tower"), ("p2", "iron")], "has 1 texts that are no candidates here"),
        ([("p0", "a castle"), ("p1", "a tower"), ("p1", "iron")], "has the id 'p1' 2 times"),
    ],
)
def test_an_index_of_other_texts_is_refused(documents, said, tmp_path):
    folder = anserini_index(tmp_path / "index", documents)
    corpus = named(["a castle", "a tower", "not a candidate"], candidates=[True, True, False])
    with pytest.raises(HarnessError, match=f"index: .*{said}"):
        opened(LuceneBM25(index=folder), corpus, tmp_path / "step")


def test_a_corpus_without_ids_cannot_be_found_in_an_index(anserini, tmp_path):
    with pytest.raises(HarnessError, match=r"index: .*no ids"):
        opened(LuceneBM25(index=anserini), texts(sentences(60)), tmp_path)


def test_a_folder_that_is_no_index_is_refused(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("nothing")
    with pytest.raises(HarnessError, match=r"other.* no index"):
        opened(LuceneBM25(index=tmp_path / "other"), named(["a"]), tmp_path / "step")
    with pytest.raises(HarnessError, match="nowhere is no folder"):
        opened(LuceneBM25(index=tmp_path / "nowhere"), named(["a"]), tmp_path / "step")


def test_an_index_without_the_fields_of_anserini_is_refused(tmp_path):
    opened(LuceneBM25(), texts(["a castle"]), tmp_path / "own")
    part = tmp_path / "own" / "lucene" / "part-000000"
    with pytest.raises(HarnessError, match="has no field 'id'"):
        opened(LuceneBM25(index=part), named(["a castle"]), tmp_path / "step")


def test_every_flipped_byte_of_an_index_is_found(tmp_path):
    every = sentences(20)
    folder = anserini_index(tmp_path / "index", [(f"p{i}", text) for i, text in enumerate(every)])
    for file in sorted(file for file in folder.iterdir() if file.stat().st_size):
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 0xFF
        whole = file.read_bytes()
        file.write_bytes(data)
        with pytest.raises(HarnessError, match=r"index: .*(is damaged|is no index that can be read)"):
            opened(LuceneBM25(index=folder), named(every), tmp_path / "step")
        file.write_bytes(whole)
    assert opened(LuceneBM25(index=folder), named(every), tmp_path / "step").search(["castle"], 1)


def test_a_prebuilt_index_that_is_here_is_read_where_it_is(monkeypatch, tmp_path, anserini):
    monkeypatch.setenv("PYSERINI_CACHE", str(tmp_path))
    monkeypatch.delenv("ANSERINI_INDEX_CACHE", raising=False)
    entry = runtime.java()("io.anserini.index.prebuilt.PrebuiltInvertedIndex").get("cacm")
    at = prebuilt.place(entry.filename, entry.md5)
    at.parent.mkdir(parents=True)
    at.symlink_to(anserini)
    corpus = named(sentences(60))
    hits = opened(LuceneBM25(prebuilt="cacm"), corpus, tmp_path / "step").search(QUERIES, 10)
    assert hits.passages[:, 0].min() >= 0


def test_a_prebuilt_index_that_there_is_not_is_refused():
    with pytest.raises(HarnessError, match=r"prebuilt: .*'msmarco-v1-pasage'; did you mean"):
        prebuilt.folder(runtime.java(), "msmarco-v1-pasage")
