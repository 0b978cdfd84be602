"""Shared fixtures: no test reaches beyond this machine; pinned downloads come from cache/models."""

import asyncio
import gc
import inspect
import os
import shutil
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from storm_pipeline.sources.transport.gates import forget_gates
from storm_pipeline.text.configuration.variables import PROVIDERS, use_files

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its threads wait actively, which several test processes pay for
ROOT = Path(__file__).resolve().parent
os.environ["STORM_HOME"] = str(ROOT)
os.environ["PYTHONPATH"] = str(ROOT / "bench")  # started programs find the benchmarks there
# no test takes the power away, and a run waits for the disk as long as for all else
os.fsync = lambda fd: None  # noqa: ARG005
asyncio.set_event_loop(None)  # else LiteLLM makes the main thread one at its first call, and never closes it
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background: what tests start would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("quick", settings.get_profile("repeatable"), max_examples=20)  # while you work on it
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

LOOPBACK = {"127.0.0.1", "::1", "localhost"}


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Let the garbage collector look through what is imported neither now nor later: it took a quarter of this time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


class NetworkBlockedError(RuntimeError):
    """A test tried to reach another machine."""


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connection and look-up that leaves the machine."""
    connect, getaddrinfo = socket.socket.connect, socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: object) -> None:
        if isinstance(address, tuple) and address[0] not in LOOPBACK:
            raise NetworkBlockedError(f"blocked connection to {address[0]}")
        connect(self, address)  # type: ignore[arg-type]

    def guarded_getaddrinfo(host: object, *args: object, **kwargs: object) -> object:
        if host not in LOOPBACK and host is not None:
            raise NetworkBlockedError(f"blocked look-up of {host}")
        return getaddrinfo(host, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket, "getaddrinfo", guarded_getaddrinfo)


@pytest.fixture(autouse=True, scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of the program's own for these tests, with the downloads of the checkout."""
    made = tmp_path_factory.mktemp("home")
    (ROOT / "cache").mkdir(exist_ok=True)
    (made / "cache").symlink_to(ROOT / "cache")
    os.environ["STORM_HOME"] = str(made)
    return made


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """The measuring data beside the checkout; the test is skipped, by name, where it is absent."""
    path = Path(os.environ.get("STORM_DATA", ROOT.parent / "shared" / "data")).absolute()
    if not path.is_dir():
        pytest.skip(f"needs the measuring data in {path}")
    return path


@pytest.fixture
def no_clients_left() -> Iterator[None]:
    """LiteLLM's clients close no connection when they are dropped: those that a test used are closed at its end."""
    gc.freeze()  # else each of these tests has all that is imported looked through
    yield
    if "litellm" in sys.modules:
        kept = sys.modules["litellm"].in_memory_llm_clients_cache
        for client in kept.cache_dict.values():
            if not inspect.iscoroutinefunction(close := getattr(client, "close", lambda: None)):
                close()
        kept.flush_cache()
    gc.collect()
    gc.unfreeze()


@pytest.fixture(autouse=True)
def fresh_start() -> None:
    """No test inherits another's open circuits (local servers may get the same port), nor the files that it named."""
    forget_gates()
    use_files()


@pytest.fixture
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key or address of a provider or of a search engine is set."""
    from storm_pipeline.sources.search.registry import engines  # noqa: PLC0415  (of the tests that ask for it)

    for one in (*PROVIDERS, *engines()):
        for name in one.variables:
            monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[object]:
    """A model that does all that it is asked, for whole runs."""
    from llm import FakeModel  # noqa: PLC0415  (of the tests that ask for it)

    with FakeModel() as made:
        yield made


@pytest.fixture
def steady() -> Iterator[object]:
    """One whose questions depend on the conversation alone, so that a run that is resumed asks the same again."""
    from llm import FakeModel  # noqa: PLC0415  (of the tests that ask for it)
    from test_resume import answers  # noqa: PLC0415

    with FakeModel(answers()) as made:
        yield made


@pytest.fixture(scope="session")
def written_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run about the Silk Road."""
    from llm import FakeModel  # noqa: PLC0415  (of the tests that ask for it)
    from test_resume import answers, storm  # noqa: PLC0415

    place = tmp_path_factory.mktemp("written")
    with FakeModel(answers()) as model:
        storm(model, place).write("Silk Road")
    return next((place / "runs").iterdir())


@pytest.fixture
def written(written_once: Path, tmp_path: Path) -> Path:
    """A copy of that folder, which the test may harm; ``steady`` replies as the run's model did."""
    return shutil.copytree(written_once, tmp_path / "runs" / written_once.name)
