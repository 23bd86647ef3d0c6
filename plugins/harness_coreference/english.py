"""Coreference in English by rules: sieves over one document, from the most to the least precise.

The order is that of Raghunathan et al. (2010), "A multi-pass sieve for coreference resolution": first names
and adjacent nouns (exact match, apposition, role, acronym), then parts of names, then nouns by head and
modifiers, then pronouns by agreement and distance. There is no tagger and no parser.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import islice

from harness_coreference import english_words as words
from harness_coreference.contract import Cluster, Mention
from harness_coreference.english_mentions import Phrase, Word, cut, phrases, vocabulary
from harness_coreference.entities import Entities

CLOSEST = 50  # the most antecedents considered, as in DAPR's section 4.2.2
FARTHEST = 1000  # mentions that `he` and `she` look back at most
SURE = 2  # the personhood of certain persons, by a title, a role or a known given name
NEAR = 3  # sentences that `it` and `they` look back at most
_COPULAS = frozenset({"is", "was", "became", "are", "were"})


class English:
    """The resolver for English. Its time is linear in a document's length, because lookups by word give few
    candidates."""

    def resolve(self, passages: Sequence[str]) -> list[Cluster]:
        rows = cut(passages)
        known = vocabulary(rows)
        all_phrases = [phrase for number, row in enumerate(rows) for phrase in phrases(number, row, known)]
        entities = Entities(all_phrases)
        _names(entities)
        _beside(entities, rows)
        _acronyms(entities, rows)
        _parts(entities)
        _nouns(entities)
        _pronouns(entities, rows)
        return [
            tuple(Mention(phrase.passage, phrase.start, phrase.end) for phrase in group)
            for group in entities.groups()
            if len(group) > 1
        ]


def _names(entities: Entities) -> None:
    """Joins equal names, apart from titles."""
    first: dict[tuple[str, ...], int] = {}
    for number, phrase in entities.of_kind("name"):
        bare = _bare(phrase.words)
        if bare in first:
            entities.join(first[bare], number)
        else:
            first[bare] = number


def _bare(name: tuple[str, ...]) -> tuple[str, ...]:
    """The name without titles, unless only one word would be left."""
    bare = tuple(word for word in name if word not in words.TITLES)
    return bare if len(bare) > 1 else name


def _beside(entities: Entities, rows: Sequence[Sequence[Word]]) -> None:
    """Joins a name and a noun beside it, as in `Hill & Co, a firm of builders` and `Ann Hill was a
    surveyor`."""
    for number in range(1, len(entities.phrases)):
        name, noun = entities.phrases[number - 1], entities.phrases[number]
        if name.kind != "name" or noun.kind != "noun" or name.passage != noun.passage:
            continue
        if name.sentence != noun.sentence or noun.determiner not in ("a", "an", "the"):
            continue
        row = rows[name.passage]
        between = [word.lower for word in row[name.ends : noun.begins]]
        after = row[noun.ends].lower if noun.ends < len(row) else "."
        apposed = between == [","] and noun.determiner != "the" and after not in ("and", "or", ",and")
        if apposed or (len(between) == 1 and between[0] in _COPULAS and noun.determiner != "the"):
            entities.join(number - 1, number)


def _acronyms(entities: Entities, rows: Sequence[Sequence[Word]]) -> None:
    """Joins an acronym such as `WWS` with the name that has these initials, anywhere in the document."""
    by_initials: dict[str, int] = {}
    for number, phrase in entities.of_kind("name"):
        if len(phrase.words) > 2:
            capitals = [word for word in phrase.words if word not in words.STOPS and word != "&"]
            by_initials.setdefault("".join(word[0] for word in capitals), number)
    for number, phrase in entities.of_kind("name"):
        text = rows[phrase.passage][phrase.ends - 1].text
        if len(phrase.words) == 1 and text.isupper() and 2 < len(text) < 8:
            other = by_initials.get(text.lower())
            if other is not None:
                entities.join(other, number)


def _parts(entities: Entities) -> None:
    """Joins a single family name or given name with the last preceding person of that name."""
    last: dict[str, int] = {}
    for number, phrase in entities.of_kind("name"):
        bare = tuple(word for word in phrase.words if word not in words.TITLES)
        if len(bare) == 1 and bare[0] in last and not phrase.place:
            other = last[bare[0]]
            if entities.gender(number) in ("", entities.gender(other)) or not entities.gender(other):
                entities.join(other, number)
        elif 2 <= len(bare) <= 4 and entities.person(number) > 0:
            last[bare[-1]] = number
            if entities.person(number) >= SURE:
                last[bare[0]] = number


def _nouns(entities: Entities) -> None:
    """Joins each definite noun phrase with the nearest earlier entity whose phrases have the same head noun
    and all modifiers of this phrase (strict head match). An indefinite noun phrase begins a new entity."""
    by_head: dict[str, list[int]] = defaultdict(list)
    for number, phrase in enumerate(entities.phrases):
        if phrase.kind == "name":
            heads = {phrase.role, phrase.head} - {""}
            heads |= set(phrase.words) & words.GROUPS
            if phrase.words[-1] in words.FIRM_TAILS or "&" in phrase.words:
                heads.add("firm")
        elif phrase.kind == "noun":
            heads = {phrase.head}
            if phrase.determiner in words.DEFINITE and phrase.head not in words.LOOSE:
                other = _same_head(entities, by_head, phrase)
                if other is not None:
                    entities.join(other, number)
        else:
            continue
        for head in heads:
            by_head[_class(head)].append(number)


def _same_head(entities: Entities, by_head: dict[str, list[int]], phrase: Phrase) -> int | None:
    wanted = (set(phrase.words[:-1]) | set(phrase.of)) - words.BLEND
    for other in reversed(by_head[_class(phrase.head)][-CLOSEST:]):
        if wanted <= entities.vocabulary(other):
            return other
    return None


_CLASSES = {noun: sorted(group)[0] for group in words.ALIKE for noun in group}


def _class(head: str) -> str:
    return _CLASSES.get(head, head)


def _pronouns(entities: Entities, rows: Sequence[Sequence[Word]]) -> None:
    """Joins pronouns with their antecedents. He and she refer to the closest matching person, even far back;
    it and they refer to a close thing."""
    before: list[int] = []
    for number, phrase in enumerate(entities.phrases):
        if phrase.kind != "pronoun":
            before.append(number)
            continue
        word = phrase.head
        candidates = before[-CLOSEST:]
        if word in words.MALE or word in words.FEMALE:
            gender = "man" if word in words.MALE else "woman"
            chosen = _who(entities, before, phrase, gender)
            if chosen is not None:
                entities.join(chosen, number)
                entities.is_a(chosen, gender)
        elif _looks_ahead(rows[phrase.passage], phrase):
            chosen = None
        else:
            near = [c for c in candidates if _close(entities.phrases[c], phrase)]
            fit = [c for c in near if _agrees(entities, c, many=word in words.PLURAL)]
            chosen = _salient(entities, fit, phrase)
            if chosen is not None:
                entities.join(chosen, number)
        if chosen is not None:
            before.append(number)


def _looks_ahead(row: Sequence[Word], phrase: Phrase) -> bool:
    """Whether a pronoun precedes its antecedent, as in `In its best years the firm ...`."""
    if phrase.head not in ("its", "their") or phrase.begins == 0:
        return False
    before = row[phrase.begins - 1]
    return before.opens and before.lower in words.PREPOSITIONS


def _who(entities: Entities, before: Sequence[int], phrase: Phrase, gender: str) -> int | None:
    """The number of the person that `he` or `she` refers to: the most salient person of the passage so far;
    else the last person who has a name and is certainly a person; else the most salient person of the last
    sentences."""
    numbers: list[int] = []
    seen: set[int] = set()
    for number in islice(reversed(before), FARTHEST):
        root = entities.root(number)
        if root in seen:
            continue
        seen.add(root)
        if entities.person(number) > 0 and entities.gender(number) in ("", gender):
            numbers.append(number)
        if len(seen) >= CLOSEST:
            break
    here = [number for number in numbers if entities.phrases[number].passage == phrase.passage]
    named = [number for number in numbers if entities.person(number) >= SURE and entities.named(number)]
    near = [number for number in numbers if _close(entities.phrases[number], phrase)]
    if here:
        return _salient(entities, [number for number in here if number in named] or here, phrase)
    return named[0] if named else _salient(entities, near, phrase)


def _close(candidate: Phrase, phrase: Phrase) -> bool:
    """Whether the candidate is near enough: in the same passage or the one before, and at most NEAR sentences
    back. For `it`, a candidate in the passage before must also be its sentence's subject."""
    if candidate.passage < phrase.passage and not candidate.subject and phrase.head in words.NEUTER:
        return False
    return phrase.passage - candidate.passage <= 1 and phrase.sentence - candidate.sentence <= NEAR


def _agrees(entities: Entities, number: int, many: bool) -> bool:
    if many:
        return entities.many(number) or entities.is_nameless_person(number)
    return not entities.many(number) and entities.person(number) <= 0


def _salient(entities: Entities, candidates: Sequence[int], phrase: Phrase) -> int | None:
    """The candidate with the most weight; of equal ones the last. Subjects have double weight, names one and
    a half times the weight, and each sentence in between halves the weight (after Lappin and Leass 1994)."""
    best, most = None, 0.0
    for number in candidates:
        candidate = entities.phrases[number]
        weight = (2.0 if candidate.subject else 1.0) * (1.5 if candidate.kind == "name" else 1.0)
        weight *= 0.25 if candidate.place else 1.0
        weight *= 0.5 ** (phrase.sentence - candidate.sentence)
        if weight >= most:
            best, most = number, weight
    return best
