"""Judgements of passages that the corpus lacks: kept, dropped or refused, and refused if there are no others."""

from types import SimpleNamespace

import pytest

from harness.collection.corpus import write
from harness.collection.queries import write_judgements, write_queries
from harness.errors import HarnessError
from harness.execution.open_dataset import opened
from harness.types import Document, Judgement, Passage, Query


class Source:
    def documents(self):
        return iter([Document("d", "", (Passage("p", "four lanterns", True),))])


@pytest.fixture
def parts(tmp_path):
    """Makes the parts of a collection of one passage, of which these passages are judged."""

    def made(*judged):
        folders = {part: tmp_path / part for part in ("corpus", "queries", "judgements")}
        for folder in folders.values():
            folder.mkdir()
        facts = write(Source(), folders["corpus"], lambda done, total: None)
        write_queries([Query("q", "lanterns")], folders["queries"])
        write_judgements([Judgement("q", passage, 1) for passage in judged], folders["judgements"])
        manifest = {"keyed": {}, "facts": facts, "files": {}}
        return {
            part: SimpleNamespace(id=f"{part}-key", folder=folder, **manifest)
            for part, folder in folders.items()
        }

    return made


@pytest.mark.parametrize("policy", ["keep", "drop"])
def test_if_none_of_the_judged_passages_is_in_the_corpus_nothing_is_scored(parts, policy):
    message = (
        "mine: none of the 2 judged passages is in the corpus, the first is 'P'; "
        "check that judgements and corpus have the same ids"
    )
    with pytest.raises(HarnessError, match=message):
        opened(parts("P", "R"), policy, "mine")


def test_a_dataset_judges_its_own_queries_alone_unless_it_is_made(parts):
    made = parts("p")
    write_judgements([Judgement(query, "p", 1) for query in ("q", "r")], made["judgements"].folder)
    with pytest.raises(HarnessError, match=r"mine: 1 judged queries are not .*, the first is 'r'; a dataset"):
        opened(made, "keep", "mine")
    made["queries"].id = "made-key"
    assert opened(made, "keep", "mine").facts["judgements_of_unknown_queries"] == 1
