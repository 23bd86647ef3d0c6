"""Invented English names: places, families, people, firms, societies, ships and objects.

Titles, places, societies, objects, people and firms are named from different parts, so that a name shows
its kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from harness_tour.names import joined, nth, parts

_PARTS = parts("en")
_TITLE_STEMS = joined(_PARTS["title"], _PARTS["place_tails"])
_PLACES = joined(_PARTS["town"], _PARTS["place_tails"])
_SOCIETY, _PLACE_TAILS = _PARTS["society"], _PARTS["place_tails"]
_OBJECT_STEMS = joined(_PARTS["object"], _PARTS["place_tails"])
_PATRONS = joined(_PARTS["patron"], _PARTS["family_tails"])
_SURNAMES = joined(_PARTS["person"], _PARTS["family_tails"])
_PARTNERS = joined(_PARTS["firm"], _PARTS["family_tails"])
_GIVEN = tuple(name for pair in zip(_PARTS["women"], _PARTS["men"], strict=True) for name in pair)
_FIELDS, _BODIES, _SIZES = _PARTS["fields"], _PARTS["bodies"], _PARTS["sizes"]
_SHIPS = joined(tuple(f"{word} " for word in _PARTS["ship_first"]), _PARTS["ship_second"])
SHORT_NAMES = len(_SOCIETY) * len(_FIELDS) * len(_BODIES)  # the number of different short names
_SHE = {"She": "She", "she": "she", "Her": "Her", "her": "her", "obj": "her"}
_HE = {"She": "He", "she": "he", "Her": "His", "her": "his", "obj": "him"}


def place(draw: Callable[[], float]) -> str:
    return _PLACES[int(draw() * len(_PLACES))]


def names(index: int, nouns: tuple[str, ...], seed: int) -> Mapping[str, str]:
    """The names of document `index`; `nouns` are the nouns for the object that its subject owns."""
    title = nth(index, len(_TITLE_STEMS) * len(_PATRONS), seed, "title")
    firm = nth(index, len(_PARTNERS) ** 2, seed, "firm")
    return {
        "stem": _TITLE_STEMS[title % len(_TITLE_STEMS)],
        "family": _PATRONS[title // len(_TITLE_STEMS)],
        **_person(index, seed),
        "firm": f"{_PARTNERS[firm % len(_PARTNERS)]} & {_PARTNERS[firm // len(_PARTNERS)]}",
        **_society(index, seed),
        "artefact": _artefact(index, nouns, seed),
        "ship": _ship(index, seed),
    }


def _person(index: int, seed: int) -> dict[str, str]:
    """A person's name, with an initial once all names are used."""
    size = len(_GIVEN) * len(_SURNAMES)
    number, turn = nth(index % size, size, seed, "person"), index // size
    initial = f" {'ABCDEFGHJKLMNPRSTW'[turn - 1]}." if turn else ""
    first_name = number % len(_GIVEN)
    surname = _SURNAMES[number // len(_GIVEN)]
    return {
        "person": f"{_GIVEN[first_name]}{initial} {surname}",
        "surname": surname,
        **(_HE if first_name % 2 else _SHE),
    }


def _society(index: int, seed: int) -> dict[str, str]:
    turn, index = divmod(index, SHORT_NAMES)
    number = nth(index, SHORT_NAMES, seed, "society")
    tail = _PLACE_TAILS[(7 * number + turn) % len(_PLACE_TAILS)]
    number, place = divmod(number, len(_SOCIETY))
    body, field = divmod(number, len(_FIELDS))
    full = f"{_SOCIETY[place]}{tail} {_FIELDS[field]} {_BODIES[body]}"
    return {"full": full, "short": "".join(word[0] for word in full.split())}


def _ship(index: int, seed: int) -> str:
    """A ship's name, with its home port once all names are used."""
    turn, index = divmod(index, len(_SHIPS))
    port = f" of {_PLACES[nth(turn, len(_PLACES), seed, 'port')]}" if turn else ""
    return _SHIPS[nth(index, len(_SHIPS), seed, "ship")] + port


def _artefact(index: int, nouns: tuple[str, ...], seed: int) -> str:
    """An object's name. The five subjects alternate, with other nouns: a fifth of the numbers is enough."""
    number = nth(index // 5, len(_OBJECT_STEMS) * len(nouns) * len(_SIZES), seed, f"artefact/{nouns[0]}")
    number, stem = divmod(number, len(_OBJECT_STEMS))
    size, noun = divmod(number, len(nouns))
    return f"{_SIZES[size]} {_OBJECT_STEMS[stem]} {nouns[noun]}".lstrip()
