"""A run in a separate thread, awaited or as a stream of events; for servers and notebooks."""

import asyncio
import contextvars
import queue
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import wait
from contextlib import suppress
from typing import Self, TypeVar

from storm_pipeline.errors import RunError, StoppedError
from storm_pipeline.run.concurrency import callers_loop, in_own_thread
from storm_pipeline.run.events import CallbackSink, Event, EventSink
from storm_pipeline.types import Article

T = TypeVar("T")
Work = Callable[[EventSink], Article]  # executes a run, sending its events to a sink
_SECONDS_TO_END = 5.0


async def in_thread(work: Callable[..., T], halt: threading.Event | None = None) -> T:
    """Await work that runs in a thread and ends early when the event that it gets as ``halt`` is set.

    Cancelling sets the event and waits at most five seconds for the work to end: a model may take minutes to answer,
    and its reply is saved later unless the process ends. It does not use asyncio's executor, since ``asyncio.run``
    waits for its threads. ``halt``: the event to use; by default a new one.
    """
    stopped = halt or threading.Event()
    context = _context_with(asyncio.get_running_loop())
    done = in_own_thread(lambda: work(halt=stopped), "storm-awaited", context)
    running = asyncio.wrap_future(done)
    running.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # else asyncio prints it
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stopped.set()
        await asyncio.wait([running], timeout=_SECONDS_TO_END)
        raise


class _RunStream:
    """A run in its thread, and its article. The thread has no reference to the stream, so that a dropped one is freed.

    ``put``: receives every event, and None when the run has ended; ``loop``: the event loop of an asynchronous caller.
    """

    def __init__(
        self,
        work: Work,
        halt: threading.Event,
        put: Callable[[Event | None], None],
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        def execute() -> Article:
            try:
                return work(CallbackSink(put))
            finally:
                put(None)

        self._halt = halt
        self._ending = in_own_thread(execute, "storm-stream", _context_with(loop), daemon=False)
        weakref.finalize(self, halt.set)

    @property
    def article(self) -> Article:
        """The article, available after the last event. Raises RunError: it is not finished yet."""
        if not self._ending.done() or self._ending.exception():
            raise RunError("the article is not finished yet: iterate over all events first")
        return self._ending.result()

    def _raise_error(self) -> None:
        error = self._ending.exception()
        if error is not None and not (self._halt.is_set() and isinstance(error, StoppedError)):
            raise error


class Stream(_RunStream):
    """Iterator over the events of a run as they happen, then holder of the article. One consumer; also in ``with``.

    The run executes in a background thread. An error that ends it is raised after the last event. :meth:`close`,
    leaving the ``with`` block, and dropping the stream (as by leaving a loop over ``storm.stream(topic)``) stop it
    gracefully: work in flight is finished and saved, and it can be resumed.
    """

    def __init__(self, work: Work, halt: threading.Event) -> None:
        self._events: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        super().__init__(work, halt, self._events.put)

    def close(self) -> None:
        """Stop the run gracefully, and wait until work in flight is saved. No effect on a finished run."""
        self._halt.set()
        wait([self._ending])

    def __iter__(self) -> Iterator[Event]:
        while (event := self._events.get()) is not None:
            yield event
        self._events.put(None)  # ends a repeated iteration
        self._raise_error()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class AsyncStream(_RunStream):
    """Version of :class:`Stream` for asyncio: ``async for event in storm.astream(topic)``; also in ``async with``.

    Awaiting :meth:`aclose`, leaving the block, dropping the stream, and cancelling the task that waits for an event
    stop the run gracefully. Raises RuntimeError: no event loop runs in this thread.
    """

    def __init__(self, work: Work, halt: threading.Event) -> None:
        events: asyncio.Queue[Event | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def put(event: Event | None) -> None:
            try:
                loop.call_soon_threadsafe(events.put_nowait, event)
            except RuntimeError:  # the loop is closed, so nothing reads the event
                halt.set()

        self._events = events
        super().__init__(work, halt, put, loop)

    async def aclose(self) -> None:
        """Stop the run gracefully; wait at most five seconds until work in flight is saved."""
        self._halt.set()
        with suppress(TimeoutError):
            async with asyncio.timeout(_SECONDS_TO_END):
                while await self._events.get() is not None:
                    pass
                self._events.put_nowait(None)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        try:
            event = await self._events.get()
        except asyncio.CancelledError:
            self._halt.set()
            raise
        if event is not None:
            return event
        self._events.put_nowait(None)  # ends a repeated iteration
        self._raise_error()
        raise StopAsyncIteration

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()


def _context_with(loop: asyncio.AbstractEventLoop | None) -> contextvars.Context:
    """Return a copy of the caller's context with ``loop``, so that its `dspy.context` applies in a run's threads."""
    context = contextvars.copy_context()
    context.run(callers_loop.set, loop)
    return context
