"""DAPR's collections from their own releases: tags, paragraphs, alignment with differences, and overlaps."""

import json
import os
import random
from pathlib import Path

import pytest

from harness import testing
from harness.errors import HarnessError
from harness_dapr import OriginalParams
from harness_dapr import miracl as miracl_
from harness_dapr.original import Original

PAGES = [
    {"title": "Probate", "url": "https://gov.uk/probate", "contents": ["<h1>Overview</h1>", "<p>Who pays.</p>"]},
    {
        "title": "Benefits", "url": "https://gov.uk/benefits",
        "contents": ["<h1>Overview</h1>", "<li>claim <a href='x'>online</a> </li>", "<h1>Overview</h1>"],
    },
]  # fmt: skip
CONDITIONAL = [
    {
        "id": "dev-0", "url": "https://gov.uk/benefits", "scenario": "I lost my job.", "question": "How do I claim?",
        "not_answerable": False, "answers": [["online", []]],
        "evidences": ["<li>claim <a href='x'>online</a> </li>", "<h1>Overview</h1>"],
    },
    {"id": "dev-1", "url": "https://gov.uk/probate", "scenario": "", "question": "Why?", "evidences": [],
     "not_answerable": True, "answers": []},
]  # fmt: skip


def source(folder, dataset, split="test", **more):
    return Original(OriginalParams(path=folder, dataset=dataset, split=split, **more))


def passages(original):
    return {item.id: item.text for document in original.documents() for item in document.passages}


def labelled(original):
    queries = {query.id: query.text for query in original.queries()}
    return queries, sorted((row.query, row.passage) for row in original.judgements())


@pytest.fixture
def conditional(tmp_path):
    (tmp_path / "documents.json").write_text(json.dumps(PAGES))
    (tmp_path / "dev.json").write_text(json.dumps(CONDITIONAL))
    return tmp_path


def test_an_element_of_a_page_is_a_passage_without_tags_and_evidence_is_its_first_place(conditional):
    original = source(conditional, "ConditionalQA")
    assert passages(original) == {
        "0-0": "Overview", "0-1": "Who pays.", "1-0": "Overview", "1-1": "claim online", "1-2": "Overview"
    }  # fmt: skip
    assert [document.title for document in original.documents()] == ["Probate", "Benefits"]
    queries, judged = labelled(original)
    assert queries == {"dev-0": "I lost my job. How do I claim?"}
    assert judged == [("dev-0", "1-0"), ("dev-0", "1-1")]


def test_the_queries_are_keyed_by_the_pages_too_because_each_names_its_page(conditional):
    original = source(conditional, "ConditionalQA")
    named = {path.name for path in original.inputs("queries").files}
    assert named >= {"documents.json", "dev.json"}
    (conditional / "documents.json").write_text("[]")
    with pytest.raises(HarnessError, match="is of a page that is not there"):
        list(source(conditional, "ConditionalQA").queries())


def test_evidence_that_its_page_lacks_is_refused(conditional):
    (conditional / "dev.json").write_text(json.dumps(CONDITIONAL).replace("claim <a", "ask <a"))
    with pytest.raises(HarnessError, match=r"dev\.json:1: .*'dev-0': .*<li>ask"):
        list(source(conditional, "ConditionalQA").judgements())


def question(text, title, blocks, answers):
    candidates, types = zip(*blocks, strict=True)
    row = {"question": text, "title": title, "candidates": candidates, "passage_types": types}
    return {**row, "long_answers": answers, "document_url": "https://en.wikipedia.org/"}


NATURAL = {
    "dev": [
        question("who asked", "Tables", [("a", "table"), ("b", "text")], [0]),  # its answer is a table
        question(
            "who won", "The Cup", [("1 | 2", "table"), ("Won by A.", "text"), ("B lost.", "text")], [2, 0, 1]
        ),
        question("who lost", "the cup", [("Other", "text")], [0]),  # a page that is there already
    ],
    "train": [
        question("when", "THE CUP", [("In 1990.", "text")], [0]),
        question("where", "Paris", [("", "text"), ("In France.", "text"), ("x", "list")], [2]),
        question("what", "Nothing", [("", "text"), ("x", "list")], [1]),
        question("how", "Ways", [("By ship.", "text")], [0]),
    ],
}


@pytest.fixture
def natural(tmp_path):
    for split, rows in NATURAL.items():
        (tmp_path / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


def test_paragraphs_are_passages_and_positives_and_a_page_is_in_the_corpus_once(natural):
    original = source(natural, "NaturalQuestions")
    assert passages(original) == {
        "dev-1-0": "Won by A.", "dev-1-1": "B lost.", "train-1-0": "", "train-1-1": "In France.",
        "train-3-0": "By ship.",
    }  # fmt: skip
    assert labelled(original) == ({"dev-1": "who won"}, [("dev-1", "dev-1-0"), ("dev-1", "dev-1-1")])
    assert set(passages(source(natural, "NaturalQuestions", train=False))) == {"dev-1-0", "dev-1-1"}


def test_the_dev_split_is_the_authors_sample_of_the_training_questions(conditional, natural):
    asked = [{**CONDITIONAL[0], "id": f"train-{number}"} for number in range(7)]
    (conditional / "train.json").write_text(json.dumps([CONDITIONAL[1], *asked]))
    both = [*CONDITIONAL, {**CONDITIONAL[0], "id": "dev-2"}]
    (conditional / "dev.json").write_text(json.dumps(both))
    drawn = random.Random(42).sample(list(range(7)), 2)  # as many as the test split has
    splits = {
        split: set(labelled(source(conditional, "ConditionalQA", split))[0]) for split in ("dev", "train")
    }
    assert splits["dev"] == {f"train-{number}" for number in drawn}
    assert splits["train"] == {f"train-{number}" for number in range(7)} - splits["dev"]

    page = [("It is so.", "text"), ("It is not.", "text")]
    more = [question(f"why {n}", f"Page {n}", page if n != 2 else page[:1], [0]) for n in range(5)]
    (natural / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in more))
    [place] = random.Random(42).sample(list(range(5)), 1)
    assert set(labelled(source(natural, "NaturalQuestions", "dev"))[0]) == {f"train-{place}"}
    # the page of question 2 has nothing beside the answer
    left = {f"train-{n}" for n in range(5)} - {f"train-{place}", "train-2"}
    assert set(labelled(source(natural, "NaturalQuestions", "train"))[0]) == left
    with pytest.raises(ValueError, match="the split dev needs 'train: true'"):
        source(natural, "NaturalQuestions", "dev", train=False)


@pytest.fixture
def miracl(tmp_path):
    rows = [
        ("12#0", "Oslo", "It is a city."),
        ("12#1", "Oslo", "It lies at a fjord."),
        ("7#0", "Fjord", "Water."),
    ]
    corpus, asked = tmp_path / miracl_.CORPUS, tmp_path / miracl_.ASKED
    corpus.mkdir(parents=True)
    rows += [(f"x{number}#0", "Other", "Text.") for number in range(130)]
    for number in range(66):
        pair = rows[2 * number : 2 * number + 2]
        lines = [json.dumps({"docid": docid, "title": title, "text": text}) for docid, title, text in pair]
        (corpus / f"docs-{number}.jsonl").write_text("".join(line + "\n" for line in lines))
    tables = {
        "topics": {
            "dev": "0\twhere is Oslo\n",
            "train": "".join(f"{n}\tquestion {n}\n" for n in range(1, 6)),
        },
        "qrels": {
            "dev": "0\tQ0\t12#1\t1\n0\tQ0\t7#0\t0\n",
            "train": "".join(f"{n}\tQ0\t7#0\t1\n{n}\tQ0\t12#{n % 2}\t{n % 2}\n" for n in range(1, 6)),
        },
    }
    for kind, files in tables.items():
        (asked / kind).mkdir(parents=True)
        for name, text in files.items():
            (asked / kind / f"{kind}.miracl-v1.0-en-{name}.tsv").write_text(text)
    return tmp_path


def test_paragraphs_of_miracl_are_passages_and_its_dev_split_is_the_test_split(miracl):
    original = source(miracl, "MIRACL")
    texts = {"12-0": "It is a city.", "12-1": "It lies at a fjord.", "7-0": "Water."}
    assert {id: text for id, text in passages(original).items() if id in texts} == texts
    assert [document.title for document in original.documents()][:3] == ["Oslo", "Fjord", "Other"]
    assert labelled(original) == ({"0": "where is Oslo"}, [("0", "12-1")])
    [place] = random.Random(42).sample(list(range(5)), 1)
    dev, judged = labelled(source(miracl, "MIRACL", "dev"))
    assert dev == {str(place + 1): f"question {place + 1}"}
    assert len(judged) == 1 + (place + 1) % 2
    train = set(labelled(source(miracl, "MIRACL", "train"))[0])
    assert train == {str(n) for n in range(1, 6)} - set(dev)


def test_an_answer_that_is_no_block_is_refused(natural):
    path = natural / "dev.jsonl"
    path.write_text(path.read_text().replace("[2, 0, 1]", "[7]"))
    with pytest.raises(HarnessError, match=r"dev.jsonl:2: 'long_answers'"):
        list(source(natural, "NaturalQuestions").queries())


BODY = "The river rises in the hills. It is 120 km long and flows north. Many fish. Salmon live in it."
FOUND = {  # by question: the passages that were shown, with their addresses, and whether they were selected
    "11": [("It is 120 km long and flows north.", "http://a", 1), ("Nowhere.", "http://a", 0)],
    "12": [("Salmon  live  in it!", "http://a", 1)],  # three differences
    "13": [("It is 120 km long", "http://gone", 1)],
    "14": [("The river rises in the hills.", "http://a", 1)],
}


def columns(found, first=0):
    return {
        "answers": {str(row): [] for row, _ in enumerate(found, first)},
        "passages": {
            str(row): [
                {"is_selected": selected, "passage_text": text, "url": url} for text, url, selected in shown
            ]
            for row, shown in enumerate(found.values(), first)
        },
        "query": {str(row): f"question {query}" for row, query in enumerate(found, first)},
        "query_id": {str(row): int(query) for row, query in enumerate(found, first)},
    }


@pytest.fixture
def marco(tmp_path):
    rows = [
        ("D1", "http://a", "A river", f" {BODY} "),
        ("D2", "http://b", "Empty", " "),
        ("D3", "http://c", "C", BODY),
    ]
    (tmp_path / "msmarco-docs.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    (tmp_path / "dev_v2.1.json").write_text(json.dumps(columns(FOUND)))
    train = {"21": [("km long and flows", "http://a", 1), ("The river rises", "http://c", 0)]}
    (tmp_path / "train_v2.1.json").write_text(json.dumps(columns(train)))
    (tmp_path / "qrels.dev.small.tsv").write_text("11\t0\t7\t1\n12\t0\t8\t1\n")
    return tmp_path


@pytest.mark.extras
def test_answers_of_ms_marco_are_found_in_their_documents_with_differences(marco):
    pytest.importorskip("regex")
    original = source(marco, "MSMARCO")
    river, other = original.documents()
    assert (river.id, river.title, other.id) == ("D1", "A river", "D3")
    shown = [(item.id, item.text, item.candidate) for item in river.passages]
    assert "".join(text for _, text, _ in shown) == BODY  # the training question's place overlaps and is gone
    first, second, third = [text for _, text, candidate in shown if candidate]
    assert (first, second) == ("The river rises in the hills.", "It is 120 km long and flows north.")
    assert third.endswith("Salmon live in it.")  # the differences that are left take letters before it
    assert len(third) <= len("Salmon live in it.") + 2
    queries, judged = labelled(original)
    assert queries == {"11": "question 11", "12": "question 12"}
    assert judged == [("11", "D1-2"), ("12", "D1-4")]
    assert labelled(source(marco, "MSMARCO", "dev")) == ({"14": "question 14"}, [("14", "D1-0")])
    assert [item.candidate for item in other.passages] == [True, False]  # shown, though not selected
    assert labelled(source(marco, "MSMARCO", "train")) == ({}, [])
    assert len(list(source(marco, "MSMARCO", train=False).documents())) == 1


@pytest.mark.extras
@pytest.mark.parametrize(
    ("splits", "stays"),
    [
        ({"train": [(0, 5)], "test": [(4, 9)]}, {"test": [(4, 9)]}),
        ({"test": [(0, 5), (4, 9)]}, {"test": [(0, 5)]}),
        ({"train": [(0, 5), (4, 9), (9, 12)]}, {"train": [(4, 9), (9, 12)]}),
        ({"dev": [(0, 5)], "test": [(0, 5)]}, {"test": [(0, 5)]}),
        ({"dev": [(4, 9)], "train": [(0, 5), (8, 12)]}, {"dev": [(4, 9)]}),
    ],
)
def test_of_overlapping_places_the_one_of_the_earlier_split_stays(splits, stays):
    pytest.importorskip("regex")
    from harness_dapr.msmarco import Span, apart

    spans = {
        split: [Span("u", *place, "q", "", 1) for place in splits.get(split, [])]
        for split in ("test", "dev", "train")
    }
    left = {
        split: [(item.start, item.end) for item in every] for split, every in apart(spans).items() if every
    }
    assert left == stays


@pytest.mark.extras
def test_a_passage_is_found_where_the_pattern_of_the_paper_finds_it():
    regex = pytest.importorskip("regex")
    from harness_dapr.alignment import aligned

    chance, close = random.Random(3), 0
    for _ in range(300):
        document = "".join(chance.choices("the quick brown fox.", k=chance.randint(20, 120)))
        start = chance.randrange(len(document) - 8)
        letters = list(document[start : start + chance.randint(8, 40)])
        for _ in range(chance.randint(0, 9)):
            letters[chance.randrange(len(letters))] = chance.choice(["", "z", "zy", "t"])
        passage = "".join(letters) or "x"
        exact = document.find(passage)
        match = regex.search(f"({regex.escape(passage)}){{e<=5}}", document)
        wanted = (exact, exact + len(passage)) if exact >= 0 else match and match.span()
        assert aligned(passage, document) == wanted
        close += exact < 0 and match is not None
    assert close > 50


@pytest.mark.extras
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("conditional", "ConditionalQA"),
        ("natural", "NaturalQuestions"),
        ("marco", "MSMARCO"),
        ("miracl", "MIRACL"),
    ],
)
def test_it_keeps_the_contract(request, tmp_path_factory, kind, name):
    given = {"path": str(request.getfixturevalue(kind)), "dataset": name}
    for case in testing.cases("dataset", "dapr-original", given):
        case(tmp_path_factory.mktemp("case"))


@pytest.mark.real
def test_passages_and_evidence_equal_those_that_others_made_of_the_same_pages(tmp_path):
    """The dump has ConditionalQA's elements with their tags; condqa-lite was made without the harness."""
    real = Path(os.environ.get("HARNESS_REAL_DATA", ""))
    dump, lite = real / "dapr-dump-samples" / "ConditionalQA" / "test.jsonl", real / "condqa-lite-59"
    if not os.environ.get("HARNESS_REAL_DATA") or not dump.is_file() or not lite.is_dir():
        pytest.skip("HARNESS_REAL_DATA names no folder with dapr-dump-samples and condqa-lite-59")
    pages, asked = {}, []
    for line in dump.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        page = row["judged_chunks"][0]["belonging_doc"]
        pages[page["id"]] = {
            "url": page["id"], "title": page["title"], "contents": [item["text"] for item in page["chunks"]]
        }  # fmt: skip
        evidences = [item["chunk"]["text"] for item in row["judged_chunks"]]
        asked.append({
            "id": row["query"]["id"], "url": page["id"], "scenario": "", "question": row["query"]["text"],
            "evidences": evidences,
        })  # fmt: skip
    (tmp_path / "documents.json").write_text(json.dumps(list(pages.values())))
    (tmp_path / "dev.json").write_text(json.dumps(asked))
    rows = [
        json.loads(line) for line in (lite / "corpus.jsonl").read_text(encoding="utf-8").split("\n") if line
    ]
    texts = {row["_id"]: row["text"] for row in rows}
    positives: dict[str, set[str]] = {}
    for line in (lite / "qrels" / "test.tsv").read_text(encoding="utf-8").split("\n")[1:]:
        query, passage, _ = line.split("\t") if line else ("", "", "")
        positives.setdefault(query, set()).add(texts.get(passage, ""))
    made = source(tmp_path, "ConditionalQA")
    ours = passages(made)
    assert {row["text"] for row in rows if row["doc_id"] == "0"} <= set(ours.values())
    queries, judged = labelled(made)
    assert len(queries) == 3
    for query in queries:
        assert {ours[passage] for name, passage in judged if name == query} == positives[query]
