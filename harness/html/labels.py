"""Where the names of points go in a plot: no two overlap, and none covers a point or leaves the frame."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from harness.types import JSON

LINE = 15  # pixels of a line of names
HEIGHT, EDGE = 260, 24  # pixels of the lowest plot, and between its points and its frame
FRAME, LETTERS = 76, 36  # pixels beside a plot for its axis, and the most characters of a name in it
# distances from a point in pixels, and whether a name there must keep clear of the intervals
RINGS = [(9.0, True), (15.0, True), *((9.0 + 6 * i, False) for i in range(14))]
_Box = tuple[float, float, float, float]  # left, top, right, bottom


class Point(NamedTuple):
    """A point in pixels from the upper left corner, with the ends of its interval."""

    x: float
    y: float
    low: float
    high: float
    name: str
    front: bool


class Place(NamedTuple):
    """The left end of a name, and where a line from the point meets a name far from it; else None."""

    x: float
    y: float
    joint: float | None


def width_of(name: str, front: bool) -> float:
    """The most pixels that a name takes at 12 pixels, bold on the front."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in name)
    return 13.0 * wide + (7.6 if front else 7.0) * (len(name) - wide) + 2


def placed(points: Sequence[Point], width: float, height: float) -> list[Place | None]:
    """The place of each name, or None if there is no room. `script/labels.js` does the same for pages."""
    taken: list[_Box] = [(p.x - 6, p.y - 6, p.x + 6, p.y + 6) for p in points]
    lines: list[_Box] = [(p.x - 2, min(p.low, p.high), p.x + 2, max(p.low, p.high)) for p in points]
    places: list[Place | None] = [None] * len(points)
    order = sorted(range(len(points)), key=lambda i: (not points[i].front, points[i].y))
    for i in order:
        point = points[i]
        wide = min(width_of(point.name, point.front), width)
        for left, middle, strict in _candidates(point, wide, width, height):
            box = (left, middle - LINE / 2, left + wide, middle + LINE / 2)
            if left < 0 or box[2] > width or box[1] < 0 or box[3] > height:
                continue
            if _overlaps(box, taken) or (strict and _overlaps(box, lines)):
                continue
            taken.append(box)
            joint = min(max(point.x, left), left + wide)
            far = math.hypot(joint - point.x, middle - point.y) > 16
            places[i] = Place(left, middle, joint if far else None)
            break
    return places


def _candidates(
    point: Point, wide: float, width: float, height: float
) -> Iterator[tuple[float, float, bool]]:
    """Left end and middle of a name: around its point from near to far, then anywhere, the nearest first."""
    for ring, strict in RINGS:
        for step in range(16):
            angle = math.pi / 8 * (-(step + 1) / 2 if step % 2 else step / 2)
            across = math.cos(angle)
            back = 0.0 if across > 0.3 else wide if across < -0.3 else wide / 2
            yield point.x + ring * across - back, point.y + ring * math.sin(angle), strict
    free = [
        (8.0 * i, LINE / 2 + 4.0 * j, False)
        for i in range(int((width - wide) // 8) + 1)
        for j in range(int((height - LINE) // 4) + 1)
    ]
    yield from sorted(free, key=lambda at: math.hypot(at[0] + wide / 2 - point.x, at[1] - point.y))


def _overlaps(box: _Box, others: Sequence[_Box]) -> bool:
    left, top, right, bottom = box
    return any(right > l and left < r and bottom > t and top < b for l, t, r, b in others)  # noqa: E741


def named(spec: dict[str, JSON], width: int) -> dict[str, JSON]:
    """A plot that has named points, with their data at a width in pixels, and places for all names. It
    becomes higher until there is room. Other plots stay as they are."""
    values = spec["data"]["values"]
    if "named" not in spec.get("usermeta", {}) or not values:
        return spec
    inner, height = width - FRAME, HEIGHT + 10 * len(values)
    x = _pixels([math.log(item["cost"]) for item in values], inner)
    ends = [item[end] for item in values for end in ("score", "low", "high")]
    while True:
        y = [height - at for at in _pixels(ends, height)]
        points = [
            Point(x[i], y[3 * i], y[3 * i + 1], y[3 * i + 2], item["system"][:LETTERS], item["front"])
            for i, item in enumerate(values)
        ]
        places = placed(points, inner, height)
        if None not in places or height > 4 * HEIGHT:
            break
        height += 80
    data = []
    for item, at, place in zip(values, points, places, strict=True):
        if place is not None:
            joint = None if place.joint is None else place.joint - at.x
            item = {**item, "dx": place.x - at.x, "dy": place.y - at.y, "joint": joint}
            right = item["dx"] + width_of(at.name, at.front)
            if right < 0:  # beside its point, although a name may be narrower than `width_of` says
                item |= {"dx": right, "align": "right"}
        data.append(item)
    return {**spec, "data": {"values": data}, "width": inner, "height": height, "autosize": {"type": "pad"}}


def _pixels(values: Sequence[float], length: float) -> list[float]:
    """Where a scale with padding puts the values on an axis."""
    low, high = min(values), max(values)
    return [
        EDGE + (value - low) / (high - low) * (length - 2 * EDGE) if high > low else length / 2
        for value in values
    ]
