"""Bodies of requests: read whole, or passed on as they come, within limits on bytes and time."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from storm_pipeline.errors import StormError

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
_BODY_SECONDS = 30.0  # for a whole body; of one that is passed on, for each piece
_STREAM_SECONDS = 900.0  # for a whole body that is passed on


class TooLargeError(StormError):
    """A body, a file or a set of documents is larger than the server allows."""


class SlowBodyError(StormError):
    """A body did not arrive in time."""


def announced_size(headers: dict[str, str]) -> int | None:
    """Bytes of a body according to its headers; None if they do not say."""
    size = headers.get("content-length", "")
    return int(size) if size.isascii() and size.isdigit() and len(size) < 20 else None


async def whole(headers: dict[str, str], receive: Receive, most: int) -> Receive:
    """Read a body of at most ``most`` bytes, and return a ``receive`` that gives it, then the client's next messages.

    Raises TooLargeError, SlowBodyError.
    """
    limited = bounded(headers, receive, most)
    body, more = b"", True
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            while more:
                message = await limited()
                body += bytes(message.get("body", b""))
                more = message.get("more_body", False)
    except TimeoutError as error:
        raise SlowBodyError(f"the body did not arrive within {_BODY_SECONDS:g} seconds") from error
    given = False

    async def next_message() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return next_message


def bounded(headers: dict[str, str], receive: Receive, most: int) -> Receive:
    """Return a ``receive`` that passes a body on as it comes.

    It raises TooLargeError: the body has more than ``most`` bytes, and SlowBodyError: a piece, or all, takes too long.
    """
    seen, is_over = announced_size(headers) or 0, False
    arrived = 0
    ends = asyncio.get_running_loop().time() + _STREAM_SECONDS

    async def next_message() -> Message:
        nonlocal arrived, is_over
        if is_over:  # what a client says after its body, which may take as long as the answer
            return await receive()
        if seen > most:
            raise TooLargeError(f"the body is larger than {most:,} bytes")
        left = min(_BODY_SECONDS, ends - asyncio.get_running_loop().time())
        try:
            async with asyncio.timeout(left):
                message = await receive()
        except TimeoutError as error:
            raise SlowBodyError(f"nothing of the body arrived within {left:g} seconds") from error
        arrived += len(message.get("body", b""))
        is_over = not message.get("more_body", False)
        if arrived > most:
            raise TooLargeError(f"the body is larger than {most:,} bytes")
        return message

    return next_message
