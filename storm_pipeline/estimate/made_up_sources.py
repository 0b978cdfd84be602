"""Made-up pages and tables of contents, in the sizes of a scenario."""

import math
from collections.abc import Iterator

from storm_pipeline.estimate.made_up_replies import SUBJECTS, SeededRandom
from storm_pipeline.estimate.scenarios import Scenario
from storm_pipeline.search.fake import FakeSearch
from storm_pipeline.search.tables_of_contents import TableOfContents
from storm_pipeline.types import Snippet

_QUERY_WORDS = 2  # words of the query in each sentence of a page
_GENERAL_PAGES = 10  # pages about the topic that any query may find


class MadeUpContents:
    """A table of contents for any title."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario

    def table_of_contents(self, title: str) -> TableOfContents:
        """A table with the scenario's number of headings."""
        random = SeededRandom(title)
        return TableOfContents(title, tuple((1, random.words(3)) for _ in range(self._scenario.headings)))


def made_up_search(topic: str, pages: int, scenario: Scenario) -> FakeSearch:
    """An engine that finds pages for every query, which mention the topic and words of the query."""
    number = math.ceil(pages * scenario.found)
    return FakeSearch(lambda query: [s for rank in range(number) for s in _page(topic, query, rank, scenario)])


def _page(topic: str, query: str, rank: int, scenario: Scenario) -> Iterator[Snippet]:
    """The snippets of one page: one that answers the query, or a general one about the topic."""
    random = SeededRandom(query, rank)
    subjects = [word for word in query.split() if word not in topic.split()] or list(SUBJECTS)
    if random.random() >= scenario.new:
        subjects, rank = [random.choice(SUBJECTS[:_GENERAL_PAGES])], 0
    random = SeededRandom(*subjects, rank)
    is_named = random.random() < scenario.named
    title = f"{topic if is_named else random.words(2)} {subjects[0]} {random.words(2)}"
    opening = _opening(topic, subjects[0], random, scenario)
    named = [_name(topic, scenario)] if is_named else []
    for _ in range(scenario.snippets):
        about = (random.sample(subjects, min(_QUERY_WORDS, len(subjects))) for _ in range(scenario.sentences))
        sentences = [random.sentence(scenario.words, [*named, *words]) for words in about]
        yield Snippet(f"https://example.org/{'-'.join(subjects)}/{rank}", title, " ".join([opening, *sentences[1:]]))
        opening = random.sentence(scenario.words, subjects[:_QUERY_WORDS])


def _opening(topic: str, subject: str, random: SeededRandom, scenario: Scenario) -> str:
    """The first sentence of a page; on some pages it repeats or contradicts that of others, for the reviewer."""
    name = _name(topic, scenario)
    if random.random() >= scenario.alike:
        return random.sentence(scenario.words, [name, subject])
    negation = ["not"] if random.random() < 0.5 else []
    return SeededRandom(topic).sentence(scenario.words, [name, *negation, subject])


def _name(topic: str, scenario: Scenario) -> str:
    """The topic, or as much of it as fits a sentence."""
    return " ".join(topic.split()[: scenario.words // 2])
