"""Functions that tests call in the process for foreign files; it imports this module, which imports little."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pydantic import TypeAdapter

from storm_pipeline.errors import MissingExtraError, PageError
from storm_pipeline.sources.documents.document import Document, Unreadable
from storm_pipeline.sources.documents.isolated import allow_page


def pid() -> Iterator[int]:
    """The process's id."""
    yield os.getpid()


def spin(seconds: float = 1000.0) -> Iterator[str]:
    """Compute for so long."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    yield "done"


def pid_with(file: str) -> Iterator[int]:
    """The process's id, once the file is there."""
    while not Path(file).exists():
        time.sleep(0.01)
    yield os.getpid()


def lay_out(pages: int, seconds: float, size: int) -> Iterator[int]:
    """Compute for so long for each page."""
    for number in range(1, pages + 1):
        yield from map(len, spin(seconds))
        allow_page(number, size)


FOUND = TypeAdapter(list[Document | Unreadable])
HELD: list[bytes] = []


def hold(megabytes: int) -> Iterator[int]:
    """Keep memory."""
    HELD.append(bytes(megabytes * 1_000_000))
    yield len(HELD)


def crash() -> Iterator[int]:
    """End the process as a fault of a library would."""
    yield 1
    os.kill(os.getpid(), signal.SIGSEGV)


def refuse(name: str, text: str) -> Iterator[int]:
    """Raise an error."""
    yield 1
    raise {"page": PageError, "extra": MissingExtraError, "value": ValueError}[name](text)


def prints(text: str) -> Iterator[str]:
    """Write where answers are written."""
    print(text, flush=True)
    os.write(1, text.encode())
    yield text


def echo(values: str) -> Iterator[Document | Unreadable]:
    """Give values back."""
    yield from FOUND.validate_json(values)


def number(value: int) -> Iterator[int]:
    """Give a number back, three times."""
    yield from [value] * 3


def forge(start: str, repeated: str, times: int) -> Iterator[Document]:
    """Write another answer than a document, as a library that an attacker has taken over may."""
    for descriptor in range(3, 20):
        with suppress(OSError):
            os.write(descriptor, start.encode())
            for _ in range(times):
                os.write(descriptor, repeated.encode())
    yield Document("a", "", ((None, "Silk."),))


def seen(name: str) -> Iterator[bool]:
    """Whether a variable is set, and a module imported."""
    yield name in os.environ
    yield name in sys.modules
