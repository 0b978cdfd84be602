"""The research and the text of a run so far, read from the pieces in its folder; damaged pieces are left out."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from storm_pipeline.errors import RunError
from storm_pipeline.interfaces.server.redaction import Redactor
from storm_pipeline.run.article_json import from_json, parse_json
from storm_pipeline.run.events import Excluded, adapter_of, read_events
from storm_pipeline.run.folder import EDITABLE, read_state
from storm_pipeline.settings import Settings
from storm_pipeline.sources.reliable.filtering import SourcePolicy
from storm_pipeline.text.files import read_plain
from storm_pipeline.types import Article, Conversation, Exclusion, Perspective, Section, Sentence, Snippet, Source

T = TypeVar("T")
_SECTIONS, _HELD = "sections", "conversations"  # folders in that of a run


@dataclass(frozen=True)
class TurnView:
    """A question of an interview, and what was found."""

    question: str
    queries: tuple[str, ...]
    answer: tuple[Sentence, ...]
    sources: Annotated[tuple[str, ...], Field(description="Ids of the sources whose passages were shown.")]


@dataclass(frozen=True)
class ConversationView:
    """The turns of an interview so far, or of later reading and look-ups."""

    perspective: str
    focus: str
    turns: tuple[TurnView, ...]


@dataclass(frozen=True)
class SourceView:
    """A page that was found, with its rating."""

    id: str
    url: str
    title: str
    rating: Annotated[str, Field(description="As Wikipedia's list of perennial sources rates it, or its kind.")]
    reason: Annotated[str, Field(description="Why, in one sentence.")]
    cited_in: Annotated[tuple[str, ...], Field(description="Headings of the sections that cite it; empty: the lead.")]


@dataclass(frozen=True)
class RunPieces:
    """The research and the text of a run so far."""

    perspectives: tuple[Perspective, ...]
    conversations: tuple[ConversationView, ...]
    outline: Annotated[str, Field(description="Headings as Markdown; empty if there are none yet.")]
    outline_state: Literal["none", "draft", "final"]
    lead: tuple[Sentence, ...]
    sections: Annotated[tuple[Section, ...], Field(description="Sections so far; those of the article once finished.")]
    sources: tuple[SourceView, ...]
    excluded: tuple[Exclusion, ...]


def read_pieces(folder: Path, settings: Settings, redactor: Redactor) -> RunPieces:
    """Return the pieces of the run in a folder without secrets; ``settings``: with the lists of sources."""
    versions = set()
    for path in (*folder.glob("*.json"), *folder.glob("*.md"), *_files(folder, _SECTIONS), *_files(folder, _HELD)):
        with suppress(OSError):
            versions.add((path, path.stat().st_mtime_ns))
    return _pieces(folder, frozenset(versions), settings, redactor)


@lru_cache(2)  # of files of up to 128 MiB
def _pieces(folder: Path, _: frozenset[object], settings: Settings, redactor: Redactor) -> RunPieces:
    perspectives = _read(folder / EDITABLE["perspectives"], tuple[Perspective, ...]) or ()
    held = _conversations(folder, perspectives)
    article = _article(folder)
    written = (_read(path, Section) for path in _files(folder, _SECTIONS))
    sections = article.sections if article else tuple(section for section in written if section)
    lead = tuple(s for paragraph in article.lead for s in paragraph.sentences) if article else ()
    pages: dict[str, Snippet | Source] = {s.source_id: s for c in held for turn in c.turns for s in turn.snippets}
    pages |= {source.id: source for source in article.sources} if article else {}
    final, draft = _text(folder / EDITABLE["outline"]), _text(folder / "outline-draft.md")
    pieces = RunPieces(
        perspectives,
        tuple(map(_conversation, held)),
        final or draft,
        "final" if final else "draft" if draft else "none",
        lead,
        sections,
        tuple(_sources(pages, lead, sections, settings)),
        tuple(_excluded(folder)),
    )
    adapter = adapter_of(RunPieces)
    redacted: RunPieces = adapter.validate_python(redactor.values(adapter.dump_python(pieces)))
    return redacted


def _files(folder: Path, name: str) -> list[Path]:
    """Return the files of a folder in that of a run, sorted; none if it is a link, which a run's folder never has."""
    return [] if (folder / name).is_symlink() else sorted((folder / name).glob("*.json"))


def _read(path: Path, kind: type[T]) -> T | None:
    """Return the value in a file; None if there is none, or it is damaged."""
    with suppress(OSError, ValueError, RecursionError):
        value: T = adapter_of(kind).validate_python(parse_json(read_plain(path)))
        return value
    return None


def _text(path: Path) -> str:
    with suppress(OSError, ValueError):
        return read_plain(path).decode("utf-8")
    return ""


def _article(folder: Path) -> Article | None:
    with suppress(RunError):
        return from_json(_text(folder / "article.json"))
    return None


def _conversations(folder: Path, perspectives: Iterable[Perspective]) -> list[Conversation]:
    """Return the conversations in the order of the perspectives, those without a perspective first and last."""
    if held := _read(folder / "conversations.json", tuple[Conversation, ...]):
        return list(held)
    growing = [c for path in _files(folder, _HELD) if (c := _read(path, Conversation))]
    places = {perspective: place for place, perspective in enumerate(perspectives, 1)}
    return sorted(growing, key=lambda conversation: places.get(conversation.perspective, 0))


def _conversation(held: Conversation) -> ConversationView:
    shown = (tuple(dict.fromkeys(snippet.source_id for snippet in turn.snippets)) for turn in held.turns)
    turns = map(lambda turn, ids: TurnView(turn.question, turn.queries, turn.answer, ids), held.turns, shown)
    return ConversationView(held.perspective.name, held.perspective.focus, tuple(turns))


def _sources(
    pages: Mapping[str, Snippet | Source], lead: Iterable[Sentence], sections: Iterable[Section], settings: Settings
) -> Iterator[SourceView]:
    cited: dict[str, dict[str, None]] = {}
    for heading, sentences in (("", lead), *((section.heading[:120], section.sentences()) for section in sections)):
        for citation in (citation for sentence in sentences for citation in sentence.citations):
            cited.setdefault(citation.source_id, {})[heading] = None
    policy = SourcePolicy(allow=settings.allow_sources, deny=settings.deny_sources)
    for name, page in pages.items():
        verdict = policy.judge(page.url)
        yield SourceView(name, page.url, page.title, verdict.status.value, verdict.reason, tuple(cited.get(name, ())))


def _excluded(folder: Path) -> Iterator[Exclusion]:
    """Yield the excluded pages, while the run is under way from its events."""
    if (saved := _read(folder / "excluded.json", tuple[Exclusion, ...])) is not None:
        yield from saved
        return
    with suppress(OSError):
        events = (event for _, event in read_events(folder / "events.jsonl") if isinstance(event, Excluded))
        yield from {event.url: Exclusion(event.url, "", event.reason, "") for event in events}.values()


def changes_of_outline(folder: Path, article: Article) -> list[str]:
    """Return what the run in a folder recorded about headings of a given outline that have no section."""
    if "outline" not in read_state(folder)["given"]:
        return []
    kept, text = {section.heading for section in article.sections}, read_plain(folder / EDITABLE["outline"]).decode()
    lines = text.splitlines()[:1000]  # as many as may be given; of another's run all would take long
    lost = sorted({repr(title) for line in lines if (title := line.lstrip("# ").strip()) and title not in kept})
    details = [problem.detail[:2000] for problem in article.report.problems[:1000]]
    quotes = [detail[len(detail.replace('"', "'").partition("'")[0]) :] for detail in details]
    # only the last heading that sorts before a text can be its beginning: none in quotation marks begins with another
    near = (lost[bisect_right(lost, quote) - 1 :][:1] for quote in quotes)
    return [d for d, quote, last in zip(details, quotes, near, strict=True) if quote.startswith(tuple(last))]
