"""The lead: a summary of the whole article that opens it (paper section 3.4)."""

from collections.abc import Collection, Sequence

from storm_pipeline.errors import ModelError
from storm_pipeline.evidence.passages import Passage
from storm_pipeline.evidence.screen import Limits, Screen
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.writers.draft_checks import answer_remarks, check_blocks, find_support
from storm_pipeline.method.writers.drafts import read_draft, without_prompt_lines
from storm_pipeline.text.languages import count_words
from storm_pipeline.types import Paragraph, Section, Sentence, Snippet

_LONGEST_ARTICLE = 6000
"""Maximum words of the article shown to the lead writer; longer articles are cut to each section's first sentences."""
_SHARE, _SHORTEST, _LONGEST = 10, 60, 300
"""Body words per word of the lead, and the bounds of the lead's length in words."""
_LONGEST_RUN = 25
"""Longest run of words that the lead may share with a sentence of the body, which is the article's own text."""


def write_lead(ctx: RunContext, sections: Sequence[Section]) -> tuple[Paragraph, ...]:
    """Write the lead from the numbered sentences of the body; it inherits the citations of the sentences it cites.

    If the model fails, or nothing that it writes is supported, the lead is empty and that is recorded.
    """
    places = [(section.heading, sentence) for section in sections for sentence in section.sentences()]
    body = [sentence for _, sentence in places]
    shown = [
        Passage(s.text, (Snippet(f"sentence:{number}", "", s.text, heading=heading),))
        for number, (heading, s) in enumerate(places)
    ]
    sources = {passage.source_id: sentence for passage, sentence in zip(shown, body, strict=True)}
    inputs = {
        "topic": ctx.brief.topic,
        **ctx.brief.manner,
        "words": min(_LONGEST, max(_SHORTEST, sum(count_words(s.text) for s in body) // _SHARE)),
        "article": numbered_body(sections),
    }
    with ctx.events.in_stage("lead"):
        try:
            text = str(ctx.ask("writer", ctx.programs.lead, **inputs).lead)
        except ModelError as error:
            ctx.events.failed("no lead", error)
            return ()

        def ask_again(remarks: str, _: Collection[int]) -> str:
            return answer_remarks(ctx, "lead", str(inputs["article"]), remarks)

        draft = read_draft(without_prompt_lines(text, inputs), len(shown), ctx.brief.language, (ctx.brief.topic,))
        blocks = check_blocks(ctx, "lead", draft, _screen(ctx, shown), ask_again)
        written = [paragraph for block in blocks for paragraph in block.paragraphs]
        cited = [Paragraph(tuple(_with_sources(s, sources) for s in paragraph.sentences)) for paragraph in written]
        supports = find_support(ctx, [s for paragraph in cited for s in paragraph.sentences])
        lead = tuple(Paragraph(tuple(supports.get(s, s) for s in paragraph.sentences)) for paragraph in cited)
        if not lead:
            ctx.events.degraded("the article has no lead: nothing that the model wrote is supported by the body")
        return lead


def _screen(ctx: RunContext, shown: Sequence[Passage]) -> Screen:
    """Return the screen of the lead, whose passages are the sentences of the body."""
    topic, language, embed = ctx.brief.topic, ctx.brief.language, ctx.store.embed
    limits = Limits(run=_LONGEST_RUN)
    return Screen(shown, known=topic, embed=embed, language=language, limits=limits, source_language=lambda _: language)


def _with_sources(sentence: Sentence, sources: dict[str, Sentence]) -> Sentence:
    """Return the sentence with the citations of the body sentences that it cites."""
    cited = dict.fromkeys(c for citation in sentence.citations for c in sources[citation.source_id].citations)
    return Sentence(sentence.text, tuple(cited))


def numbered_body(sections: Sequence[Section]) -> str:
    """Return the body with numbered sentences; if it is too long, only the first sentences of each section."""
    total = sum(count_words(sentence.text) for section in sections for sentence in section.sentences())
    share = _LONGEST_ARTICLE // max(1, len(sections)) if total > _LONGEST_ARTICLE else total
    lines, number = [], 0
    for section in sections:
        shown, words = [], 0
        for sentence in section.sentences():
            number += 1
            words += count_words(sentence.text)
            if words <= share:
                shown.append(f"[{number}] {sentence.text}")
        lines += [f"# {section.heading}", " ".join(shown)]
    return "\n".join(lines)
