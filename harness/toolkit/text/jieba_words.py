"""Makes jieba's tokenizer from the installed dictionary only."""

from __future__ import annotations

import logging

import jieba


def tokenizer() -> jieba.Tokenizer:
    """A jieba tokenizer that is built from the installed dictionary. By default, jieba reads and writes
    `jieba.cache` in the temporary folder, whoever wrote that file and in whatever version. This function does
    what jieba does if there is no such file."""
    jieba.setLogLevel(logging.WARNING)  # jieba would otherwise report on stderr
    made = jieba.Tokenizer()
    made.FREQ, made.total = made.gen_pfdict(made.get_dict_file())
    made.initialized = True
    return made
