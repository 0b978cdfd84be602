"""Examples of each program, made from finished articles and what those rest on."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

import dspy

from storm_pipeline.languages import count_words
from storm_pipeline.optimize.metrics.base import Gold, with_title
from storm_pipeline.references.passages import Passage, numbered_passages, passages
from storm_pipeline.retrieval.lexical import LexicalIndex
from storm_pipeline.settings import Settings
from storm_pipeline.steps.outline import wanted_sections
from storm_pipeline.text.outlines import outline_to_markdown
from storm_pipeline.types import Article, Heading, Outline, Section, Sentence, Snippet
from storm_pipeline.writers.lead import numbered_body
from storm_pipeline.writers.passage_prompts import with_markers

Inputs = dict[str, object]
_NUMBER = re.compile(r"\d+(?![\d.,]*\d)")
_FEWEST_HEADINGS = 3  # sections of an article that teaches an outline, or perspectives, at least
_SUBSECTIONS, _SECTIONS = 3, 20  # what the outline's signature allows
_SENTENCES = 8  # sentences of a section shown to name it
_ASKED, _WRITTEN = 2, 1
"""Sections of one article that teach their naming; questions and queries; and answers and sections, which are long."""
_PASSAGE = 3  # sentences of an article that make a passage, where it has no sources
_SHOWN, _OTHERS = 3, 1
"""Passages shown for an answer: of the section, and of others; a section is written from twice as many."""
_TOLD = 2  # sentences by which an expert of a made-up conversation answers


def outline_examples(article: Article, settings: Settings) -> Iterator[dspy.Example]:
    """The heading tree."""
    sections = [
        {"title": section.heading, "subsections": [one.heading for one in section.subsections][:_SUBSECTIONS]}
        for section in article.sections
        if section.heading
    ]
    if len(sections) >= _FEWEST_HEADINGS:
        wanted = wanted_sections(settings)
        inputs = {"topic": article.title, "language": settings.language_name, "wanted": wanted}
        yield dspy.Example(**inputs, sections=sections[:_SECTIONS]).with_inputs(*inputs)


def perspective_examples(article: Article, settings: Settings) -> Iterator[dspy.Example]:
    """The topic → as many editors as runs have; judged by the headings."""
    headings = [heading for section in article.sections for heading in _headings(section)]
    if len(article.sections) >= _FEWEST_HEADINGS:
        inputs: Inputs = {"topic": article.title, "related_contents": "", "language": settings.language_name}
        inputs |= {"number": max(1, settings.perspectives)}
        yield dspy.Example(**inputs, gold=Gold("\n".join(headings))).with_inputs(*inputs)


def query_examples(article: Article, settings: Settings) -> Iterator[dspy.Example]:
    """What a section answers → queries; judged by whether they find its passages."""
    for section in _sections(article, _ASKED):
        inputs = {"topic": article.title, "also": "", "question": _asked(article, section), "number": settings.queries}
        others = (own for other in article.sections if other != section for own in _rests_on(article, other))
        gold = Gold(passages=_rests_on(article, section), left=tuple(map(with_title, others)))
        queries = [f"{article.title} {heading}" for heading in _headings(section)[: settings.queries]]
        yield dspy.Example(**inputs, queries=queries, gold=gold).with_inputs(*inputs)


def question_examples(article: Article, settings: Settings) -> Iterator[dspy.Example]:
    """An interview on the first sections → the next question; judged by what the others have."""
    sections = _sections(article, _ASKED + 1)
    for told in range(len(sections) - 1):
        turns = (f"Writer: {_asked(article, one)}\nExpert: {' '.join(_texts(one)[:_TOLD])}" for one in sections[:told])
        inputs = {"topic": article.title, "language": settings.language_name, "perspective": ""}
        inputs |= {"conversation": "\n".join(turns)}
        left = tuple(text for one in sections[told:] for text in _texts(one))
        yield dspy.Example(**inputs, gold=Gold(left=left)).with_inputs(*inputs)


def answer_examples(article: Article, settings: Settings) -> Iterator[dspy.Example]:
    """A section's question and passages, among some of others → the answer; judged by the human section."""
    sections = _sections(article, _WRITTEN + 1)
    for section, other in islice(zip(sections, sections[1:] + sections[:1], strict=True), _WRITTEN):
        own = _rests_on(article, section)[:_SHOWN]
        others = [one for one in _rests_on(article, other) if one not in own][:_OTHERS]
        shown = tuple(sorted((*own, *others), key=lambda one: one.snippets[0].id))  # in no telling order
        inputs = {"topic": article.title, "language": settings.language_name}
        inputs |= {"question": _asked(article, section), "passages": numbered_passages(shown)}
        has_sources = any(source.snippets for source in article.sources)
        human = " ".join(_texts(section)) if has_sources else "\n".join(one.text for one in own)
        answer = with_markers(section, shown) if _cites(section, shown) else ""
        yield dspy.Example(**inputs, answer=answer, gold=Gold(human, shown)).with_inputs(*inputs)


def section_examples(article: Article, settings: Settings) -> Iterator[dspy.Example]:
    """A heading and its passages → the section; judged by the human one."""
    outline = outline_to_markdown(Outline(article.title, tuple(Heading(one.heading) for one in article.sections)))
    for section in _sections(article, _WRITTEN):
        shown, human = _rests_on(article, section)[: 2 * _SHOWN], " ".join(_texts(section))
        inputs: Inputs = {"article": article.title, "language": settings.language_name, "style": settings.style or ""}
        inputs |= {"outline": outline, "section": section.heading, "words": count_words(human)}
        inputs |= {"passages": numbered_passages(shown), "findings": ""}
        yield dspy.Example(**inputs, gold=Gold(human, shown)).with_inputs(*inputs)


def lead_examples(article: Article, settings: Settings) -> Iterator[dspy.Example]:
    """The numbered body → the lead; judged by the human one."""
    human = " ".join(sentence.text for paragraph in article.lead for sentence in paragraph.sentences)
    body = [text for section in article.sections for text in _texts(section)]
    if human and body:
        inputs: Inputs = {"topic": article.title, "language": settings.language_name, "style": settings.style or ""}
        inputs |= {"words": count_words(human), "article": numbered_body(article.sections)}
        shown = tuple(_passage(article.title, f"{number}", text) for number, text in enumerate(body))
        yield dspy.Example(**inputs, gold=Gold(human, shown)).with_inputs(*inputs)


def check_examples(article: Article, _: Settings) -> Iterator[dspy.Example]:
    """Sentences beside their own passages, beside others', and with a number one higher → the verdicts."""
    for section in _sections(article, _ASKED):
        shown = _rests_on(article, section)[: 2 * _SHOWN]
        if told := list(islice(_told_so(section, shown), _SENTENCES)):
            check = "\n".join(f"{n}. {sentence}" for n, (sentence, _) in enumerate(told, 1))
            inputs = {"passages": numbered_passages(shown), "check": check}
            verdicts = "\n".join(f"{n}: {label}" for n, (_, label) in enumerate(told, 1))
            yield dspy.Example(**inputs, verdicts=verdicts).with_inputs(*inputs)


def _told_so(section: Section, shown: Sequence[Passage]) -> Iterator[tuple[str, str]]:
    """Sentences with markers, and the judge's label of each: as it is, and spoiled where it can be."""
    for sentence in section.sentences():
        cited = {own.snippet_id for own in sentence.citations}
        rests = [sentence.text in one.text or bool(cited & {own.id for own in one.snippets}) for one in shown]
        own, others = ([n for n, is_own in enumerate(rests, 1) if is_own == wanted] for wanted in (True, False))
        text = " ".join(sentence.text.split())
        if own:
            yield text + " " + "".join(f"[{n}]" for n in own), "supported"
        if own and others:
            yield f"{text} [{others[0]}]", "not"
        if own and (number := _NUMBER.search(text)):
            other = text[: number.start()] + str(int(number[0]) + 1) + text[number.end() :]
            yield other + " " + "".join(f"[{n}]" for n in own), "contradicted"


def _rests_on(article: Article, section: Section) -> tuple[Passage, ...]:
    """The passages that a section cites; else those of the sources nearest to it; else its own sentences.

    What holds no sentence, such as a page's menu, is no passage.
    """
    known = {snippet.id: snippet for source in article.sources for snippet in source.snippets}
    sentences = list(section.sentences())
    cited = [known[c.snippet_id] for s in sentences for c in s.citations if c.snippet_id in known]
    if own := passages(dict.fromkeys(cited)):
        return own
    snippets = list(known.values())
    matches = LexicalIndex(([(one.text, 1)] for one in snippets), floor=0.0).search(_plain(sentences))
    readable = (own for match in matches for own in passages((snippets[match.position],)))
    if near := tuple(islice(readable, 2 * _SHOWN)):
        return near
    parts = (sentences[i : i + _PASSAGE] for i in range(0, len(sentences), _PASSAGE))
    return tuple(_passage(article.title, f"{section.heading}/{i}", _plain(own)) for i, own in enumerate(parts))


def _cites(section: Section, shown: Sequence[Passage]) -> bool:
    """Whether a section cites some of the passages, and no sentence anything else: so it shows how to answer."""
    ids = {snippet.id for passage in shown for snippet in passage.snippets}
    cited = [{citation.snippet_id for citation in sentence.citations} for sentence in section.sentences()]
    return all(own and own <= ids for own in cited)


def _passage(topic: str, place: str, text: str) -> Passage:
    return Passage(text, (Snippet(f"article:{topic}/{place}", topic, text),))


def _sections(article: Article, most: int) -> list[Section]:
    """The first sections with a heading and text."""
    return [section for section in article.sections if section.heading and _texts(section)][:most]


def _asked(article: Article, section: Section) -> str:
    if section.heading.endswith("?"):
        return section.heading
    return f"What is known about {article.title}: {section.heading}?"


def _headings(section: Section) -> list[str]:
    return [section.heading, *(heading for own in section.subsections for heading in _headings(own))]


def _texts(section: Section) -> list[str]:
    return [sentence.text for sentence in section.sentences()]


def _plain(sentences: Sequence[Sentence]) -> str:
    return " ".join(sentence.text for sentence in sentences)
