"""Which cited sources Wikipedia itself does not accept."""

from dataclasses import dataclass

from storm_pipeline.output.render.links import label
from storm_pipeline.sources.reliable.catalogue import Rating
from storm_pipeline.sources.reliable.ground_truth import repeats_wikipedia
from storm_pipeline.sources.reliable.policies import SourcePolicy
from storm_pipeline.types import Article, Source

_PUBLISHED = frozenset({"article", "chapter", "book", "paper", "thesis", "report"})


@dataclass(frozen=True)
class Objection:
    """A source that editors of Wikipedia would remove."""

    number: int  # of the reference
    source: str  # its name
    reason: str  # why, in a few words
    is_wikipedia: bool = False  # whether it is Wikipedia, or a copy of it


def objections(article: Article) -> tuple[Objection, ...]:
    """Return the cited sources that Wikipedia does not accept: itself, what editors rate down, unpublished texts."""
    policy = SourcePolicy("standard")
    found = []
    for number, source in enumerate(article.references, 1):
        name = label(source)
        if repeats_wikipedia(source.url):
            found.append(Objection(number, name, "is Wikipedia or a copy of it", is_wikipedia=True))
        elif reason := _reason(source, policy):
            found.append(Objection(number, name, reason))
    return tuple(found)


def _reason(source: Source, policy: SourcePolicy) -> str:
    verdict = policy.judge(source.url)
    if verdict.status is Rating.OWN:
        works = [one.work for one in source.snippets if one.work]
        is_published = any(work.kind in _PUBLISHED for work in works) or any(one.doi for one in source.snippets)
        return "" if is_published else "is a document of your own that is not known to be published"
    if verdict.status is Rating.PREPRINT:
        return "is a preprint, which is self-published"
    return "" if verdict.allowed else verdict.reason
