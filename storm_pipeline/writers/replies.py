"""What a model wrote from numbered facts, read into sentences that cite them."""

import re
from collections.abc import Callable, Sequence

from storm_pipeline.context import RunContext
from storm_pipeline.outlines import outline_to_markdown
from storm_pipeline.references.citations import parse_cited
from storm_pipeline.references.facts import Fact
from storm_pipeline.references.support import check_support
from storm_pipeline.sentences import is_complete
from storm_pipeline.text import foreign_script_share
from storm_pipeline.types import Body, Heading, Outline, Paragraph, Section, Sentence
from storm_pipeline.writers.rewording import in_own_words

_HEADING = re.compile(r"^\s*(?:#{1,6}\s+(.+?)\s*#*|\*\*([^*]+)\*\*:?)\s*$")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")
_EMPHASIS = re.compile(r"(\*\*|__|\*)(\S(?:.*?\S)?)\1")
UNTITLED_SECTIONS = 5
"""Sections that an article without an outline is given room for."""
_FOREIGN = 0.05
"""Share of letters in a script that neither topic nor facts use, above which a sentence is dropped."""


def read_section(ctx: RunContext, heading: Heading, text: str, facts: Sequence[Fact], known: str) -> Section:
    """The model's text as a section whose every sentence is whole, supported, and in its own words."""
    title = heading.title
    blocks = _blocks(heading, text)
    body = [Section(name, _paragraphs(ctx, lines, facts, known)) for name, lines in blocks]
    filled = tuple(Section(block.heading, block.paragraphs) for block in body[1:] if block.paragraphs)
    return Section(title, body[0].paragraphs, filled)


def read_article(text: str, sentences: Callable[[str], tuple[Sentence, ...]]) -> Body:
    """Lead and sections of a reply; a heading over nothing is left out."""
    blocks: list[tuple[str, list[str]]] = [("", [])]
    for line in text.splitlines():
        if found := _HEADING.match(line):
            blocks.append(((found.group(1) or found.group(2)).strip(" :*"), []))
        elif line.strip():
            blocks[-1][1].append(line)
    filled = [(name, tuple(Paragraph(s) for s in map(sentences, lines) if s)) for name, lines in blocks]
    (_, lead), *sections = filled
    return Body(lead, tuple(Section(name, paragraphs) for name, paragraphs in sections if name and paragraphs))


def _blocks(heading: Heading, text: str) -> list[tuple[str, list[str]]]:
    """Lines under the section's own heading, then those under each subheading that the outline has."""
    planned = {title.casefold(): title for title in heading.titles() if title != heading.title}
    blocks: list[tuple[str, list[str]]] = [(heading.title, [])]
    for line in text.splitlines():
        found = _HEADING.match(line)
        if found is None:
            blocks[-1][1].append(_EMPHASIS.sub(r"\2", _BULLET.sub("", line)))
            continue
        name = planned.pop((found.group(1) or found.group(2)).strip(" :*").casefold(), None)
        if name:
            blocks.append((name, []))
    return blocks


def _paragraphs(ctx: RunContext, lines: Sequence[str], facts: Sequence[Fact], known: str) -> tuple[Paragraph, ...]:
    read = [cited_sentences(ctx, line, facts, known) for line in lines if line.strip()]
    return tuple(Paragraph(sentences) for sentences in read if sentences)


def cited_sentences(ctx: RunContext, text: str, facts: Sequence[Fact], known: str) -> tuple[Sentence, ...]:
    """The sentences of what a model wrote from facts, each with the facts that support it.

    What is cut off, in another script, or supported by nothing shown (unless it is to be kept) is dropped and counted;
    what copies a fact is said in other words.

    Args:
        ctx: the run.
        text: one paragraph of the reply, with its ``[n]`` markers.
        facts: what was shown, in the order of its numbers.
        known: what a sentence may speak of without a source: the topic and the headings.
    """
    cited = parse_cited(text, [fact.citation for fact in facts])
    like = known + " ".join(fact.text for fact in facts)
    whole = [s for s in cited.sentences if is_complete(s.text) and foreign_script_share(s.text, like) <= _FOREIGN]
    checked = check_support(whole, facts, known=known, embed=ctx.store.embed)
    dropping = ctx.settings.uncited == "drop"
    ctx.events.count(
        invented_citations=cited.invented,
        dropped_faulty=len(cited.sentences) - len(whole),
        attributed=checked.attributed,
        dropped_unsupported=checked.unsupported if dropping else 0,
    )
    kept = [s for s in checked.sentences if s.citations or not dropping]
    return in_own_words(ctx, kept, facts, known)


def article_inputs(ctx: RunContext, outline: Outline) -> dict[str, object]:
    """Inputs of the prompts that ask for a whole article, but for what it is written from."""
    words = ctx.settings.section_words * (len(outline.sections) or UNTITLED_SECTIONS)
    return {"topic": outline.topic, "outline": outline_to_markdown(outline), "words": words}


def known_text(outline: Outline, heading: Heading) -> str:
    """What a sentence may speak of without a source: the topic and the section's headings."""
    return f"{outline.topic} {' '.join(heading.titles())}"
