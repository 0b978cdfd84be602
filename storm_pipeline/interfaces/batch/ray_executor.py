"""Jobs on a Ray cluster: Ray schedules and places them and retries jobs whose worker died."""

import _thread
import logging
import os
import secrets
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from storm_pipeline.errors import RunError, SettingsError, needs_extra
from storm_pipeline.evidence.retrieval.encoder_process import share_encoder_process
from storm_pipeline.interfaces.batch.executors import (
    AT_ONCE,
    MAX_RETRIES,
    POLL_SECONDS,
    Executor,
    JobLost,
    Place,
    import_path,
    one_line,
    run_at,
)
from storm_pipeline.run.concurrency import MAX_WORKERS, Tasks, tune_process
from storm_pipeline.run.exchange import Exchange, ExchangeLink, result_of

J = TypeVar("J")
R = TypeVar("R")

_OBJECT_STORE_BYTES = 128 * 2**20  # shared memory of a new local Ray; jobs and results are small
_CONNECT_TIMEOUT = 10.0  # seconds to wait for a connection to the cluster's head


class RayExecutor(Executor):
    """Runs jobs in workers of a Ray cluster or of a new local Ray. A context manager.

    Every machine of a cluster needs the same packages, and the API keys in the environment of its ``ray start``: only
    the import path is sent to workers. Files that jobs read, such as own documents, must be there under the same paths;
    those that they write in a :func:`workplace` go to this machine through an actor on it. A job takes one CPU. One
    whose worker or machine dies is restarted, at most three times; workers that Ray kills for memory do not count. If
    this process already uses Ray, the executor shares it and leaves it running.

    A new local Ray sends no usage statistics, has no dashboard, and logs to a folder of its own in ``RAY_TMPDIR``, else
    in the system's temporary folder, which is deleted at its end.

    ``address``: of a running cluster, ``host:port``, or ``auto`` for the cluster this machine belongs to; empty for a
    new local Ray, with as many workers as jobs at once. ``at_once``: default: 64 on a cluster, else two. Raises
    SettingsError: a value is invalid; MissingExtraError: Ray is not installed.
    """

    name = "ray"
    most = 10_000

    def __init__(self, address: str = "", *, at_once: int | None = None) -> None:
        super().__init__(at_once if at_once is not None else MAX_WORKERS if address else AT_ONCE)
        self._address = _checked_address(address)
        self._started_ray = False
        self._folder = ""
        self._ray = _import_ray()
        self._exchange: Exchange | None = None
        self._relay: Any = None

    @contextmanager
    def _starting(
        self,
        work: Callable[[J], R],
        halt: threading.Event,  # noqa: ARG002 - workers have one of their own
    ) -> "Iterator[Callable[[J], Future[R | JobLost]]]":
        """Start jobs in workers that use this process's working directory, where there is one of that name.

        Raises SettingsError: Ray cannot be started, or no cluster answers.
        """
        self._connect()
        task, folder = self._remote(_run_in_worker, max_retries=MAX_RETRIES, num_cpus=1), str(Path.cwd())
        self._refs: dict[Future[Any], Any] = {}

        def begin(job: J) -> Future[R | JobLost]:
            ref = task.remote(work, job, folder, self._relay)
            future: Future[R | JobLost] = ref.future()
            self._refs[future] = ref
            future.add_done_callback(lambda done: self._refs.pop(done, None))
            return future

        yield begin

    def _cancel(self, running: "Iterable[Future[Any]]") -> None:
        for ref in [self._refs.pop(future, None) for future in running]:
            if ref is not None:
                self._ray.cancel(ref)

    def _is_cancelled(self, error: BaseException) -> bool:
        return isinstance(error, self._ray.exceptions.TaskCancelledError)

    def close(self) -> None:
        """End the actor, and Ray if this executor started it. May be called repeatedly."""
        if self._exchange is not None:
            self._ray.kill(self._relay)
            self._exchange.close()
            self._exchange = None
        if self._started_ray:
            self._started_ray = False
            self._ray.shutdown(wait_for_processes=True)
            self._delete_folder()

    def _delete_folder(self) -> None:
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = ""

    def _connect(self) -> None:
        if not self._ray.is_initialized():
            if self._address not in {"", "auto"}:
                _check_reachable(self._address)
            self._init()
            self._started_ray = True
        if self._exchange is None:
            self._exchange = Exchange(self.recorder.answer)
            here = self._ray.get_runtime_context().get_node_id()
            pinned = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(here, soft=False)
            groups = {"waits": MAX_WORKERS, "writes": MAX_WORKERS}  # calls that wait for a limit must not delay others
            options = {"concurrency_groups": groups, "num_cpus": 0, "scheduling_strategy": pinned}
            self._relay = self._remote(_Relay, **options).remote(self._exchange.address, self._exchange.key)

    def _init(self) -> None:
        options: dict[str, Any] = {"address": self._address}
        if not self._address:
            # It listens on all interfaces, and without this leaves a token in the home folder for all to read.
            os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(24))
            self._folder = _new_folder()
            options = {
                "_temp_dir": f"{self._folder}/r",  # Ray lets all write in it
                "_system_config": {"enable_metrics_collection": False},  # else served to everybody, without a token
                "address": "local",
                "num_cpus": self.at_once,
                "object_store_memory": _OBJECT_STORE_BYTES,
                "include_dashboard": False,
            }
        on_main = threading.current_thread() is threading.main_thread()
        before = signal.getsignal(signal.SIGTERM)
        try:
            # Ray puts the folder that is current then on its workers' import path, where another's modules may lie.
            with chdir(Path.cwd().anchor):
                self._ray.init(**options, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError, self._ray.exceptions.RayError) as error:
            self._delete_folder()
            raise SettingsError(
                f"the executor 'ray' cannot use {self._address or 'a new Ray on this machine'} ({one_line(error)}): "
                "run the command on a machine of a running cluster, or use --executor local"
            ) from error
        finally:
            if on_main:  # Ray replaces the handler that stops a command cleanly
                signal.signal(signal.SIGTERM, before or signal.SIG_DFL)

    def _remote(self, made: Any, **options: Any) -> Any:
        path = import_path()
        env = {"runtime_env": {"env_vars": {"PYTHONPATH": path}}} if path else {}
        return self._ray.remote(**options, **env)(made)


class _Relay:
    """Passes calls of workers on to the driver; an actor on its machine."""

    def __init__(self, address: Any, key: bytes) -> None:
        self._link = ExchangeLink(address, key)

    def ask(self, *call: Any) -> tuple[bool, Any]:
        return self._link.ask(*call)


def _link_to(relay: Any) -> Callable[..., Any]:
    import ray

    def call(*given: Any) -> Any:
        try:
            group = "waits" if given[0] == "reserve" else "writes"
            answer = ray.get(relay.ask.options(concurrency_group=group).remote(*given))
        except ray.exceptions.RayError as error:
            raise RunError(f"the driver of this run cannot be reached ({one_line(error)[:200]})") from error
        return result_of(answer)

    return call


def _run_in_worker(work: Callable[[J], R], job: J, folder: str, relay: Any) -> R:
    """Run a job in its worker; ``ray.cancel`` arrives as SIGINT, which sets the job's halt event."""
    if Path(folder).is_dir():
        os.chdir(folder)
    tune_process()
    share_encoder_process()
    halt = threading.Event()
    # Set in a thread, since a second signal may interrupt the first one, which holds the lock of the event.
    before = signal.signal(signal.SIGINT, lambda *_: _thread.start_new_thread(halt.set, ()))
    try:
        with Tasks(1) as tasks:
            future = tasks.start(run_at, Place(halt, _link_to(relay)), work, job)
            while not future.done():
                wait([future], timeout=POLL_SECONDS)  # Python handles the signal between waits; it interrupts none
        return future.result()
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)


def _new_folder() -> str:
    """Return a new folder that this user alone can enter."""
    place = os.environ.get("RAY_TMPDIR") or (None if sys.platform != "darwin" else "/tmp")  # noqa: S108 - short
    if place:
        Path(place).mkdir(parents=True, exist_ok=True)
    return tempfile.mkdtemp(prefix="r", dir=place)


def _import_ray() -> Any:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")  # under `uv run` it would upload the whole folder
    with needs_extra("cluster", "the executor 'ray'"):
        import ray
        import ray.util.scheduling_strategies
    return ray


def _checked_address(address: str) -> str:
    host, _, port = address.rpartition(":")
    if address in {"", "auto"} or ("://" not in address and host and port.isdecimal()):
        return address
    raise SettingsError(
        f"{address!r} is not a Ray cluster address: give host:port of its head, such as 10.0.0.1:6379, or 'auto' on "
        "a machine of the cluster"
    )


def _check_reachable(address: str) -> None:
    """Fail early: Ray itself would retry for minutes."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_TIMEOUT).close()
    except (OSError, OverflowError) as error:
        raise SettingsError(
            f"no Ray cluster answers at {address} ({error}): start one there with `ray start --head`, or give another "
            "address"
        ) from error
