"""Invented English names: places, families, people, firms, societies, ships and objects.

What can stand in a title, in a place, in a society, in an object, in a person and in a firm is made
from parts that no other of these kinds uses, so that a name says which kind it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from harness_tour.names import joined, nth

_PLACE_TAILS = tuple(
    "moor wick combe thwaite ford mere holm stead wold cliffe beck garth haven minster port well "
    "shaw ness dale bury hurst field burn gate fold brook leigh worth cote sea stoke bank ridding "
    "croft tarn firth den bourne barrow by".split()
)
_TITLE = tuple(
    "Hal Ost Brack Fen Cor Thal Quen Aver Mar Dun Pell Skar Lor Wend Gris Ember Tam Rav Sel Cald "
    "Ister Nor Wyth Bel Ash Hind Tor Kes Ul Var Ingle Sto Grim Lan Pen Rud Whin Oxen Yar Drey".split()
)
_TOWN = tuple(
    "Al Birk Clun Dray El Far Gar Hawk Ing Jor Kel Lud Mil Nether Orm Pad Quar Ros Stan Thorn "
    "Ulver Vel Wal Yaxe Zel Brom Carl Dock Egre Frost Goose Hol Ilk Kirk Lox Mos Nant Otter Prim Row".split()
)
_SOCIETY = tuple(
    "Aber Bos Cray Dover Easel Flax Glen Harrow Iver Kyle Lamb Mel Nab Olden Perry Quill Rother Silver "
    "Trent Usk Vine Wharf Yew Arl Beam Cinder Dane Elm Ferry Gull Heron Iron Lark Maple Nettle Osier "
    "Plum Reed Swan Tern".split()
)
_OBJECT = tuple(
    "Ander Boll Cast Dell Ev Ful Gosling Hum Isen Junip Karn Lyn Mort Nim Oak Pitch Quin Ram Saf Tilt "
    "Umber Vesper Wick Yel Zin Bran Cob Dew Eld Fin Gorse Hazel Ivo Ket Lime Musk Nut Orchid Pine Rook".split()
)
_FAMILY_TAILS = tuple(
    "land rin sel ler man nard vane lock wright gan ton dry kin mond ner rick son tree bright ster "
    "quist more ham low ding ver pole cott gard nell".split()
)
_PATRON = tuple(
    "Tres Ver Hask Mol Pry Cran Dol Fer Gar Hob Jas Kemp Lav Mab Nes Ock Pem Rath Sar Tib Ur Van Wes "
    "Zan Bru Cly Dar Ebb Fos Gil".split()
)
_PERSON = tuple(
    "Tol Ren Mar Cal Dres Fal Gam Hel Jar Kil Lem Mon Nor Ol Pas Quar Roth Sim Tan Und Var Wil Yor Zet "
    "Bas Cor Del Em Fen Gos".split()
)
_FIRM = tuple(
    "Ack Brom Chal Dun Elk Flin Gor Hin Ib Jel Kir Lud Mop Nub Orp Pod Rus Stap Tup Ulk Vos Wat Yat Zor "
    "Blen Crad Dag Epp Frim Gub".split()
)
_WOMEN = tuple(
    "Ingrid Clara Martha Agnes Edith Helen Ruth Alice Emma Rosa Julia Sarah Anna Laura Ellen Louisa Judith "
    "Harriet Margaret Dorothy Beatrice Florence Matilda Charlotte Cecilia Susan Rachel Esther Nora Lydia "
    "Amelia Frances Caroline Eleanor Catherine Isabel Teresa Barbara Rebecca Henrietta".split()
)
_MEN = tuple(
    "Thomas Henry Albert Walter George Edward Arthur Hugo Martin Oscar Paul Simon Victor Robert Peter Jacob "
    "Samuel Daniel Frederick Leonard Harold Benjamin Anthony Charles Edmund Francis Gilbert Herbert Joseph "
    "Laurence Matthew Nicholas Philip Richard Stephen Theodore William Adam David Julian".split()
)
_FIELDS = (
    *("Tidal Records", "Folk Music", "Rural Crafts", "Public Reading", "Garden History", "Night Schools"),
    *("Mountain Rescue", "Old Machines", "Local Maps", "Weather Watching", "Bird Study", "Civic Trees"),
    *("Lost Trades", "Parish Records", "Popular Science", "River Navigation", "Young Workers", "Fair Prices"),
    *("Cottage Housing", "Humane Travel"),
)
_BODIES = (
    *("Society", "Union", "Association", "League", "Fellowship", "Council", "Guild", "Committee"),
    *("Institute", "Trust"),
)
_SIZES = ("", "Great ", "Little ", "Blue ", "Old ", "Black ", "Gilt ", "Twin ", "Copper ", "Painted ")
_SHIP_A = tuple(
    "Patient Merry Grey Constant Northern Golden Silent Bold Distant Faithful Amber Gentle Restless Scarlet "
    "Humble Windward Lonely Royal Nimble Evening Brave Crystal Drowsy Honest Ivory Loyal Modest Proud Quiet "
    "Rising".split()
)
_SHIP_B = tuple(
    "Heron Cormorant Margaret Pilgrim Thistle Dolphin Swallow Charity Petrel Weaver Falcon Hope Sturgeon "
    "Shepherd Duchess Minstrel Osprey Trader Harvest Beacon Courier Dancer Emigrant Huntsman Juniper Lapwing "
    "Mermaid Navigator Oarsman Princess".split()
)
_TITLE_STEMS = joined(_TITLE, _PLACE_TAILS)
_PLACES = joined(_TOWN, _PLACE_TAILS)
_SOCIETY_STEMS = joined(_SOCIETY, _PLACE_TAILS)
_OBJECT_STEMS = joined(_OBJECT, _PLACE_TAILS)
_PATRONS = joined(_PATRON, _FAMILY_TAILS)
_SURNAMES = joined(_PERSON, _FAMILY_TAILS)
_PARTNERS = joined(_FIRM, _FAMILY_TAILS)
_GIVEN = tuple(name for pair in zip(_WOMEN, _MEN, strict=True) for name in pair)
_SHE = {"She": "She", "she": "she", "Her": "Her", "her": "her", "obj": "her"}
_HE = {"She": "He", "she": "he", "Her": "His", "her": "his", "obj": "him"}


def place(draw: Callable[[], float]) -> str:
    return _PLACES[int(draw() * len(_PLACES))]


def names(index: int, nouns: tuple[str, ...], seed: int, draw: Callable[[], float]) -> Mapping[str, str]:
    """The names of document `index`; `nouns` are what its subject may call its treasure."""
    title = nth(index, len(_TITLE_STEMS) * len(_PATRONS), seed, "title")
    firm = nth(index, len(_PARTNERS) ** 2, seed, "firm")
    return {
        "stem": _TITLE_STEMS[title % len(_TITLE_STEMS)],
        "family": _PATRONS[title // len(_TITLE_STEMS)],
        **_person(index, seed),
        "firm": f"{_PARTNERS[firm % len(_PARTNERS)]} & {_PARTNERS[firm // len(_PARTNERS)]}",
        **_society(index, seed),
        "artefact": _artefact(index, nouns, seed),
        "ship": f"{_SHIP_A[int(draw() * len(_SHIP_A))]} {_SHIP_B[int(draw() * len(_SHIP_B))]}",
    }


def _person(index: int, seed: int) -> dict[str, str]:
    """Once all names are taken, the next round has an initial."""
    size = len(_GIVEN) * len(_SURNAMES)
    number, turn = nth(index % size, size, seed, "person"), index // size
    initial = f" {'ABCDEFGHJKLMNPRSTW'[turn - 1]}." if turn else ""
    given = number % len(_GIVEN)
    surname = _SURNAMES[number // len(_GIVEN)]
    return {
        "person": f"{_GIVEN[given]}{initial} {surname}",
        "surname": surname,
        **(_HE if given % 2 else _SHE),
    }


def _society(index: int, seed: int) -> dict[str, str]:
    number = nth(index, len(_SOCIETY_STEMS) * len(_FIELDS) * len(_BODIES), seed, "society")
    number, stem = divmod(number, len(_SOCIETY_STEMS))
    body, field = divmod(number, len(_FIELDS))
    full = f"{_SOCIETY_STEMS[stem]} {_FIELDS[field]} {_BODIES[body]}"
    return {"full": full, "short": "".join(word[0] for word in full.split())}


def _artefact(index: int, nouns: tuple[str, ...], seed: int) -> str:
    """Subjects have nouns of their own and take turns, so a fifth of the numbers is enough."""
    number = nth(index // 5, len(_OBJECT_STEMS) * len(nouns) * len(_SIZES), seed, f"artefact/{nouns[0]}")
    number, stem = divmod(number, len(_OBJECT_STEMS))
    size, noun = divmod(number, len(nouns))
    return f"{_SIZES[size]}{_OBJECT_STEMS[stem]} {nouns[noun]}"
