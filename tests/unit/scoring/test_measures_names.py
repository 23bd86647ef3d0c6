"""Names of measures: one for each, the same as ir-measures', and clear refusals."""

import subprocess
import sys

import ir_measures
import pytest

from harness.errors import HarnessError
from harness.records import Measure
from harness.scoring.measures import parse
from harness.scoring.measures.names import ALIASES, FAMILIES

WRITTEN = (
    *("nDCG@10", "NDCG@10", "MRR@10", "RR(rel=2)@10", "RR", "MAP", "AP(rel=1)", "AP(rel=2)@100", "R@50"),
    *(
        "Recall(rel=2)@5",
        "Success@1",
        "P@5",
        "Precision@20",
        "Judged@10",
        "Judged",
        "NumRet",
        "NumRet(rel=1)",
    ),
    *("NumRelRet", "NumRel(rel=2)", "NumQ", "Rprec", "RPrec(rel=2)", "nDCG(dcg='exp-log2')@10"),
    *('nDCG(dcg="log2")@10', "nDCG(gains={2:3, 0:0, 1:1})@20", "nDCG(judged_only=True)@10", "R(cutoff=5)"),
    *("P( rel = 2 ) @ 5", "ERR@20", "Bpref", "IPrec@0.1", "SetRelP", "SetF(beta=2.0)", "infAP(rel=2)"),
)


@pytest.mark.parametrize("text", WRITTEN)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # ir-measures reads `ast.Num`
def test_a_name_is_the_one_that_ir_measures_writes(text):
    name = parse(text, {}).name
    assert name == str(ir_measures.parse_measure(text))
    assert parse(name, {}).name == name


def test_parameters_come_in_one_order_however_they_were_written():
    swapped = parse("nDCG(judged_only=True, dcg='log2', gains={1: 5})@3", {})
    assert swapped.name == parse("nDCG(gains={1: 5}, judged_only=True)@3", {}).name


@pytest.mark.parametrize("family", FAMILIES)
def test_our_table_of_parameters_is_that_of_ir_measures(family):
    theirs = ir_measures.measures.registry[family].SUPPORTED_PARAMS
    assert set(FAMILIES[family]) == set(theirs)
    for name, slot in FAMILIES[family].items():
        info = theirs[name]
        assert (slot.type, slot.required) == (info.dtype, info.required)
        if slot.default is not None:
            assert slot.default == info.default


@pytest.mark.parametrize("alias", ALIASES)
def test_our_aliases_are_those_of_ir_measures(alias):
    family, preset = ALIASES[alias]
    measure = ir_measures.measures.registry[alias]
    assert (measure.NAME, dict(measure.params)) == (family, preset)


def test_aliases_and_families_with_kernels_are_complete():
    ours = {*FAMILIES, *ALIASES}
    same = [name for name, one in ir_measures.measures.registry.items() if one.NAME in FAMILIES]
    assert {name for name in same if name != "SetRelP"} == ours


def test_a_common_measure_needs_no_import_of_ir_measures():
    code = (
        "import sys; from harness.records import Column; from harness.types import Hits; import numpy as np;"
        "from harness.scoring import score; from harness.collection.judgements import Judged; one = np.zeros(1, np.int64);"
        "score.score(Hits(one[:, None], np.ones((1, 1), np.float32)),"
        " Judged(one.astype('i4'), one, one.astype('i4')), [Column('nDCG@10')], size=1);"
        "print([name for name in ('ir_measures', 'numba', 'pytrec_eval') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("text", "fault"), [
    ("nDGC@10", "unknown measure 'nDGC'; did you mean 'nDCG'?"),
    ("MicroS@10", "unknown measure 'MicroS'; did you mean 'MicroR'?"),
    ("R", "the parameter 'cutoff' is missing; write R@10"),
    ("R@0", "cutoff: expected at least 1"),
    ("R@1.5", "cutoff: expected a whole number, got 1.5"),
    ("AP(rel=0)", "rel: expected at least 1"),
    ("AP(rel=True)", "rel: expected a whole number, got true"),
    ("P(real=2)@5", "'real'; did you mean 'rel'?"),
    ("R(cutoff=5)@5", "'cutoff' is given twice"),
    ("nDCG(dcg='log3')", "dcg: expected 'log2' or 'exp-log2'"),
    ("nDCG(gains={1:-1})", "gains: expected whole numbers"),
    ("nDCG 10", "did you mean 'nDCG@10'?"),
    ("nDCG10", "did you mean 'nDCG@10'?"),
    ("ndcg_cut_10", "did you mean 'nDCG@10'?"),
    ("map_at_5", "did you mean 'MAP@5'?"),
    ("recall_100", "did you mean 'Recall@100'?"),
    ("ndcg@10", "did you mean 'nDCG@10'?"),
    ("micror@5", "did you mean 'MicroR@5'?"),
    ("iprec@0.1", "did you mean 'IPrec@0.1'?"),
    ("rr(rel=2)@10", "did you mean 'RR(rel=2)@10'?"),
    ("R@100 document", "did you mean 'document R@100'?"),
    ("Document R@10", "did you mean 'document R@10'?"),
    ("R 10 20", "write it like nDCG@10"),
    ("nDCG(5)@10", "write it like nDCG@10"),
    ("P(__import__('os'))@5", "write it like nDCG@10"),
    ("", "write it like nDCG@10"),
    ("Quux@10", "choose from: AP, "),
])  # fmt: skip
def test_a_wrong_measure_is_refused_with_what_to_write(text, fault):
    own = {"MicroR": Measure(name="MicroR", summary="", build=lambda: None)}
    with pytest.raises(HarnessError) as error:
        parse(text, own)
    assert str(error.value).startswith((f"{text}: ", f"{text!r}: "))
    assert fault in str(error.value)


def test_what_ir_measures_cannot_compute_here_is_refused_before_a_run():
    with pytest.raises(HarnessError, match=r"^nDCG\(dcg='exp-log2',gains=\{1:2\}\)@5: ir-measures cannot"):
        parse("nDCG(gains={1:2}, dcg='exp-log2')@5", {})
