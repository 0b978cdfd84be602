"""Checks of the requirements of a run with given settings, without downloads."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from storm_pipeline.errors import StormError
from storm_pipeline.evidence.retrieval.embedder import is_here
from storm_pipeline.models.open_models import key_use
from storm_pipeline.run.assets import EMBEDDED_MODELS, EMBEDDER, LEADS, catalogue, path_of
from storm_pipeline.settings import Settings, is_embedded
from storm_pipeline.sources.documents.reader import take_inventory
from storm_pipeline.sources.engines.corpus import path_and_embedder
from storm_pipeline.sources.search.registry import choose, engines, require_engine_keys, split_specs
from storm_pipeline.text.configuration.variables import provider_with_key
from storm_pipeline.text.files import table_beside
from storm_pipeline.text.formatting import printable

State = Literal["ok", "missing", "note"]
_SHOWN_PROBLEMS = 5
_EXTRAS: dict[str, list[str]] = table_beside(__file__)  # extra → one of its modules, and its purpose


@dataclass(frozen=True)
class Finding:
    """The result of a check."""

    subject: str  # subject, such as ``model openai/gpt-4o``
    state: State  # ``ok``, ``missing`` (no run can begin) or ``note``
    detail: str  # result and, if missing, remedy
    bytes: int = 0  # size of a download that the first run makes
    path: Path | None = None  # file or folder that the detail names


def diagnose(settings: Settings, *, call: bool = False) -> tuple[Finding, ...]:
    """Check models, search engine, sentence encoder, folders and extras, in this order.

    ``call``: ask each hosted model for at most 16 tokens; the embedded model is not started.
    """
    return (
        *_models(settings, call=call),
        *_search(settings),
        _encoder(settings),
        _folder("runs", settings.out),
        _folder("cache", settings.cache),
        _extras(),
    )


def _models(settings: Settings, *, call: bool) -> Iterator[Finding]:
    if settings.is_extract:
        detail = (
            "an article is an extract of its sources' own sentences; --lm names a model that writes in its own words"
        )
        yield Finding("model: none is asked", "ok", detail)
    for name in settings.models:
        subject = f"model {name}"
        if is_embedded(name):
            yield _check_embedded(subject, name, settings)
            continue
        try:
            use = key_use(name, settings)
            answer = "not asked"
            if call:
                from storm_pipeline.models.asking import try_model  # local import: DSPy loads slowly

                answer = try_model(name, settings)
            yield Finding(subject, "ok", f"{answer}; {use}")
        except StormError as error:
            yield Finding(subject, "missing", printable(str(error)))
    provider = provider_with_key()
    if provider and "lm" not in settings.model_fields_set:
        detail = f"{provider.variables[0]} is set: lm = {provider.model!r} would use it (`storm init`)"
        yield Finding(f"model {provider.model}", "note", detail)


def _check_embedded(subject: str, name: str, settings: Settings) -> Finding:
    if find_spec("xllamacpp") is None:
        return Finding(subject, "missing", "pip install 'storm-pipeline[local]', or choose another model with --lm")
    if name.startswith("gguf:"):
        file = Path(name.removeprefix("gguf:")).expanduser()
        if file.is_file():
            return Finding(subject, "ok", f"{file} exists")
        return Finding(subject, "missing", f"{file} does not exist: put it there, or choose another --lm", path=file)
    if name not in EMBEDDED_MODELS:
        return Finding(subject, "missing", f"there is no such model: choose one of {', '.join(EMBEDDED_MODELS)}")
    return _download(subject, EMBEDDED_MODELS[name], settings)


def _download(subject: str, asset: str, settings: Settings) -> Finding:
    if path_of(asset, settings.cache):
        return Finding(subject, "ok", "downloaded")
    size = next(known_asset.download_bytes for known_asset in catalogue() if known_asset.name == asset)
    detail = f"{size / 1e6:.0f} MB to download at the first run (or now: `storm assets pull {asset}`)"
    return Finding(subject, "note", detail, size)


def _search(settings: Settings) -> Iterator[Finding]:
    spec, why = settings.search, "as configured"
    if spec == "auto":
        choice = choose()
        spec, why = choice.spec, choice.why
    subject = f"search {spec}"
    name = spec.partition(":")[0]
    try:
        require_engine_keys(spec)
    except StormError as error:
        yield Finding(subject, "missing", str(error))
        return
    corpora = [path_and_embedder(argument)[0].expanduser() for argument in _corpora(spec)]
    if absent := [path for path in corpora if not path.exists()]:
        detail = f"{absent[0]} does not exist: create it for your documents, or choose another --search"
        yield Finding(subject, "missing", detail, path=absent[0])
        return
    if name == "wiki-leads":
        yield _download(subject, LEADS, settings)
        return
    yield Finding(subject, "ok", why)
    for path in corpora:
        yield from _documents(path, settings)


def _corpora(spec: str) -> list[str]:
    """Return the paths of the user's documents that a specification names, including those of its parts."""
    name, _, argument = spec.strip().partition(":")
    if name == "corpus":
        return [argument.strip()]
    info = next((info for info in engines() if info.base_name == name), None)
    parts = split_specs(name, argument.strip()) if info and info.composite else []
    return [path for part in parts for path in _corpora(part)]


def _documents(path: Path, settings: Settings) -> Iterator[Finding]:
    """Yield findings on the content of a folder of documents and on the first files that cannot be read."""
    subject = f"documents {path}"
    inventory = take_inventory(path, settings.cache)
    if inventory.documents:
        yield Finding(subject, "ok", inventory.summary)
    else:
        yield Finding(subject, "missing", f"{inventory.summary}: add readable files to {path}", path=path)
    for problem in inventory.problems[:_SHOWN_PROBLEMS]:
        yield Finding(subject, "note", problem)
    if len(inventory.problems) > _SHOWN_PROBLEMS:
        yield Finding(subject, "note", f"{len(inventory.problems) - _SHOWN_PROBLEMS} more: `storm documents {path}`")


def _encoder(settings: Settings) -> Finding:
    subject = f"sentence encoder {settings.embedder}"
    if settings.embedder == EMBEDDER:
        return _download(subject, EMBEDDER, settings)
    if is_here(settings.embedder, settings.cache):
        return Finding(subject, "ok", "a sentence-transformers model that is on this machine")
    return Finding(subject, "note", "not on this machine: the first run fetches it from the model hub")


def _folder(what: str, folder: Path) -> Finding:
    """Return a finding on whether a folder, or its nearest existing parent, is writable."""
    existing = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        detail = f"{folder} cannot be written: check its permissions"
        return Finding(f"folder of {what}", "missing", detail, path=folder)
    free = shutil.disk_usage(existing).free
    return Finding(f"folder of {what}", "ok", f"{folder}, {free / 1e9:.0f} GB free")


def _extras() -> Finding:
    absent = [f"{extra} ({purpose})" for extra, (module, purpose) in _EXTRAS.items() if find_spec(module) is None]
    detail = f"not installed: {', '.join(absent)}; pip install 'storm-pipeline[NAME]'" if absent else "all installed"
    return Finding("extras", "note" if absent else "ok", detail)
