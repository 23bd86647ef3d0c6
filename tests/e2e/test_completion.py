"""Shell completion: the scripts are valid, and a real bash completes the command with them."""

import shutil
import subprocess

import pytest

from harness import cli

BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None, reason="there is no bash here")


@pytest.fixture
def script(capsys):
    assert cli.main(["completion", "bash"]) == 0
    return capsys.readouterr().out


def completed(script: str, *words: str) -> list[str]:
    """What bash offers for the last of these words, asked as its Tab key would."""
    quoted = " ".join(f"'{word}'" for word in words)
    asked = f"""
eval "$1"
COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}
COMP_LINE="{" ".join(words)}"; COMP_POINT=${{#COMP_LINE}}
function_of() {{ local rest=${{1#*-F }}; echo "${{rest%% *}}"; }}
"$(function_of "$(complete -p harness)")" harness '{words[-1]}' '{words[-2]}'
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(
        [BASH, "--norc", "-c", asked, "bash", script], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.stdout.split()


@needs_bash
def test_the_script_is_valid_bash(script):
    done = subprocess.run([BASH, "-n"], input=script, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@needs_bash
def test_bash_completes_a_command(script):
    assert completed(script, "harness", "li") == ["list"]


@needs_bash
def test_bash_completes_the_kind_of_a_list_and_an_option(script):
    assert completed(script, "harness", "list", "retr") == ["retrievers"]
    assert completed(script, "harness", "run", "--dry") == ["--dry-run"]


@needs_bash
def test_bash_offers_nothing_for_what_is_no_command(script):
    assert completed(script, "harness", "zz") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_every_shell_has_a_script_that_knows_every_command(shell, capsys):
    assert cli.main(["completion", shell]) == 0
    printed = capsys.readouterr().out
    for command in ("run", "check", "list", "plugins", "show", "cache", "schema", "new-plugin", "completion"):
        assert command in printed


@pytest.mark.skipif(shutil.which("zsh") is None, reason="there is no zsh here")
def test_the_script_is_valid_zsh(capsys):
    assert cli.main(["completion", "zsh"]) == 0
    printed = capsys.readouterr().out
    done = subprocess.run(["zsh", "-n"], input=printed, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
