"""Small articles beside their topics, for the metrics' tests."""

import articles

from storm_bench.types import Case, HumanArticle, Topic
from storm_pipeline.types import Section, Sentence, Source


def case(
    *sections: Section,
    lead: tuple[Sentence, ...] = (),
    sources: tuple[Source, ...] = (),
    title: str = "Lake Orrin",
    infobox: tuple[tuple[str, str], ...] = (),
) -> Case:
    """An article beside its topic."""
    topic = Topic(title.replace(" ", "_"), title, HumanArticle(title, infobox=infobox))
    return Case(topic, articles.article(*sections, lead=lead, sources=sources, title=title))
