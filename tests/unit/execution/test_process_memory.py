"""The memory of a process group counts what its forks share once."""

import os
import signal
import subprocess
import sys

import pytest

from harness.execution import process_memory

PROGRAM = """
import os, time
kept = bytearray(b"x" * 60_000_000)
for _ in range(2):
    if os.fork() == 0:
        break
print("ready", flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(not process_memory.PROC.exists(), reason="only Linux has /proc")
def test_pages_that_forks_share_count_once():
    child = subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, start_new_session=True)
    assert child.stdout is not None
    try:
        for _ in range(3):
            child.stdout.readline()
        assert process_memory.exceeds(child.pid, 0.05)
        assert not process_memory.exceeds(child.pid, 0.12)  # three times 60 MB, if each counted for itself
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
