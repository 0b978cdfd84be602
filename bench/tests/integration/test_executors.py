"""Executors: threads, processes and a real Ray of two workers on this machine do the same."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from executor_jobs import Done, Job, pid, work

from storm_pipeline.errors import MissingExtraError, SettingsError
from storm_pipeline.interfaces.batch import Executor, JobLost, open_executor
from storm_pipeline.interfaces.batch.ray_executor import RayExecutor

SECRET = "sk-5b1d-very-hidden"


@pytest.fixture(scope="module")
def session() -> Iterator[tuple[RayExecutor, Path]]:
    """A new Ray on this machine and the folder that it logs to."""
    with tempfile.TemporaryDirectory(prefix="r") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", folder)
        patch.setenv("RAY_AUTH_TOKEN", "0123456789abcdef" * 3)  # else Ray leaves one in the home folder
        patch.setenv("STORM_TEST_KEY", SECRET)
        with RayExecutor(at_once=2) as executor:
            before = signal.getsignal(signal.SIGTERM)
            assert list(executor.run(work, [])) == []
            assert signal.getsignal(signal.SIGTERM) is before
            yield executor, Path(folder)


@pytest.mark.parametrize("place", [("ray", "1"), ("local", "2")], ids=lambda place: place[0])
def test_workers_import_no_module_of_the_current_folder(tmp_path: Path, place: tuple[str, str]) -> None:
    for name in ("storm_pipeline", "executor_jobs", "json"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w').close()", "utf-8")
    program = """
import sys
from executor_jobs import Job, work
from storm_pipeline.interfaces.batch import open_executor
with open_executor(sys.argv[1], processes=int(sys.argv[2]), at_once=2) as executor:
    ((_, done),) = executor.run(work, [Job("square", 3)])
print(done.number, done.folder)
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, *place],
        cwd=tmp_path,
        env={
            **{name: value for name, value in os.environ.items() if name != "RAY_AUTH_TOKEN"},
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "RAY_TMPDIR": tempfile.gettempdir(),
            "HOME": str(tmp_path / "home"),
        },
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.stdout.split() == ["9", str(tmp_path)], done.stderr
    assert not (tmp_path / "imported").exists()
    assert not (tmp_path / "home" / ".ray").exists(), "others of this machine could read Ray's token there"


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    """Two processes, which import the package once."""
    with open_executor("local", at_once=2, processes=2) as made:
        yield made


@pytest.fixture(params=["threads", "processes", "ray"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    """An executor with two places; the processes and Ray are shared by all tests."""
    if request.param == "processes":
        yield request.getfixturevalue("processes")
        return
    if request.param == "ray":
        request.getfixturevalue("session")
    with open_executor(request.param.replace("threads", "local"), at_once=2) as made:
        yield made


def wait_for(true: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def notes(folder: Path, word: str) -> int:
    return len(list(folder.glob(f"* {word}")))


def test_every_job_has_a_result_despite_errors_of_others(executor: Executor) -> None:
    jobs = [Job("square", number) for number in range(1, 8)] + [Job("raise", 8)]
    results = dict(executor.run(work, iter(jobs)))
    here = str(Path.cwd())
    assert results == {
        **{job: Done(job.number**2, "square", here) for job in jobs[:-1]},
        jobs[-1]: JobLost("ValueError: no luck with 8"),
    }


def test_jobs_are_taken_when_a_slot_is_free(executor: Executor) -> None:
    taken: list[int] = []
    done: list[int] = []

    def jobs() -> Iterator[Job]:
        for number in range(6):
            taken.append(number)
            yield Job("square", number)

    for job, _ in executor.run(work, jobs()):
        done.append(job.number)
        assert len(taken) <= len(done) + 1
    assert sorted(done) == taken == list(range(6))


def test_stopped_in_the_middle(executor: Executor, tmp_path: Path) -> None:
    jobs = (Job("wait", number, str(tmp_path)) for number in range(5))

    halt = threading.Event()

    def stop_when_two_run() -> None:
        wait_for(lambda: notes(tmp_path, "begun") == 2)
        halt.set()

    stopper = threading.Thread(target=stop_when_two_run)
    stopper.start()
    results = dict(executor.run(work, jobs, halt=halt))
    stopper.join()
    assert {(job.number, done.how) for job, done in results.items() if isinstance(done, Done)} == {
        (0, "halted"),
        (1, "halted"),
    }
    assert len(results) == 2
    assert next(jobs).number == 2
    assert list(executor.run(work, [Job("square", 3)], halt=halt)) == []


def test_closing_early_stops_running_jobs_cleanly(executor: Executor, tmp_path: Path) -> None:
    jobs = iter([Job("square", 2), Job("wait", 1, str(tmp_path)), Job("square", 3)])
    results = executor.run(work, jobs)
    assert next(iter(results))[0] == Job("square", 2)
    wait_for(lambda: notes(tmp_path, "begun") == 1)
    start = time.monotonic()
    results.close()  # type: ignore[attr-defined]
    assert time.monotonic() - start < 10
    assert notes(tmp_path, "ended") == 1
    assert next(jobs) == Job("square", 3)
    assert dict(executor.run(work, [Job("square", 3)]))[Job("square", 3)] == Done(9, "square", str(Path.cwd()))


def test_an_error_in_the_job_iterator_stops_running_jobs(executor: Executor, tmp_path: Path) -> None:
    def jobs() -> Iterator[Job]:
        yield Job("wait", 1, str(tmp_path))
        wait_for(lambda: notes(tmp_path, "begun") == 1)
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        list(executor.run(work, jobs()))
    assert notes(tmp_path, "ended") == 1


@pytest.mark.parametrize("executor", ["processes", "ray"], indirect=True)
def test_a_job_is_retried_when_its_worker_dies_and_lost_if_it_always_does(executor: Executor, tmp_path: Path) -> None:
    once, always, sound = Job("die once", 3, str(tmp_path)), Job("die"), Job("square", 4)
    results = dict(executor.run(work, [once, always, sound]))
    lost = results.pop(always)
    assert isinstance(lost, JobLost)
    assert lost.reason.startswith(("WorkerCrashedError: The worker died", "its worker process died 4 times (-9)"))
    assert results == {once: Done(9, "die once", str(Path.cwd())), sound: Done(16, "square", str(Path.cwd()))}


CLIENT = """
import sys
from executor_jobs import Job, work
from storm_pipeline.interfaces.batch import open_executor
with open_executor("ray", at_once=2, address=sys.argv[1]) as executor:
    print(sum(done.number for _, done in executor.run(work, [Job("square", 3), Job("square", 4)])))
"""


def test_a_running_cluster_is_used_and_left_running(session: tuple[RayExecutor, Path]) -> None:
    import ray

    address = ray.get_runtime_context().gcs_address
    path = os.pathsep.join([str(Path(work.__code__.co_filename).parent), str(Path.cwd())])
    env = {**os.environ, "PYTHONPATH": path}
    client = subprocess.run(
        [sys.executable, "-c", CLIENT, address], env=env, capture_output=True, text=True, timeout=240, check=False
    )
    assert (client.stdout, client.stderr) == ("25\n", "")
    assert dict(session[0].run(work, [Job("square", 5)])) == {Job("square", 5): Done(25, "square", str(Path.cwd()))}


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.mark.parametrize("address", ["somewhere", "ray://127.0.0.1:10001", ":6379", "host:"])
def test_invalid_addresses_are_rejected(address: str) -> None:
    with pytest.raises(SettingsError, match="is not a Ray cluster address: give host:port"):
        open_executor("ray", address=address)


def test_a_cluster_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    address = f"127.0.0.1:{closed_port()}"
    with pytest.raises(SettingsError, match=f"no Ray cluster answers at {address}.*ray start --head"):
        list(RayExecutor(address).run(work, [Job("square")]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: open_executor("dask"), "unknown executor 'dask': use 'local' or 'ray'"),
        (lambda: open_executor("local", address="auto"), "'local' takes no address"),
        (lambda: open_executor("ray", processes=2), "takes no number of processes"),
        (lambda: open_executor(processes=0), "0 processes is out of range"),
        (lambda: open_executor(at_once=0), "0 jobs at once is out of range"),
        (lambda: RayExecutor(at_once=-1), "-1 jobs at once is out of range"),
    ],
)
def test_settings_that_are_not_allowed(make: Callable[[], Executor], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        make()


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'storm-pipeline\[cluster\]'"):
        open_executor("ray")


def test_a_new_ray_is_closed_to_other_users(session: tuple[RayExecutor, Path]) -> None:
    (own,) = session[1].iterdir()
    assert own.stat().st_mode & 0o077 == 0
    assert {path.read_text() for path in own.glob("r/session_2*/metrics_*_port_*")} == {"-1"}  # none listens


def test_closing_leaves_no_process_and_no_secret_in_the_logs(session: tuple[RayExecutor, Path]) -> None:
    executor, folder = session
    workers = {made for _, made in executor.run(pid, [Job("", number) for number in range(6)])}
    assert os.getpid() not in workers
    logs = [path for path in folder.rglob("*") if path.is_file()]
    assert logs
    assert not [path for path in logs if SECRET.encode() in path.read_bytes()]
    executor.close()
    wait_for(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))
    wait_for(lambda: not any(str(folder) in line for line in command_lines()))
    assert list(folder.iterdir()) == []


def command_lines() -> list[str]:
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(path.read_bytes().decode(errors="replace"))
        except OSError:  # it has ended
            continue
    return lines
