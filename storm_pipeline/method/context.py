"""The context that the steps of a run share; pieces that the user provides: an outline, perspectives."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import dspy
from pydantic import Field, TypeAdapter, ValidationError

from storm_pipeline.errors import InvalidSettingError, RunError, SettingsError
from storm_pipeline.evidence.judges.base import Judge, Verdict
from storm_pipeline.evidence.run_search import RecordedSearch
from storm_pipeline.evidence.store import ReferenceStore
from storm_pipeline.method.outlines import outline_to_markdown, parse_outline
from storm_pipeline.models.asking import LanguageModels, Usable
from storm_pipeline.models.programs import Program, Programs
from storm_pipeline.run.events import Events
from storm_pipeline.run.folder import RunStore, slug
from storm_pipeline.run.journal import fingerprint
from storm_pipeline.run.ledger import Ledger
from storm_pipeline.settings import MAX_TOPIC_LENGTH, Role, Settings
from storm_pipeline.sources.search.base import ContentsSource
from storm_pipeline.text.files import read_bounded, read_plain
from storm_pipeline.text.formatting import is_printable, shorten, with_noun
from storm_pipeline.text.words import encodable_values, tidy
from storm_pipeline.types import Brief, ModelChoice, Outline, Perspective

MOST_SECTIONS = 1000  # sections allowed in an outline from the user, which is not shortened
_MAX_BYTES = 100_000  # largest outline file
_MAX_HEADING = 80  # characters of an unmarked heading; a longer line is prose
_SENTENCE_END = re.compile(r"[.!?;,。！？؟]$")
_PERSPECTIVES = TypeAdapter(Annotated[tuple[Perspective, ...], Field(max_length=50)])
"""Each is an interview, which is paid for, and the file may be a stranger's."""
_LONGEST_FOCUS = 4000  # characters of a perspective
_FORM = "write a line such as '# History' for each section, or a list"


@dataclass(frozen=True)
class UserPieces:
    """Pieces that the user provides instead of having them generated."""

    perspectives: tuple[Perspective, ...] | None = None
    outline: Outline | None = None


def brief_of(topic: str, settings: Settings) -> Brief:
    """Return the brief that the settings give for a topic."""
    about, style = settings.about or "", settings.style or ""
    return Brief(topic, about, language=settings.article_language, length=settings.article_words, style=style)


def piece_of(perspective: Perspective) -> str:
    """Return the file name of a conversation, which identifies its interviewer."""
    number = fingerprint(perspective.name, perspective.focus)[:6]
    return f"conversations/{slug(perspective.name)}-{number}.json"


@dataclass(frozen=True)
class RunContext:
    """One run's brief, models, search, store, folder and settings; every step reads and fills the same store."""

    brief: Brief
    settings: Settings
    models: LanguageModels
    programs: Programs
    search: RecordedSearch
    contents: ContentsSource
    store: ReferenceStore
    events: Events
    ledger: Ledger
    run: RunStore
    user_pieces: UserPieces = UserPieces()
    chosen: tuple[ModelChoice, ...] = ()  # the model of each role, and the origin of the choice
    judge: Judge | None = None  # the judge of sentences besides the screen, if any
    verdicts: dict[str, Verdict] = field(default_factory=dict)  # sentence → the judge's latest verdict on it

    def ask(self, role: Role, program: Program, usable: Usable | None = None, /, **inputs: object) -> dspy.Prediction:
        """Ask a model; shorthand for :meth:`LanguageModels.ask`."""
        return self.models.ask(role, program, usable, **inputs)


def read_piece(path: Path) -> Any:
    """Read an edited piece from its file: Markdown as text, JSON as values. Raises RunError: it cannot be read."""
    try:
        text = read_plain(path).decode("utf-8")
        return encodable_values(json.loads(text)) if path.suffix == ".json" else text
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"cannot read {path}: {error}; it must be a file that the run wrote, edited or not") from error


def read_outline(outline: Outline | Path | str, topic: str) -> str:
    """Return the user's outline as text, in a form that :func:`parse_pieces` reads.

    Args:
        outline: an outline; or a file with ``#`` headings, a list, or one heading a line, indented by level. Headings
            that repeat the topic, and back matter, are left out.
        topic: the topic of the article; empty for a template that serves many articles.

    Raises SettingsError: the file cannot be read, is not text, is too large, or has no heading.
    """
    if isinstance(outline, Outline):
        where, text = "the outline", outline_to_markdown(outline)
    else:
        where = f"--outline {outline}"
        text = _text_of(Path(outline), where)
    if not _parse(text, topic).sections:
        raise SettingsError(f"{where} has no heading: {_FORM}")
    return text


def validate_topic(topic: str) -> str:
    """Return a topic with single blanks. Raises SettingsError: it is empty, unprintable, or too long."""
    topic = " ".join(topic.split())
    if not is_printable(topic):
        raise InvalidSettingError("the topic holds unprintable characters: check how it was typed or passed", "topic")
    if not topic.strip("\u200c\u200d "):
        raise InvalidSettingError("the topic is empty: say what the article should be about", "topic")
    if len(topic) > MAX_TOPIC_LENGTH:
        problem = f"the topic has {len(topic)} characters, at most {MAX_TOPIC_LENGTH} are allowed: give a shorter one"
        raise InvalidSettingError(problem, "topic")
    return topic


def parse_pieces(topic: str, pieces: Mapping[str, Any]) -> UserPieces:
    """Parse the pieces that the user provides. Raises RunError: a piece is invalid."""
    outline = perspectives = None
    if (text := pieces.get("outline")) is not None:
        outline = _parse(str(text), topic)
        if not outline.sections:
            raise RunError(f"the outline has no heading: {_FORM}")
    if (values := pieces.get("perspectives")) is not None:
        try:
            perspectives = _PERSPECTIVES.validate_python(values)
            if any(len(perspective.name) + len(perspective.focus) > _LONGEST_FOCUS for perspective in perspectives):
                raise RunError(f"an edited perspective has more than {_LONGEST_FOCUS:,} characters: shorten it")
        except ValidationError as error:
            raise RunError(
                'the edited perspectives are not a list of {"name": …, "focus": …}: ' + str(error.errors()[0]["msg"])
            ) from error
    return UserPieces(perspectives, outline)


def require_whole(topic: str, text: str) -> None:
    """Check that no line of an outline's text is left out but the topic as its title. Raises RunError: one is."""
    titles = (line.lstrip("# ") for line in outline_to_markdown(_parse(text, topic)).splitlines())
    left = sorted(titles, key=len, reverse=True)
    lost = []
    for line in filter(None, map(str.strip, text.splitlines())):
        whole = tidy(line)
        title = next((title for title in left if title in whole), None)
        if line.strip("#*-_ ").casefold() == topic.strip().casefold():
            continue
        if title is None:
            lost.append(shorten(line, 60))
        else:
            left.remove(title)
    if lost:
        shown = "; ".join(f"“{line}”" for line in lost[:5]) + (" …" if lost[5:] else "")
        raise RunError(
            f"the outline has {with_noun(len(lost), 'line')} that would be left out: {shown}. Write each heading on a "
            "line of its own, all of them with # or all without, and leave out prose, repeated headings and references"
        )


def _text_of(path: Path, where: str) -> str:
    from storm_pipeline.sources.documents.decoding import decode

    try:
        data = read_bounded(path.expanduser(), _MAX_BYTES)
    except (OSError, ValueError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SettingsError(f"{where} cannot be read ({reason}): name a file with a heading a line") from error
    text = decode(data)
    if not text.strip():
        raise SettingsError(f"{where} is empty: {_FORM}")
    if "\ufffd" in text or any(c < " " and c not in "\t\n\f" for c in text):
        raise SettingsError(f"{where} is not text: give a Markdown file, {_FORM}")
    return text


def _parse(text: str, topic: str) -> Outline:
    outline = parse_outline(text, topic, max_sections=MOST_SECTIONS, max_depth=6)
    if outline.sections:
        return outline
    return parse_outline(_with_bullets(text), topic, max_sections=MOST_SECTIONS, max_depth=6)


def _with_bullets(text: str) -> str:
    """Return unmarked headings as a list; empty if a line is prose."""
    lines = [line.rstrip() for line in text.expandtabs(4).splitlines() if line.strip()]
    if any(len(line.strip()) > _MAX_HEADING or _SENTENCE_END.search(line) for line in lines):
        return ""
    return "\n".join(re.sub(r"^( *)", r"\1- ", line) for line in lines)
