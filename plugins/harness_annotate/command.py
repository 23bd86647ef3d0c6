"""`harness annotate`: people judge a pool in a page on this machine."""

from __future__ import annotations

import argparse
import ipaddress
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.plugin import HarnessError, shown_path
from harness.toolkit import commands

if TYPE_CHECKING:
    from harness_annotate.project import Project

AGREEMENT = "agreement.json"
RULES = {
    "votes": "people asked for each pair",
    "more": "further people, one by one, where those disagree",
    "package": "pairs of a package, which reviewers check as a whole",
    "hold": "minutes until a pair that somebody left open goes to another",
    "gold-every": "one gold question in so many pairs of each person",
    "review": "random pairs of a package that each reviewer checks",
    "reviewers": "reviewers that check a package",
    "seed": "of all random choices",
}


def arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("pool", type=Path, metavar="POOL", help="a folder with a pool")
    commands.out(command, "the folder of the judgements")
    scheme = "what people may choose: a name, or one's own .yaml file; needed to begin a folder"
    command.add_argument("--scheme", metavar="NAME", help=scheme)
    for name, text in RULES.items():
        kind = int if name in ("more", "seed") else commands.count
        command.add_argument(f"--{name}", type=kind, metavar="N", help=f"{text} (default: the scheme's)")
    accuracy = "what a package must reach in the review (default: the scheme's)"
    command.add_argument("--accuracy", type=commands.share, metavar="SHARE", help=accuracy)
    gold = "pairs with known answers: a TSV file with query, passage and grade"
    command.add_argument("--gold", type=Path, metavar="FILE", help=gold)
    again = "judge pairs too that the collection has a grade for"
    command.add_argument("--again", action="store_true", help=again)
    command.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: 127.0.0.1)")
    command.add_argument("--port", type=int, default=8765, help="default 8765; 0 takes a free one")
    instead = command.add_mutually_exclusive_group()
    invite = "instead of serving, print a link with a token for this person; may be repeated"
    instead.add_argument("--invite", action="append", default=[], metavar="NAME", help=invite)
    reviewer = "the same for a reviewer"
    instead.add_argument("--invite-reviewer", action="append", default=[], metavar="NAME", help=reviewer)
    revoke = "instead of serving, end all links of this person; may be repeated"
    instead.add_argument("--revoke", action="append", default=[], metavar="NAME", help=revoke)
    progress = "instead of serving, print progress and agreement"
    instead.add_argument("--progress", action="store_true", help=progress)
    graded = "instead of serving, have a machine grade all pairs: a YAML file says which, and how"
    instead.add_argument("--grade-by", type=Path, metavar="FILE", help=graded)
    export = "instead of serving, write judgements.jsonl and what belongs to it into the folder"
    instead.add_argument("--export", action="store_true", help=export)


def annotate(options: argparse.Namespace) -> int:
    project = _project(options)
    try:
        if options.invite or options.invite_reviewer:
            return _invite(options, project)
        if options.revoke:
            return _revoke(options, project)
        if options.progress:
            return _progress(project)
        if options.grade_by:
            return _grade(options, project)
        if options.export:
            return _export(options, project)
        return _serve(options, project)
    finally:
        project.journal.close()


def _project(options: argparse.Namespace) -> Project:
    from harness_annotate import pool_files, project, scheme

    chosen = scheme.load(options.scheme) if options.scheme else None
    rules: dict[str, Any] = {
        name.replace("-", "_"): value
        for name in (*RULES, "accuracy")
        if (value := getattr(options, name.replace("-", "_"))) is not None
    }
    if chosen is None and not project.is_project(options.out):
        names = ", ".join(scheme.names())
        raise HarnessError(f"--scheme: a new folder needs one; choose from: {names}, or name a .yaml file")
    return project.open_project(
        pool_files.Pool(options.pool), options.out, chosen, rules, options.gold, options.again
    )


def _invite(options: argparse.Namespace, project: Project) -> int:
    from harness_annotate import people

    named = [(name, "annotator") for name in options.invite]
    named += [(name, "reviewer") for name in options.invite_reviewer]
    for name, role in named:
        token = people.invite(project.journal, name, "reviewer" if role == "reviewer" else "annotator")
        print(f"{name} ({role}): {_link(options.host, options.port, token)}")
    print("each link is shown only now; give it to that person alone")
    return 0


def _revoke(options: argparse.Namespace, project: Project) -> int:
    from harness_annotate import people

    for name in options.revoke:
        people.revoke(project.journal, name)
        print(f"{name}: no link works any more; what was judged is kept")
    return 0


def _link(host: str, port: int, token: str) -> str:
    """The address of the page with a token. The token follows #, and browsers do not send that part, so no
    log or proxy sees it."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/#token={token}"


def _progress(project: Project) -> int:
    from harness_annotate import summary

    with project.journal.reading() as state:
        print(summary.text(summary.summary(state)), end="")
    return 0


def _grade(options: argparse.Namespace, project: Project) -> int:
    from harness_annotate import machines

    with project.journal.reading() as state:
        scheme = state.scheme
    head = project.pool.head
    appointed = machines.read(options.grade_by, scheme, (head.language, head.query_language))
    on_terminal = sys.stderr.isatty()

    def done(count: int, total: int) -> None:
        if on_terminal:
            print(f"\r{count:,} of {total:,} pairs", end="\n" if count == total else "", file=sys.stderr)

    count = machines.grade(project, appointed, done)
    print(f"{appointed.name}: {count} pairs graded; people see a grade only after they have chosen")
    return 0


def _export(options: argparse.Namespace, project: Project) -> int:
    import orjson

    from harness.toolkit.files import writing
    from harness_annotate import results, summary

    counts = results.export(project.journal, project.pool, options.out)
    with project.journal.reading() as state:
        agreement = summary.plain(summary.summary(state))
    writing.replace_file(options.out / AGREEMENT, orjson.dumps(agreement, option=orjson.OPT_INDENT_2) + b"\n")
    shown = ", ".join(f"{count} {what}" for what, count in counts.items())
    print(f"{shown_path(options.out / results.JUDGEMENTS)}: {shown}")
    return 0


def _serve(options: argparse.Namespace, project: Project) -> int:
    try:
        import uvicorn

        from harness_annotate import server
    except ModuleNotFoundError as error:
        command = "pip install 'passage-harness[annotate]'"
        raise HarnessError(f"harness annotate: needs {error.name}; install it with: {command}") from None
    from harness_annotate import people

    local = _is_loopback(options.host)
    with project.journal.reading() as state:
        invited = sorted(person.name for person in state.people.values() if not person.local)
    if not local and not invited:
        what = "is not this machine alone, and nobody is invited"
        raise HarnessError(f"--host {options.host}: {what}; invite people first with --invite NAME")
    listening = _socket(options.host, options.port)
    port = listening.getsockname()[1]
    hosts = ["127.0.0.1", "localhost", "[::1]"] if local else ["*"]
    if invited:
        print(f"serving on http://{options.host}:{port}/ for {', '.join(invited)}: each opens their own link")
    else:
        token = people.invite(project.journal, "me", "annotator", local=True)
        print(f"open this link to judge: {_link(options.host, port, token)}")
    with project.journal.reading() as state:
        few = people.too_few(state)
    if few:
        print(f"note: {few}")
    if not local:
        print("note: the connection is not encrypted; put a proxy with https or an SSH tunnel before it")
    try:
        print("Ctrl-C ends the server; every answer is kept", flush=True)
        config = uvicorn.Config(
            server.app(project, port, hosts), log_level="warning", access_log=False, server_header=False
        )
        uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:
        print("stopped; run it again to go on")
    return 0


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _socket(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        where = f"--host {host} --port {port}"
        raise HarnessError(f"{where}: cannot be opened ({reason.lower()}); choose another") from None


def verify(folder: Path) -> int:
    """Replays the log of a judging folder, and returns 0 if all of it is in order."""
    from harness_annotate import project

    replayed = project.replay(folder)
    for problem in replayed.problems:
        commands.say(f"wrong: {shown_path(folder)}: {problem}")
    if not replayed.problems:
        commands.say(f"{shown_path(folder)}: {replayed.entries} entries, all in order")
    return 1 if replayed.problems else 0
