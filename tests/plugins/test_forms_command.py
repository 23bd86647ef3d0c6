"""The command `export` knows its forms before it imports them."""

from harness import catalogue
from harness_forms import collection_forms, dataset_command, export, export_command


def test_the_command_names_every_form_that_there_is():
    assert tuple(export.FORMS) == export_command.EXPORTS
    assert (*collection_forms.FORMS, "pool") == dataset_command.FORMS
    assert catalogue.load().find("commands", "export-dataset").record.dataset_forms == dataset_command.FORMS
