"""Bounds on answers to libraries that use httpx, which has no setting for them."""

import time
from collections.abc import Iterator
from typing import Any

import httpx

from storm_pipeline.run.retrying import Patience


class BoundedStream(httpx.SyncByteStream):
    """A bounded stream; raises httpx.ReadError for an answer of more than ``most`` bytes, or a slow one."""

    most = 10_000_000

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        read, ends = 0, time.monotonic() + Patience.total
        for piece in self._stream:
            read += len(piece)
            if read > self.most or time.monotonic() > ends:
                raise httpx.ReadError("the answer is too large or too slow")
            yield piece

    def close(self) -> None:
        """Close the underlying stream."""
        self._stream.close()


def bound(response: httpx.Response) -> None:
    """Bound the body of a response; a hook for clients that send ``Accept-Encoding: identity``.

    Raises httpx.DecodingError: it is compressed, so that its size is unknown.
    """
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise httpx.DecodingError("the answer is compressed, which was not asked for")
    response.stream = BoundedStream(response.stream)
