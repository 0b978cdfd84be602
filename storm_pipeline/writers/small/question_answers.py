"""Answers to a question that is asked for itself, not about an article's subject."""

from collections.abc import Sequence

from storm_pipeline.references.facts import facts_of
from storm_pipeline.run.context import RunContext
from storm_pipeline.types import Answer, Sentence, Snippet
from storm_pipeline.writers.small.self_contained import points_back, stands_alone


def nearest_sentences(ctx: RunContext, question: str, found: Sequence[Snippet]) -> Answer:
    """The sources' sentences that are nearest to the question by cosine and make sense alone, in the sources' order.

    There are ``answer_facts`` of them at most. What a question is about has no name by which its namesakes could be
    told, so no sentence is left out for that.
    """
    facts = {fact.text: fact for snippet in found for fact in facts_of(snippet)}
    usable = [fact for text, fact in facts.items() if stands_alone(text) and not points_back(text)]
    if not usable:
        return Answer((), tuple(found))
    vectors = ctx.store.embed([question, *(fact.in_context for fact in usable)])
    cosines = vectors[1:] @ vectors[0]
    best = sorted(range(len(usable)), key=lambda i: (-cosines[i], i))[: ctx.settings.answer_facts]
    chosen = [usable[i] for i in sorted(best)]
    cited = {fact.citation.snippet_id for fact in chosen}
    ctx.store.add(snippet for snippet in found if snippet.id in cited)
    return Answer(tuple(Sentence(fact.text, (fact.citation,)) for fact in chosen), tuple(found))
