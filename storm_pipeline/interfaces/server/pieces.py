"""What a run has found and written so far, read from the pieces in its folder; damaged pieces are left out."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from storm_pipeline.errors import RunError
from storm_pipeline.interfaces.server.redaction import Redactor
from storm_pipeline.run.article_json import from_json
from storm_pipeline.run.events import Excluded, adapter_of, read_events
from storm_pipeline.run.folder import EDITABLE
from storm_pipeline.settings import Settings
from storm_pipeline.sources.reliable.filtering import SourcePolicy
from storm_pipeline.text.files import read_plain
from storm_pipeline.types import (
    Article,
    Conversation,
    Exclusion,
    Perspective,
    Section,
    Sentence,
    Snippet,
    Source,
)

T = TypeVar("T")


@dataclass(frozen=True)
class TurnView:
    """A question of an interview, and what was found."""

    question: str
    queries: tuple[str, ...]
    answer: tuple[Sentence, ...]
    sources: Annotated[tuple[str, ...], Field(description="Ids of the sources whose passages were shown.")]


@dataclass(frozen=True)
class ConversationView:
    """An interview as far as it is held, or what was read or looked up afterwards."""

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
class FindingView:
    """A sentence of an interview's answer, and where it went."""

    text: str
    perspective: str
    question: str
    sections: Annotated[tuple[str, ...], Field(description="Headings of the sections that it was given to.")]
    sources: Annotated[tuple[str, ...], Field(description="Ids of the sources that it cites.")]


@dataclass(frozen=True)
class PointView:
    """A question that a section was to answer."""

    section: str
    question: str


@dataclass(frozen=True)
class RunPieces:
    """What a run has found and written so far."""

    perspectives: tuple[Perspective, ...]
    conversations: tuple[ConversationView, ...]
    outline: Annotated[str, Field(description="Headings as Markdown; empty if there are none yet.")]
    outline_state: Literal["none", "draft", "final"]
    lead: tuple[Sentence, ...]
    sections: Annotated[tuple[Section, ...], Field(description="Sections so far; those of the article once finished.")]
    sources: tuple[SourceView, ...]
    excluded: tuple[Exclusion, ...]
    findings: tuple[FindingView, ...]
    points: tuple[PointView, ...]


@dataclass(frozen=True)
class _SectionEvidence:
    heading: str
    findings: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Title:
    title: str


@dataclass(frozen=True)
class _SectionPoints:
    heading: _Title
    points: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Notes:
    same: Mapping[str, str]
    sections: Mapping[str, str]


@dataclass(frozen=True)
class _Points:
    sections: tuple[_SectionPoints, ...] = ()
    notes: _Notes = _Notes({}, {})


def read_pieces(folder: Path, settings: Settings, redactor: Redactor) -> RunPieces:
    """Return the pieces of the run in a folder without secrets; ``settings``: with the lists of sources."""
    perspectives = _read(folder / EDITABLE["perspectives"], tuple[Perspective, ...]) or ()
    held = _conversations(folder, perspectives)
    article = _article(folder)
    written = (_read(path, Section) for path in sorted(folder.glob("sections/*.json")))
    sections = article.sections if article else tuple(section for section in written if section)
    lead = tuple(s for paragraph in article.lead for s in paragraph.sentences) if article else ()
    final, draft = _text(folder / EDITABLE["outline"]), _text(folder / "outline-draft.md")
    evidence = _read(folder / "evidence.json", tuple[_SectionEvidence, ...]) or ()
    points = _read(folder / "points.json", _Points) or _Points()
    pieces = RunPieces(
        perspectives,
        tuple(map(_conversation, held)),
        final or draft,
        "final" if final else "draft" if draft else "none",
        lead,
        sections,
        tuple(_sources(held, article, lead, sections, settings)),
        tuple(_excluded(folder)),
        tuple(_findings(held, evidence, points.notes)),
        tuple(PointView(part.heading.title, question) for part in points.sections for question in part.points),
    )
    adapter = adapter_of(RunPieces)
    redacted: RunPieces = adapter.validate_python(redactor.values(adapter.dump_python(pieces)))
    return redacted


def _read(path: Path, kind: type[T]) -> T | None:
    """Return the value in a file; None if there is none, or it is damaged."""
    try:
        value: T = adapter_of(kind).validate_json(read_plain(path))
    except (OSError, ValueError, RecursionError):
        return None
    return value


def _text(path: Path) -> str:
    try:
        return read_plain(path).decode("utf-8")
    except (OSError, ValueError):
        return ""


def _article(folder: Path) -> Article | None:
    try:
        return from_json(_text(folder / "article.json"))
    except RunError:
        return None


def _conversations(folder: Path, perspectives: Iterable[Perspective]) -> list[Conversation]:
    """Return the conversations in the order of the perspectives; those that are none's first and last."""
    if held := _read(folder / "conversations.json", tuple[Conversation, ...]):
        return list(held)
    growing = [c for path in sorted(folder.glob("conversations/*.json")) if (c := _read(path, Conversation))]
    places = {perspective: place for place, perspective in enumerate(perspectives, 1)}
    return sorted(growing, key=lambda conversation: places.get(conversation.perspective, 0))


def _conversation(held: Conversation) -> ConversationView:
    turns = (TurnView(t.question, t.queries, t.answer, _ids(s.source_id for s in t.snippets)) for t in held.turns)
    return ConversationView(held.perspective.name, held.perspective.focus, tuple(turns))


def _ids(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))


def _sources(
    held: Iterable[Conversation],
    article: Article | None,
    lead: Iterable[Sentence],
    sections: Iterable[Section],
    settings: Settings,
) -> Iterator[SourceView]:
    found: dict[str, Snippet | Source] = {s.source_id: s for c in held for turn in c.turns for s in turn.snippets}
    found |= {source.id: source for source in article.sources} if article else {}
    texts = [("", lead), *((section.heading, section.sentences()) for section in sections)]
    cited: dict[str, dict[str, None]] = {}
    for heading, sentences in texts:
        for citation in (citation for sentence in sentences for citation in sentence.citations):
            cited.setdefault(citation.source_id, {})[heading] = None
    policy = SourcePolicy(allow=settings.allow_sources, deny=settings.deny_sources)
    for name, page in found.items():
        verdict = policy.judge(page.url)
        yield SourceView(name, page.url, page.title, verdict.status.value, verdict.reason, tuple(cited.get(name, ())))


def _excluded(folder: Path) -> Iterator[Exclusion]:
    """Yield the excluded pages, while the run is under way from its events."""
    if (saved := _read(folder / "excluded.json", tuple[Exclusion, ...])) is not None:
        yield from saved
        return
    try:
        events = tuple(read_events(folder / "events.jsonl"))
    except OSError:
        return
    found = {event.url: event.reason for _, event in events if isinstance(event, Excluded)}
    yield from (Exclusion(url, "", reason, "") for url, reason in found.items())


def _findings(
    held: Iterable[Conversation], evidence: Iterable[_SectionEvidence], notes: _Notes
) -> Iterator[FindingView]:
    """Yield the findings with the sections that they, or the more complete ones with which they are one, went to."""
    given: dict[str, dict[str, None]] = {}
    for part in evidence:
        for text in part.findings:
            given.setdefault(text, {})[part.heading] = None
    for conversation in held:
        for turn in conversation.turns:
            for said in turn.answer:
                text = notes.same.get(said.text, said.text)
                planned = [notes.sections[text]] if text in notes.sections and not given else []
                sections = tuple(given.get(text, planned))
                sources = _ids(citation.source_id for citation in said.citations)
                yield FindingView(said.text, conversation.perspective.name, turn.question, sections, sources)
