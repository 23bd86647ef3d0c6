"""Prints queries and passages in a terminal: rankings side by side, texts with context marked, lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.inspect.lists import Difference, Group
from harness.inspect.marks import Piece, text_of
from harness.inspect.material import Variant
from harness.inspect.passage import Stage
from harness.inspect.query import Hit, Inspected, QueryView, Ranking
from harness.inspect.query_groups import Compared

LONGEST = 600  # how many characters of a text are shown
READ = 3  # how many hits of each system show their text, besides relevant ones
RANK, GAP = 4, 2  # the width of the column `rank`, and of the space between columns
LONGEST_NAME = 44  # the most characters of a system's name in one line
LEGEND = "● relevant, with its grade   ○ judged not relevant   · not judged   ⟦added by context⟧"
NO_JUDGEMENTS = "the judgements are not here: name the store of the run with --store DIR"
SHOWN = 120  # how many characters of a query's text are listed
NAMED = 5  # how many ids of a group, or positives, are named


def safe(text: str) -> str:
    """The text with control characters and direction overrides written out, to be harmless."""
    return "".join(
        character if character == "\n" or character.isprintable() else repr(character)[1:-1]
        for character in text.replace("\t", " ")
    )


def cut(text: str, longest: int = LONGEST) -> str:
    if len(text) <= longest:
        return text
    return f"{text[:longest]} [... {len(text) - longest:,} characters more]"


def show_query(console: Console, view: QueryView, inspected: Inspected) -> None:
    """Prints one query: its text, the rankings side by side, the ranks of the positives, and the texts."""
    heading = f"{view.dataset} · query {view.id}"
    console.rule(Text(safe(heading), "bold"), align="left")
    if view.text is not None:
        console.print(Text(safe(cut(view.text)) or "(an empty query)"))
    for ranking in view.rankings:
        for text in ranking.rewrites:
            console.print(Text(f"{safe(ranking.system)} asks for {safe(cut(text))}", "dim"))
    if view.slices:
        console.print(Text(f"slices: {safe(', '.join(view.slices))}", "dim"))
    if view.answers:
        console.print(Text(f"answers: {safe(cut(', '.join(view.answers)))}", "dim"))
    console.print()
    if view.rankings:
        for table in _side_by_side(view.rankings, console.width, view.judged):
            console.print(table, crop=False, soft_wrap=True)
            console.print()
        console.print(Text(LEGEND if view.judged else NO_JUDGEMENTS, "dim" if view.judged else "yellow"))
        _texts(console, view, inspected)
    for note in inspected.notes:
        console.print(Text(f"not at hand: {safe(note)}", "yellow"))


class _Column(NamedTuple):
    """One ranking as table cells, which are never wrapped."""

    ranking: Ranking
    hits: list[Text]
    positives: Text
    width: int


def _side_by_side(rankings: Sequence[Ranking], width: int, judged: bool) -> list[Table]:
    """The rankings as tables. Each table has as many rankings as fit a terminal of this width."""
    groups: list[list[_Column]] = []
    used = 0
    for column in (_column(ranking, judged) for ranking in rankings):
        if not groups or used + GAP + column.width > width:
            groups.append([])
            used = RANK
        groups[-1].append(column)
        used += GAP + column.width
    labels = list(dict.fromkeys(label for ranking in rankings for label in ranking.values))
    return [_table(group, labels) for group in groups]


def _column(ranking: Ranking, judged: bool) -> _Column:
    hits = [_hit(hit, judged) for hit in ranking.hits]
    positives = _positives(ranking) if judged else Text()
    lines = [hit.plain for hit in hits] + positives.plain.split("\n")
    lines += [_value(label, value) for label, value in ranking.values.items()]
    width = max(map(cell_len, [*lines, *_name_lines(ranking.system)]))
    return _Column(ranking, hits, positives, width)


def _name_lines(system: str) -> list[str]:
    """A system's name in lines; only a very long name has more than one."""
    name = safe(system)
    return [name[at : at + LONGEST_NAME] for at in range(0, len(name), LONGEST_NAME)]


def _table(columns: Sequence[_Column], labels: Sequence[str]) -> Table:
    width = RANK + sum(GAP + column.width for column in columns)  # even if the terminal is narrower
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, GAP, 0, 0), width=width)
    table.add_column("rank", justify="right", style="dim", no_wrap=True, width=RANK)
    for column in columns:
        heading = "\n".join(_name_lines(column.ranking.system))
        table.add_column(Text(heading), no_wrap=True, width=column.width)
    for label in labels:
        values = [column.ranking.values.get(label) for column in columns]
        if values == [None] * len(values):
            continue
        table.add_row("", *(Text("" if x is None else _value(label, x), "dim") for x in values))
    for i in range(max(len(column.hits) for column in columns)):
        cells = [column.hits[i] if i < len(column.hits) else Text() for column in columns]
        table.add_row(str(i + 1), *cells)
    table.add_row("", *(Text("") for _ in columns))
    table.add_row("", *(column.positives for column in columns))
    return table


def _value(label: str, value: float) -> str:
    return f"{safe(label)} {value:.4g}"


def _hit(hit: Hit, judged: bool) -> Text:
    text = Text(f"{mark(hit.grade)} " if judged else "", "green" if (hit.grade or 0) > 0 else "dim")
    text.append(safe(hit.id), "bold" if (hit.grade or 0) > 0 else "")
    return text.append(f"  {hit.score:.6g}", "dim")


def mark(grade: int | None) -> str:
    if grade is None:
        return "·"
    return f"●{grade}" if grade > 0 else "○"


def _positives(ranking: Ranking) -> Text:
    unit = ranking.unit
    if not ranking.positives:
        return Text(f"no relevant {unit} is known", "dim")
    lines = [
        f"{safe(item.id)} at {item.rank:,}" if item.rank else f"{safe(item.id)} not in {ranking.length:,}"
        for item in ranking.positives[:NAMED]
    ]
    if len(ranking.positives) > NAMED:
        lines.append(f"and {len(ranking.positives) - NAMED} more")
    return Text(f"relevant {unit}s:\n" + "\n".join(lines), "dim")


def _texts(console: Console, view: QueryView, inspected: Inspected) -> None:
    """Prints the texts of relevant passages and of the first hits, as each system that ranks them read them.
    Equal texts are printed once."""
    shown: dict[tuple[str, str], tuple[int | None, list[str], tuple[Piece, ...]]] = {}
    for ranking in view.rankings:
        variant = ranking.variant or Variant((), ranking.unit)
        grades = {item.id: item.grade for item in ranking.positives}
        grades |= {hit.id: hit.grade for hit in ranking.hits if hit.grade is not None}
        ids = [item.id for item in ranking.positives[:NAMED]] + [hit.id for hit in ranking.hits[:READ]]
        ids = list(dict.fromkeys(ids))
        for name, pieces in inspected.texts(ids, variant).items():
            entry = shown.setdefault((name, text_of(pieces)), (grades.get(name), [], pieces))
            entry[1].append(ranking.system if ranking.variant else f"{ranking.system} (without context)")
    order = sorted(shown.items(), key=lambda item: -(item[1][0] or 0))
    for (name, _), (grade, systems, pieces) in order:
        console.print()
        console.print(
            Text(f"{mark(grade)} {safe(name)}", "bold").append(
                f"  as {safe(', '.join(systems))} read it", "dim"
            )
        )
        console.print(marked(pieces))


def marked(pieces: Sequence[Piece]) -> Text:
    """A text with the additions of context between ⟦ and ⟧, cut to `LONGEST` characters."""
    text, left, length = Text(), LONGEST, len(text_of(pieces))
    for piece in pieces:
        shown = safe(piece.text[:left])
        text.append(f"⟦{shown}⟧" if piece.added and shown else shown, "cyan" if piece.added else "")
        left = max(0, left - len(piece.text))
    if length > LONGEST:
        text.append(f" [... {length - LONGEST:,} characters more]", "dim")
    return text if length else Text("(empty)", "dim")


def show_stages(console: Console, stages: Sequence[Stage]) -> None:
    """Prints a passage before any context, then after each stage with the additions of that stage marked."""
    before = stages[0].text
    for stage in stages:
        same = stage is not stages[0] and stage.text == before
        console.print(Text(safe(stage.name), "bold").append("  (adds nothing)" if same else "", "dim"))
        console.print(marked(stage.pieces))
        console.print()
        before = stage.text


def differences(
    differing: Sequence[Difference],
    names: tuple[str, str],
    label: str,
    top: int,
    texts: Mapping[str, str],
    compared: Sequence[Compared],
) -> list[object]:
    """What two systems differ on: how often each is better, the queries with their texts, and the groups."""
    better = sum(item.size > 0 for item in differing)
    summary = (
        f"{label}: {names[0]} is better on {better:,} queries, {names[1]} on {len(differing) - better:,}"
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("query", overflow="fold")
    for name in (*names, "difference"):
        table.add_column(Text(safe(name)), justify="right")
    table.add_column("better", overflow="fold")
    if texts:
        table.add_column("text", overflow="fold")
    for item in differing[:top]:
        numbers = (f"{item.first:.4f}", f"{item.second:.4f}", f"{item.size:+.4f}")
        better_name = Text(safe(names[0] if item.size > 0 else names[1]))
        text = [Text(cut(safe(texts.get(item.query, "")), SHOWN))] if texts else []
        table.add_row(Text(safe(item.query)), *numbers, better_name, *text)
    parts: list[object] = [Text(safe(summary)), *([table] if differing else [])]
    return [*parts, Text(), _compared(compared, names)] if compared else parts


def _compared(compared: Sequence[Compared], names: tuple[str, str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("queries by", "group"):
        table.add_column(heading, overflow="fold")
    for heading in ("queries", *map(safe, names), "difference", "95 % interval"):
        table.add_column(Text(heading), justify="right", no_wrap=heading != "95 % interval")
    kind = ""
    for item in compared:
        interval = Text(
            f"{item.low:+.4f} to {item.high:+.4f}", "bold" if item.low > 0 or item.high < 0 else "dim"
        )
        numbers = (f"{item.queries:,}", f"{item.first:.4f}", f"{item.second:.4f}", f"{item.difference:+.4f}")
        table.add_row(item.kind if item.kind != kind else "", Text(safe(item.name)), *numbers, interval)
        kind = item.kind
    return table


def groups(
    failing: Sequence[Group], system: str, label: str, top: int, texts: Mapping[str, str]
) -> list[object]:
    """The groups of queries with the share that fails, and the first failed queries with their texts."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("queries", overflow="fold")
    table.add_column("score 0", justify="right", no_wrap=True)
    table.add_column("share", justify="right", no_wrap=True)
    table.add_column("such queries", overflow="fold")
    for group in failing:
        named = ", ".join(group.failed[:NAMED]) + (", ..." if len(group.failed) > NAMED else "")
        share = f"{len(group.failed) / group.queries:.0%}" if group.queries else ""
        table.add_row(
            Text(safe(group.name)), f"{len(group.failed):,} of {group.queries:,}", share, Text(safe(named))
        )
    shown = [f"{name}  {cut(texts[name], SHOWN)}" for name in failing[0].failed[:top] if name in texts]
    return [
        Text(safe(f"{system}: queries on which {label} is 0")),
        table,
        *(Text(safe(line)) for line in shown),
    ]
