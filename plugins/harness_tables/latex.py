"""Writes a table in LaTeX. It needs the package booktabs and no other."""

from __future__ import annotations

from collections.abc import Iterator

from harness_tables.cells import Cell
from harness_tables.layout import Head, Table, clean

DAGGERS = {"\u2020": r"\dagger", "\u2021": r"\ddagger"}
ESCAPES = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': "''", "`": "{}`{}", "'": "'{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
    **{sign: f"$^{{{name}}}$" for sign, name in DAGGERS.items()},
    **{
        character: f"${name}$"
        for character, name in {
            "\u00b1": r"\pm", "\u00d7": r"\times", "\u2192": r"\rightarrow", "\u2212": "-", "\u2264": r"\leq",
            "\u2265": r"\geq", "\u03b1": r"\alpha", "\u03b2": r"\beta", "\u03bb": r"\lambda",
            "\u03bc": r"\mu", "\u03c3": r"\sigma", "\u03c4": r"\tau",
        }.items()
    },
}  # fmt: skip
KNOWN = "\u2013\u2014\u2018\u2019\u201c\u201d\u2026"  # beside Latin letters, what pdfLaTeX knows
DOCUMENT = (
    "\\documentclass{article}\n\\usepackage{booktabs}\n\\pagestyle{empty}\n"
    "\\begin{document}\n%s\\end{document}\n"
)
# a size of letters, in points, and the space beside a column
SIZES = (("", 10, 6), ("\\small", 9, 4), ("\\footnotesize", 8, 3), ("\\scriptsize", 7, 2))
NARROW = " .,:;!|/()[]'`-"
WIDTHS = {False: 345, True: 470}  # of the text of usual classes in points: of a column, and of a page of two


def document(table: Table) -> str:
    return DOCUMENT % render(table)


def render(table: Table) -> str:
    return "".join(f"{line}\n" for line in _lines(table))


def escaped(text: str) -> str:
    """The text for LaTeX. A bracket or a star at its begin would be read as an argument of the rule above."""
    made = "".join(ESCAPES.get(character, character) for character in text)
    made = made.replace("--", "-{}-").replace("--", "-{}-")
    return f"{{{made[0]}}}{made[1:]}" if made[:1] in ("[", "*", "(") else made


def _lines(table: Table) -> Iterator[str]:
    yield "% needs \\usepackage{booktabs}"
    for note in table.notes:
        yield f"% {clean(note)}"
    environment = "table*" if table.wide else "table"
    body, caption = "".join(_tabular(table)), escaped(table.caption)
    if any(ord(character) > 0x17F and character not in KNOWN for character in body + caption):
        yield "% compile it with LuaLaTeX or XeLaTeX: pdfLaTeX lacks some of its characters"
    widths = [_width(table, points) + 2 * space * (table.columns + 1) for _, points, space in SIZES]
    fitting = [i for i, width in enumerate(widths) if width <= WIDTHS[table.wide]]
    size, _, space = SIZES[fitting[0] if fitting else -1]
    if not fitting:
        yield "% wider than the page: choose columns by --measure and --dataset, or add --wide"
    yield from (f"\\begin{{{environment}}}[t]", "\\centering")
    yield f"\\caption{{{caption}}}"
    yield f"\\label{{{''.join(each if each.isalnum() or each in ':-.' else '-' for each in table.label)}}}"
    yield "\\smallskip"
    if size:
        yield f"{size}\\setlength{{\\tabcolsep}}{{{space}pt}}"
    yield body.rstrip("\n")
    yield f"\\end{{{environment}}}"


def _width(table: Table, size: int) -> float:
    """About how many points wide the columns are, in letters of this size."""
    width, place = size * max(_ems(row.name) for row in table.rows), 0
    for head in table.heads:
        inside = 0.0
        for name in head.names:
            cells = [row.cells[place] for row in table.rows]
            mark = 0.45 * len(table.room(place))
            values = [(1.15 if cell.rank == 1 else 1) * _ems(cell.text) + mark for cell in cells]
            inside += max(size * max(_ems(name), *values), *(7 * _ems(cell.interval) for cell in cells))
            place += 1
        width += max(inside, size * _ems(head.title))
    return 1.05 * width


def _ems(text: str) -> float:
    return sum(
        1.0
        if ord(each) > 0x2E80
        else 0.5
        if each.islower() or each.isdigit()
        else 0.3
        if each in NARROW
        else 0.8
        for each in text
    )


def _tabular(table: Table) -> Iterator[str]:
    align = "c" if table.intervals else "r"
    yield f"\\begin{{tabular}}{{l{align * table.columns}}}\n\\toprule\n"
    if len(table.heads) > 1:
        yield from _titles(table.heads)
    names = [escaped(name) for head in table.heads for name in head.names]
    yield " & ".join(["System", *(f"\\multicolumn{{1}}{{c}}{{{name}}}" for name in names)]) + " \\\\\n"
    for group in table.groups:
        yield "\\midrule\n"
        if group.title:
            yield f"\\multicolumn{{{table.columns + 1}}}{{l}}{{\\textit{{{escaped(group.title)}}}}} \\\\\n"
        for number, row in enumerate(group.rows):
            cells = [_cell(cell, table.room(i)) for i, cell in enumerate(row.cells)]
            if table.intervals and number:
                yield "\\addlinespace[2pt]\n"
            yield " & ".join([escaped(row.name), *cells]) + (
                " \\\\[-2pt]\n" if table.intervals else " \\\\\n"
            )
            if table.intervals:
                ends = [f"{{\\scriptsize {cell.interval}}}" if cell.interval else "" for cell in row.cells]
                yield " & ".join(["", *ends]).lstrip() + " \\\\\n"
    yield "\\bottomrule\n\\end{tabular}\n"


def _titles(heads: tuple[Head, ...]) -> Iterator[str]:
    """The titles above the columns, each with a rule over its columns."""
    cells, rules, place = [""], [], 2
    for head in heads:
        last = place + len(head.names) - 1
        cells.append(f"\\multicolumn{{{len(head.names)}}}{{c}}{{{escaped(head.title)}}}")
        rules.append(f"\\cmidrule(lr){{{place}-{last}}}")
        place = last + 1
    yield " & ".join(cells).lstrip() + " \\\\\n" + " ".join(rules) + "\n"


def _cell(cell: Cell, room: str) -> str:
    """A value with its sign, as wide as with the mark `room`."""
    text = {1: "\\textbf{%s}", 2: "\\underline{%s}"}.get(cell.rank, "%s") % cell.text
    rest = room[len(cell.mark) :]
    return text + _raised(cell.mark) + (f"\\phantom{{{_raised(rest)}}}" if rest else "")


def _raised(mark: str) -> str:
    sign = DAGGERS.get(mark, f"\\mathrm{{{mark}}}")
    return f"$^{{{sign}}}$" if mark else ""
