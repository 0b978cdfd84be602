"""Bounds on what a service answers to libraries that ask by httpx, which has no setting for them."""

import time
from collections.abc import Iterator
from typing import Any

import httpx

MOST, SECONDS = 10_000_000, 60.0
"""Bytes of an answer, and seconds in which it must arrive."""


class _Bounded(httpx.SyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        read, ends = 0, time.monotonic() + SECONDS
        for piece in self._stream:
            read += len(piece)
            if read > MOST or time.monotonic() > ends:
                raise httpx.ReadError("the answer is too large or too slow")
            yield piece

    def close(self) -> None:
        self._stream.close()


def bound(response: httpx.Response) -> None:
    """Bound the body of a response, before it is read: a hook of clients that send ``Accept-Encoding: identity``.

    Raises httpx.DecodingError: it is compressed, so that few bytes may unpack to many.
    """
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise httpx.DecodingError("the answer is compressed, which was not asked for")
    response.stream = _Bounded(response.stream)
