"""Jobs on a Ray cluster: Ray schedules and places them and retries jobs whose worker died."""

import logging
import os
import secrets
import signal
import socket
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from storm_bench.experiments.executors import POLL_SECONDS, Executor, one_line, run_with_halt
from storm_pipeline import MissingExtraError, SettingsError
from storm_pipeline.api import Tasks, tune_process

J = TypeVar("J")
R = TypeVar("R")

_OBJECT_STORE_BYTES = 128 * 2**20  # shared memory of a new local Ray; jobs and results are small
_CONNECT_TIMEOUT = 10.0  # seconds to wait for a connection to the cluster's head


class RayExecutor(Executor):
    """Runs jobs in workers of a Ray cluster or of a new local Ray. A context manager.

    Every machine of a cluster needs the same packages, checkout and folders under the same paths (a shared file
    system), and the API keys in the environment of its ``ray start``: only the import path is sent to workers. A job
    takes one CPU. One whose worker or machine dies is restarted and resumes from what it saved; workers that Ray kills
    for memory do not count as retries. If this process already uses Ray, the executor shares it and leaves it running.

    A new local Ray sends no usage statistics, has no dashboard, and logs to Ray's default folder (``RAY_TMPDIR``, else
    the system's temporary folder).

    ``address``: of a running cluster, ``host:port``, or ``auto`` for the cluster this machine belongs to; empty for a
    new local Ray, with as many workers as jobs at once. ``max_retries``: restarts of a job whose worker died. Raises
    SettingsError: a value is invalid; MissingExtraError: Ray is not installed.
    """

    name = "ray"

    def __init__(self, address: str = "", *, at_once: int = 1, max_retries: int = 3) -> None:
        super().__init__(at_once)
        if max_retries < 0:
            raise SettingsError("max_retries of the executor 'ray' must be at least 0")
        self._address = _checked_address(address)
        self._max_retries = max_retries
        self._started_ray = False
        self._ray = _import_ray()

    @contextmanager
    def _starting(
        self,
        work: Callable[[J], R],
        halt: threading.Event,  # noqa: ARG002 - workers have one of their own
    ) -> "Iterator[Callable[[J], Future[R]]]":
        """Start jobs in workers that use this process's working directory.

        Raises SettingsError: Ray cannot be started, or no cluster answers.
        """
        self._connect()
        task, folder = self._task(), str(Path.cwd())
        self._refs: dict[Future[Any], Any] = {}

        def begin(job: J) -> Future[R]:
            ref = task.remote(work, job, folder)
            future: Future[R] = ref.future()
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
        """Shut Ray down if this executor started it. May be called repeatedly."""
        if self._started_ray:
            self._started_ray = False
            self._ray.shutdown(wait_for_processes=True)

    def _connect(self) -> None:
        if not self._ray.is_initialized():
            if self._address not in {"", "auto"}:
                _check_reachable(self._address)
            self._init()
            self._started_ray = True

    def _init(self) -> None:
        options: dict[str, Any] = {"address": self._address}
        if (
            not self._address
        ):  # it listens on all interfaces: else Ray leaves a token in the home folder for all to read
            os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(24))
            options = {
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
            raise SettingsError(
                f"the executor 'ray' cannot use {self._address or 'a new Ray on this machine'} ({one_line(error)}): "
                "run the command on a machine of a running cluster, or use --executor local"
            ) from error
        finally:
            if on_main:  # Ray replaces the handler that stops a command cleanly
                signal.signal(signal.SIGTERM, before or signal.SIG_DFL)

    def _task(self) -> Any:
        path = os.pathsep.join(_import_path())
        env = {"runtime_env": {"env_vars": {"PYTHONPATH": path}}} if path else {}
        return self._ray.remote(max_retries=self._max_retries, num_cpus=1, **env)(_run_in_worker)


def _run_in_worker(work: Callable[[J], R], job: J, folder: str) -> R:
    """Run a job in its worker; ``ray.cancel`` arrives as SIGINT, which sets the job's halt event."""
    os.chdir(folder)
    tune_process()
    halt = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: halt.set())
    try:
        with Tasks(1) as tasks:
            future = tasks.start(run_with_halt, halt, work, job)
            while not future.done():
                wait([future], timeout=POLL_SECONDS)  # Python handles the signal between waits; it interrupts none
        return future.result()
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)


def _import_ray() -> Any:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")  # under `uv run` it would upload the whole folder
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError(
            "the executor 'ray' needs the extra 'scale': pip install 'storm-bench[scale]'"
        ) from error
    return ray


def _import_path() -> list[str]:
    """Return the entries of ``sys.path`` outside the installed packages, which a worker's own Python provides."""
    installed = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    return [path for path in sys.path if path and not any(Path(path).is_relative_to(place) for place in installed)]


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
