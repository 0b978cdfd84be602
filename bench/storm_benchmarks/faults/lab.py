"""The test bed of the fault runs: settings, folders, and checks of the results."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from storm_benchmarks.faults.command import Command
from storm_benchmarks.faults.kinds import Plan
from storm_benchmarks.faults.server import FaultBench, serving
from storm_pipeline import Article, Storm
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.run.article_json import from_json
from storm_pipeline.run.events import EventSink
from storm_pipeline.run.journal import Journal
from storm_pipeline.run.retrying import Patience
from storm_pipeline.sources.engines.searxng import searxng
from storm_pipeline.sources.search.base import NoContents
from storm_pipeline.sources.search.web_service import WebServiceSearch

TOPIC = "Silk Road"
_MARKER = re.compile(r"(?<!\\)\[(\d+)\]")


@dataclass(frozen=True)
class Lab:
    """The server, and a folder with one subfolder a run."""

    bench: FaultBench  # the server
    folder: Path  # where the runs are
    perspectives: int = 2  # number per run
    turns: int = 2  # number per conversation
    lm_timeout: float = 2.0  # seconds that a run waits for a silent language model
    search_timeout: float = 1.5  # the same for the search engine

    def plan(self, run: str, plan: Plan) -> None:
        """Set the fault plan of a run."""
        self.bench.plan(run, plan)

    def write(self, run: str, *, out: Path | None = None, quota: int | None = None, modes: bool = False) -> Command:
        """Start ``storm write``; ``quota`` and ``modes`` as for :class:`Command`."""
        content = {"perspectives": self.perspectives, "turns": self.turns, "out": out or self.out(run)}
        options = [*self._own(run), *(f"--{name}={value}" for name, value in content.items())]
        output = self.folder / run / "said"
        return Command(["write", TOPIC, "--quiet", *options], output, quota=quota, obeys_modes=modes)

    def _own(self, run: str) -> list[str]:
        """Return the options that no run's record decides."""
        settings = {
            "lm": self.bench.lm(run),
            "search": f"searxng:{self.bench.search(run)}",
            "search-rate": 1000,
            "source-policy": "any",
            "read-pages": "never",
            "lm-timeout": self.lm_timeout,
            "cache": self.folder / run / "cache",
        }
        return [f"--{name}={value}" for name, value in settings.items()]

    def resume(self, run: str, folder: Path, *, modes: bool = False) -> Command:
        """Start ``storm resume``; ``modes`` as for :class:`Command`."""
        arguments = ["resume", str(folder), "--quiet", *self._own(run)]
        return Command(arguments, self.folder / run / "said", obeys_modes=modes)

    def storm(self, run: str, *, sinks: Sequence[EventSink] = (), **changes: object) -> Storm:
        """Return a ``Storm`` in this process that uses the server under the name of a run."""
        given = {
            "perspectives": self.perspectives,
            "turns": self.turns,
            "lm_timeout": self.lm_timeout,
            "out": self.out(run),
            "cache": self.folder / run / "cache",
        }
        return Storm(
            lm=self.bench.lm(run),
            search=WebServiceSearch(searxng(self.bench.search(run)), patience=self.patience, rate=1000.0),
            embedder=HashingEmbedder(),
            contents=NoContents(),
            sinks=sinks,
            **(given | changes),  # type: ignore[arg-type]
        )

    @property
    def patience(self) -> Patience:
        """Timeouts and retries for the search engine."""
        return Patience(connect=2.0, read=self.search_timeout, total=20.0, first_pause=0.05, longest_pause=2.0)

    def out(self, run: str) -> Path:
        """Return the parent folder of the run's folder."""
        return self.folder / run / "runs"

    def run_folder(self, run: str) -> Path | None:
        """Return the run's folder, if it exists."""
        return next(iter(sorted(self.out(run).glob("*/"))), None)


@contextmanager
def lab(folder: Path, **fields: float) -> Iterator[Lab]:
    """Open a lab with these fields; the server's log is ``calls.jsonl`` in its folder."""
    with serving(folder / "calls.jsonl") as bench:
        yield Lab(bench, folder, **fields)  # type: ignore[arg-type]


def dangling(article: Article) -> list[str]:
    """Return inconsistent citations and empty parts of an article; empty if it is sound."""
    cited = {citation.source_id for sentence in article.sentences() for citation in sentence.citations}
    if not cited <= {source.id for source in article.sources}:
        return ["a sentence cites an unknown source"]
    numbers = {int(n) for n in _MARKER.findall(article.to_markdown().split("## References")[0])}
    faults = {
        "the cited numbers differ from the reference numbers": numbers != set(range(1, len(article.references) + 1)),
        "a reference is not cited": {source.id for source in article.references} != cited,
        "a sentence has no source": any(not s.citations for section in article.sections for s in section.sentences()),
        "a section is empty": any(not any(section.sentences()) for section in article.sections),
        "there is no section": not article.sections,
    }
    return [name for name, found in faults.items() if found]


def damage(folder: Path) -> list[str]:
    """Return damaged files in a run's folder; a truncated last line of the journal is allowed."""
    found = [f"{path.name} was left over" for path in folder.rglob(".*.*") if path.is_file()]
    for path in folder.rglob("*.json"):
        try:
            json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            found.append(f"{path.name} is not JSON")
    if (folder / "article.json").exists():
        found += dangling(from_json((folder / "article.json").read_text(encoding="utf-8")))
    journal = folder / "journal.jsonl"
    if journal.exists():
        lines = journal.read_bytes().splitlines()
        with Journal(journal) as opened:
            found += [f"line {number} of the journal is damaged" for number in opened.damaged if number != len(lines)]
    return found
