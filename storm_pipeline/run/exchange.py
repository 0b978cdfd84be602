"""Calls between processes of one user on one machine, such as a driver and its workers."""

import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Client, Connection, Listener
from typing import Any

from storm_pipeline.errors import RunError
from storm_pipeline.run.concurrency import MAX_WORKERS


class Exchange:
    """Answers calls of other processes that know its key, over a socket in a private folder; on Windows a named pipe.

    ``answer``: takes the name of a method and its arguments, from several threads.
    ``connections``: those that are open.
    """

    def __init__(self, answer: Callable[..., Any]) -> None:
        self._answer = answer
        self.key = secrets.token_bytes(32)
        self._listener = Listener(backlog=MAX_WORKERS, authkey=self.key)
        self.address: Any = self._listener.address
        self._closed = False
        self.connections: set[Connection[Any, Any]] = set()
        threading.Thread(target=self._accept, name="storm-exchange", daemon=True).start()

    def close(self) -> None:
        """Accept no further connections."""
        self._closed = True
        with suppress(OSError, EOFError):
            Client(self.address, authkey=self.key).close()  # wakes the thread

    def _accept(self) -> None:
        while not self._closed:
            with suppress(Exception):  # of a process that died while it was connecting
                connection = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), name="storm-exchange", daemon=True).start()
        self._listener.close()

    def _serve(self, connection: "Connection[Any, Any]") -> None:
        self.connections.add(connection)
        with suppress(OSError, EOFError), connection:
            while True:
                connection.send(attempt(self._answer, *connection.recv()))
        self.connections.discard(connection)


class ExchangeLink:
    """Calls methods of an :class:`Exchange`. Thread-safe. Raises their errors; RunError: its process has ended."""

    def __init__(self, address: Any, key: bytes) -> None:
        self._address, self._key = address, key
        self._idle: list[Connection[Any, Any]] = []

    def __call__(self, method: str, *args: Any) -> Any:
        """Return the result of a method."""
        return result_of(self.ask(method, *args))

    def ask(self, method: str, *args: Any) -> tuple[bool, Any]:
        """Return whether a method succeeded, with its result or its error."""
        try:
            try:
                connection = self._idle.pop()
            except IndexError:
                connection = Client(self._address, authkey=self._key)
            connection.send((method, *args))
            answer: tuple[bool, Any] = connection.recv()
        except (OSError, EOFError) as error:
            raise RunError("the process that started this run has ended; what it recorded is in its folder") from error
        self._idle.append(connection)
        return answer


def attempt(call: Callable[..., Any], *args: Any) -> tuple[bool, Any]:
    """Return whether a call succeeded, with its result or its error."""
    try:
        return True, call(*args)
    except Exception as error:  # noqa: BLE001 - raised by :func:`result_of` in the caller's process
        return False, error


def result_of(answer: tuple[bool, Any]) -> Any:
    """Return the result of :func:`attempt`, or raise its error."""
    succeeded, value = answer
    if not succeeded:
        raise value
    return value
