"""Writes a table in Typst. It needs no package."""

from __future__ import annotations

from collections.abc import Iterator

from harness_tables.cells import Cell
from harness_tables.layout import Table, clean

SMALLER = ((6, "0.9em"), (9, "0.8em"))  # more columns than this -> the size of letters


def document(table: Table) -> str:
    return f'#set page(paper: "a4", margin: 2.5cm)\n#set text(size: 10pt)\n{render(table)}'


def render(table: Table) -> str:
    return "".join(f"{line}\n" for line in _lines(table))


def text(value: str) -> str:
    """The text as a string of Typst: nothing in it is markup."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _lines(table: Table) -> Iterator[str]:
    for note in table.notes:
        yield f"// {clean(note)}"
    align = "center" if table.intervals else "right"
    size = [letters for columns, letters in SMALLER if table.columns > columns]
    yield "#figure("
    yield f"  caption: figure.caption(position: top, {text(table.caption)}),"
    yield "  placement: auto,"
    if table.wide:
        yield '  scope: "parent",'
    yield f"  {{ set text(size: {size[-1] if size else '1em'}); set par(leading: 0.35em); table("
    yield f"    columns: {table.columns + 1}, stroke: none, inset: (x: 4pt, y: 3pt),"
    yield f"    align: (left, {', '.join([align] * table.columns)}),"
    yield "    table.hline(stroke: 0.8pt),"
    yield from _header(table)
    for group in table.groups:
        yield "    table.hline(stroke: 0.5pt),"
        if group.title:
            yield f"    table.cell(colspan: {table.columns + 1}, emph({text(group.title)})),"
        for row in group.rows:
            cells = [_cell(cell, table.room(i)) for i, cell in enumerate(row.cells)]
            yield f"    {', '.join([text(row.name), *cells])},"
    yield "    table.hline(stroke: 0.8pt),"
    yield "  ) },"
    yield f") <{''.join(each if each.isalnum() or each in ':-.' else '-' for each in table.label)}>"


def _header(table: Table) -> Iterator[str]:
    yield "    table.header("
    if len(table.heads) > 1:
        titles = [f"table.cell(colspan: {len(h.names)}, align: center, {text(h.title)})" for h in table.heads]
        yield f"      [], {', '.join(titles)},"
        place = 1
        for head in table.heads:
            end = place + len(head.names)
            yield f"      table.hline(start: {place}, end: {end}, stroke: 0.3pt),"
            place = end
    names = [text(name) for head in table.heads for name in head.names]
    yield f"      [System], {', '.join(f'table.cell(align: center, {name})' for name in names)},"
    yield "    ),"


def _cell(cell: Cell, room: str) -> str:
    """A value with its sign, as wide as with the mark `room`."""
    made = text(cell.text)
    made = {1: f"strong({made})", 2: f"underline({made})"}.get(cell.rank, made)
    if cell.mark:
        made += f" + super({text(cell.mark)})"
    if rest := room[len(cell.mark) :]:
        made += f" + hide(super({text(rest)}))"
    if cell.interval:
        made += f" + linebreak() + text(size: 0.75em, {text(cell.interval)})"
    return made
