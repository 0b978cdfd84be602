"""Functions that tests call in the process for foreign files; it imports this module, which imports little."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator

from storm_pipeline.documents.isolated import allow_page
from storm_pipeline.errors import MissingExtraError, PageError


def pid() -> Iterator[int]:
    """The process's id."""
    yield os.getpid()


def spin(seconds: float = 1000.0) -> Iterator[str]:
    """Compute for so long."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    yield "done"


def lay_out(pages: int, seconds: float) -> Iterator[int]:
    """Compute for so long for each page."""
    for number in range(1, pages + 1):
        yield from map(len, spin(seconds))
        allow_page(number)


HELD: list[bytes] = []


def hold(megabytes: int) -> Iterator[int]:
    """Keep memory."""
    HELD.append(bytes(megabytes * 1_000_000))
    yield len(HELD)


def crash() -> Iterator[int]:
    """End the process as a fault of a library would."""
    yield 1
    os.kill(os.getpid(), signal.SIGSEGV)


def refuse(name: str) -> Iterator[int]:
    """Raise an error."""
    yield 1
    raise {"page": PageError, "extra": MissingExtraError, "value": ValueError}[name](f"of {name}")


def prints(text: str) -> Iterator[str]:
    """Write where answers are written."""
    print(text, flush=True)
    os.write(1, text.encode())
    yield text


def echo(values: list[object]) -> Iterator[object]:
    """Give values back."""
    yield from values


class Hostile:
    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("touch was_run",)


def hostile() -> Iterator[object]:
    """A value that is code."""
    yield Hostile()


def seen(name: str) -> Iterator[bool]:
    """Whether a variable is set, and a module imported."""
    yield name in os.environ
    yield name in sys.modules
