"""jieba's tokenizer with the dictionary that is installed, and no other."""

from __future__ import annotations

import logging

import jieba


def tokenizer() -> jieba.Tokenizer:
    """jieba would read its dictionary from `jieba.cache` in the temporary folder, whoever wrote that file
    and of whatever version it is, and write it there: so this is what it does where there is no such file."""
    jieba.setLogLevel(logging.WARNING)  # it would report on stderr
    made = jieba.Tokenizer()
    made.FREQ, made.total = made.gen_pfdict(made.get_dict_file())
    made.initialized = True
    return made
