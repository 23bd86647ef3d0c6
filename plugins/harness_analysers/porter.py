"""Porter's stemmer as in Lucene: the paper's rules with the author's two later amendments."""

from __future__ import annotations

from itertools import pairwise

# M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980; the amendments (bli, logi, and words
# of one or two letters left alone) are on https://tartarus.org/martin/PorterStemmer/.

_STEP2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
    ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"),
    ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"), ("iveness", "ive"),
    ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"),
    ("logi", "log"),
)  # fmt: skip
_STEP3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""),
    ("ness", ""),
)  # fmt: skip
_STEP4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism",
    "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip


def stem(word: str) -> str:
    """The stem of a lowercase word."""
    if len(word) <= 2:
        return word
    word = _step1(word)
    word = _replace(word, _STEP2)
    word = _replace(word, _STEP3)
    return _step5(_step4(word))


def _shape(stem: str) -> list[bool]:
    """For each letter, whether it is a consonant. A y is a consonant at the start and after a vowel."""
    shape: list[bool] = []
    for letter in stem:
        shape.append(not shape or not shape[-1] if letter == "y" else letter not in "aeiou")
    return shape


def _measure(stem: str) -> int:
    """Porter's m: how many times a consonant follows a vowel."""
    shape = _shape(stem)
    return sum(after and not before for before, after in pairwise(shape))


def _has_vowel(stem: str) -> bool:
    return not all(_shape(stem))


def _doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1]


def _cvc(word: str) -> bool:
    """Porter's *o: whether the word ends in consonant, vowel, consonant, and the last is not w, x or y."""
    return _shape(word)[-3:] == [True, False, True] and word[-1] not in "wxy"


def _step1(word: str) -> str:
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith("eed"):
        word = word[:-1] if _measure(word[:-3]) > 0 else word
    else:
        for ending in ("ed", "ing"):
            if word.endswith(ending):
                rest = word[: -len(ending)]
                word = _mend(rest) if _has_vowel(rest) else word
                break
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    return word


def _mend(word: str) -> str:
    """The word with the repair of step 1b, made after -ed or -ing was removed."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if _doubled(word):
        return word if word[-1] in "lsz" else word[:-1]
    return word + "e" if _measure(word) == 1 and _cvc(word) else word


def _replace(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    for ending, new in rules:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return rest + new if _measure(rest) > 0 else word
    return word


def _step4(word: str) -> str:
    for ending in _STEP4:
        if word.endswith(ending):
            rest = word[: -len(ending)]
            if ending == "ion" and not rest.endswith(("s", "t")):
                return word
            return rest if _measure(rest) > 1 else word
    return word


def _step5(word: str) -> str:
    if word.endswith("e"):
        m = _measure(word[:-1])
        if m > 1 or (m == 1 and not _cvc(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word
