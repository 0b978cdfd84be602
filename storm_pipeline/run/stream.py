"""A run in a thread of its own, awaited or as a stream of its events; for servers and notebooks."""

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from types import TracebackType
from typing import Self, TypeVar

from storm_pipeline.errors import RunError, StoppedError
from storm_pipeline.run.events import CallbackSink, Event, EventSink
from storm_pipeline.types import Article

T = TypeVar("T")
_SECONDS_TO_END = 5.0


async def in_thread(work: Callable[[threading.Event], T], halt: threading.Event | None = None) -> T:
    """Await work that runs in a thread and ends early when the event that it gets is set.

    Cancelling sets the event, and waits for the work to end, but no longer than five seconds: a model may take minutes
    to answer, and its reply is saved by then or, unless the process ends, later. The thread is our own, since
    ``asyncio.run`` waits for those of its executor.

    Args:
        work: the work.
        halt: the event to use; by default a new one.
    """
    stopped = halt or threading.Event()
    done: Future[T] = Future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            done.set_result(context.run(work, stopped))
        except BaseException as error:  # noqa: BLE001 - raised where it is awaited
            done.set_exception(error)

    threading.Thread(target=run, name="storm-awaited", daemon=True).start()
    running = asyncio.wrap_future(done)
    running.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # else asyncio prints it
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stopped.set()
        await asyncio.wait([running], timeout=_SECONDS_TO_END)
        raise


class Stream:
    """Iterates over the events of a run as they happen, then holds the article. One consumer; also in ``with``.

    The run executes in a background thread. An error that ends it is raised after the last event. Leaving the ``with``
    block, or :meth:`cancel`, stops it gracefully: work in flight is finished and saved, and it can be resumed.

    Args:
        work: executes the run, sending its events to a sink.
        halt: set to stop the run.
    """

    def __init__(self, work: Callable[[EventSink], Article], halt: threading.Event) -> None:
        self._halt = halt
        self._events: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._article: Article | None = None
        self._error: BaseException | None = None
        context = contextvars.copy_context()  # so that the caller's `dspy.context` applies in the thread
        self._thread = threading.Thread(target=context.run, args=(self._run, work), name="storm-stream")
        self._thread.start()

    @property
    def article(self) -> Article:
        """The article, available after the last event.

        Raises:
            RunError: it is not finished yet.
        """
        if self._article is None:
            raise RunError("the article is not finished yet: iterate over all events first")
        return self._article

    def cancel(self) -> None:
        """Stop the run gracefully, and wait until work in flight is saved."""
        self._halt.set()
        self._thread.join()

    def __iter__(self) -> Iterator[Event]:
        while (event := self._events.get()) is not None:
            yield event
        self._thread.join()
        self._events.put(None)  # ends a repeated iteration
        if self._error is not None and not (self._halt.is_set() and isinstance(self._error, StoppedError)):
            raise self._error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()

    def _run(self, work: Callable[[EventSink], Article]) -> None:
        try:
            self._article = work(CallbackSink(self._events.put))
        except BaseException as error:  # noqa: BLE001 - re-raised in the consumer's thread
            self._error = error
        finally:
            self._events.put(None)
