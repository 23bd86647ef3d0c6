"""The encoding loop: batches, shards that a killed run resumes, memory that runs out, and its files."""

import threading

import numpy as np
import pytest
from neural_toys import Listed, lengths_and_sums

from harness.errors import HarnessError
from harness.toolkit.neural.encoding import loop, passes, vectors
from harness.toolkit.neural.encoding.parts import Shard
from harness.toolkit.neural.tokens import Lost, Tokens


def numbers(batch, length=9):
    """A tokeniser without its library: a text is numbers."""
    rows = [[int(word) for word in text.split()] for text in batch.texts]
    cut = [row[:length] for row in rows]
    lost = Lost(sum(len(row) > length for row in rows), sum(max(0, len(row) - length) for row in rows))
    return Tokens(
        np.array([number for row in cut for number in row], np.int32),
        np.cumsum([0, *(len(row) for row in cut)]),
    ), lost


def some_texts(count):
    return [" ".join(str(n) for n in range(i % 7)) + f" {i}" for i in range(count)]


def run(folder, texts, forwards=(lengths_and_sums,), shard=10, budget=32, write=None):
    folder.mkdir(exist_ok=True)
    write = write or vectors.writer(folder, len(texts), 2)
    return loop.encode(texts, folder, numbers, forwards, write, shard=shard, budget=budget)


def test_every_text_has_its_row_and_its_position(tmp_path):
    texts = Listed(some_texts(25))
    found = run(tmp_path, texts)
    written = vectors.read(tmp_path)
    expected = lengths_and_sums(numbers(next(texts.batches()))[0])
    np.testing.assert_array_equal(written.rows, expected)
    assert written.positions.tolist() == list(range(0, 50, 2))
    assert found.facts() == {"tokens": int(expected[:, 0].sum()), "texts_cut": 0, "tokens_lost": 0}
    assert texts.told[-1] == 25
    assert texts.told == sorted(texts.told)


def test_no_texts_make_empty_files(tmp_path):
    run(tmp_path, Listed([]))
    assert vectors.read(tmp_path).rows.shape == (0, 2)
    assert vectors.read(tmp_path).positions.shape == (0,)


def test_what_is_cut_is_counted_over_all_shards(tmp_path):
    found = run(tmp_path, Listed(["1 " * 12] * 25))
    assert found.lost == Lost(texts=25, tokens=75)


def test_workers_change_nothing(tmp_path):
    run(tmp_path / "one", Listed(some_texts(40)))
    run(tmp_path / "four", Listed(some_texts(40)), forwards=[lengths_and_sums] * 4)
    for name in ("vectors.npy", "positions.npy", "shards/000003.json"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "four" / name).read_bytes()


def test_workers_work_at_the_same_time(tmp_path):
    both = threading.Barrier(2)

    def waits(tokens):
        both.wait(timeout=250)
        return lengths_and_sums(tokens)

    run(tmp_path, Listed(["1"] * 4), forwards=[waits] * 2, budget=1)


def test_finished_shards_are_not_encoded_again(tmp_path):
    texts, seen = Listed(some_texts(35)), []

    def stops(tokens):
        if len(seen) == 25:
            raise KeyboardInterrupt
        seen.append(1)
        return lengths_and_sums(tokens)

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, texts, forwards=[stops], budget=1)  # a batch a text

    def counts(tokens):
        seen.append(1)
        return lengths_and_sums(tokens)

    again = Listed(some_texts(35))
    found = run(tmp_path, again, forwards=[counts], budget=1)
    assert len(seen) == 25 + 15  # 20 were on disk
    assert again.told[0] == 20
    whole = run(tmp_path / "at_once", Listed(some_texts(35)), budget=1)
    assert found == whole
    for name in ("vectors.npy", "positions.npy"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "at_once" / name).read_bytes()


@pytest.mark.parametrize("name", ["vectors.npy", "positions.npy"])
@pytest.mark.parametrize("left", [None, 140], ids=["missing", "cut short"])
def test_marks_of_a_file_that_was_lost_are_not_believed(tmp_path, name, left):
    texts = some_texts(35)
    run(tmp_path, Listed(texts))
    whole = {file: (tmp_path / file).read_bytes() for file in ("vectors.npy", "positions.npy")}
    (tmp_path / name).unlink() if left is None else (tmp_path / name).write_bytes(whole[name][:left])
    again = Listed(texts)
    run(tmp_path, again)
    assert again.told[0] == 0
    assert {file: (tmp_path / file).read_bytes() for file in whole} == whole


def test_a_kill_before_the_file_is_made_anew_leaves_no_mark(tmp_path, monkeypatch):
    run(tmp_path, Listed(some_texts(35)))
    (tmp_path / "vectors.npy").unlink()

    def killed(path):
        raise KeyboardInterrupt

    monkeypatch.setattr("harness.store.disk.replacing", killed)
    with pytest.raises(KeyboardInterrupt):
        vectors.writer(tmp_path, 35, 2)
    assert list((tmp_path / "shards").iterdir()) == []


@pytest.mark.parametrize("mark", [b"", b"{", b'{"first": 0}', b"[1]"])
def test_a_damaged_mark_is_no_mark(tmp_path, mark):
    run(tmp_path, Listed(some_texts(12)))
    (tmp_path / "shards" / "000000.json").write_bytes(mark)
    texts = Listed(some_texts(12))
    run(tmp_path, texts)
    assert texts.told[0] == 2


def test_a_mark_is_made_after_its_shard_is_written(tmp_path):
    def fails(shard):
        if shard.number == 1:
            raise OSError(28, "no space left")

    with pytest.raises(OSError, match="no space"):
        run(tmp_path, Listed(some_texts(30)), write=fails)
    assert [path.name for path in (tmp_path / "shards").iterdir()] == ["000000.json"]


def test_rows_may_be_anything(tmp_path):
    """As those of late interaction are matrices of different sizes."""
    shards = []
    run(
        tmp_path,
        Listed(some_texts(12)),
        forwards=[lambda tokens: [f"{n} tokens" for n in np.diff(tokens.bounds)]],
        write=shards.append,
    )
    assert [len(shard.rows) for shard in shards] == [10, 2]
    assert shards[1].rows == ["4 tokens", "5 tokens"]
    assert shards[1].positions.tolist() == [20, 22]
    assert (shards[1].number, shards[1].first) == (1, 10)


def test_batches_have_the_longest_texts_first_and_keep_to_the_budget():
    found = [rows.tolist() for rows in passes.batches(np.array([3, 9, 0, 3, 20]), budget=9)]
    assert found == [[4], [1], [0, 3, 2]]


def small_memory(most):
    def forward(tokens):
        if len(tokens.ids) > most:
            raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried")
        return lengths_and_sums(tokens)

    return forward


def test_a_batch_that_does_not_fit_is_halved_and_that_is_told(tmp_path, capsys):
    texts = Listed(["1 2 3 4"] * 8)
    found = run(tmp_path, texts, forwards=[small_memory(8)])
    assert found.facts()["batches_split"] == 3
    assert "out of memory with 8 texts of 4 tokens: halved" in capsys.readouterr().err
    assert vectors.read(tmp_path).rows.tolist() == [[4, 10]] * 8


def test_a_text_that_does_not_fit_alone_is_an_error(tmp_path):
    with pytest.raises(HarnessError, match="one text of 4 tokens"):
        run(tmp_path, Listed(["1 2 3 4"]), forwards=[small_memory(3)])


def test_other_errors_are_not_taken_for_a_lack_of_memory(tmp_path):
    def broken(tokens):
        raise RuntimeError("the shapes of a and b do not fit")

    with pytest.raises(RuntimeError, match="do not fit"):
        run(tmp_path, Listed(["1"] * 4), forwards=[broken])


@pytest.mark.parametrize(
    "error",
    [MemoryError(), RuntimeError("CUDA out of memory. Tried"), RuntimeError("std::bad_alloc")],
    ids=["python", "cuda", "c++"],
)
def test_each_library_s_words_for_out_of_memory_are_known(error):
    assert passes.out_of_memory(error)


def test_a_model_that_returns_too_few_rows_is_refused(tmp_path):
    with pytest.raises(ValueError, match="4 texts returned 3 rows"):
        run(tmp_path, Listed(["1"] * 4), forwards=[lambda tokens: lengths_and_sums(tokens)[1:]])


def shard_of(rows):
    return Shard(0, 0, np.arange(len(rows)), rows)


def test_half_the_width_keeps_what_bf16_had(tmp_path):
    rows = np.array([[1.0 + 2**-7, -3.0e-4], [0, 300]], np.float32)
    vectors.writer(tmp_path, 2, 2, "fp16")(shard_of(rows))
    stored = vectors.read(tmp_path).rows
    assert stored.dtype == np.float16
    np.testing.assert_allclose(stored, rows, rtol=2**-11)


@pytest.mark.parametrize(
    ("value", "said"), [(1e6, "position 1 .*fp16; store fp32"), (np.nan, "position 1 .*not finite")]
)
def test_numbers_that_cannot_be_stored_are_refused(tmp_path, value, said):
    with pytest.raises(HarnessError, match=said):
        vectors.writer(tmp_path, 2, 1, "fp16")(shard_of(np.array([[1], [value]], np.float32)))


def test_a_file_of_another_shape_is_made_anew(tmp_path):
    vectors.writer(tmp_path, 2, 1)(shard_of(np.ones((2, 1), np.float32)))
    vectors.writer(tmp_path, 2, 3)
    assert vectors.read(tmp_path).rows.tolist() == [[0, 0, 0], [0, 0, 0]]
