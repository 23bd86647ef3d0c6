"""The committed suites of RocketQAv2, DuReader-retrieval and T2Ranking have the settings of their papers and code."""

from pathlib import Path

import pytest

from harness import catalogue, suite

BOARDS = Path(__file__).parents[3] / "leaderboards"
JOINT = ["rocketqav2-msmarco", "rocketqav2-nq", "rocketqav2-ablations"]
PAPERS = [
    *JOINT,
    *(path.name for kind in ("dureader", "t2ranking") for path in sorted(BOARDS.glob(f"{kind}-*"))),
]


@pytest.fixture(scope="module")
def read():
    records, known = catalogue.load(), {}

    def read(name):
        if name not in known:
            known[name] = suite.load(BOARDS / name / "suite.yaml", records)
        return known[name]

    return read


def trained(suite, *kinds):
    return [spec for spec in suite.models if spec.train.name in kinds]


@pytest.mark.parametrize("name", PAPERS)
def test_no_row_reads_a_title_twice(read, name):
    for system in read(name).systems:
        if system.retriever is None or system.retriever.name != "dense":
            continue
        params = system.retriever.params
        reads = params.titles not in ("auto", "none") or params.model == "dpr-nq"
        assert not (reads and "titles" in [stage.name for stage in system.context or ()]), system.name


@pytest.mark.parametrize("name", JOINT)
def test_the_final_retriever_the_start_and_the_denoiser_are_three_models(read, name):
    systems = {system.name: system for system in read(name).systems}
    for spec in trained(read(name), "rocketqav2"):
        params = spec.train.params
        final = systems["rocketqa" if name.endswith("ablations") else "RocketQA"].retriever.params
        miner = (
            systems[systems[spec.negatives.of].of[0]]
            if systems[spec.negatives.of].of
            else systems[spec.negatives.of]
        )
        assert params.init == miner.retriever.params.model != final.model
        assert params.init_query == (miner.retriever.params.query_model or params.init)
        assert params.untied
        assert params.titles == miner.retriever.params.titles == "pair"
        if systems[spec.negatives.of].rerank:
            assert str(params.init_reranker) not in map(
                str, systems[spec.negatives.of].rerank[0].chosen.params.models
            )


def test_n_is_one_number_and_lists_are_denoised_or_undenoised(read):
    joint = [spec for name in JOINT for spec in trained(read(name), "rocketqav2")]
    assert {spec.negatives.depth for spec in joint} == {200}
    assert {spec.negatives.undenoised for spec in joint if spec.negatives.below} == {"lists"}
    assert {spec.train.params.schedule for spec in joint} == {"constant"}
    assert all(spec.negatives.without_answer for spec in read("rocketqav2-nq").models)


@pytest.mark.parametrize("name", PAPERS)
def test_dual_encoders_are_two_towers_and_recipes_count_as_their_authors_do(read, name):
    unit = "pair" if name.startswith("dureader") else "query"
    for spec in trained(read(name), "dual-encoder", "cross-encoder"):
        assert spec.train.params.instance == unit
        assert spec.train.name == "cross-encoder" or spec.train.params.untied
        if name.startswith("t2ranking") or spec.train.params.warmup == 0:
            assert (spec.train.params.schedule, spec.train.params.warmup) == ("constant", 0.0)
