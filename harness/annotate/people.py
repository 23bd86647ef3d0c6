"""Invitations and sessions. A token is shown once; the log holds only a digest of what it gives."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

from harness.annotate.events import Invited, Role
from harness.annotate.journal import Journal
from harness.annotate.state import Person, State
from harness.errors import HarnessError

NAME = re.compile(r"[^\W_][\w .@+-]{0,59}")


def invite(journal: Journal, name: str, role: Role, local: bool = False) -> str:
    """A new token for this person, who keeps those given before."""
    if not NAME.fullmatch(name) or name != name.strip():
        what = "is no name; use letters, digits, spaces and . @ + - _ (60 characters at most)"
        raise HarnessError(f"--invite '{name}': {what}")
    token = secrets.token_urlsafe(32)
    with journal.writing() as (state, append):
        known = state.people.get(name)
        if known is not None and known.role != role:
            raise HarnessError(f"--invite {name}: is {known.role} already; invite under another name")
        append(Invited(name, role, key_of(session_of(token)), local))
    return token


def session_of(token: str) -> str:
    """What a browser keeps in its cookie instead of the token, the same for the same token."""
    return hmac.new(token.encode(), b"session", hashlib.sha256).hexdigest()


def key_of(session: str) -> str:
    """What the log keeps. Tokens have 256 random bits, so one digest is enough: there is nothing to guess."""
    return hashlib.sha256(session.encode()).hexdigest()


def csrf_of(session: str) -> str:
    """What a page of this session must send with every change; another site cannot know it."""
    return hmac.new(session.encode(), b"csrf", hashlib.sha256).hexdigest()


def person_of(state: State, session: str) -> Person | None:
    key = key_of(session)
    for person in state.people.values():
        if any(hmac.compare_digest(key, known) for known in person.keys):
            return person
    return None
