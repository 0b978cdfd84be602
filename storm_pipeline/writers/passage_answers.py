"""Expert answers written from passages."""

import re
from collections.abc import Sequence

from storm_pipeline.references.grounding import Grounding
from storm_pipeline.references.passages import Passage, numbered_passages, passages, within_budget
from storm_pipeline.references.relevance import Floor
from storm_pipeline.retrieval.fusion import rank_scores
from storm_pipeline.retrieval.lexical import LexicalIndex
from storm_pipeline.run.context import RunContext
from storm_pipeline.types import Answer, Snippet
from storm_pipeline.writers.drafts import read_draft
from storm_pipeline.writers.passage_prompts import language_and_style

_NOTHING = re.compile(r"^\W*the (?:sources|passages) (?:do|does) not (?:say|tell|mention)\b[^.]{0,40}\.?\W*$", re.I)
_FEW = 3  # results shown where none bears on topic or question: the best ones, so that the model may say so
_SHARE = 0.55
"""An answer's evidence budget as a share of a section's. With less, a recorded run lost sentences of its answers."""


def answer_from_passages(ctx: RunContext, topic: str, question: str, found: Sequence[Snippet]) -> Answer:
    """The expert's sentences, each with the passages that support it; none if no search result bears on the topic.

    Answers are research material, not article text: unsupported sentences are dropped and counted rather than sent back
    to the model. If the settings say ``unchecked``, only sentences without any citation are dropped. Raises ModelError:
    the model fails.
    """
    floor = Floor(topic, found, ctx.store.embed, ctx.settings.article_language)
    bearing = floor.bearing(found, question) or tuple(found[:_FEW])
    ctx.events.count(off_topic=len(found) - len(bearing))
    shown = _that_answer(question, passages(bearing), round(ctx.settings.evidence_words * _SHARE))
    if not shown:
        return Answer()
    snippets = tuple(snippet for passage in shown for snippet in passage.snippets)
    ctx.store.add(snippets)
    ctx.store.keep(copy for passage in shown for copy in passage.copies)  # they can be cited too
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
    draft = read_draft(reply, len(shown), ctx.settings.article_language, (topic,))
    grounding = Grounding(
        shown, known=f"{topic} {question}", embed=ctx.store.embed, language=ctx.settings.article_language
    )
    if ctx.settings.uncited == "unchecked":
        answered = list(map(grounding.as_written, draft.claims()))
    else:
        answered = [verdict.sentence for verdict in grounding.judge(draft.claims())]
    sentences = [sentence for sentence in answered if sentence.citations]
    ctx.events.count(invented_citations=draft.invented, dropped_unsupported=len(answered) - len(sentences))
    ctx.store.prepare([*(sentence.text for sentence in sentences), *(snippet.title for snippet in snippets)])
    return Answer(tuple(sentences), snippets)


def _that_answer(question: str, found: Sequence[Passage], words: int) -> tuple[Passage, ...]:
    """The passages that fit into ``words``, those first that the search ranks high and that share the question's words.

    They are shown in the order of the search.
    """
    index = LexicalIndex([[(one.text, 1), (one.title, 1)] for one in found], floor=0.0)
    scores = rank_scores((range(len(found)), (match.position for match in index.search(question))))
    best = within_budget((found[i] for i in sorted(scores, key=scores.__getitem__, reverse=True)), words)
    return tuple(passage for passage in found if passage in best)
