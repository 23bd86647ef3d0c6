"""Writes a dataset of a suite as files for other tools, with its identity card and a README."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import orjson
import yaml

from harness.plugin import JSON, HarnessError, Part, shown_path
from harness.toolkit.boards import made_datasets
from harness.toolkit.boards.made_datasets import (
    CARD_FILE,
    Collection,
    Step,
    dataset_flags,
    stage_facts,
    stage_params,
)
from harness.toolkit.boards.stored import Artifact, Corpus, Store, read_judgements, read_queries
from harness.toolkit.files import writing
from harness_forms.collection_forms import FORMS, Whole

KEPT = "kept"  # the folder for a stage's own files, such as the files of a pool


def write(
    collection: Collection,
    steps: Mapping[str, Step],
    parts: Mapping[Part, Artifact],
    store: Store,
    form: str,
    out: Path,
) -> list[str]:
    """Writes the dataset into the folder `out`, which must be new or empty. Returns notes on what the form
    cannot hold. After a failure, no part of the folder is left."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise HarnessError(f"{shown_path(out)}: is there already; name another folder with --out")
    beside = out.with_name(f".{out.name}.partial")
    shutil.rmtree(beside, ignore_errors=True)
    with writing.explaining(out):
        beside.mkdir(parents=True)
        try:
            if form == "pool":
                notes = _pool(collection, steps, store, beside)
            else:
                whole = Whole(
                    Corpus(parts["corpus"].folder),
                    read_queries(parts["queries"].folder),
                    read_judgements(parts["judgements"].folder),
                    collection.card,
                )
                notes = FORMS[form](whole, beside)
                card = _card(collection, steps, parts, store, form, notes)
                (beside / CARD_FILE).write_bytes(orjson.dumps(card, option=orjson.OPT_INDENT_2) + b"\n")
            page = "\n".join(_page(collection, steps, store, form, notes)) + "\n"
            (beside / "README.md").write_text(page, encoding="utf-8")
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            raise
        if out.exists():
            out.rmdir()
        beside.replace(out)
    return notes


def _pool(collection: Collection, steps: Mapping[str, Step], store: Store, out: Path) -> list[str]:
    """Copies the files of the last stage that keeps files of its own. Returns a note if earlier stages have
    such files too."""
    kept = [stage for stage in collection.stages if (store.read(stage).folder / KEPT).is_dir()]
    if not kept:
        what = f"{collection.spec.name}: no stage of it makes a pool"
        raise HarnessError(f"{what}; add {{pool: {{of: [SYSTEM, ...]}}}} to its 'make'")
    for path in sorted((store.read(kept[-1]).folder / KEPT).iterdir()):
        shutil.copyfile(path, out / path.name)
    more = len(kept) - 1
    return (
        [f"{more} earlier stages have a pool too: this is that of {steps[kept[-1]].subject}"] if more else []
    )


def _card(
    collection: Collection,
    steps: Mapping[str, Step],
    parts: Mapping[Part, Artifact],
    store: Store,
    form: str,
    notes: list[str],
) -> dict[str, JSON]:
    """The identity card. For each stage it has the counts before and after, what the stage dropped, and
    examples. It holds no time and no path, so the same recipe gives the same bytes."""
    card = collection.card
    folders = (parts["corpus"].folder, parts["queries"].folder, parts["judgements"].folder)
    return {
        "form": made_datasets.CARD_FORM,
        "name": collection.spec.name,
        "split": card.split,
        "language": card.language,
        "query_language": card.query_language,
        "licence": card.licence,
        "citation": card.citation,
        "url": card.url,
        "notes": list(card.notes),
        "flags": dataset_flags(collection, steps, store),
        "written_as": {"form": form, "notes": notes},
        "counts": made_datasets.counted(*folders, card),
        "stages": [
            {"maker": known["maker"], "params": stage_params(step)}
            | {key: known[key] for key in ("before", "after", "dropped", "facts", "flags", "judges")}
            for step, known in stage_facts(collection, steps, store)
        ],
    }


def _page(
    collection: Collection, steps: Mapping[str, Step], store: Store, form: str, notes: list[str]
) -> Iterator[str]:
    """The lines of the README. Its header is the one that MTEB reads."""
    card, name = collection.card, collection.spec.name
    header = {"language": card.language, "license": card.licence}
    yield "---"
    yield yaml.safe_dump({key: value for key, value in header.items() if value}, allow_unicode=True).strip()
    yield "---"
    yield ""
    yield f"# {name}, split {card.split}"
    yield ""
    yield f"Written by passage-harness in the form `{form}`."
    yield ""
    for label, text in (("Licence", card.licence), ("Cite", card.citation), ("From", card.url)):
        if text:
            yield f"- {label}: {text}"
    for note in (*card.notes, *dataset_flags(collection, steps, store), *notes):
        yield f"- {note}"
    stages = list(stage_facts(collection, steps, store))
    if stages:
        yield ""
        yield "## How it was made"
        yield ""
        yield from made_datasets.table(
            made_datasets.Counted(step.subject, known["before"], known["after"], made_datasets.dropped(known))
            for step, known in stages
        )
    if form != "pool":
        yield ""
        yield f"`{CARD_FILE}` has all counts, and examples of what was dropped."
