"""Answers of an expert who is shown passages."""

import re
from collections.abc import Sequence

from storm_pipeline.references.facts import nearest
from storm_pipeline.references.grounding import Grounding
from storm_pipeline.references.passages import numbered_passages, passages, within_budget
from storm_pipeline.run.context import RunContext
from storm_pipeline.types import Answer, Sentence, Snippet
from storm_pipeline.writers.drafts import read_draft
from storm_pipeline.writers.passage_prompts import language_and_style

_NOTHING = re.compile(r"^\W*the (?:sources|passages) (?:do|does) not (?:say|tell|mention)\b[^.]{0,40}\.?\W*$", re.I)
_SHARE = 2 / 3
"""Of the words of evidence that a section is shown, those that an answer is."""


_EMBEDDED = 6
"""Snippets shown that are embedded beside those that the answer cites; others can still be found by their words."""


def answer_from_passages(ctx: RunContext, topic: str, question: str, found: Sequence[Snippet]) -> Answer:
    """The expert's sentences, each with the passages that support it; none where nothing was found.

    An answer is material, not text of the article: a sentence that nothing shown supports is left out and counted, and
    is not handed back.

    Raises:
        ModelError: the model fails.
    """
    shown = within_budget(passages(found), round(ctx.settings.evidence_words * _SHARE))
    if not shown:
        return Answer()
    snippets = tuple(snippet for passage in shown for snippet in passage.snippets)
    ctx.store.keep((*snippets, *(copy for passage in shown for copy in passage.copies)))  # they can be cited too
    ctx.store.add(nearest(snippets, f"{topic} {question}", _EMBEDDED))
    reply = ctx.ask(
        "expert",
        ctx.programs.passage_answer,
        topic=topic,
        language=language_and_style(ctx)["language"],
        question=question,
        passages=numbered_passages(shown),
    ).answer
    if _NOTHING.match(reply):
        return Answer((), snippets)
    draft = read_draft(reply, len(shown), ctx.settings.article_language)
    grounding = Grounding(
        shown, known=f"{topic} {question}", embed=ctx.store.embed, language=ctx.settings.article_language
    )
    judged = grounding.judge(draft.claims())
    sentences: list[Sentence] = [verdict.sentence for verdict in judged if verdict.sentence.citations]
    ctx.events.count(invented_citations=draft.invented, dropped_unsupported=len(judged) - len(sentences))
    cited = {citation.snippet_id for sentence in sentences for citation in sentence.citations}
    ctx.store.add(snippet for snippet in snippets if snippet.id in cited)
    ctx.store.prepare([*(sentence.text for sentence in sentences), *(snippet.title for snippet in snippets)])
    return Answer(tuple(sentences), snippets)
