"""Callers of a server: its owner, and holders of named tokens, which the owner makes, lists and revokes."""

import hashlib
import re
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from storm_pipeline.errors import SettingsError
from storm_pipeline.interfaces.server.reach import is_loopback
from storm_pipeline.interfaces.server.records import records_folder
from storm_pipeline.run.log import logger
from storm_pipeline.text.files import locked_file, read_plain, write_atomically, write_errors_as

_FILE, _LOCK = "tokens.json", "tokens.lock"
_NAME = r"[a-z0-9][a-z0-9-]{0,39}"
_MOST_BYTES = 1 << 20
TOKEN_VARIABLE = "STORM_API_TOKEN"  # noqa: S105 - the name of a variable
_SHORTEST_TOKEN = 16


@dataclass(frozen=True)
class Caller:
    """A caller of the server, with access to their own runs and documents; the owner has access to all."""

    name: str  # name of the token; empty for the owner of the server
    budget: float | None = None  # US dollars per calendar month (UTC); None: no limit

    def has_access(self, name: str) -> bool:
        """Return whether this caller has access to the runs and documents of the caller of a name."""
        return self.name in ("", name)


OWNER, STRANGER = Caller(""), Caller("-")
"""The server's owner; and a reader of open pages without a token, who has access to nothing."""
CALLER: ContextVar[Caller] = ContextVar("storm_caller")
"""The caller of the current request. Without a default, so that an unidentified request fails."""
IS_KNOWN: ContextVar[Callable[[], bool]] = ContextVar("storm_is_known", default=lambda: True)
"""Whether he still is one: a token may be revoked, and a session end, while he follows a run."""


@dataclass(eq=False)
class KnownTokens:
    """The callers of tokens: those of links, or :class:`Tokens`."""

    by_digest: Callable[[str], Caller | None]  # from the hash of a token; None: nobody has it
    required: bool = True  # whether callers need one

    def find(self, token: str) -> Caller | None:
        """Return the caller with a token; None as for :meth:`by_digest`."""
        return self.by_digest(digest(token))


class Token(BaseModel):
    """A stored token: only its hash."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=f"^{_NAME}$")
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    budget: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    created: str  # ISO date (UTC)
    revoked: bool = False


_TOKENS = TypeAdapter(tuple[Token, ...])


class Tokens(KnownTokens):
    """The named tokens of the server whose runs are in a folder. Thread-safe.

    They are stored in ``tokens.json`` of the folder of its records; a running server reads it again after changes. A
    token is 256 random bits, so that a plain SHA-256 protects it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path = records_folder(folder) / _FILE
        self._lock = threading.Lock()
        self._version: tuple[int, ...] | None = None
        self._known: tuple[Token, ...] = ()
        self.required = False
        """Whether there is or was a named token: from then on, a token is required."""

    def add(self, name: str, budget: float | None = None) -> str:
        """Make and return a token, which is not stored. The name of a revoked token can be used again.

        ``budget``: US dollars per month, > 0. Raises SettingsError: the name is taken or invalid, the budget is not
        above 0, or the file is damaged or cannot be written.
        """
        if not re.fullmatch(_NAME, name):
            raise SettingsError(f"a token is named by up to 40 small letters, digits and hyphens, not {name!r}")
        if budget is not None and not 0 < budget < float("inf"):
            raise SettingsError(f"a budget is a number of dollars above 0, not {budget:g}")
        token = f"storm_{secrets.token_urlsafe(32)}"
        made = Token(name=name, sha256=digest(token), budget=budget, created=datetime.now(UTC).date().isoformat())
        with write_errors_as(SettingsError, self._path), locked_file(self._path.with_name(_LOCK), timeout=10):
            if any(token.name == name and not token.revoked for token in self.all()):
                raise SettingsError(f"there is a token of the name {name!r}: revoke it first, or choose another name")
            self._save([*(token for token in self.all() if token.name != name), made])
        return token

    def revoke(self, name: str) -> None:
        """Revoke a token. Raises SettingsError: unknown name; others as for :meth:`add`."""
        with write_errors_as(SettingsError, self._path), locked_file(self._path.with_name(_LOCK), timeout=10):
            if not any(token.name == name and not token.revoked for token in self.all()):
                raise SettingsError(f"there is no token of the name {name!r}; `storm serve token list` lists them")
            self._save([t.model_copy(update={"revoked": t.revoked or t.name == name}) for t in self.all()])

    def all(self) -> tuple[Token, ...]:
        """Return all tokens, including revoked ones. Raises SettingsError: the file is damaged or cannot be read."""
        with self._lock:
            try:
                status = self._path.stat()
                version = (status.st_mtime_ns, status.st_ino, status.st_size)
                if version != self._version:
                    self._known, self._version = _TOKENS.validate_json(read_plain(self._path, _MOST_BYTES)), version
                self.required = True
            except FileNotFoundError:
                self._known, self._version = (), None
            except (OSError, ValidationError, ValueError) as error:
                self.required = True
                raise SettingsError(f"{self._path} cannot be read as a list of tokens: restore or delete it") from error
            return self._known

    def by_digest(self, sha256: str) -> Caller | None:
        """Return the caller with a token of this hash; None if there is none, or the file cannot be read."""
        return next((Caller(token.name, token.budget) for token in self._valid() if token.sha256 == sha256), None)

    def by_name(self, name: str) -> Caller | None:
        """Return the caller of a name; None if the token was revoked, or the file cannot be read."""
        return next((Caller(token.name, token.budget) for token in self._valid() if token.name == name), None)

    def is_revoked(self, name: str) -> bool:
        """Return whether the last token of a name was revoked."""
        with suppress(SettingsError):  # the file is damaged
            return any(token.name == name and token.revoked for token in self.all())
        return False

    def _valid(self) -> tuple[Token, ...]:
        try:
            return tuple(token for token in self.all() if not token.revoked)
        except SettingsError as error:
            logger.warning("nobody but the owner is served: %s", error)
            return ()

    def _save(self, tokens: list[Token]) -> None:
        write_atomically(self._path, _TOKENS.dump_json(tuple(tokens), indent=1) + b"\n", private=True)


def require_valid_token(host: str, token: str, tokens: Tokens | None = None) -> str:
    """Return the owner's token of a server on this address; empty if not needed.

    Raises SettingsError: the token is missing although others can reach the address or there are named tokens; or it is
    short.
    """
    if token and len(token) < _SHORTEST_TOKEN:
        raise SettingsError(
            f"{TOKEN_VARIABLE} has {len(token)} characters, which can be guessed: set at least {_SHORTEST_TOKEN}"
        )
    set_it = f"set {TOKEN_VARIABLE} to at least {_SHORTEST_TOKEN} random characters"
    if not token and not is_loopback(host):
        raise SettingsError(f"others can reach {host}, so callers need a token: {set_it}, or listen on 127.0.0.1")
    if tokens and tokens.all() and not token:
        raise SettingsError(f"there are named tokens, so you need one of your own: {set_it}")
    return token


def digest(token: str) -> str:
    """Return the hash by which a token or another random secret is kept."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
