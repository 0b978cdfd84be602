"""The set-up of a server for its callers: its model, judge and engine, and what is missing; no secret, no path."""

import threading
import time
from dataclasses import dataclass
from functools import reduce
from typing import Annotated, Self

from pydantic import Field

from storm_pipeline.interfaces.configuration.diagnosis import Finding, diagnose
from storm_pipeline.interfaces.server.places import caller_name, make_places
from storm_pipeline.interfaces.server.redaction import plain_name
from storm_pipeline.settings import Settings
from storm_pipeline.text.configuration.variables import PROVIDERS, provider_with_key


@dataclass(frozen=True)
class Setup:
    """The model, the judge and the engine of a server, and what is missing."""

    writes: Annotated[str | None, Field(description="Name of the model that writes; null: extracts are made.")]
    judge: Annotated[str, Field(description="Judge of the sentences of runs.")]
    engine: Annotated[str, Field(description="Search engine of the runs.")]
    missing: Annotated[tuple[str, ...], Field(description="What keeps runs from beginning, each with its remedy.")]
    variables: Annotated[tuple[str, ...], Field(description="Variables of keys, one of which a better model needs.")]
    offered: Annotated[str | None, Field(description="Model whose key is set, though none is chosen; else null.")]
    download: Annotated[int, Field(description="Bytes that the first run downloads.")]
    seconds: Annotated[int, Field(description="Seconds that takes at 20 Mbit a second.")]

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the set-up that settings have now, by the checks of ``storm doctor`` without calls."""
        findings = diagnose(settings)
        size = sum(finding.bytes for finding in findings)
        spec = next(finding.subject for finding in findings if finding.subject.startswith("search ")).split(" ", 1)[1]
        return cls(
            None if settings.is_extract else plain_name(settings.lm_of("writer")),
            settings.judge_of_run,
            plain_name(spec),
            tuple(_shown(finding) for finding in findings if finding.state == "missing"),
            tuple(provider.variables[0] for provider in PROVIDERS) if settings.is_extract else (),
            offered_model(settings),
            size,
            size * 8 // 20_000_000,
        )


class SetupLookup:
    """The set-up of a server, kept for some seconds, since a look-up reads the owner's documents. Thread-safe."""

    def __init__(self, settings: Settings, seconds: float = 60.0) -> None:
        self._settings, self._seconds = settings, seconds
        self._places = make_places("look-ups of the set-up", 4)
        self._lock = threading.Lock()
        self._setup: Setup | None = None
        self._ends = 0.0

    def get(self) -> Setup:
        """Return the set-up. Raises BusyError: too many requests wait for it."""
        if kept := self._kept():
            return kept
        with self._places.hold(caller_name()), self._lock:
            if kept := self._kept():
                return kept
            self._setup = setup = Setup.of(self._settings)
            self._ends = time.monotonic() + self._seconds
            return setup

    def _kept(self) -> Setup | None:
        return self._setup if time.monotonic() < self._ends else None


def offered_model(settings: Settings) -> str | None:
    """Return the model of the first key that is set, if none is chosen; else None."""
    provider = provider_with_key() if settings.is_extract else None
    return provider.model if provider else None


def _shown(finding: Finding) -> str:
    """Return what is missing and what to do, without paths and addresses."""
    kind, _, name = finding.subject.partition(" ")
    shown = "" if name.startswith(("/", ".", "~")) else plain_name(name)
    hidden = {name: shown, name.partition(":")[2] or name: "…"} if shown != name else {}
    hidden |= {str(finding.path): "the file" if kind == "model" else "the folder"} if finding.path else {}
    text = reduce(lambda detail, part: detail.replace(part, hidden[part]), hidden, finding.detail)
    return f"{kind} {shown}".strip() + f": {text}"
