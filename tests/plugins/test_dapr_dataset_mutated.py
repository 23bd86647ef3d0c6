"""Whatever is done to a file of an official release, it is read, or refused in a sentence."""

import random
from pathlib import Path

import pytest
import test_dapr_dataset as dapr
import test_dureader as dureader
import test_t2ranking as t2ranking

from harness.collection.corpus import write
from harness.collection.queries import write_judgements, write_queries
from harness.errors import HarnessError
from harness_dapr.source import Dapr
from harness_dureader.source import Dureader
from harness_t2ranking.source import T2Ranking

RELEASES = {
    "dureader": lambda path: Dureader(dureader.release(path)),
    "t2ranking": lambda path: T2Ranking(t2ranking.release(path)),
    "dapr dump": lambda path: Dapr(dapr.dump(path)),
    "dapr hub": lambda path: Dapr(dapr.hub(path)),
    "dapr json lines": lambda path: Dapr(dapr.hub(path, "json lines")),
    "nq-hard": lambda path: Dapr(dapr.hub(path, dataset="nq-hard")),
}
PIECES = [b"\t", b"\n", b'"', b"{", b"}", b"[]", b"null", b"\xff", b",", b"\0", b"-1", b"1e999", b"9" * 20]


def mutated(data: bytes, rng: random.Random) -> bytes:
    found = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        place = rng.randrange(len(found) + 1)
        some = rng.randrange(1, 12)
        found[place : place + rng.choice([0, 1, some])] = rng.choice(
            [rng.choice(PIECES), b"", found[place : place + 1] * some, rng.randbytes(1)]
        )
        if not rng.randrange(8):
            del found[place:]
    return bytes(found)


@pytest.mark.parametrize("tries", [50, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("release", RELEASES)
def test_a_file_that_was_changed_is_read_or_refused(tmp_path, release, tries):
    rng = random.Random(release)
    refused = []
    for number in range(tries):
        folder = tmp_path / str(number)
        source = RELEASES[release](folder / "data")
        path = rng.choice(sorted(path for path in (folder / "data").rglob("*") if path.is_file()))
        path.write_bytes(mutated(path.read_bytes(), rng))
        try:
            read_all(source, folder)
        except HarnessError as error:
            refused.append(str(error))
    assert 0 < len(refused) < tries
    assert [message for message in refused if "; " not in message] == [], "each says what to do"


def read_all(source, folder: Path) -> None:
    for part in ("corpus", "queries", "judgements"):
        source.inputs(part)
        (folder / part).mkdir()
    write(source, folder / "corpus", lambda done, total: None)
    write_queries(source.queries(), folder / "queries")
    write_judgements(source.judgements(), folder / "judgements")
