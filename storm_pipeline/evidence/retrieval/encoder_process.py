"""One encoder process for all runs of a user on a machine, so that each does not load a model of its own.

It answers on a socket in a private folder, whose key only the user can read, and ends when no process is connected.
"""

import hashlib
import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

import storm_pipeline
from storm_pipeline.errors import RunError, SettingsError, StoreError
from storm_pipeline.evidence.retrieval import Vectors
from storm_pipeline.evidence.retrieval.embedder import Embedder, open_embedder, share_by
from storm_pipeline.evidence.retrieval.model_files import local_folder
from storm_pipeline.run.assets import Progress
from storm_pipeline.run.exchange import Exchange, ExchangeLink, result_of
from storm_pipeline.text.configuration.variables import child_environment
from storm_pipeline.text.files import locked_file, write_atomically

_LOG = logging.getLogger(__name__)
_START = f"import sys; sys.path += sys.argv[4:]; from {__name__} import serve; serve(*sys.argv[1:4])"


class ProcessEmbedder:
    """The embedder of a model in a process that others use too, with the same vectors, bit for bit. Thread-safe.

    The process is started by the first that needs it, and replaced if it has died. Raises as :func:`open_embedder`.

    ``folder``: private, on this machine.
    """

    def __init__(self, name: str, cache: Path, folder: Path, progress: Progress | None = None) -> None:
        known = open_embedder(name, cache, progress)
        self.name, self.identity = known.name, known.identity
        # a relative folder is another one for a process that was started elsewhere
        self._model, self._folder = (str(local_folder(name) or name), str(cache.resolve())), folder
        what = json.dumps([*self._model, self.identity, storm_pipeline.__version__])
        self._address = folder / hashlib.sha256(what.encode()).hexdigest()[:16]
        self._link: ExchangeLink | None = None
        self._lock = threading.Lock()

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return int(self._ask("dimension"))

    @property
    def longest(self) -> int:
        """Maximum input length in tokens, special tokens included."""
        return int(self._ask("longest"))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of shape (texts, dimension). Raises SettingsError: the model cannot be loaded."""
        return np.asarray(self._ask("embed", list(texts)), dtype=np.float32)

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text, without special tokens."""
        return int(self._ask("count_tokens", text))

    def _ask(self, *call: Any) -> Any:
        """Return the answer to a call, at the second attempt from a new process. Raises StoreError: both died."""
        link = None
        for _ in range(2):
            link = self._connect(link)
            with suppress(RunError):
                return result_of(link.ask(*call))
        raise StoreError(f"the encoder process for {self.name!r} died twice: see that there is memory for it")

    def _connect(self, failed: ExchangeLink | None) -> ExchangeLink:
        """Return a link to the process that answers; it is started unless one does."""
        with self._lock:
            if self._link is None or self._link is failed:
                with locked_file(self._address.with_suffix(".lock")):
                    self._link = self._known() or self._start()
            return self._link

    def _known(self) -> ExchangeLink | None:
        with suppress(OSError, ValueError, RunError):
            address, key = json.loads(self._address.read_text(encoding="utf-8"))
            link = ExchangeLink(address, bytes.fromhex(key))
            link.ask("dimension")
            return link
        return None

    def _start(self) -> ExchangeLink:
        path = [*filter(None, sys.path), str(Path(storm_pipeline.__file__).parents[1])]
        process = subprocess.Popen(  # noqa: S603 - our own command
            [sys.executable, "-P", "-c", _START, *self._model, str(self._address), *path],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=child_environment(),
            start_new_session=True,  # it outlives the process that started it
        )
        threading.Thread(target=process.wait, name="storm-encoder", daemon=True).start()
        with cast("IO[bytes]", process.stdout) as ready:
            ready.readline()
        if (link := self._known()) is None:
            raise SettingsError(f"the encoder process for {self.name!r} does not start: embed in each process")
        return link


class _Shared:
    """An embedder whose waiting requests are embedded together."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._waiting: list[tuple[Sequence[str], Future[Vectors]]] = []
        self._lock, self._working = threading.Lock(), threading.Lock()

    def answer(self, method: str, *args: Any) -> Any:
        """Answer a call of :class:`ProcessEmbedder`."""
        if method == "embed":
            return self._embed(*args)
        member = getattr(self.embedder, method)
        return member(*args) if args else member

    def _embed(self, texts: Sequence[str]) -> Vectors:
        future: Future[Vectors] = Future()
        with self._lock:
            self._waiting.append((texts, future))
        with self._working:
            with self._lock:
                taken, self._waiting = self._waiting, []
            try:
                rows = iter(self.embedder.embed([text for some, _ in taken for text in some]))
                for some, waiting in taken:
                    waiting.set_result(np.array(list(islice(rows, len(some)))))
            except Exception as error:  # noqa: BLE001 - raised where the vectors are wanted
                for _, waiting in taken:
                    waiting.set_exception(error)
        return future.result()


def serve(name: str, cache: str, address: str) -> None:
    """Embed for the processes that find the address, until none has been connected for some seconds."""
    shared = _Shared(open_embedder(name, Path(cache)))
    tempfile.tempdir = str(Path(address).parent)  # where the socket is: others would make a deleted one anew
    exchange = Exchange(shared.answer)
    write_atomically(Path(address), json.dumps([exchange.address, exchange.key.hex()]), private=True)
    print(flush=True)  # noqa: T201 - who started it waits for this line
    was_used = True
    while was_used or exchange.connections:
        was_used = bool(exchange.connections)
        time.sleep(2)
    exchange.close()


def share_encoder_process() -> None:
    """Let the runs of this process use the encoder process of the machine; called once at its start.

    Where another user has taken the name of its folder, they embed by themselves.
    """
    try:
        folder = private_folder()
    except (OSError, SettingsError) as error:
        _LOG.warning("%s; each process embeds by itself", error)
    else:
        share_by(lambda name, cache, progress: ProcessEmbedder(name, cache, folder, progress))


def private_folder() -> Path:
    """Return the folder of the user's encoder processes on this machine, made if there is none.

    Raises SettingsError: it is another user's, or others can enter it.
    """
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir(), f"storm-encoder-{user}")
    folder.mkdir(mode=0o700, exist_ok=True)
    state = folder.lstat()
    if hasattr(os, "getuid") and (state.st_uid != user or state.st_mode & 0o77 or folder.is_symlink()):
        raise SettingsError(f"{folder} is open to other users: delete it")
    return folder
