"""An encode of 50,000 passages, killed at random: what is repeated, and that the result is the same."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from neural_toys import Listed, word_tokenizer

pytestmark = pytest.mark.extras

PASSAGES, KILLS = 50_000, 6


def encode(folder: Path, log: Path) -> None:
    """What the child runs. The log gets, unbuffered, how many texts each pass had."""
    import torch
    from transformers import BertConfig, BertModel

    from harness.toolkit.neural import tokens, torch_encoder
    from harness.toolkit.neural.encoding import loop, vectors

    torch.manual_seed(1)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    model = BertModel(BertConfig(vocab_size=20, **sizes)).eval()
    tokeniser = tokens.load(word_tokenizer(log.parent / "model"))
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def forward_of(states):
        def forward(batch):
            found = states(batch).float().numpy()[batch.bounds[:-1]]
            os.write(out, f"{len(found)}\n".encode())
            return found

        return forward

    texts = Listed(["the city " * (i % 23) + "a" * (i % 2) for i in range(PASSAGES)])
    loop.encode(
        texts,
        folder,
        lambda batch: tokens.tokenise(tokeniser, batch.texts, 32),
        [forward_of(states) for states in torch_encoder.encoders(model, 0)],
        vectors.writer(folder, PASSAGES, 16),
    )


def start(folder: Path, log: Path) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    return subprocess.Popen([sys.executable, __file__, str(folder), str(log)], env=environment)


def encoded(log: Path) -> int:
    return sum(int(line) for line in log.read_text().split()) if log.exists() else 0


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_kill_repeats_at_most_one_shard_and_changes_nothing(tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from harness.toolkit.neural.encoding.loop import SHARD

    whole, log, chance = tmp_path / "whole", tmp_path / "log", random.Random(time.time_ns())
    assert start(whole, tmp_path / "other.log").wait() == 0
    killed, repeated = tmp_path / "killed", []
    for kill in range(KILLS):
        child = start(killed, log)
        target = PASSAGES * (kill + chance.random()) / KILLS  # texts that went through the model by then
        while child.poll() is None and encoded(log) - sum(repeated) < target:
            time.sleep(0.002)
        child.send_signal(signal.SIGKILL)
        child.wait()
        finished = sum(1 for path in (killed / "shards").glob("[0-9]*.json"))  # no file left by the kill
        repeated.append(encoded(log) - sum(repeated) - min(finished * SHARD, PASSAGES))
    assert start(killed, log).wait() == 0
    assert all(0 <= lost <= SHARD for lost in repeated), repeated
    assert encoded(log) == PASSAGES + sum(repeated)
    for path in sorted(whole.rglob("*.*")):
        assert (killed / path.relative_to(whole)).read_bytes() == path.read_bytes(), path.name
    assert np.isfinite(np.load(killed / "vectors.npy")).all()
    print(f"texts repeated by each kill: {repeated}")


if __name__ == "__main__":
    encode(Path(sys.argv[1]), Path(sys.argv[2]))
