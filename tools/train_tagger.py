"""Learns the weights of the embedded English tagger from spaCy's tags, or reports how often the two agree.

python tools/train_tagger.py learn --out FILE corpus.jsonl ...
python tools/train_tagger.py agree corpus.jsonl ...      (with the weights of the package)

Needs spacy and its model en_core_web_sm. The corpora are JSON lines with `text` and perhaps `title`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections import Counter, defaultdict
from pathlib import Path

import spacy
import zstandard
from spacy.tokens import Doc, Token

from harness_keyphrases import english

CLASS = {"NOUN": "N", "PROPN": "N", "ADJ": "A", "VERB": "V", "AUX": "V", "ADV": "R", "DET": "D"}
# Words of closed classes. They are listed because some are rare in some texts ("you" in science).
CLOSED = {
    "D": "a an the my your his her its our their every whose",
    "O": """
        i me mine you yours he him hers she it we us ours they them theirs myself yourself
        yourselves himself herself itself ourselves themselves oneself someone somebody something
        anyone anybody anything everyone everybody everything nobody nothing whoever whatever who
        whom and or but nor if unless because although though whereas while whether of in from with
        without into onto upon for at by against between among amongst during until till since
        toward towards via per than as to about despite amid beside beneath versus
    """,
    "V": """
        am is are was were be been being do does did don doesn didn have has had having haven hasn
        hadn isn aren wasn weren can cannot couldn could shall should shouldn would wouldn may might
        must mustn won
    """,
    "R": """
        not never always often again also already soon however therefore thus hence too very quite
        rather almost perhaps maybe instead anyway elsewhere somewhere anywhere everywhere abroad
        together
    """,
}
ROUNDS = 5
OFTEN, SURE = 20, 0.997  # a word seen OFTEN times, in a share SURE of them in one class, always has it
RARE = 5  # features that fewer tokens have are left out
SMALL = 1.5  # features whose weights are all smaller than this are left out
SCALE = 100


def lines(paths: list[Path], limit: int) -> list[list[str]]:
    """The different lines of the texts, each as a list of words; `limit` lines at most."""
    sentences: dict[tuple[str, ...], None] = {}
    for path in paths:
        for row in path.read_text(encoding="utf-8").split("\n"):
            if row:
                row = json.loads(row)
                for text in (row.get("title", ""), *row["text"].splitlines()):
                    sentences[tuple(text[a:b] for a, b in english.tokens(text))] = None
    return [list(words) for words in sentences if words][:limit]


def tagged(given: list[list[str]], model: str) -> list[str]:
    """The classes that spaCy gives to the words of each line. The words are those of our own tokeniser."""
    nlp = spacy.load(model, exclude=["parser", "ner", "lemmatizer"])
    documents = (Doc(nlp.vocab, words=words) for words in given)
    return ["".join(classed(token) for token in sentence) for sentence in nlp.pipe(documents, batch_size=256)]


def classed(token: Token) -> str:
    if token.pos_ == "PRON" and token.tag_ in ("PRP$", "WP$"):
        return "D"
    return CLASS.get(token.pos_, "O")


def learn(given: list[list[str]], truth: list[str]) -> tuple[dict[str, str], dict[str, list[float]]]:
    """The words that always have one class, and the weights of the features: a perceptron with weights
    averaged over all steps (Collins 2002)."""
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for words, classes in zip(given, truth, strict=True):
        for word, kind in zip(words, classes, strict=True):
            seen[word.lower()][kind] += 1
    fixed = {}
    for word, counts in seen.items():
        kind, most = counts.most_common(1)[0]
        if counts.total() >= OFTEN and most >= SURE * counts.total():
            fixed[word] = kind
    fixed |= {word: kind for kind, words in CLOSED.items() for word in words.split()}
    counts = Counter()
    for words, classes in zip(given, truth, strict=True):
        lower = [english.START] * 2 + [word.lower() for word in words] + [english.END] * 2
        before = last = "^"
        for i, kind in enumerate(classes):
            if words[i][0].isalpha() and lower[i + 2] not in fixed:
                counts.update(english.features(words, lower, i, before, last))
            before, last = last, kind
    allowed = {feature for feature, count in counts.items() if count >= RARE}
    print(f"{len(fixed)} fixed words, {len(allowed)} features", flush=True)
    zero = len(english.CLASSES)
    weights = {feature: [0] * zero for feature in allowed}
    sums = {feature: [0] * zero for feature in allowed}
    stamps = {feature: [0] * zero for feature in allowed}
    step = 0
    order = list(range(len(given)))
    shuffle = random.Random(0)
    for number in range(ROUNDS):
        shuffle.shuffle(order)
        wrong = total = 0
        for at in order:
            words, classes = given[at], truth[at]
            lower = [english.START] * 2 + [word.lower() for word in words] + [english.END] * 2
            before = last = "^"
            for i, kind in enumerate(classes):
                guess = fixed.get(lower[i + 2])
                if guess is None and not words[i][0].isalpha():
                    guess = "O"
                if guess is None:
                    step += 1
                    total += 1
                    active = list(english.features(words, lower, i, before, last))
                    guess = english.guess(iter(active), weights)
                    if guess != kind:
                        wrong += 1
                        for change, c in (
                            (1, english.CLASSES.index(kind)),
                            (-1, english.CLASSES.index(guess)),
                        ):
                            for feature in active:
                                row = weights.get(feature)
                                if row is not None:
                                    sums[feature][c] += (step - stamps[feature][c]) * row[c]
                                    stamps[feature][c] = step
                                    row[c] += change
                before, last = last, guess
        print(f"round {number}: {wrong / total:.4f} of {total} guesses wrong", flush=True)
    averaged = {}
    for feature, row in weights.items():
        averaged[feature] = [
            (sums[feature][c] + (step - stamps[feature][c]) * row[c]) / step for c in range(zero)
        ]
    return fixed, averaged


def write(path: Path, fixed: dict[str, str], averaged: dict[str, list[float]], small: float) -> None:
    rows = [f"{word}\t{kind}" for word, kind in sorted(fixed.items())]
    for feature, row in sorted(averaged.items()):
        whole = [round(SCALE * weight) for weight in row]
        if max(map(abs, whole)) > small * SCALE:
            rows.append(f"{feature}\t{' '.join(map(str, whole))}")
    data = zstandard.ZstdCompressor(level=19).compress(("\n".join(rows) + "\n").encode())
    path.write_bytes(data)
    print(f"{path}: {len(rows)} lines, {len(data)} bytes; DIGEST = {hashlib.sha256(data).hexdigest()!r}")


def agree(given: list[list[str]], truth: list[str]) -> None:
    """Print how often our tagger and spaCy agree, over words without punctuation: on whether a word is kept
    as a noun or adjective, and on its class."""
    fixed, weights = english.load()
    same = precise = kept = expected = total = classes = 0
    for words, theirs in zip(given, truth, strict=True):
        ours = english.tag(words, fixed, weights)
        for word, a, b in zip(words, ours, theirs, strict=True):
            if word[0].isalnum():
                mine, yours = a in english.KEPT, b in english.KEPT
                total += 1
                classes += a == b
                same += mine == yours
                precise += mine and yours
                kept += mine
                expected += yours
    print(
        f"{total} words: kept or not the same {same / total:.4f}, of what is kept {precise / kept:.4f} "
        f"rightly, of what should be {precise / expected:.4f}; class the same {classes / total:.4f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("learn", "agree"))
    parser.add_argument("corpora", nargs="+", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--small", type=float, default=SMALL)
    parser.add_argument("--limit", type=int, default=10**9, help="lines")
    parser.add_argument("--model", default="en_core_web_sm")
    options = parser.parse_args()
    given = lines(options.corpora, options.limit)
    truth = tagged(given, options.model)
    if options.what == "learn":
        write(options.out, *learn(given, truth), options.small)
    else:
        agree(given, truth)


if __name__ == "__main__":
    main()
