"""Batches, the gradient cache, the loop and its states, on tiny models."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
import tiny_models

from harness.errors import HarnessError
from harness.types import Examples, Pool, Training

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

pytestmark = pytest.mark.extras

from harness_training import (  # noqa: E402
    CrossEncoderParams,
    DualEncoderParams,
    RocketQAv2Params,
    batches,
    dropout,
    dual_encoder,
    lamb,
    loop,
    networks,
    saved_state,
)
from harness_training.cross_encoder import CrossEncoder  # noqa: E402
from harness_training.dual_encoder import DualEncoder  # noqa: E402
from harness_training.rocketqav2 import RocketQAv2  # noqa: E402

TEXTS = [f"{a} {b} {a}" for a in ("river", "stone", "garden", "winter") for b in ("north", "old", "the")]
QUERIES = ["river north", "stone old", "garden the", "winter north", "river old"]


def examples(take=2, positives=None, scores=None):
    """Five queries with the passage that has their words, and all others as negatives."""
    good = positives or [[0], [4], [8], [9], [1]]
    bad = [[p for p in range(len(TEXTS)) if p not in own] for own in good]
    return Examples(
        QUERIES, pool(good, scores), pool(bad, scores), take, "sample",
        lambda positions: [TEXTS[position] for position in positions.tolist()],
    )  # fmt: skip


def pool(lists, score=None):
    bounds = np.cumsum([0, *map(len, lists)])
    flat = [item for items in lists for item in items]
    scores = np.full(len(flat), np.nan if score is None else score, np.float32)
    if score is not None:
        scores += np.arange(len(flat), dtype=np.float32) / 10
    return Pool(bounds, np.array(flat, np.int64), scores)


def encoder(tmp_path, **more):
    folder = tmp_path / "init"
    if not folder.exists():
        tiny_models.sentence_transformer(folder)
    usual = {"epochs": 4, "batch": 2, "micro": 4, "lr": 1e-3, "query_length": 8, "passage_length": 16}
    usual |= {"dtype": "fp32", "device": "cpu", "similarity": "dot"}
    return DualEncoderParams(init=folder, **usual | more)


def digests(folder):
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def trained(trainer, folder, given=None, **training):
    folder.mkdir()
    facts = trainer.train(given or examples(), folder, Training(0, **training))
    return facts, [json.loads(line)["loss"] for line in (folder / "log.jsonl").read_text().splitlines()]


# batches


def test_every_query_stands_once_in_each_epoch_in_another_order():
    given = examples()
    queries = batches.each_query(batches.usable(given))
    epochs = []
    for epoch in range(2):
        steps = range(epoch * 3, epoch * 3 + 3)
        found = [batches.batch_of(given, queries, step, size=2, negatives=2, seed=1) for step in steps]
        epochs.append([query for batch in found for query in batch.queries])
    assert sorted(epochs[0]) == sorted(epochs[1]) == sorted(QUERIES)
    assert epochs[0] != epochs[1]


def test_a_positive_of_a_query_and_its_duplicate_by_text_are_never_its_negatives(monkeypatch):
    monkeypatch.setitem(globals(), "TEXTS", [*TEXTS[:11], TEXTS[0]])  # passage 11 is passage 0 again
    given = examples(take=11, positives=[[0, 3], [4], [8], [9], [1]])
    batch = batches.batch_of(
        given, batches.each_query(batches.usable(given)), 0, size=5, negatives=11, seed=0
    )
    row = batch.queries.index("river north")
    masked = {text for text, ok in zip(batch.texts, batch.allowed[row], strict=True) if not ok}
    standing = batch.texts[batch.lists[row, 0]]
    assert masked | {standing} == {TEXTS[0], TEXTS[3]}
    assert batch.allowed[row, batch.lists[row, 0]]


def test_the_stride_walks_through_the_pool_from_epoch_to_epoch():
    chance = np.random.default_rng(0)
    walked = [batches.drawn(10, 3, epoch, chance, "stride").tolist() for epoch in range(4)]
    assert walked == [[0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 3, 6]]


def test_a_small_pool_fills_no_more_than_it_has():
    given = examples(take=3, positives=[[0], [4], [8], [9], [1]])
    given = given._replace(negatives=pool([[5], [], [1, 2], [3], [4]]))
    batch = batches.batch_of(given, batches.each_query(batches.usable(given)), 0, size=5, negatives=3, seed=0)
    assert sorted((batch.lists >= 0).sum(axis=1).tolist()) == [1, 2, 2, 2, 3]


# gradients


def test_the_gradient_cache_equals_the_plain_batch(tmp_path):
    """However the batch is cut into lots."""
    found = []
    for micro in (3, 100):
        params = encoder(tmp_path, micro=micro, dropout=0.0)
        trainer = DualEncoder(params)
        towers = trainer._towers()
        batch = batches.batch_of(examples(), batches.each_query(np.arange(5)), 0, size=5, negatives=2, seed=0)
        count = len(batch.queries)
        loss = dual_encoder.backward_in_parts(
            trainer._lots(towers, batch, micro), torch.zeros(count + len(batch.texts), 32), (0,),
            lambda v, t=trainer, b=batch, c=count: t._loss(v[:c], v[c:], b),
        )  # fmt: skip
        slopes = [p.grad.clone() for p in towers["passage"].parameters() if p.grad is not None]
        found.append((loss, slopes))
    (cached, first), (plain, second) = found
    assert cached == pytest.approx(plain, abs=1e-6)
    assert len(first) == len(second) > 20
    largest = max(float(slope.abs().max()) for slope in second)
    apart = max(float((a - b).abs().max()) for a, b in zip(first, second, strict=True))
    assert apart < 1e-5 * largest


def test_both_passes_of_the_gradient_cache_drop_the_same(tmp_path):
    params = encoder(tmp_path, dropout=0.5)
    tower = DualEncoder(params)._towers()["passage"].train()
    lot = dual_encoder.Lot(tower, TEXTS[:4], 16, [0, 1, 2, 3], 1)
    first, again = (dual_encoder._vectors(lot, (1, 2)) for _ in range(2))
    other = dual_encoder._vectors(lot, (1, 3))
    assert torch.equal(first, again)
    assert not torch.allclose(first, other)


def test_what_is_dropped_does_not_depend_on_how_the_batch_is_cut(tmp_path):
    """Texts of different lengths, so that the padding differs too."""
    texts = ["river", TEXTS[0] + " " + TEXTS[5], "stone old", TEXTS[3]]
    tower = DualEncoder(encoder(tmp_path, dropout=0.5))._towers()["passage"].train()

    def vectors(places):
        tower.keys.set((7, 1), places)
        return tower([texts[place] for place in places], 16)

    with torch.no_grad():
        whole, parts = vectors([0, 1, 2, 3]), torch.cat([vectors([0, 2]), vectors([1]), vectors([3])])
    assert torch.allclose(whole[[0, 2, 1, 3]], parts, atol=1e-5)
    assert not torch.allclose(whole[0], vectors([1, 0])[0], atol=1e-2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_dropout_keeps_the_mean_and_drops_the_share_that_it_says(dtype):
    keys = dropout.Keys()
    layer = dropout.Dropout(0.3, keys, 2).train()
    keys.set((5,), range(1000))
    found = layer(torch.ones(1000, 1001, dtype=dtype)).float()
    assert float((found == 0).float().mean()) == pytest.approx(0.3, abs=0.002)
    assert float(found.mean()) == pytest.approx(1.0, abs=0.005)
    assert abs(np.corrcoef(found[:, 0].numpy(), found[:, 1].numpy())[0, 1]) < 0.15
    assert torch.equal(layer.eval()(torch.ones(3)), torch.ones(3))


def test_memory_that_runs_short_halves_what_is_held_and_not_the_batch(tmp_path, monkeypatch):
    """And the model stays that of the whole batch, to float error."""
    params = encoder(tmp_path, epochs=1, micro=8)
    _, whole = trained(DualEncoder(params), tmp_path / "whole")
    forward = networks.Tower.forward

    def scarce(self, texts, length, titles=None):
        if len(texts) > 3:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 7 bytes")
        return forward(self, texts, length, titles)

    monkeypatch.setattr(networks.Tower, "forward", scarce)
    notes = []
    facts, losses = trained(
        DualEncoder(params), tmp_path / "scarce", progress=lambda done, total, note: notes.append(note)
    )
    assert facts["micro"] == 2
    assert "memory is short: 2 texts or pairs at a time" in notes
    assert losses == pytest.approx(whole, abs=1e-4)


def test_lamb_moves_weights_as_its_paper_says():
    """Against a slow transcription of algorithm 2."""
    weight = torch.nn.Parameter(torch.tensor([[1.0, -2.0], [0.5, 3.0]]))
    optimiser = lamb.Lamb([{"params": [weight], "weight_decay": 0.1}], lr=0.2)
    slow, m, v = weight.detach().numpy().astype(np.float64), np.zeros((2, 2)), np.zeros((2, 2))
    for step in range(1, 4):
        slope = np.array([[1.0, 2.0], [-1.0, 0.5]]) * step
        weight.grad = torch.tensor(slope, dtype=torch.float32)
        optimiser.step()
        m, v = 0.9 * m + 0.1 * slope, 0.999 * v + 0.001 * slope**2
        move = (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-6) + 0.1 * slow
        slow = slow - 0.2 * np.linalg.norm(slow) / np.linalg.norm(move) * move
    assert weight.detach().numpy() == pytest.approx(slow, rel=1e-5)


def test_hybrid_augmentation_takes_its_share_from_what_was_not_denoised():
    given = examples(take=4)
    raw = pool([[11, 10, 5, 6]] * 5)
    given = given._replace(negatives=pool([[5, 6, 7, 8]] * 5), undenoised=raw, share=0.5)
    for query in range(5):
        chance = np.random.default_rng(query)
        found, _ = batches._drawn_negatives(given, query, 4, 0, chance, "sample")
        assert len(set(found.tolist())) == len(found) == 4
        assert set(found[:2].tolist()) <= {11, 10, 5, 6}
        assert set(found[2:].tolist()) <= {5, 6, 7, 8}


def test_training_equals_a_plain_loop_over_transformers_own_modules(tmp_path):
    """Loss after loss, to float error: our attention, padding and schedule change nothing."""
    from torch.nn import functional
    from transformers import AutoModel, AutoTokenizer

    params = encoder(tmp_path, dropout=0.0, epochs=17, decay=0.0, warmup=0.2, clip=0.0)
    _, ours = trained(DualEncoder(params), tmp_path / "ours")
    model = AutoModel.from_pretrained(params.init, add_pooling_layer=False)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    tokeniser = AutoTokenizer.from_pretrained(params.init)
    optimiser = torch.optim.AdamW(model.parameters(), lr=params.lr, weight_decay=0.0)

    def vectors(texts, length):
        given = tokeniser(texts, max_length=length, truncation=True, padding=True, return_tensors="pt")
        states, mask = model(**given).last_hidden_state, given["attention_mask"][:, :, None]
        return (states * mask).sum(1) / mask.sum(1)

    theirs, every = [], batches.each_query(np.arange(5))
    for step in range(51):
        batch = batches.batch_of(examples(), every, step, size=2, negatives=2, seed=0)
        scores = vectors(batch.queries, 8) @ vectors(batch.texts, 16).T
        allowed = torch.from_numpy(batch.allowed)
        loss = functional.cross_entropy(
            scores.masked_fill(~allowed, -torch.inf), torch.tensor(batch.lists[:, 0])
        )
        optimiser.zero_grad()
        loss.backward()
        for group in optimiser.param_groups:
            group["lr"] = loop.rate_at(step, loop.Optimisation(51, params.lr, 0.2, 0, 0))
        optimiser.step()
        theirs.append(float(loss.detach()))
    assert ours == pytest.approx(theirs, abs=1e-3)


def test_the_rate_rises_and_falls_in_straight_lines():
    how = loop.Optimisation(steps=10, rate=1.0, warmup=0.2, decay=0, clip=0)
    assert [round(loop.rate_at(step, how), 3) for step in range(10)] == [
        0.5, 1.0, 1.0, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125,
    ]  # fmt: skip


# whole trainings


def test_a_trained_encoder_ranks_its_positives_higher_and_loads_as_it_was(tmp_path):
    params = encoder(tmp_path, epochs=20, dropout=0.0)
    facts, losses = trained(DualEncoder(params), tmp_path / "out")
    assert facts["steps"] == len(losses) == 60
    assert np.mean(losses[-9:]) < np.mean(losses[:9]) / 2
    tower = networks.Tower(tmp_path / "out" / "model", "auto", False, 0.0, "fp32").eval()
    with torch.no_grad():
        scores = tower(QUERIES, 8) @ tower(TEXTS, 16).T
    assert (scores.argmax(dim=1).numpy() == [0, 4, 8, 9, 1]).mean() >= 0.8


@pytest.mark.parametrize("loss", ["margin-mse", "kl"])
def test_distillation_learns_the_teachers_scores(tmp_path, loss):
    params = encoder(tmp_path, epochs=12, batch=5, dropout=0.0, loss=loss)
    _, losses = trained(DualEncoder(params), tmp_path / "out", examples(scores=1.0))
    assert np.mean(losses[-5:]) < np.mean(losses[:5]) / 2


def test_a_distillation_without_a_teacher_is_refused(tmp_path):
    with pytest.raises(HarnessError, match=r"no query .*teacher"):
        trained(DualEncoder(encoder(tmp_path, loss="kl")), tmp_path / "out")


def test_a_batch_without_a_scored_negative_teaches_nothing_and_stops_nothing(tmp_path):
    some, none = ([[5], [], [], [3], [4]], [[], [], [], [], []])
    trainer = DualEncoder(encoder(tmp_path, loss="margin-mse", epochs=1, batch=1))
    facts, curve = trained(
        trainer, tmp_path / "some", examples(scores=1.0)._replace(negatives=pool(some, 1.0))
    )
    assert facts["steps"] == 5
    assert sorted(value > 0 for value in curve) == [False, False, True, True, True]
    with pytest.raises(HarnessError, match="training: no negative"):
        trained(trainer, tmp_path / "none", examples(scores=1.0)._replace(negatives=pool(none, 1.0)))


def test_more_checkpoints_than_batches_are_refused(tmp_path):
    trainer = DualEncoder(encoder(tmp_path, epochs=1, batch=2))  # of five queries
    with pytest.raises(HarnessError, match="4 checkpoints of 3 batches"):
        trained(trainer, tmp_path / "out", segment=0, segments=4)


def test_untied_towers_are_two_models(tmp_path):
    trained(DualEncoder(encoder(tmp_path, untied=True)), tmp_path / "out")
    query, passage = (
        (tmp_path / "out" / part / "model.safetensors").read_bytes() for part in ("query", "passage")
    )
    assert query != passage


@pytest.mark.parametrize("loss", ["two-classes", "one-logit", "listwise"])
def test_a_cross_encoder_learns_its_lists(tmp_path, loss):
    tiny_models.bert(tmp_path / "init")
    params = CrossEncoderParams(
        init=tmp_path / "init", loss=loss, epochs=20, batch=5, micro=6, lr=2e-3, dropout=0.0, length=24,
        query_length=8, dtype="fp32", device="cpu",
    )  # fmt: skip
    _, losses = trained(CrossEncoder(params), tmp_path / "out")
    assert np.mean(losses[-3:]) < np.mean(losses[:3]) * 0.8
    settings = json.loads((tmp_path / "out" / "model" / "config.json").read_bytes())
    assert settings["architectures"] == ["BertForSequenceClassification"]


@pytest.mark.parametrize("kind", ["listwise", "pointwise", "static"])
def test_rocketqav2_trains_both_or_leaves_a_static_teacher_alone(tmp_path, kind):
    tiny_models.sentence_transformer(tmp_path / "de")
    tiny_models.bert(tmp_path / "ce")
    params = RocketQAv2Params(
        init=tmp_path / "de", init_reranker=tmp_path / "ce", reranker=kind, epochs=10, batch=3, micro=3,
        lr=2e-3, dropout=0.0, query_length=8, passage_length=16, dtype="fp32", device="cpu",
    )  # fmt: skip
    _, losses = trained(RocketQAv2(params), tmp_path / "out")
    assert np.mean(losses[-3:]) < np.mean(losses[:3])
    moved = tiny_models.read_safetensors(tmp_path / "out" / "reranker" / "model.safetensors")
    start = tiny_models.read_safetensors(tmp_path / "ce" / "model.safetensors")
    name = "encoder.layer.0.output.dense.weight"
    assert np.array_equal(moved[f"bert.{name}"], start[name]) == (kind == "static")


def test_a_loss_that_is_not_finite_stops_the_training_and_names_the_batch(tmp_path):
    with pytest.raises(HarnessError, match=r"batch \d+ of 12 is nan"):
        trained(DualEncoder(encoder(tmp_path, lr=1e30, clip=0.0)), tmp_path / "out")


# states


class Killed(Exception):
    pass


def killed_and_resumed(trainer, tmp_path, at):
    """Yields the folder of a training that was killed when `at` steps were done. The training then goes on and must
    end in the bytes of an undisturbed one."""
    whole, folder = tmp_path / "whole", tmp_path / "killed"
    trained(trainer(), whole)

    def kill(done, total, note):
        if done == at:
            raise Killed

    with pytest.raises(Killed):
        trained(trainer(), folder, progress=kill)
    yield folder
    trainer().train(examples(), folder, Training(0))
    assert digests(folder) == digests(whole)


def assert_resumed_without_its_backbone(kind, params, tmp_path):
    """A trainer that learns little beside a backbone ends in the same bytes, and does not store the backbone."""
    for folder in killed_and_resumed(lambda: kind(params), tmp_path, at=3):
        [state, *_] = sorted((folder / "state").glob("*.state"))
        assert state.stat().st_size < (params.init / "model.safetensors").stat().st_size


@pytest.mark.parametrize("at", [3, 7])
def test_a_killed_training_ends_in_the_same_bytes(tmp_path, at, monkeypatch):
    monkeypatch.setattr(loop, "SHARE", 0)  # a state after every step
    params = encoder(tmp_path)
    for folder in killed_and_resumed(lambda: DualEncoder(params), tmp_path, at):
        assert saved_state.newest(folder / "state").step == at - 1


def test_twenty_random_kills_and_a_damaged_state_end_in_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "SHARE", 0)
    params = encoder(tmp_path, epochs=10)
    trained(DualEncoder(params), tmp_path / "whole")
    folder = tmp_path / "killed"
    folder.mkdir()
    chance = np.random.default_rng(0)
    resumed = []
    for number in range(20):
        last = saved_state.newest(folder / "state")
        done = 0 if last is None else last.step
        resumed.append(done)
        if number == 10:
            newest = max((folder / "state").glob("*.state"))
            newest.write_bytes(newest.read_bytes()[:-1] + b"?")
            done -= 1
        at = min(29, done + int(chance.integers(1, 4)))  # before the 30th and last step

        def kill(step, total, note, at=at):
            if step >= at:
                raise Killed

        with pytest.raises(Killed):
            DualEncoder(params).train(examples(), folder, Training(0, progress=kill))
    assert sorted(set(resumed)) != [0]
    DualEncoder(params).train(examples(), folder, Training(0))
    assert digests(folder) == digests(tmp_path / "whole")


def test_a_damaged_state_is_passed_over_for_the_one_before_it(tmp_path):
    for step in (1, 2, 3):
        saved_state.write(tmp_path, step, {"x": torch.full((3,), float(step))})
    newest = tmp_path / "step-000000003.state"
    data = bytearray(newest.read_bytes())
    data[-1] ^= 1
    newest.write_bytes(data)
    found = saved_state.newest(tmp_path)
    assert found.step == 2
    assert found.tensors["x"].tolist() == [2.0] * 3
    assert not (tmp_path / "step-000000001.state").exists()


def test_segments_one_after_the_other_end_in_the_weights_of_the_whole(tmp_path):
    params = encoder(tmp_path)
    trained(DualEncoder(params), tmp_path / "whole")
    before = None
    for segment in range(3):
        folder = tmp_path / f"segment-{segment}"
        trained(DualEncoder(params), folder, segment=segment, segments=3, before=before)
        before = folder
    assert digests(before) == digests(tmp_path / "whole")
    assert not Path(before / "state").exists()
