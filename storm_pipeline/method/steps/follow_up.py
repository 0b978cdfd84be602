"""A reader's question about an article, answered from the article's sources alone."""

from dataclasses import replace

from storm_pipeline.evidence.editions import with_sentences
from storm_pipeline.evidence.judges.spans import with_spans
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.steps.extract import nearest_sentences
from storm_pipeline.method.writers.passage_answers import answer_from_passages
from storm_pipeline.types import UNTITLED, Article, Citation, Paragraph, Section, Sentence

_EMBEDDED = 400  # maximum passages that are embedded at once, which takes seconds
_NOT_SAID = "The article's sources do not say."
_NEAREST = (
    "No language model is set: these are the sentences of the article's sources that are nearest to the question."
)


def answer_question(ctx: RunContext, article: Article, question: str) -> Article:
    """Return the answer as an article whose title is the question, with the cited passages as its sources.

    It is found, written and checked as the answers in interviews are. If the sources do not say, it has no text, and
    its note says so; without a language model it has their nearest sentences. Raises ModelError: the model fails.
    """
    snippets = [snippet for source in article.sources for snippet in source.snippets]
    with ctx.events.in_stage("questions"):
        ctx.store.add(snippets[:_EMBEDDED])
        ctx.store.keep(snippets)  # of the others a search embeds the best by words
        results = ctx.store.search([question], ctx.settings.queries * ctx.settings.top_k)[0]
        if ctx.settings.is_extract:
            paragraphs = nearest_sentences(ctx, question, results)
        else:
            pages = {snippet.source_id for snippet in results}
            beside = [snippet for snippet in snippets if snippet.source_id in pages]
            answer = answer_from_passages(ctx, question, results, beside).answer
            paragraphs = (Paragraph(answer),) if answer else ()
    sections = (Section(UNTITLED, paragraphs),) if paragraphs else ()
    note = _NOT_SAID if not sections else _NEAREST if ctx.settings.is_extract else ""
    answered = Article(question, (), sections, article.sources, language=article.language, note=note)
    known = {citation.snippet_id for sentence in article.sentences() for citation in sentence.citations}
    return with_spans(_with_cited_passages(answered, known))


def _with_cited_passages(answer: Article, known: set[str]) -> Article:
    """Return the answer with the passages that it cites; other addresses are known only of those of the article."""
    source_of = {snippet.id: source.id for source in answer.sources for snippet in source.snippets}

    def cite(sentence: Sentence) -> Sentence:
        return replace(
            sentence, citations=tuple(Citation(source_of[c.snippet_id], c.snippet_id) for c in sentence.citations)
        )

    cited = with_sentences(answer, cite)
    shown = {citation.snippet_id for sentence in cited.sentences() for citation in sentence.citations}
    sources = (replace(s, snippets=tuple(x for x in s.snippets if x.id in shown)) for s in cited.references)
    same = (s if known.issuperset(x.id for x in s.snippets) else replace(s, also=()) for s in sources)
    return replace(cited, sources=tuple(same))
