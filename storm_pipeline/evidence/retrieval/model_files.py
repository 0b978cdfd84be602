"""The one rule for every loader of weights: files of a model are data, and nothing that they name is run.

Weights are safetensors, or torch's files read with ``weights_only=True``; classes are those of the libraries; code in a
folder or on the model hub is never loaded.
"""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from safetensors import SafetensorError

from storm_pipeline.errors import SettingsError, StormError
from storm_pipeline.text.formatting import first_line

_LOAD_ERRORS = (
    *(OSError, ValueError, RuntimeError, LookupError, TypeError, AttributeError, ImportError, EOFError),
    *(UnpicklingError, SafetensorError),
)
"""Errors that libraries raise for files that are absent, damaged, or hold more than data."""

_HUB_SECONDS = 5.0
_MODULE = re.compile(
    r"sentence_transformers\.(?:models|base\.modules|sentence_transformer\.modules)\.(?:[a-z_]+\.)?(?:Transformer|Pooling"
    r"|Normalize|Dense|LayerNorm|Dropout|CNN|LSTM|BoW|WordWeights|WeightedLayerPooling|StaticEmbedding|CLIPModel)"
)
"""sentence-transformers' own modules, but for ``Router`` and ``WordEmbeddings``, whose files name further classes."""
_ACTIVATION = re.compile(r"torch\.nn\.modules\.(?:activation|linear)\.\w+")
_CALLS = {"activation_function", "activation_fn", "sbert_ce_default_activation_function"}
"""Entries that name a class of torch, which sentence-transformers instantiates."""
_MODEL_OPTIONS = {
    *("add_pooling_layer", "attn_implementation", "dtype", "low_cpu_mem_usage", "torch_dtype"),
    *("trust_remote_code", "use_safetensors"),
}
"""Options of ``from_pretrained`` that a model's files may set; sentence-transformers ignores ``trust_remote_code``."""


@contextmanager
def loading(failure: str, remedy: str, kind: type[StormError] = SettingsError) -> Iterator[None]:
    """Translate the errors of libraries that fail to load a model into an error of type ``kind``.

    ``failure``: such as ``the embedder 'x' cannot be loaded``.
    """
    try:
        yield
    except _LOAD_ERRORS as error:
        raise kind(f"{failure} ({first_line(error)}): {remedy}") from error


def local_folder(model: str | Path) -> Path | None:
    """Return the folder or file of a model given as a path; None for a name on the model hub.

    A text is a path if it is absolute or begins with ``./``, ``../`` or ``~``. A plain name that happens to exist in
    the current folder is never loaded: it may be another person's file.

    Raises SettingsError: the current folder has such a name, which the libraries would load.
    """
    text = str(model)
    if isinstance(model, Path) or Path(text).is_absolute() or text.startswith(("./", "../", "~", ".\\", "..\\")):
        with suppress(RuntimeError):  # no such user
            return Path(text).expanduser().absolute()
        return Path(text).absolute()
    if path := next((name for name in (text, f"sentence-transformers/{text}") if os.path.lexists(name)), ""):
        raise SettingsError(
            f"the model {text!r} is a name on the model hub, and the current folder holds {path}: write ./{path} if "
            "you mean that and trust it, or change to another folder"
        )
    return None


def state_of(folder: Path) -> str:
    """Return what changes when a model's folder or one of its files does: paths without links, sizes and times."""
    folder = folder.resolve()
    files = [(path, path.stat()) for path in sorted(folder.rglob("*")) if path.is_file()]
    return repr([str(folder), *((str(path), stat.st_size, stat.st_mtime_ns) for path, stat in files)])


def require_hub(source: str, remedy: str) -> None:
    """Raise SettingsError at once if the model hub cannot be reached, without the library's retries."""
    import httpx
    from huggingface_hub import constants

    why = "HF_HUB_OFFLINE is set" if constants.HF_HUB_OFFLINE else ""
    if not why:
        try:
            httpx.head(constants.ENDPOINT, timeout=_HUB_SECONDS)
        except (OSError, httpx.HTTPError) as error:
            why = first_line(error)
    if why:
        raise SettingsError(
            f"the model {source!r} is not on this machine, and the model hub cannot be reached ({why}): {remedy}"
        )


def options_without_code(source: str | Path, cache: Path | None = None) -> dict[str, Any]:
    """Return arguments of transformers' ``from_pretrained`` that load a model without running code of its files.

    Its configuration is checked first; that of a model on the hub is fetched, and its revision is pinned. ``source``:
    as :func:`local_folder` reads it; a folder is never looked for on the network.

    Raises SettingsError: the configuration asks for code; OSError, ValueError: it is absent, or cannot be read.
    """
    options: dict[str, Any] = {"cache_dir": cache, "local_files_only": True, "trust_remote_code": False}
    folder = local_folder(source)
    if folder is None:
        from huggingface_hub import snapshot_download

        folder = Path(snapshot_download(str(source), cache_dir=cache, allow_patterns=["*.json"]))
        options |= {"local_files_only": False, "revision": folder.name}
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {folder}")
    for file, what in _custom_code_settings(folder):
        raise SettingsError(
            f"the model {str(source)!r} asks to run code ({file}: {what}), which is never done: give a model of "
            "sentence-transformers' or transformers' own classes, with weights in safetensors"
        )
    return options


def _custom_code_settings(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield file and entry of each setting that would make a library import or call code other than its own classes."""
    parts = [""]
    modules = folder / "modules.json"
    for module in json.loads(modules.read_text("utf-8")) if modules.is_file() else ():
        if not _MODULE.fullmatch(str(module["type"])):
            yield modules.name, str(module["type"])
        parts.append(str(module["path"]))
    for path in dict.fromkeys(path for part in parts for path in sorted((folder / part).glob("*config.json"))):
        for what in _entries(json.loads(path.read_text("utf-8"))):
            yield path.relative_to(folder).as_posix(), what


def _entries(value: object, key: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if key in {"model_args", "model_kwargs"} and name not in _MODEL_OPTIONS:
                yield f"{key}: {name}"
            # The name of a kernel or a class may be at any depth below such a key.
            yield from _entries(inner, key if "attn_implementation" in key else str(name))
    elif isinstance(value, list):
        for inner in value:
            yield from _entries(inner, key)
    elif isinstance(value, str):
        is_kernel = "attn_implementation" in key and "/" in value
        is_call = key in _CALLS and "." in value and not _ACTIVATION.fullmatch(value)
        if is_kernel or is_call:
            yield f"{key}: {value}"
