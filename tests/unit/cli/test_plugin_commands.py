"""Commands of plugins: how they are found, kept, named, refused and completed."""

import json
import re
import sys

import pytest

from harness import cli
from harness.catalogue import entry_points
from harness.catalogue.entry_points import EntryPoint
from harness.cli import plugin_commands

PLUGIN = """
from harness.hookspecs import hookimpl
from harness.records import Command

def arguments(command):
    command.add_argument("--times", type=int, default=1, help="how often")

def work(options):
    print("hello " * options.times)
    return 0

def verify(folder):
    print(f"verified {{folder.name}}")
    return 1

@hookimpl
def harness_commands():
    yield Command(name="{name}", summary="{summary}", arguments="{module}:arguments", work="{module}:work"{more})
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Writes plugins of these names, which are then the only installed ones. Each has one command."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path / "plugins"))
    (tmp_path / "plugins").mkdir()
    points = []
    monkeypatch.setattr(entry_points, "find", lambda group: points)

    def write(plugin, name="greet", summary="greet people", more="", text=PLUGIN):
        module = f"commands_of_{plugin}"
        filled = text.format(name=name, summary=summary, module=module, more=more)
        (tmp_path / "plugins" / f"{module}.py").write_text(filled, encoding="utf-8")
        sys.modules.pop(module, None)
        point = EntryPoint(plugin, module, "passage-harness", "1")
        if point not in points:
            points.append(point)
            information = tmp_path / "plugins" / f"{plugin}-1.dist-info"
            information.mkdir()

    yield write
    for point in points:
        sys.modules.pop(point.module, None)


def helped(capsys, *words: str) -> str:
    with pytest.raises(SystemExit) as end:
        cli.main([*words, "--help"])
    assert end.value.code == 0
    return capsys.readouterr().out


def test_a_command_of_a_plugin_is_listed_shown_and_run(install, capsys):
    install("one")
    assert re.search(r"^    greet +greet people$", helped(capsys), re.M)
    assert "Greet people." in helped(capsys, "greet")
    assert cli.main(["greet", "--times", "2"]) == 0
    assert capsys.readouterr().out == "hello hello \n"


def test_a_summary_is_shown_as_it_is(install, capsys):
    install("one", summary="greet 100 % of %(prog)s")
    assert "greet 100 % of %(prog)s" in helped(capsys)
    assert cli.main(["greet"]) == 0


def test_commands_are_kept_until_a_plugin_changes(install, capsys):
    install("one")
    helped(capsys)
    sys.modules.pop("commands_of_one")
    assert "greet people" in helped(capsys)
    assert "commands_of_one" not in sys.modules
    install("one", summary="greet everybody")
    assert "greet everybody" in helped(capsys)


def test_a_plugin_that_is_added_is_seen(install, capsys):
    install("one")
    helped(capsys)
    install("two", name="part")
    assert "    part " in helped(capsys)


def test_a_kept_file_that_is_damaged_is_made_again(install, capsys, tmp_path):
    install("one")
    helped(capsys)
    [kept] = (tmp_path / "cache").rglob("commands-*.json")
    for damage in ("", "[]", "{}", json.dumps({"form": plugin_commands.FORM})):
        kept.write_text(damage)
        assert "greet people" in helped(capsys)


def test_commands_are_found_even_if_they_cannot_be_kept(install, capsys, tmp_path):
    install("one")
    (tmp_path / "cache").write_text("a file in the place of the folder")
    assert "greet people" in helped(capsys)


def test_a_name_that_two_plugins_offer_must_be_qualified(install, capsys):
    install("one")
    install("two")
    shown = helped(capsys)
    assert "one:greet" in shown
    assert "two:greet" in shown
    assert cli.main(["greet"]) == 2
    assert capsys.readouterr().err == (
        "the command 'greet' is offered by passage-harness (commands_of_one) and "
        "passage-harness (commands_of_two); write 'one:greet' or 'two:greet'\n"
    )
    assert cli.main(["two:greet"]) == 0


def test_a_command_of_the_core_cannot_be_replaced(install, capsys):
    install("one", name="plugins")
    assert "one:plugins" in helped(capsys)
    assert cli.main(["plugins"]) == 0
    assert "loaded" in capsys.readouterr().out
    assert cli.main(["one:plugins"]) == 0
    assert capsys.readouterr().out == "hello \n"


def test_a_form_that_two_plugins_offer_is_refused_with_both_commands(install, capsys):
    for plugin in ("one", "two"):
        install(plugin, name=f"greet-{plugin}", more=", formats=('letter',)")
    assert cli.main(["show", "board", "--format", "letter"]) == 2
    said = capsys.readouterr().err
    assert "--format letter: is offered by" in said
    assert "greet-one" in said
    assert "greet-two" in said


def test_an_unknown_command_gets_a_suggestion(install, capsys):
    install("one")
    assert cli.main(["gret"]) == 2
    assert capsys.readouterr().err == "unknown command 'gret'; did you mean 'greet'?\n"
    assert cli.main(["comapre"]) == 2
    assert capsys.readouterr().err == "unknown command 'comapre'; did you mean 'compare'?\n"


def test_a_plugin_that_does_not_load_is_named(install, capsys):
    install("one", text="raise ImportError('no such thing')")
    assert "not loaded: one (ImportError: no such thing)" in helped(capsys)
    assert cli.main(["greet"]) == 2
    assert "did not load and might have offered it: one (ImportError: no such" in capsys.readouterr().err
    install("one")  # repaired
    assert cli.main(["greet"]) == 0


@pytest.mark.parametrize(
    ("name", "more", "problem"),
    [
        ("a b", "", "'a b' is no name of a command"),
        ("--help", "", "'--help' is no name of a command"),
        ("greet", ", verify='nothing'", "names 'nothing'; write module:function"),
        ("greet", ", marker='log'", "needs both `marker` and `verify`, or neither"),
    ],
)
def test_a_record_that_cannot_work_is_refused(install, capsys, name, more, problem):
    install("one", name=name, more=more)
    assert cli.main(["plugins"]) == 0
    assert problem in capsys.readouterr().out


def test_a_function_that_is_not_there_is_named(install, capsys):
    install("one", text=PLUGIN.replace("def work(", "def other("))
    assert cli.main(["greet"]) == 2
    message = capsys.readouterr().err
    assert (
        "the command 'greet' of passage-harness (commands_of_one): commands_of_one:work cannot be imported ("
        in message
    )


def test_a_module_that_is_missing_is_named_with_its_extra(install, capsys):
    install("one", more=", needs=('no_such_module',), extra='greetings'")
    assert "greet people" in helped(capsys)
    assert cli.main(["greet"]) == 2
    message = capsys.readouterr().err
    assert message.endswith(
        "needs no_such_module; install it with: pip install 'passage-harness[greetings]'\n"
    )


def test_completion_knows_the_commands_of_plugins_and_their_options(install, capsys):
    install("one")
    install("two", name="part", more=", needs=('no_such_module',)")  # its options cannot be asked for
    assert cli.main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    assert "--times" in script
    assert " completion greet part)" in script


def test_verify_leaves_a_folder_to_the_command_that_wrote_it(install, capsys, tmp_path):
    install("one", more=", marker='greetings.log', verify='commands_of_one:verify'")
    folder = tmp_path / "greeted"
    folder.mkdir()
    (folder / "greetings.log").touch()
    assert cli.main(["verify", str(folder)]) == 1
    assert capsys.readouterr().out == "verified greeted\n"
