"""Jobs spread over a Ray cluster: Ray schedules them, places them, and tries those again whose worker died."""

import logging
import math
import os
import signal
import socket
import sys
import sysconfig
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, wait
from contextlib import closing
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from storm_pipeline.concurrency import Tasks, limit_malloc_arenas
from storm_pipeline.errors import MissingExtraError, SettingsError
from storm_pipeline.experiments.executors import (
    LOOK,
    Halts,
    JobLost,
    checked_at_once,
    side_by_side,
    told,
    work_under,
)

J = TypeVar("J")
R = TypeVar("R")

_STORE = 128 * 2**20
"""Bytes of shared memory for a new local Ray: what travels between processes here is small."""
_PATIENCE = 10.0
"""Seconds for the first answer of a cluster's head."""


class RayExecutor:
    """Does jobs in workers of a Ray cluster, or of a new Ray on this machine alone. Use it in ``with``.

    Every machine of a cluster needs the same packages, checkout and folders under the same paths (a shared file
    system), and the keys that the jobs use in the environment that its ``ray start`` was given: no variable of this
    process is sent along but the import path. A job whose worker or machine dies is begun again from what it saved;
    where Ray ends a worker because memory runs out, that does not count as one of the tries. If this process uses Ray
    already, the executor uses it likewise and leaves it running.

    A new local Ray sends no usage statistics, shows no dashboard, and keeps its logs where Ray keeps them
    (``RAY_TMPDIR``, by default the system's temporary folder).

    Args:
        address: of a running cluster, ``host:port`` or ``auto`` for the one that this machine is part of; empty for a
            new local Ray.
        at_once: jobs in flight, at least 1; a new local Ray has as many workers.
        max_retries: how often a job whose worker died is begun again, at least 0.
        num_cpus: of a worker's machine, set aside for each job; a count for placement, nothing enforces it.
        num_gpus: likewise; without one a worker sees no GPU. May be a fraction.

    Raises:
        SettingsError: a value is not allowed.
        MissingExtraError: Ray is not installed.
    """

    name = "ray"

    def __init__(
        self,
        address: str = "",
        *,
        at_once: int = 1,
        max_retries: int = 3,
        num_cpus: float = 1,
        num_gpus: float = 0,
    ) -> None:
        if max_retries < 0 or num_cpus < 0 or num_gpus < 0:
            raise SettingsError("max_retries, num_cpus and num_gpus of the executor 'ray' must be at least 0")
        self._address = _checked_address(address)
        self._at_once = checked_at_once(at_once)
        self._needs = {"num_cpus": num_cpus, "num_gpus": num_gpus}
        self._max_retries = max_retries
        self._halts = Halts()
        self._mine = False
        self._ray = _import_ray()

    def run(self, work: Callable[[J], R], jobs: Iterable[J]) -> Iterator[tuple[J, R | JobLost]]:
        """As :meth:`storm_pipeline.experiments.executors.Executor.run`; workers run in this process's folder.

        Raises:
            SettingsError: Ray cannot be started, no cluster answers, or it never has what a job needs.
        """
        self._connect()
        submitted = _Submitted[J, R](self._ray, self._task(), work)
        with self._halts.of_a_run() as halt, closing(submitted.each(jobs, self._at_once, halt)) as ended:
            for job, future in ended:
                error = future.exception()
                if halt.is_set() and isinstance(error, self._ray.exceptions.TaskCancelledError):
                    continue  # it had not begun
                yield job, JobLost(told(getattr(error, "cause", error))) if error else future.result()

    def stop(self) -> None:
        """As :meth:`storm_pipeline.experiments.executors.Executor.stop`; workers are told while results are awaited."""
        self._halts.stop()

    def close(self) -> None:
        """Leave Ray, and end its processes if this executor started them. May be called again."""
        if self._mine:
            self._mine = False
            self._ray.shutdown(wait_for_processes=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _connect(self) -> None:
        if not self._ray.is_initialized():
            if self._address not in {"", "auto"}:
                _reach(self._address)
            self._init()
            self._mine = True
        there = self._ray.cluster_resources().get("GPU", 0)
        if not self._address and there < self._needs["num_gpus"]:  # a cluster may grow, this machine does not
            raise SettingsError(f"a job needs {self._needs['num_gpus']:g} GPUs, Ray finds {there:g} here: ask for less")

    def _init(self) -> None:
        options: dict[str, Any] = {"address": self._address}
        if not self._address:
            cpus = max(1, math.ceil(self._at_once * self._needs["num_cpus"]))
            options = {"address": "local", "num_cpus": cpus, "object_store_memory": _STORE, "include_dashboard": False}
        on_main = threading.current_thread() is threading.main_thread()
        before = signal.getsignal(signal.SIGTERM)
        try:
            self._ray.init(**options, log_to_driver=False, logging_level=logging.ERROR)
        except (ConnectionError, RuntimeError, ValueError, self._ray.exceptions.RayError) as error:
            raise SettingsError(
                f"the executor 'ray' cannot use {self._address or 'a new Ray on this machine'} ({told(error)}): "
                "run the command on a machine of a running cluster, or use --executor local"
            ) from error
        finally:
            if on_main:  # Ray puts a handler of its own in the place of the one that ends a command in order
                signal.signal(signal.SIGTERM, before or signal.SIG_DFL)

    def _task(self) -> Any:
        path = os.pathsep.join(_import_path())
        env = {"runtime_env": {"env_vars": {"PYTHONPATH": path}}} if path else {}
        return self._ray.remote(max_retries=self._max_retries, **self._needs, **env)(_do)


class _Submitted(Generic[J, R]):
    """The jobs of a run that are with Ray."""

    def __init__(self, ray: Any, task: Any, work: Callable[[J], R]) -> None:
        self._ray = ray
        self._task = task
        self._work = work
        self._refs: dict[Future[R], Any] = {}
        self._told = False

    def each(
        self, jobs: Iterable[J], at_once: int, halt: threading.Event
    ) -> "Generator[tuple[J, Future[R]], None, None]":
        """Each job when it has ended."""
        with closing(side_by_side(self._begin, jobs, at_once=at_once, halt=halt, tell=self._tell)) as ended:
            for job, future in ended:
                del self._refs[future]
                yield job, future

    def _begin(self, job: J) -> "Future[R]":
        ref = self._task.remote(self._work, job, str(Path.cwd()))
        future: Future[R] = ref.future()
        self._refs[future] = ref
        return future

    def _tell(self) -> None:
        if not self._told:
            self._told = True
            for ref in self._refs.values():
                self._ray.cancel(ref)


def _do(work: Callable[[J], R], job: J, folder: str) -> R:
    """A job in its worker: ``ray.cancel`` arrives as SIGINT, which here sets the job's halt."""
    os.chdir(folder)
    limit_malloc_arenas()
    halt = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: halt.set())
    try:
        with Tasks(1) as tasks:
            future = tasks.start(work_under, halt, work, job)
            while not future.done():
                wait([future], timeout=LOOK)  # Ray's signal is looked at between two waits, it ends none
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
            "the executor 'ray' needs the extra 'scale': pip install 'storm-pipeline[scale]'"
        ) from error
    return ray


def _import_path() -> list[str]:
    """What this process imports from beside the installed packages; a worker has those of its own Python."""
    installed = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    return [path for path in sys.path if path and not any(Path(path).is_relative_to(place) for place in installed)]


def _checked_address(address: str) -> str:
    host, _, port = address.rpartition(":")
    if address in {"", "auto"} or ("://" not in address and host and port.isdecimal()):
        return address
    raise SettingsError(
        f"{address!r} is no address of a Ray cluster: give host:port of its head, such as 10.0.0.1:6379, or 'auto', on "
        "a machine of the cluster"
    )


def _reach(address: str) -> None:
    """Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise SettingsError(
            f"no Ray cluster answers at {address} ({error}): start one there with `ray start --head`, or give another "
            "address"
        ) from error
