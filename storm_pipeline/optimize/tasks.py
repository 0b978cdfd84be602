"""Programs that can be compiled from finished articles, with their examples, metric and default optimiser."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from itertools import islice
from pathlib import Path

import dspy

from storm_pipeline.errors import DatasetError
from storm_pipeline.evidence.passages import Passage, numbered_passages, passages
from storm_pipeline.method.outlines import outline_to_markdown
from storm_pipeline.method.steps.outline import wanted_sections
from storm_pipeline.method.writers.writing import numbered_body, with_markers
from storm_pipeline.optimize import metrics
from storm_pipeline.output.articles.pages import AvailablePages
from storm_pipeline.output.articles.reading import SUFFIXES, read_article, title_of
from storm_pipeline.settings import Role, Settings
from storm_pipeline.text.files import is_plain
from storm_pipeline.text.languages import count_words
from storm_pipeline.text.lexical import LexicalIndex
from storm_pipeline.types import Article, Heading, Outline, Section, Sentence, Snippet

ENTRY_POINTS = "storm_pipeline.training"
"""Group of entry points for readers of data sets in installed packages."""
Topics = tuple[tuple[str, tuple[dspy.Example, ...]], ...]  # title of a topic, and its examples
_NUMBER = re.compile(r"\d{1,9}(?![\d.,]*\d)")
_FEWEST_HEADINGS = 3  # minimum sections of an article for outline examples
_SUBSECTIONS, _SECTIONS = 3, 20  # limits of the outline's signature
_SENTENCES = 8  # maximum sentences of a section shown to a judge
_ASKED, _WRITTEN = 2, 1
"""Maximum sections of an article for examples of queries and verdicts; and of answers and sections, which are long."""
_PASSAGE = 3  # sentences per passage of an article without sources
_SHOWN, _OTHERS = 3, 1
"""Passages shown for an answer: the section's, and others; twice as many are shown for a section."""


def read_training(place: str) -> tuple[Article, ...]:
    """Return training articles from a folder, or from ``NAME:FOLDER``, a data set with an installed reader."""
    name, colon, folder = place.partition(":")
    readers = {entry.name: entry for entry in entry_points(group=ENTRY_POINTS)}
    if not colon or len(name) == 1 or Path(place).is_dir():  # C:\...
        return read_articles(Path(place))
    if name not in readers:
        known = ", ".join(sorted(readers)) or "none is installed (storm-bench has some)"
        raise DatasetError(f"nothing reads the data set {name!r}: choose among {known}, or name a folder of articles")
    read: Callable[[Path], Sequence[Article]] = readers[name].load()
    return tuple(read(Path(folder)))


def read_articles(folder: Path) -> tuple[Article, ...]:
    """Return the articles of a folder, one per file, titled by the file's first heading or its name.

    Raises DatasetError: no such folder, or a file is damaged or a link.
    """
    if not folder.is_dir():
        raise DatasetError(f"{folder} is no folder: name one with an article a file ({', '.join(SUFFIXES)})")
    files = sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES and path.is_file())
    if linked := next((path for path in files if not is_plain(path)), None):
        raise DatasetError(f"{linked} is a link, and what it leads to would be shown to the model: copy the file")
    return tuple(read_article(path, title_of(path), AvailablePages()) for path in files)


def examples_of(task: "Task", articles: Sequence[Article], settings: Settings) -> Topics:
    """Return the examples by topic, in the order of the articles; articles with one title are one topic."""
    by_topic: dict[str, list[dspy.Example]] = {}
    for article in articles:
        by_topic.setdefault(article.title.strip().casefold(), []).extend(task.examples(article, settings))
    titles = {article.title.strip().casefold(): article.title for article in articles}
    return tuple((titles[topic], tuple(examples)) for topic, examples in by_topic.items() if examples)


def outline_examples(article: Article, settings: Settings) -> Iterator[dspy.Example]:
    """Yield an example with an article's heading tree, if it has enough headings."""
    sections = [
        {"title": section.heading, "subsections": [s.heading for s in section.subsections][:_SUBSECTIONS]}
        for section in article.sections
        if section.heading
    ]
    if len(sections) >= _FEWEST_HEADINGS:
        wanted = wanted_sections(settings)
        inputs = {"topic": article.title, "language": settings.language_name, "wanted": wanted}
        yield _example(inputs, sections=sections[:_SECTIONS])


def query_examples(article: Article, settings: Settings) -> Iterator[dspy.Example]:
    """Yield examples of queries for a section's question, judged by whether they find its passages."""
    for section in _sections(article, _ASKED):
        inputs = {
            "topic": article.title,
            "also": "",
            "question": _question(article, section),
            "number": settings.queries,
        }
        others = (passage for o in article.sections if o != section for passage in _passages(article, o))
        gold = metrics.Gold(passages=_passages(article, section), other_passages=tuple(map(metrics.with_title, others)))
        queries = [f"{article.title} {heading}" for heading in _headings(section)[: settings.queries]]
        yield _example(inputs, queries=queries, gold=gold)


def answer_examples(article: Article, settings: Settings) -> Iterator[dspy.Example]:
    """Yield examples of an answer from a section's passages and some others, judged by the human section."""
    sections = _sections(article, _WRITTEN + 1)
    for section, next_section in islice(zip(sections, sections[1:] + sections[:1], strict=True), _WRITTEN):
        relevant = _passages(article, section)[:_SHOWN]
        others = [passage for passage in _passages(article, next_section) if passage not in relevant][:_OTHERS]
        shown = tuple(sorted((*relevant, *others), key=lambda passage: passage.snippets[0].id))  # in a neutral order
        inputs = {"topic": article.title, "language": settings.language_name}
        inputs |= {"question": _question(article, section), "known": "", "passages": numbered_passages(shown)}
        has_sources = any(source.snippets for source in article.sources)
        human = _text(section.sentences()) if has_sources else "\n".join(passage.text for passage in relevant)
        answer = with_markers(section, shown) if _cites(section, shown) else ""
        yield _example(inputs, answer=answer, gold=metrics.Gold(human, shown))


def section_examples(article: Article, settings: Settings) -> Iterator[dspy.Example]:
    """Yield examples of a section from its heading and passages, judged by the human section."""
    outline = outline_to_markdown(Outline(article.title, tuple(Heading(s.heading) for s in article.sections)))
    for section in _sections(article, _WRITTEN):
        shown, human = _passages(article, section)[: 2 * _SHOWN], _text(section.sentences())
        inputs = {"article": article.title, "language": settings.language_name, "style": settings.style or ""}
        inputs |= {"outline": outline, "section": section.heading, "findings": ""}
        inputs |= {"passages": numbered_passages(shown)}
        yield _example({**inputs, "words": count_words(human)}, gold=metrics.Gold(human, shown))


def lead_examples(article: Article, settings: Settings) -> Iterator[dspy.Example]:
    """Yield an example of a lead from the numbered body, judged by the human lead."""
    human = _text(sentence for paragraph in article.lead for sentence in paragraph.sentences)
    body = [sentence.text for section in article.sections for sentence in section.sentences()]
    if human and body:
        inputs = {"topic": article.title, "language": settings.language_name, "style": settings.style or ""}
        inputs |= {"article": numbered_body(article.sections)}
        shown = tuple(_passage(article.title, f"{number}", text) for number, text in enumerate(body))
        yield _example({**inputs, "words": count_words(human)}, gold=metrics.Gold(human, shown))


def check_examples(article: Article, _: Settings) -> Iterator[dspy.Example]:
    """Yield examples of verdicts on sentences with their own or wrong citations, or with a changed number."""
    for section in _sections(article, _ASKED):
        shown = _passages(article, section)[: 2 * _SHOWN]
        if labelled := list(islice(_label(section, shown), _SENTENCES)):
            check = "\n".join(f"{n}. {sentence}" for n, (sentence, _) in enumerate(labelled, 1))
            verdicts = "\n".join(f"{n}: {label}" for n, (_, label) in enumerate(labelled, 1))
            yield _example({"passages": numbered_passages(shown), "check": check}, verdicts=verdicts)


def _example(inputs: Mapping[str, object], **outputs: object) -> dspy.Example:
    return dspy.Example(**inputs, **outputs).with_inputs(*inputs)


def _label(section: Section, shown: Sequence[Passage]) -> Iterator[tuple[str, str]]:
    """Yield sentences with markers and the judge's label: unchanged, and corrupted if possible."""
    for sentence in section.sentences():
        cited = {citation.snippet_id for citation in sentence.citations}
        matches = [sentence.text in passage.text or bool(cited & passage.snippet_ids) for passage in shown]
        supporting, others = (
            [n for n, is_own in enumerate(matches, 1) if is_own == wanted] for wanted in (True, False)
        )
        text, markers = " ".join(sentence.text.split()), "".join(f"[{n}]" for n in supporting)
        if supporting:
            yield f"{text} {markers}", "supported"
        if supporting and others:
            yield f"{text} [{others[0]}]", "not"
        if supporting and (number := _NUMBER.search(text)):
            altered = text[: number.start()] + str(int(number[0]) + 1) + text[number.end() :]
            yield f"{altered} {markers}", "contradicted"


def _passages(article: Article, section: Section) -> tuple[Passage, ...]:
    """Return the passages that a section cites; else the nearest passages of the sources; else its own sentences."""
    known = {snippet.id: snippet for source in article.sources for snippet in source.snippets}
    sentences = list(section.sentences())
    cited = [known[c.snippet_id] for s in sentences for c in s.citations if c.snippet_id in known]
    if cited_passages := passages(dict.fromkeys(cited)):
        return cited_passages
    snippets = list(known.values())
    matches = LexicalIndex(([(snippet.text, 1)] for snippet in snippets), floor=0.0).search(_text(sentences))
    readable = (passage for match in matches for passage in passages((snippets[match.position],)))
    if near := tuple(islice(readable, 2 * _SHOWN)):
        return near
    parts = (sentences[i : i + _PASSAGE] for i in range(0, len(sentences), _PASSAGE))
    return tuple(_passage(article.title, f"{section.heading}/{i}", _text(part)) for i, part in enumerate(parts))


def _cites(section: Section, shown: Sequence[Passage]) -> bool:
    """Return whether each sentence of a section cites some of the passages and nothing else."""
    ids = {snippet.id for passage in shown for snippet in passage.snippets}
    cited = [{citation.snippet_id for citation in sentence.citations} for sentence in section.sentences()]
    return all(citations and citations <= ids for citations in cited)


def _passage(topic: str, place: str, text: str) -> Passage:
    return Passage(text, (Snippet(f"article:{topic}/{place}", topic, text),))


def _sections(article: Article, most: int) -> list[Section]:
    """Return the first sections with a heading and text."""
    return [section for section in article.sections if section.heading and any(section.sentences())][:most]


def _question(article: Article, section: Section) -> str:
    heading = section.heading
    return heading if heading.endswith("?") else f"What is known about {article.title}: {heading}?"


def _headings(section: Section) -> list[str]:
    return [section.heading, *(heading for subsection in section.subsections for heading in _headings(subsection))]


def _text(sentences: Iterable[Sentence]) -> str:
    return " ".join(sentence.text for sentence in sentences)


@dataclass(frozen=True)
class Task:
    """A program that can be compiled."""

    program: str  # name in :class:`storm_pipeline.models.programs.Programs`
    role: Role
    metric: metrics.MakeMetric
    metric_name: str
    examples: Callable[[Article, Settings], Iterator[dspy.Example]]  # examples of an article, with the settings of runs
    optimizer: str = "bootstrap"  # default optimiser: ``gepa`` if examples would make prompts too long


TASKS = {
    task.program: task
    for task in (
        Task("queries", "expert", metrics.queries_metric, "queries", query_examples),
        Task("passage_answer", "expert", metrics.cited_metric("answer"), "cited text", answer_examples),
        Task("draft", "outliner", metrics.outline_metric, "outline", outline_examples),
        Task("section", "writer", metrics.cited_metric("text"), "cited text", section_examples, "gepa"),
        Task("lead", "writer", metrics.cited_metric("lead"), "cited text", lead_examples, "gepa"),
        Task("check", "judge", metrics.verdicts_metric, "verdicts", check_examples),
    )
}
"""Name of a program → its task, in the order of a run."""
