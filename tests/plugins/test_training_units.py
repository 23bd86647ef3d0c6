"""What an epoch counts, how the rate goes, how titles are read, and the parts of joint training."""

import dataclasses

import numpy as np
import pytest
import tiny_models

from harness.errors import HarnessError
from harness.types import Examples, Pool, Training

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

pytestmark = pytest.mark.extras

from harness_training import batches, loop, losses, networks  # noqa: E402
from harness_training.cross_encoder import CrossEncoder  # noqa: E402
from harness_training.dual_encoder import DualEncoder  # noqa: E402
from harness_training.params import CrossEncoderParams, DualEncoderParams, RocketQAv2Params  # noqa: E402
from harness_training.rocketqav2 import RocketQAv2  # noqa: E402

TEXTS = [f"{a} {b} {a}" for a in ("river", "stone", "garden", "winter") for b in ("north", "old", "the")]
TITLES = ["castle" if place % 2 else "" for place in range(len(TEXTS))]


def pool(*lists):
    bounds = np.cumsum([0, *map(len, lists)])
    flat = np.array([place for places in lists for place in places], np.int64)
    return Pool(bounds, flat, np.full(len(flat), 0.5, np.float32))


def examples(**more):
    """Two queries, the first with two positives, and three negatives each."""
    made = Examples(
        ["river north", "stone old"], pool([0, 1], [4]), pool([5, 6, 7], [8, 9, 10]), 2, "sample",
        lambda positions: [TEXTS[position] for position in positions.tolist()],
        titles_at=lambda positions: [TITLES[position] for position in positions.tolist()],
    )  # fmt: skip
    return made._replace(**more)


def epoch(given, unit, single=False, number=0):
    """Each list of an epoch as its query, its passages and which of them is the positive."""
    instances = batches.instances_of(given, unit, single)
    count = len(instances.query)
    steps = range(number * count, (number + 1) * count)
    drawn = [
        batches.batch_of(given, instances, step, size=1, negatives=2, seed=0, single=single) for step in steps
    ]
    return sorted(
        (batch.queries[0], tuple(TEXTS.index(batch.texts[place]) for place in batch.lists[0] if place >= 0),
         batch.relevant[0].sum())
        for batch in drawn
    )  # fmt: skip


@pytest.mark.parametrize(
    ("unit", "single", "lists"),
    [
        ("query", False, [3, 3]),
        ("positive", False, [3] * 3),
        ("pair", False, [2] * 6),
        ("pair", True, [1] * 9),
    ],
)
def test_an_epoch_has_each_query_each_positive_or_each_pair_once(unit, single, lists):
    found = epoch(examples(), unit, single)
    assert [len(passages) for _, passages, _ in found] == lists
    positives = [passages[0] for _, passages, relevant in found if relevant]
    assert len(positives) == (2 if unit == "query" else 6 if (unit, single) == ("pair", False) else 3)
    if unit != "query":
        assert set(positives) == {0, 1, 4}
        assert single or len(set(found)) == len(found)  # two positives may draw one negative


def test_the_pairs_of_a_positive_are_its_draw_one_by_one():
    whole = {passages[0]: set(passages[1:]) for _, passages, _ in epoch(examples(), "positive")}
    for _, passages, _ in epoch(examples(), "pair"):
        assert passages[1] in whole[passages[0]]


def test_undenoised_lists_stand_apart_with_judged_positives_and_may_hold_trusted_ones_as_negatives():
    given = examples(
        apart=True, judged=pool([0], [4]), undenoised=pool([1, 5], [9, 11]), take=2,
        negatives=pool([6, 7], [8, 10]),
    )  # fmt: skip
    found = epoch(given, "query")
    raw = [(query, passages) for query, passages, _ in found if set(passages[1:]) <= {1, 5, 9, 11}]
    clean = [passages for _, passages, _ in found if set(passages[1:]) <= {6, 7, 8, 10}]
    assert raw == [("river north", (0, 1, 5)), ("stone old", (4, 9, 11))]
    assert len(clean) == 2
    instances = batches.instances_of(given, "query")
    batch = batches.batch_of(given, instances, 0, size=4, negatives=2, seed=0)
    for places, allowed in zip(batch.lists, batch.allowed, strict=True):
        assert allowed[places].all()  # what a list holds counts in it


def test_passages_of_other_lists_join_a_list_but_never_a_positive_of_its_query():
    instances = batches.each_query(np.arange(2))
    batch = batches.batch_of(examples(), instances, 0, size=2, negatives=2, seed=0, others=9)
    for query, places in zip(batch.queries, batch.lists, strict=True):
        held = [TEXTS.index(batch.texts[place]) for place in places if place >= 0]
        assert len(set(held)) == len(held) >= 5
        assert len({0, 1} & set(held)) == 1 if query == "river north" else held.count(4) == 1


def test_the_rate_falls_in_a_line_or_as_a_cosine_or_stays_with_and_without_a_warm_up():
    def rates(schedule, warmup):
        how = loop.Optimisation(4, 1.0, warmup, 0.0, 0.0, schedule=schedule)
        return [round(loop.rate_at(step, how), 4) for step in range(4)]

    assert rates("linear", 0.0) == [1.0, 0.75, 0.5, 0.25]
    assert rates("constant", 0.0) == [1.0] * 4
    assert rates("constant", 0.5) == [0.5, 1.0, 1.0, 1.0]
    assert rates("cosine", 0.0) == [1.0, 0.8536, 0.5, 0.1464]


def settings(folder, kind, **more):
    if not (folder / "init").exists():
        tiny_models.sentence_transformer(folder / "init")
    usual = {"epochs": 2, "batch": 2, "micro": 8, "lr": 1e-3, "dtype": "fp32", "device": "cpu"}
    lengths = {"query_length": 8, "passage_length": 16, "similarity": "dot"}
    usual |= {"length": 24} if kind is CrossEncoderParams else lengths
    usual |= {"init_reranker": folder / "init"} if kind is RocketQAv2Params else {}
    return kind(init=folder / "init", **usual | more)


def test_trainers_count_what_the_suite_says(tmp_path):
    found = {}
    for name, trainer, kind, unit in (
        ("a", DualEncoder, DualEncoderParams, "pair"),
        ("b", CrossEncoder, CrossEncoderParams, "pair"),
        ("c", RocketQAv2, RocketQAv2Params, "positive"),
    ):
        (tmp_path / name).mkdir()
        facts = trainer(settings(tmp_path, kind, instance=unit)).train(
            examples(), tmp_path / name, Training(0)
        )
        found[name] = (facts["instances"], facts["steps"])
    assert found == {"a": (6, 6), "b": (9, 10), "c": (3, 4)}


def test_a_mixed_share_and_pairs_are_refused(tmp_path):
    given = examples(share=0.5, undenoised=pool([5], [8]))
    params = settings(tmp_path, DualEncoderParams, instance="pair")
    with pytest.raises(HarnessError, match="undenoised: lists"):
        DualEncoder(params).train(given, tmp_path, Training(0))


@pytest.mark.parametrize("how", ["none", "joined", "pair", "untyped-pair"])
def test_a_trainer_reads_a_passage_as_dense_does(tmp_path, how):
    """The vectors of passages before training are those of `dense` with the same option."""
    from harness.toolkit.neural import title_pairs, tokens

    params = settings(tmp_path, DualEncoderParams, titles=how, dropout=0.0, passage_prompt="the ")
    trainer = DualEncoder(params)
    given = examples() if how != "none" else examples(titles_at=None)
    batch = batches.batch_of(given, batches.each_query(np.arange(2)), 0, size=2, negatives=2, seed=0)
    towers = trainer._towers()
    lots = [lot for lot in trainer._lots(towers, batch, 99) if lot.side == 1]
    [lot] = lots
    tower = towers["passage"].eval()
    found = tower(lot.texts, lot.length, lot.titles).detach()
    order = [place - 2 for place in lot.places]
    texts, titles = [batch.texts[i] for i in order], [(batch.titles or [""] * 99)[i] for i in order]
    if how in ("pair", "untyped-pair"):
        encoded, _ = title_pairs.tokenise(tower.tokeniser, how, titles, texts, 16, "the ")
        assert (encoded.types is not None) == (how == "pair")
    else:
        whole = [f"{title} {text}".strip() for title, text in zip(titles, texts, strict=True)]
        encoded, _ = tokens.tokenise(tower.tokeniser, [f"the {text}" for text in whole], 16)
    assert torch.allclose(found, tower._padded(encoded).detach(), atol=1e-5)


def test_a_re_ranker_reads_the_title_before_the_text(tmp_path, monkeypatch):
    read = []
    forward = networks.Scorer.forward
    monkeypatch.setattr(
        networks.Scorer, "forward", lambda self, q, p, *more: read.extend(p) or forward(self, q, p, *more)
    )
    CrossEncoder(settings(tmp_path, CrossEncoderParams, titles="joined")).train(
        examples(), tmp_path, Training(0)
    )
    assert set(read) <= {" ".join(filter(None, pair)) for pair in zip(TITLES, TEXTS, strict=True)}
    assert any(text.startswith("castle ") for text in read)


def test_joint_training_keeps_two_towers_and_starts_each_from_its_own(tmp_path):
    other = tiny_models.sentence_transformer(tmp_path / "other", seed=5)
    params = settings(
        tmp_path, RocketQAv2Params, untied=True, init_query=other, lr=0.0, decay=0.0, titles="pair"
    )
    RocketQAv2(params).train(examples(), tmp_path, Training(0))
    for part, start in (("query", other), ("passage", params.init), ("reranker", None)):
        assert (tmp_path / part / "model.safetensors").exists()
        if start is not None:
            now, before = (
                tiny_models.read_safetensors(at / "model.safetensors") for at in (tmp_path / part, start)
            )
            name = "encoder.layer.0.output.dense.weight"
            assert np.array_equal(now[name], before[name])
    with pytest.raises(ValueError, match="untied: true"):
        dataclasses.replace(params, untied=False)


def test_the_weight_of_the_divergence_and_the_dropout_of_the_retriever_change_the_loss(tmp_path):
    def first_loss(**more):
        params = settings(tmp_path, RocketQAv2Params, dropout=0.0, micro=99, **more)
        trainer = RocketQAv2(params)
        batch = batches.batch_of(examples(), batches.each_query(np.arange(2)), 0, size=2, negatives=2, seed=0)
        towers = networks.towers(params, ("retriever",), params.retriever_dropout)
        scorer = networks.Scorer(params.init_reranker, 1, 0.0, "fp32", 0)
        for network in (*towers.values(), scorer):
            network.train()
        return trainer._backward(towers, scorer, batch, (0, 0), 99, lambda count: (0, count))

    none, half, whole = (first_loss(divergence=weight) for weight in (0.0, 0.5, 1.0))
    assert half - none == pytest.approx((whole - none) / 2, rel=1e-4)
    assert whole > none
    assert first_loss(retriever_dropout=0.5) != pytest.approx(whole, rel=1e-3)


def test_the_divergence_is_equation_4_divided_by_the_number_of_lists():
    scores = torch.tensor([[1.0, 2.0, 0.5], [0.0, -1.0, 3.0]], dtype=torch.float64)
    other = torch.tensor([[0.3, 0.1, 2.0], [1.0, 1.0, 1.0]], dtype=torch.float64)
    p, r = (torch.softmax(each, dim=1) for each in (scores, other))
    equation_4 = float((p * (p / r).log()).sum())
    found = losses.dynamic_listwise(scores, other, torch.ones(2, 3, dtype=torch.bool))
    assert float(found) == pytest.approx(equation_4 / 2, rel=1e-12)
