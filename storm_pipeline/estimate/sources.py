"""What a rehearsal finds: pages and tables of contents of the sizes that a scenario foresees."""

import math
from collections.abc import Iterator

from storm_pipeline.estimate.scenarios import Scenario
from storm_pipeline.estimate.text import SUBJECTS, Chance
from storm_pipeline.search.contents import TableOfContents
from storm_pipeline.search.fake import FakeSearch
from storm_pipeline.types import Snippet

_ABOUT = 2
"""Words of a query that each sentence of a page has."""
_GENERAL = 10
"""Pages about the topic that any query finds."""


class MadeUpContents:
    """A table of contents for any title."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario

    def table_of_contents(self, title: str) -> TableOfContents:
        """As many headings as the scenario foresees."""
        chance = Chance(title)
        return TableOfContents(title, tuple((1, chance.words(3)) for _ in range(self._scenario.headings)))


def made_up_search(topic: str, pages: int, scenario: Scenario) -> FakeSearch:
    """An engine that finds pages for every query, each of which names the topic and some words of the query."""
    number = math.ceil(pages * scenario.found)
    return FakeSearch(lambda query: [s for rank in range(number) for s in _page(topic, query, rank, scenario)])


def _page(topic: str, query: str, rank: int, scenario: Scenario) -> Iterator[Snippet]:
    """The snippets of one page: one that tells what was asked, or one of those about the topic that any query finds."""
    chance = Chance(query, rank)
    asked = [word for word in query.split() if word not in topic.split()] or list(SUBJECTS)
    if chance.random() >= scenario.new:
        asked, rank = [chance.choice(SUBJECTS[:_GENERAL])], 0
    chance = Chance(*asked, rank)
    title = f"{topic if chance.random() < scenario.named else chance.words(2)} {asked[0]} {chance.words(2)}"
    opening = _opening(topic, asked[0], chance, scenario)
    for _ in range(scenario.snippets):
        about = (chance.sample(asked, min(_ABOUT, len(asked))) for _ in range(scenario.sentences))
        told = [chance.sentence(scenario.words, words) for words in about]
        yield Snippet(f"https://example.org/{'-'.join(asked)}/{rank}", title, " ".join([opening, *told[1:]]))
        opening = chance.sentence(scenario.words, asked[:_ABOUT])


def _opening(topic: str, subject: str, chance: Chance, scenario: Scenario) -> str:
    """How a page begins; some pages say of the topic what others say, or deny it, which is for the reviewer to see."""
    names = topic.split()[: scenario.words // 2]
    if chance.random() >= scenario.alike:
        return chance.sentence(scenario.words, [*names, subject])
    denied = ["not"] if chance.random() < 0.5 else []
    return Chance(topic).sentence(scenario.words, [*names, *denied, subject])
