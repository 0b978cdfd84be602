"""The paper's way of writing, for capable models: each section in one call, the lead from the finished body."""

from collections.abc import Sequence

from storm_pipeline.concurrency import Tasks
from storm_pipeline.context import RunContext
from storm_pipeline.references.evidence import Evidence, SectionEvidence
from storm_pipeline.references.facts import Fact, numbered
from storm_pipeline.text import word_count
from storm_pipeline.types import Body, Citation, Outline, Section, Snippet
from storm_pipeline.writers.fact_sharing import share_facts
from storm_pipeline.writers.lead import write_lead
from storm_pipeline.writers.repetition import remove_repetition
from storm_pipeline.writers.replies import article_inputs, cited_sentences, known_text, read_article, read_section


class WholeWriter:
    """Writes each section in one call, from all of its evidence (:class:`storm_pipeline.context.Writer`)."""

    def can_use(self, text: str) -> bool:  # noqa: ARG002
        """Any."""
        return True

    def gather(self, ctx: RunContext, outline: Outline) -> Evidence:
        """Facts retrieved with the headings, each given to one section."""
        return Evidence(share_facts(ctx, outline, weigh=lambda _, relevance: relevance))

    def material(
        self,
        ctx: RunContext,  # noqa: ARG002
        snippets: Sequence[Snippet],
        need: str,  # noqa: ARG002
        *,
        sections: int = 1,  # noqa: ARG002
    ) -> list[Fact]:
        """Every snippet as it is."""
        return [Fact(snippet.text, snippet.title, Citation(snippet.source_id, snippet.id)) for snippet in snippets]

    def section(self, ctx: RunContext, outline: Outline, evidence: SectionEvidence) -> Section:
        """The section in one call.

        Raises:
            ModelError: the model fails.
        """
        text = ctx.ask("writer", ctx.programs.section, **_inputs(ctx, outline, evidence)).text
        return read_section(ctx, evidence.heading, text, evidence.facts, known_text(outline, evidence.heading))

    def divide(
        self,
        ctx: RunContext,  # noqa: ARG002
        outline: Outline,  # noqa: ARG002
        facts: Sequence[Fact],  # noqa: ARG002
    ) -> Sequence[SectionEvidence]:
        """Not at all."""
        return ()

    def article(self, ctx: RunContext, outline: Outline, facts: Sequence[Fact]) -> Body:
        """The article in one call.

        Raises:
            ModelError: the model fails.
        """
        text = ctx.ask("writer", ctx.programs.article, **article_inputs(ctx, outline), facts=numbered(facts)).text
        known = " ".join((outline.topic, *outline.titles()))
        return read_article(text, lambda line: cited_sentences(ctx, line, facts, known))

    def finish(self, ctx: RunContext, topic: str, sections: tuple[Section, ...], evidence: Evidence) -> Body:  # noqa: ARG002
        """The lead is written while repetition is looked for."""
        with Tasks() as tasks:
            lead = tasks.start(write_lead, ctx, topic, sections)
            polished = remove_repetition(ctx, sections)
        return Body(lead.result(), polished)


def _inputs(ctx: RunContext, outline: Outline, evidence: SectionEvidence) -> dict[str, object]:
    heading = evidence.heading
    below = [title for title in heading.titles() if title != heading.title]
    told = sum(word_count(fact.text) for fact in evidence.facts)
    return {
        "article": outline.topic,
        "outline": "; ".join(section.title for section in outline.sections),
        "section": heading.title + (f"\nSubheadings: {'; '.join(below)}" if below else ""),
        "words": max(30, min(ctx.settings.section_words, told * 4 // 5)),
        "facts": numbered(evidence.facts),
    }
