"""What data put into a message does not reach the terminal as a command."""

from harness.errors import printable


def test_control_characters_are_shown_and_lines_and_letters_stay():
    assert (
        printable("a\x1b[31mb\x00\x9b\r\n\tc \u3000 \u5317") == "a\\x1b[31mb\\x00\\x9b\\r\n\tc \u3000 \u5317"
    )


def test_characters_that_cannot_be_seen_are_shown_and_the_joiners_of_a_script_stay():
    assert printable("bm\u200b25 \u202eab\ufeff \u200d") == "bm\\u200b25 \\u202eab\\ufeff \\u200d"
    persian = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    assert printable(persian) == persian
