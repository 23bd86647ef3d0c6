"""Invented Chinese names: places, epithets, people, firms, societies, ships and objects.

As in English, the first characters of places, titles, societies and objects differ, so that a name shows
its kind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from harness_tour.names import joined, nth, parts

_PARTS = parts("zh")
_TITLE_STEMS = joined(_PARTS["title"], _PARTS["tails"])
_PORTS = joined(_PARTS["town"], _PARTS["tails"])
_PLACES = joined(_PORTS, _PARTS["suffixes"])
_SOCIETY, _TAILS = _PARTS["society"], _PARTS["tails"]
_OBJECT_STEMS = joined(_PARTS["object"], _PARTS["tails"])
_EPITHETS = joined(_PARTS["epithet"], _PARTS["epithet_tails"])
_SURNAMES, _GIVEN = _PARTS["surnames"], _PARTS["given"]
_TRADE, _TRADE_TAILS = _PARTS["trade"], _PARTS["trade_tails"]
_FIELDS, _BODIES, _SIZES = _PARTS["fields"], _PARTS["bodies"], _PARTS["sizes"]
_SHIPS = joined(_PARTS["ship_first"], _PARTS["ship_second"])
SHORT_NAMES = len(_SOCIETY) * len(_FIELDS)  # the number of different short names


def place(draw: Callable[[], float]) -> str:
    return _PLACES[int(draw() * len(_PLACES))]


def names(index: int, nouns: tuple[str, ...], seed: int) -> Mapping[str, str]:
    """The names of document `index`; `nouns` are the nouns for the object that its subject owns."""
    title = nth(index, len(_TITLE_STEMS) * len(_EPITHETS), seed, "title")
    return {
        "stem": _TITLE_STEMS[title % len(_TITLE_STEMS)],
        "family": _EPITHETS[title // len(_TITLE_STEMS)],
        "person": _person(index, seed),
        "ta": "她" if nth(index, 2, seed, "ta") else "他",
        "firm": _firm(index, seed),
        **_society(index, seed),
        "artefact": _artefact(index, nouns, seed),
        "ship": _ship(index, seed),
    }


def _person(index: int, seed: int) -> str:
    number = nth(index, len(_SURNAMES) * len(_GIVEN) ** 2, seed, "person")
    number, surname = divmod(number, len(_SURNAMES))
    last, first = divmod(number, len(_GIVEN))
    return _SURNAMES[surname] + _GIVEN[first] + _GIVEN[last]


def _firm(index: int, seed: int) -> str:
    size = len(_TRADE)
    number = nth(index, size**3 * len(_TRADE_TAILS), seed, "firm")
    number, first = divmod(number, size)
    number, second = divmod(number, size)
    tail, third = divmod(number, size)
    return _TRADE[first] + _TRADE[second] + _TRADE[third] + _TRADE_TAILS[tail]


def _society(index: int, seed: int) -> dict[str, str]:
    """A society's full name and its short name. The short name joins the place, the first character of the
    field and the last character of the body."""
    turn, index = divmod(index, SHORT_NAMES)
    number = nth(index, SHORT_NAMES, seed, "society")
    body, tail = divmod((7 * number + turn) % (len(_TAILS) * len(_BODIES)), len(_TAILS))
    field, place = divmod(number, len(_SOCIETY))
    return {
        "full": _SOCIETY[place] + _TAILS[tail] + _FIELDS[field] + _BODIES[body],
        "short": _SOCIETY[place] + _FIELDS[field][0] + _BODIES[body][-1],
    }


def _ship(index: int, seed: int) -> str:
    """A ship's name. When all names are used, further ships have a home port before the name."""
    turn, index = divmod(index, len(_SHIPS))
    port = _PORTS[nth(turn, len(_PORTS), seed, "port")] if turn else ""
    return f"{port}{_SHIPS[nth(index, len(_SHIPS), seed, 'ship')]}号"


def _artefact(index: int, nouns: tuple[str, ...], seed: int) -> str:
    """An object's name. The five subjects alternate, with other nouns: a fifth of the numbers is enough."""
    number = nth(index // 5, len(_OBJECT_STEMS) * len(nouns) * len(_SIZES), seed, f"artefact/{nouns[0]}")
    number, stem = divmod(number, len(_OBJECT_STEMS))
    size, noun = divmod(number, len(nouns))
    return _OBJECT_STEMS[stem] + _SIZES[size] + nouns[noun]
