"""Addresses given by the user: validation, and removal of passwords and keys from messages and files.

An address names a secret's variable, as in ``searxng:http://me:${PASSWORD}@host``; its value is read when the address
is used. So no file of a run contains it, and a resumed run can read it again.
"""

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from html import escape
from urllib.parse import quote, quote_plus, urlsplit

from storm_pipeline.errors import SettingsError
from storm_pipeline.text.configuration.variables import names_secret, secret, variable, variables

_NAMED = re.compile(r"\$\{([A-Za-z_]\w*)\}")
_NAMES_ITS_SECRET = re.compile(r"(?:[^:@/\s]*:)?\$\{[A-Za-z_]\w*\}")
_USER = re.compile(r"[^\s/?#]{0,1000}")
_BADLY_ENCODED = re.compile(r"[^\s:/?#@]{1,200}:(?!\d+[/?#])[^\s@]{0,1000}")
"""User name and password; in the second form, the password has characters that should have been encoded."""
_VALUE = re.compile(
    r"(?<=[?&;])([\w.-]{0,40}(?:key|token|secret|passw(?:or)?d|passwd|pwd|signature|credential)s?|sig|auth|pw)"
    r"=([^&;\s\"'<>#]+)",
    re.I,
)
"""A query parameter with the name of a secret, and its value."""
_SHORTEST_SECRET = 6  # minimum characters of a secret; shorter values also occur in ordinary words
HIDDEN = "***"


def redact(text: str, *secrets: str) -> str:
    """Replace passwords and keys in a text by ``***``; ``${NAME}`` stays. Idempotent.

    Hides user names, passwords and keys in addresses, values of variables named like secrets
    (``…_KEY``, ``…_TOKEN``, ``…_PASSWORD``), and further secrets; also as addresses, JSON, Python, HTML and base64 have
    them.

    ``text``: what leaves the program: a message, an event, a log. ``secrets``: further values to hide; those under six
    characters stay, since words contain them.
    """
    return redaction(*secrets)(text)


def redaction(*secrets: str) -> Callable[[str], str]:
    """Return :func:`redact` for many texts: the variables are read once."""
    variable_secrets = (value for name, value in variables().items() if names_secret(name))
    plain = {value.strip() for value in (*variable_secrets, *secrets)}
    hidden = {form for value in plain if len(value) >= _SHORTEST_SECRET for form in _forms(value)}
    longest_first = sorted(hidden, key=len, reverse=True)

    def hide(text: str) -> str:
        for value in longest_first:
            text = text.replace(value, HIDDEN)
        return _without_credentials(text)

    return hide


def _forms(secret: str) -> Iterator[str]:
    """Yield the forms of a secret in texts; in base64 without the characters that depend on what is around it."""
    raw = secret.encode("utf-8", "surrogateescape")
    yield from (secret, quote(raw), quote_plus(raw), json.dumps(secret)[1:-1], repr(secret)[1:-1], escape(secret))
    for before, mixed in enumerate((0, 2, 3)):
        encoded = b64encode(bytes(before) + raw)[mixed : (before + len(raw)) * 8 // 6].decode()
        yield from (encoded, encoded.replace("+", "-").replace("/", "_"))


def _without_credentials(text: str) -> str:
    text = _without_users(text) if "@" in text else text  # most texts are short, and have neither
    return _VALUE.sub(lambda match: f"{match[1]}={_hide_unless_named(match[2])}", text) if "=" in text else text


def _without_users(text: str) -> str:
    """Return a text without the user names and passwords before each ``@`` of an address; in linear time."""
    *before, last = text.split("@")
    shown: list[str] = []
    may_continue = False  # whether the text before the next @ may be the rest of a password that contains one
    for piece in before:
        if may_continue and _USER.fullmatch(piece):
            continue
        run = (piece[-1205:].split() or [""])[-1] if piece[-1:].strip() else ""
        users = ((_BADLY_ENCODED, run.partition("://")[2]), (_USER, run.rpartition("://")[2]))
        user = next((user for form, user in users if "://" in run and form.fullmatch(user)), None)
        kept = user if user is None else _hide_unless_named(user)
        shown.append(piece if user is None else piece[: len(piece) - len(user)] + str(kept))
        may_continue = kept == HIDDEN
    return "@".join([*shown, last])


def fill_in(text: str) -> str:
    """Replace ``${NAME}`` by the variables' values. Raises SettingsError: a variable is not set."""
    for name in _NAMED.findall(text):
        if not variable(name):
            raise SettingsError(f"the environment variable {name} is not set, which {redact(text)!r} names")
    return _NAMED.sub(lambda match: secret(match[1]), text)


def endpoint(text: str) -> str:
    """Return the address of a language model's service, stripped.

    Raises ValueError: it is not an http or https URL with a host, or it holds a password or key.
    """
    text = without_secrets(text.strip())
    if not is_web_address(text):
        raise ValueError("write an address such as http://localhost:8000/v1")
    if urlsplit(text).username is not None:
        raise ValueError("its user name and password would not be sent: name a key's variable with --api-key-env")
    return text


def without_secrets(text: str) -> str:
    """Return the text, if no address in it holds a password or key. Raises ValueError: one does."""
    if _without_credentials(text) != text:
        raise ValueError(
            "an address is saved with the run, so that it must not hold a password or key: put that into an "
            "environment variable and write ${NAME} in its place"
        )
    return text


def is_web_address(text: str) -> bool:
    """Return whether a text is an http or https URL with a host, a valid port if any, and no blank in it."""
    try:
        parts = urlsplit(text)
        valid = parts.port is None or parts.port > 0
    except ValueError:
        return False
    is_web = parts.scheme in {"http", "https"} and bool(parts.hostname)
    return valid and is_web and "\0" not in text and text.split() == [text]


def _hide_unless_named(secret: str) -> str:
    return secret if _NAMES_ITS_SECRET.fullmatch(secret) else HIDDEN
