"""The shell of the workflow and the hook in docs/ci.md, with a local remote and a stand-in for `gh`."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.slow
PAGE = (Path(__file__).parents[2] / "docs" / "ci.md").read_text(encoding="utf-8")
WORKFLOW, PRE_COMMIT = (yaml.safe_load(text) for text in re.findall(r"^```yml\n(.*?)^```", PAGE, re.M | re.S))
HOOK = re.findall(r"^```bash\n(.*?)^```", PAGE, re.M | re.S)[0]
SUITE = """suite: small
datasets: {tour: {tour: {documents: 40}}}
systems: {bm25: {retriever: {bm25: {k1: 0.9, b: 0.4}}}, stable: {retriever: ql}}
measures: [nDCG@10, R@100]
"""


@pytest.fixture
def runner(tmp_path):
    """A clone of a repository with a suite on `main`, and the commands that a runner has."""
    bin = tmp_path / "bin"
    bin.mkdir()
    commands = {
        "harness": f'exec "{sys.executable}" -m harness "$@"',
        "pip": "exit 0",
        "gh": 'echo "$@" > "$GH_CALLS"; cp "$5" "$GH_CALLS.body"',
    }
    for name, line in commands.items():
        (bin / name).write_text(f"#!/bin/sh\n{line}\n")
        (bin / name).chmod(0o755)
    environment = {
        **os.environ, "PATH": f"{bin}:{os.environ['PATH']}", "GITHUB_BASE_REF": "main", "PULL": "7",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"), "GH_CALLS": str(tmp_path / "gh"), "HOME": str(tmp_path),
    }  # fmt: skip
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]

    def shell(script, folder):
        command = ["bash", "-e", "-o", "pipefail", "-c", script]  # as a runner has it
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)

    origin, clone = tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()
    (origin / "suite.yaml").write_text(SUITE)
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], cwd=origin, check=True)
    subprocess.run([*git, "clone", "-q", str(origin), str(clone)], check=True)
    return shell, clone, tmp_path


def steps():
    (job,) = WORKFLOW["jobs"].values()
    return [step["run"] for step in job["steps"] if "run" in step]


@pytest.mark.parametrize(("k1", "code"), [("0.95", 0), ("0.9, analyser: whitespace", 3)])
def test_the_workflow_comments_the_difference_and_fails_on_a_regression(runner, k1, code):
    shell, clone, folder = runner
    (clone / "suite.yaml").write_text(SUITE.replace("k1: 0.9", f"k1: {k1}"))
    *before, last = steps()
    for script in before:
        ran = shell(script, clone)
        assert ran.returncode == 0, ran.stderr
    ran = shell(last, clone)
    assert ran.returncode == code, ran.stdout + ran.stderr
    assert ("regression:" in ran.stdout) == (code == 3)
    assert (folder / "gh").read_text().split() == ["pr", "comment", "7", "--body-file", "difference.md"]
    body = (folder / "gh.body").read_text()
    assert "- bm25: " in body
    assert body in (folder / "summary.md").read_text()


@pytest.mark.parametrize(("suite", "code"), [(SUITE, 0), (SUITE.replace("k1:", "k:"), 123)])
def test_the_hook_checks_the_suites_of_a_commit(runner, suite, code):
    shell, clone, _ = runner
    (clone / "other.txt").write_text("no suite")
    (clone / "suite.yaml").write_text(suite + "# changed\n")
    (clone / "sub").mkdir()
    (clone / "sub" / "suite.yaml").write_text(SUITE)
    assert shell("git add -A", clone).returncode == 0
    ran = shell(HOOK, clone)
    assert ran.returncode == code, ran.stderr
    if code:
        assert "suite.yaml:3: systems.bm25.retriever.bm25.k: unknown parameter 'k'" in ran.stderr
    assert "sub/suite.yaml: " in ran.stdout


def test_the_pre_commit_entry_is_a_command_for_several_suites(runner):
    shell, clone, _ = runner
    (hook,) = PRE_COMMIT["repos"][0]["hooks"]
    assert re.search(hook["files"], "a/suite.yaml")
    ran = shell(f"{hook['entry']} suite.yaml suite.yaml", clone)
    assert ran.returncode == 0
    assert ran.stdout.count("suite.yaml: ") == 2
