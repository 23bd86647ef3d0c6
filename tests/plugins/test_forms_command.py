"""The command `export` knows its forms before it imports them."""

from harness_forms import export, export_command


def test_the_command_names_every_form_that_there_is():
    assert tuple(export.FORMS) == export_command.EXPORTS
