"""The embedded language model: llama.cpp in this process behind an OpenAI-compatible loopback endpoint with a key."""

import atexit
import os
import secrets
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from storm_pipeline.errors import ModelError, SettingsError, needs_extra
from storm_pipeline.models.prices import CONTEXT

_LOOPBACK = "127.0.0.1"
_BATCH = 128  # prompt tokens per batch. More is hardly faster on a CPU, and a batch cannot be interrupted.
_OPEN_SOCKETS = (Path("/proc/self/fd"), Path("/dev/fd"))
_shared_lock = threading.Lock()


class LocalServer:
    """A language model in this process, served over HTTP."""

    def __init__(self, server: Any, *, key: str, model: str) -> None:
        self.url = f"{server.listening_address}/v1"  # http://127.0.0.1:<port>/v1
        self.key = key  # random for every server
        self.model = model  # the file's name without ``.gguf``
        self._server = server
        self._lock = threading.Lock()

    @property
    def closed(self) -> bool:
        """Return whether the server was closed."""
        return self._server is None

    def close(self) -> None:
        """Stop serving and free the model after the current batch. Idempotent; requests in flight fail."""
        with self._lock:
            if self._server is not None:
                # llama.cpp waits for open requests, but drops requests with a closed connection.
                _shut_sockets(int(self.url.rsplit(":", 1)[1].split("/")[0]))
                self._server = None  # the last reference: its destructor stops the threads


def start_server(model: Path, *, slots: int = 4, context: int = CONTEXT, threads: int | None = None) -> LocalServer:
    """Load a GGUF model and serve it; returns when it is ready (seconds).

    ``slots``: concurrent requests, at least 1; further ones wait. ``context``: tokens of all slots together; without
    ``max_tokens`` a reply has at most ``context / slots``. ``threads``: CPU threads; by default the physical cores that
    this process may use. Raises MissingExtraError: the extra ``local`` is not installed; ModelError: the file cannot be
    loaded; SettingsError: fewer than one slot, or less context than slots.
    """
    if not 1 <= slots <= context:
        raise SettingsError(f"{slots} slots share a context of {context} tokens: give at least 1 slot, and more tokens")
    xllamacpp = runtime()
    key = secrets.token_urlsafe(32)
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.model_alias = {model.stem}
    params.hostnames, params.port, params.api_keys = [_LOOPBACK], 0, [key]
    params.ui = params.endpoint_slots = params.endpoint_props = params.endpoint_metrics = False
    params.verbosity = -1  # silent
    params.n_parallel, params.kv_unified = slots, True
    params.n_ctx, params.n_predict = context, context // slots
    params.n_batch = params.n_ubatch = _BATCH
    params.cache_ram_mib = 2048  # memory for prompt prefixes that no longer fit the slots
    params.n_gpu_layers = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads or _physical_cores()
    _bound_repetition(params.sampling)
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        raise ModelError(
            f"llama.cpp cannot load {model} with a context of {context} tokens ({error}); check that it is a "
            ".gguf file (a pinned one with `storm assets verify`) and the free memory"
        ) from error
    return LocalServer(server, key=key, model=model.stem)


_shared: dict[Path, LocalServer] = {}


def shared_server(model: Path, *, slots: int = 4, context: int = CONTEXT, threads: int | None = None) -> LocalServer:
    """Return the shared server of a model file; if it is new, arguments are those of :func:`start_server`."""
    path = model.resolve()
    with _shared_lock:
        if path not in _shared or _shared[path].closed:
            _shared[path] = start_server(model, slots=slots, context=context, threads=threads)
            atexit.register(_shared[path].close)
        return _shared[path]


def runtime() -> Any:
    """Import ``xllamacpp``. Raises MissingExtraError: the extra ``local`` is not installed."""
    with needs_extra("local", "the embedded model"):
        import xllamacpp
    return xllamacpp


def _bound_repetition(sampling: Any) -> None:
    """Enable DRY sampling against loops: it penalises repeated runs of tokens, not single tokens such as markers."""
    sampling.dry_multiplier = 0.8
    sampling.dry_base = 1.75
    sampling.dry_allowed_length = 10
    sampling.dry_penalty_last_n = 1024


def _physical_cores() -> int:
    """Return the number of physical cores of this process; hyper-threads do not speed up decoding."""
    cpus = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
    siblings = (Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list") for cpu in cpus)
    return len({path.read_text() for path in siblings if path.is_file()}) or len(cpus)


def _shut_sockets(port: int) -> None:
    """Shut this process's sockets on a port, the listening one first, so that clients cannot reconnect."""
    listing = next((folder for folder in _OPEN_SOCKETS if folder.is_dir()), None)
    entries = sorted(listing.iterdir()) if listing else []
    handles = [handle for entry in entries if (handle := _socket_on(int(entry.name), port)) is not None]
    for handle in sorted(handles, key=lambda s: not s.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)):
        with handle, suppress(OSError):  # already closed by the peer
            handle.shutdown(socket.SHUT_RDWR)


def _socket_on(descriptor: int, port: int) -> socket.socket | None:
    """Duplicate the descriptor's socket if it is bound to the port."""
    try:
        handle = socket.socket(fileno=os.dup(descriptor))
    except OSError:
        return None
    if handle.family == socket.AF_INET and handle.getsockname() == (_LOOPBACK, port):
        return handle
    handle.close()
    return None
