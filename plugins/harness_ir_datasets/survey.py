"""Table 4 of the survey of dense retrieval (Zhao et al. 2024) as data, with the ids of ir_datasets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

SOURCE = "Zhao et al. 2024, table 4"


class Counts(NamedTuple):
    """The counts that the table prints for a collection. None stands for a dash in the table."""

    train: int | None  # queries
    labels: int | None  # judgements of the training queries
    dev: int | None  # queries
    test: int | None  # queries
    instances: int | None  # candidate texts


class Entry(NamedTuple):
    """A collection of the survey. `ids` has the id in ir_datasets of each split, the usual split first. In an
    id, `{}` stands for the part that the user writes behind a slash, one of `parts`. If ir_datasets lacks the
    collection, `ids` is empty and `elsewhere` says where to get it."""

    name: str
    domain: str
    counts: Counts
    ids: Mapping[str, str] = {}
    parts: tuple[str, ...] = ()
    elsewhere: str = ""
    note: str = ""


def _beir(name: str, *splits: str) -> dict[str, str]:
    return {split: f"beir/{name}/{split}" for split in splits}


LANGUAGES = ("ar", "de", "dt", "es", "fr", "hi", "id", "it", "ja", "pt", "ru", "vi", "zh")  # dt is Dutch
FORUMS = (
    "android", "english", "gaming", "gis", "mathematica", "physics", "programmers", "stats", "tex", "unix",
    "webmasters", "wordpress",
)  # fmt: skip
_DPR = "ir_datasets has the queries over DPR's 21,015,324 passages of Wikipedia"
_LOADER = "as a BEIR folder or as files it loads with `files`"
_ANSWERS = "`files` reads them, with psgs_w100.tsv, for the protocol rocketqav2-nq"

TABLE: tuple[Entry, ...] = (
    Entry(
        "MS MARCO", "Web", Counts(502_939, 532_761, 6_980, 6_837, 8_841_823),
        {"dev": "msmarco-passage/dev/small", "train": "msmarco-passage/train/judged",
         "test": "msmarco-passage/eval/small"},
        note="the judgements of its test queries are not public",
    ),
    Entry(
        "mMARCO", "Web", Counts(808_731, None, 101_093, None, 8_841_823),
        {"dev": "mmarco/v2/{}/dev", "train": "mmarco/v2/{}/train"}, LANGUAGES,
    ),
    Entry(
        "TREC-NEWS", "News", Counts(None, None, None, 57, 594_977),
        elsewhere="BEIR makes it from the Washington Post, which NIST licenses; " + _LOADER,
        note="ir_datasets has the same track as wapo/v2/trec-news-2019, whose queries are whole articles",
    ),
    Entry("TREC-COVID", "Biomedical", Counts(None, None, None, 50, 171_332), {"test": "beir/trec-covid"}),
    Entry(
        "NFCorpus", "Biomedical", Counts(5_922, 110_575, 324, 323, 3_633),
        _beir("nfcorpus", "test", "dev", "train"),
        note="its training labels are of 2,590 queries in BEIR; the table's 5,922 are the original corpus's",
    ),
    Entry(
        "Signal-1M", "Twitter", Counts(None, None, None, 97, 2_866_316),
        elsewhere="its tweets have to be collected by their ids, as BEIR's repository describes; " + _LOADER,
    ),
    Entry(
        "Touché-2020", "Argument", Counts(None, None, None, 249, 528_155),
        {"test": "beir/webis-touche2020/v2"},
        note="it has 49 queries and 382,545 arguments; what the table prints is TREC Robust 2004 "
        "(disks45/nocr/trec-robust-2004)",
    ),
    Entry("ArguAna", "Argument", Counts(None, None, None, 1_406, 8_674), {"test": "beir/arguana"}),
    Entry(
        "DBPedia", "Wikipedia", Counts(None, None, 67, 400, 4_635_922), _beir("dbpedia-entity", "test", "dev")
    ),
    Entry(
        "ORCAS", "Web", Counts(10_400_000, 18_800_000, None, None, 3_213_835),
        {"train": "msmarco-document/orcas"}, note="clicks, which are for training, on documents",
    ),
    Entry(
        "EntityQuestions", "Wikipedia", Counts(176_560, 186_367, 22_068, 22_075, None),
        elsewhere="https://github.com/princeton-nlp/EntityQuestions has questions and answers; as id, "
        "text and a JSON list of answers between tabs " + _ANSWERS,
    ),
    Entry(
        "MS MARCO v2", "Web", Counts(277_144, 284_212, 8_184, None, 138_364_198),
        {"dev1": "msmarco-passage-v2/dev1", "dev2": "msmarco-passage-v2/dev2",
         "train": "msmarco-passage-v2/train"},
        note="its dev queries are two sets, of 3,903 and 4,281",
    ),
    Entry(
        "DuReader-retrieval", "Web", Counts(97_343, 86_395, 2_000, 8_948, 8_096_668),
        elsewhere="the dataset `dureader-retrieval`",
        note="its own paper has 86,395 training queries, with 222,395 labels, and 4,000 test queries",
    ),
    Entry(
        "Natural Questions", "Wikipedia", Counts(152_148, 152_148, 6_515, 3_610, 2_681_468),
        {"test": "beir/nq", "dev": "dpr-w100/natural-questions/dev"},
        note="the passages are BEIR's, with 3,452 test queries; dev is DPR's, over 21,015,324 passages",
    ),
    Entry(
        "SQuAD", "Wikipedia", Counts(78_713, 78_713, 8_886, 10_570, 23_215),
        elsewhere="https://rajpurkar.github.io/SQuAD-explorer has questions on paragraphs; " + _LOADER,
    ),
    Entry(
        "TriviaQA", "Wikipedia", Counts(78_785, 78_785, 8_837, 11_313, 740_000),
        {"dev": "dpr-w100/trivia-qa/dev", "train": "dpr-w100/trivia-qa/train"}, note=_DPR,
    ),
    Entry(
        "HotpotQA", "Wikipedia", Counts(85_000, 170_000, 5_447, 7_405, 5_233_329),
        _beir("hotpotqa", "test", "dev", "train"),
    ),
    Entry(
        "WebQuestions", "Web", Counts(3_417, 3_417, 361, 2_032, None),
        elsewhere="https://github.com/facebookresearch/DPR has its .qa.csv; " + _ANSWERS,
    ),
    Entry(
        "CuratedTREC", "Web", Counts(1_353, 1_353, 133, 694, None),
        elsewhere="https://github.com/facebookresearch/DPR has its .qa.csv; " + _ANSWERS,
        note="its answers are regular expressions: say `match: regex`",
    ),
    Entry(
        "FiQA-2018", "Finance", Counts(5_500, 14_166, 500, 648, 57_638), _beir("fiqa", "test", "dev", "train")
    ),
    Entry(
        "BioASQ", "Biomedical", Counts(3_743, 35_285, None, 497, 15_559_157),
        elsewhere="http://participants-area.bioasq.org, after registration; " + _LOADER,
    ),
    Entry(
        "CQADupStack", "StackExchange", Counts(None, None, None, 13_145, 457_199),
        {"test": "beir/cqadupstack/{}"}, FORUMS, note="the table's counts are of the twelve forums together",
    ),
    Entry("Quora", "Quora", Counts(None, None, 5_000, 10_000, 522_931), _beir("quora", "test", "dev")),
    Entry(
        "ArchivalQA", "News", Counts(853_644, 853_644, 106_706, 106_706, 483_604),
        elsewhere="https://github.com/WangJiexin/ArchivalQA has the questions; the articles are licensed",
    ),
    Entry(
        "CCQA", "Web", Counts(55_000_000, 130_000_000, None, None, None),
        elsewhere="https://github.com/facebookresearch/CCQA makes it from Common Crawl",
    ),
    Entry(
        "FEVER", "Wikipedia", Counts(None, 140_085, 6_666, 6_666, 5_416_568),
        _beir("fever", "test", "dev", "train"),
    ),
    Entry(
        "Climate-FEVER", "Wikipedia", Counts(None, None, None, 1_535, 5_416_593),
        {"test": "beir/climate-fever"},
    ),
    Entry(
        "SciFact", "Scientific", Counts(809, 920, None, 300, 5_183), _beir("scifact", "test", "train"),
        note="BEIR has 919 of the 920 training labels"
    ),
    Entry("SciDocs", "Scientific", Counts(None, None, None, 1_000, 25_657), {"test": "beir/scidocs"}),
)  # fmt: skip

# Collections that the survey names in its text (A.1), without counts.
BESIDE: tuple[Entry, ...] = (
    Entry(
        "KILT", "Wikipedia", Counts(None, None, None, None, None),
        elsewhere="https://github.com/facebookresearch/KILT has its tasks; " + _LOADER,
        note="ir_datasets has its pages as `kilt`, and CODEC's queries on them as `kilt/codec`",
    ),
    Entry(
        "MS MARCO Chameleons", "Web", Counts(None, None, None, None, None),
        elsewhere="https://github.com/Narabzad/Chameleons lists its queries, which are of "
        "msmarco-passage/dev/small; " + _LOADER,
    ),
)  # fmt: skip


def printed(entry: Entry, split: str) -> dict[str, int]:
    """The counts that the table prints for one split, by the names of `harness.collection.cards`. A count
    that the table prints for several collections together is left out, because it holds for none of them."""
    counts = entry.counts
    queries = {"train": counts.train, "dev": counts.dev, "test": counts.test}.get(split)
    together = bool(entry.parts) and entry.name != "mMARCO"
    printed_counts = {
        "passages": None if together else counts.instances,
        "queries": None if together else queries,
        "judgements": counts.labels if split == "train" else None,
    }
    return {name: count for name, count in printed_counts.items() if count is not None}
