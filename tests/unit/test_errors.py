"""What data put into a message does not reach the terminal as a command."""

from harness.errors import printable


def test_control_characters_are_shown_and_lines_and_letters_stay():
    assert (
        printable("a\x1b[31mb\x00\x9b\r\n\tc \u3000 \u5317") == "a\\x1b[31mb\\x00\\x9b\\r\n\tc \u3000 \u5317"
    )
