"""Chooses the fact that opens an article written sentence by sentence: a definition of the topic."""

import re

from storm_pipeline.languages import stem_set
from storm_pipeline.references.facts import Fact, facts_of, names_topic
from storm_pipeline.run.context import RunContext
from storm_pipeline.writers.self_contained import points_back, stands_alone

_BEST_SOURCES = 3
_BRACKETS = re.compile(r"\([^()]*\)")
_DEFINITION = re.compile(r"([^,]+?)(?:,.*,)? (?:is|are|was|were) ")


def opening_fact(ctx: RunContext, topic: str) -> Fact | None:
    """A fact that defines the topic, or else the one nearest to it; None if no fact names the topic.

    Candidates come from pages titled like the topic and from the best search results. The lead opens with this fact,
    which sections do not get.
    """
    own = [snippet for source in ctx.store.sources() if _is_named(source.title, topic) for snippet in source.snippets]
    found = dict.fromkeys([*own, *ctx.store.search_fused([topic], _BEST_SOURCES)])
    facts = [fact for snippet in found for fact in facts_of(snippet) if _may_open(fact.text, topic)]
    if not facts:
        return None
    likeness = ctx.store.embed([fact.text for fact in facts]) @ ctx.store.embed([topic])[0]
    return max(zip(facts, likeness, strict=True), key=lambda pair: (_defines(pair[0].text, topic), pair[1]))[0]


def _is_named(title: str, topic: str) -> bool:
    """Whether a page's title is the topic, ignoring text in brackets."""
    return stem_set(_BRACKETS.sub("", title)) == stem_set(topic)


def _may_open(text: str, topic: str) -> bool:
    return names_topic(text, topic) and stands_alone(text) and not points_back(text)


def _defines(text: str, topic: str) -> bool:
    """Whether a sentence defines the topic itself, and nothing narrower."""
    found = _DEFINITION.match(_BRACKETS.sub("", text))
    return found is not None and stem_set(found[1]) == stem_set(topic)
