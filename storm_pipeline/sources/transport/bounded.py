"""Bounds on answers to libraries that use httpx, which has no setting for them."""

import time
from typing import cast

import httpx

from storm_pipeline.run.retrying import Patience


def read_bounded(response: httpx.Response, most: int = 10_000_000) -> None:
    """Read the body of a response, which was asked for without compression, within limits of bytes and time.

    Raises httpx.DecodingError: it is compressed, so that its size is unknown; httpx.ReadError: too large or too slow.
    """
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise httpx.DecodingError("the answer is compressed, which was not asked for")
    received, ends = bytearray(), time.monotonic() + Patience.total
    stream = cast("httpx.SyncByteStream", response.stream)
    for piece in stream:
        received += piece
        if len(received) > most or time.monotonic() > ends:
            raise httpx.ReadError("the answer is too large or too slow")
    stream.close()
    response.stream = httpx.ByteStream(bytes(received))
