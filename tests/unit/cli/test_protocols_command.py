"""`harness protocols show NAME`: a protocol in words."""

import re
import subprocess
import sys

import pytest

from harness import catalogue, cli
from harness.catalogue import KINDS, Catalogue, Entry, Plugin
from harness.cli import protocols
from harness.records import Column, Protocol

PLAIN = Protocol(name="plain", summary="a protocol without words", columns=(Column("RR@10"),), depth=10)
NAMES = catalogue.load().names("protocols")


def shown(name, capsys):
    assert cli.main(["protocols", "show", name]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("name", NAMES)
def test_everything_that_the_record_says_is_printed_within_the_width(name, capsys):
    record = catalogue.load().find("protocols", name).record
    printed = shown(name, capsys)
    assert max(map(len, printed.splitlines())) <= protocols.WIDTH
    words = " ".join(printed.split())
    assert f"columns, of runs cut at {record.depth}:" in words
    said = [record.summary, record.cite, *record.notes]
    said += [f"{column.label} {column.says}" for column in record.columns]
    assert [text for text in said if " ".join(text.split()) not in words] == []


def test_t2ranking_says_how_its_script_differs_from_its_paper(capsys):
    printed = " ".join(shown("t2ranking-retrieval", capsys).split())
    assert "equation 6 has the sums only in the denominator" in printed
    assert "divides the sum for MRR@10 by the number of queries in the run" in printed
    assert "fills a short list up to 1000 with the passage 0" in printed


def test_a_plugins_protocol_without_words_is_printed_without_empty_parts(monkeypatch, capsys):
    plugin = Plugin("toy", "toy", "toy", "1", None)
    entries = {kind: {} for kind in KINDS} | {"protocols": {"plain": (Entry(PLAIN, plugin),)}}
    monkeypatch.setattr(catalogue, "load", lambda: Catalogue((plugin,), entries))
    assert shown("plain", capsys) == (
        "plain (version 1)\n  a protocol without words\n\n"
        "columns, of runs cut at 10:\n  RR@10\n      the plugin does not say what it is\n"
    )


def test_an_unknown_name_is_refused_with_a_guess(capsys):
    assert cli.main(["protocols", "show", "t2ranking"]) == 2
    assert capsys.readouterr().err == "unknown protocol 't2ranking'; did you mean 't2ranking-retrieval'?\n"


def test_the_action_must_be_named():
    with pytest.raises(SystemExit, match="2"):
        cli.main(["protocols"])


def test_numpy_is_not_imported():
    code = (
        "import sys; from harness.cli import main; main(['protocols', 'show', 'survey'])\n"
        "sys.exit(' '.join({'numpy', 'pyarrow', 'ir_measures'} & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.match(r"survey \(version 1\)", done.stdout)
