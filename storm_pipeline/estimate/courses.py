"""How a run may go: a short, a usual and a long one.

The lengths are means over a run. The usual ones were measured on sources of four published STORM runs and of the
embedded corpus (a fact has 22 words in both, its title 8 and 2), and on replies of our own runs; the short and the long
ones lie where the mean of a row of calls may lie, not where a single call may. Passages lie between one snippet of the
embedded corpus a page and three chunks of a closed one (2.7 of 220 words a page for 25 topics of WikiGenBench).
"""

import math
from dataclasses import dataclass, replace

from storm_pipeline.programs import Programs
from storm_pipeline.settings import Settings


@dataclass(frozen=True)
class Course:
    """What settings leave open about a run.

    Attributes:
        tokens: tokens that a model's tokeniser may count where ours counts one.
        reply: length of a reply for each token of a usual one.
        whole: whether every conversation has all its turns and every question all its queries.
        thanks: questions a conversation that are asked again, because the writer gives thanks before any turn.
        perspective, question, answer, title, fact, heading: words of each.
        related: related topics named.
        contents: headings shown of a related article.
        subheadings: those of a section.
        sentences_an_answer: those that the facts support.
        facts_a_hit: sentences that can stand as a fact in one search result.
        new: share of search results that were not found before.
        found: share of the pages wanted that a search with the topic finds.
        passages: of a page.
        passage: words of each.
        gaps: share of the sections that interviews pass by, so that a search is made for them.
        fill: share of the facts that a section may have which it gets.
        sections: those of the outline that the sources can fill.
        sentence: words of a sentence where sections are written sentence by sentence; fewer mean more sentences.
        written: words of a section for each word asked for.
        copies: sentences of a whole section, for each 20 words asked for, that follow a source too closely.
        lead_copies: the same for a whole lead.
        tries: rewordings until a sentence is accepted.
        pairs: pairs of sentences alike enough to be reviewed.
    """

    tokens: float
    reply: float
    whole: bool
    thanks: int
    perspective: int
    question: int
    answer: int
    title: int
    fact: int
    heading: int
    related: int
    contents: int
    subheadings: int
    sentences_an_answer: int
    facts_a_hit: float
    new: float
    found: float
    passages: int
    passage: int
    gaps: float
    fill: float
    sections: int
    sentence: int
    written: float
    copies: float
    lead_copies: float
    tries: float
    pairs: int


SHORT = Course(
    tokens=0.85,
    reply=1 / 3,
    whole=False,
    thanks=0,
    perspective=5,
    question=8,
    answer=10,
    title=2,
    fact=14,
    heading=1,
    related=1,
    contents=0,
    subheadings=0,
    sentences_an_answer=1,
    facts_a_hit=1.0,
    new=0.3,
    found=0.3,
    passages=1,
    passage=20,
    gaps=0.0,
    fill=0.0,
    sections=1,
    sentence=35,
    written=0.3,
    copies=0.0,
    lead_copies=0.0,
    tries=1.0,
    pairs=0,
)
USUAL = Course(
    tokens=1.0,
    reply=1.0,
    whole=True,
    thanks=0,
    perspective=14,
    question=20,
    answer=70,
    title=5,
    fact=22,
    heading=3,
    related=5,
    contents=10,
    subheadings=1,
    sentences_an_answer=3,
    facts_a_hit=3.0,
    new=0.5,
    found=1.0,
    passages=2,
    passage=110,
    gaps=0.0,
    fill=0.45,
    sections=6,
    sentence=22,
    written=0.9,
    copies=0.05,
    lead_copies=1.0,
    tries=1.4,
    pairs=4,
)
LONG = Course(
    tokens=1.25,
    reply=2.0,
    whole=True,
    thanks=1,
    perspective=25,
    question=30,
    answer=120,
    title=12,
    fact=30,
    heading=5,
    related=8,
    contents=14,
    subheadings=3,
    sentences_an_answer=5,
    facts_a_hit=6.0,
    new=1.0,
    found=1.0,
    passages=3,
    passage=256,
    gaps=1.0,
    fill=1.0,
    sections=10,
    sentence=14,
    written=1.5,
    copies=0.2,
    lead_copies=4.0,
    tries=2.0,
    pairs=40,
)


@dataclass(frozen=True)
class Run:
    """A run on a topic that takes a course; its numbers follow from the settings."""

    settings: Settings
    topic: str
    programs: Programs
    course: Course

    @property
    def usual(self) -> "Run":
        """The same run as it usually goes."""
        return replace(self, course=USUAL)

    def reply(self, tokens: float) -> float:
        """Completion tokens of a reply that usually has so many."""
        return tokens * self.course.reply

    @property
    def conversations(self) -> int:
        """One a perspective, and the basic-fact writer's."""
        return self.settings.perspectives + 1

    @property
    def turns(self) -> int:
        """Turns a conversation."""
        return self.settings.turns if self.course.whole else 1

    @property
    def questions(self) -> int:
        """Calls of the writer a conversation: one a turn, and one to end it before the last."""
        return self.turns + (self.turns < self.settings.turns) + self.course.thanks

    @property
    def queries(self) -> int:
        """Searches a question."""
        return self.settings.queries if self.course.whole else 1

    @property
    def hits(self) -> int:
        """Search results a question."""
        return self.queries * self.settings.top_k

    @property
    def answer_facts(self) -> int:
        """Facts shown to the expert a question."""
        return min(self.settings.answer_facts, math.ceil(self.hits * self.course.facts_a_hit))

    @property
    def sources(self) -> int:
        """Distinct search results of all conversations."""
        return math.ceil(self.conversations * self.turns * self.hits * self.course.new)

    @property
    def pages(self) -> int:
        """Search results of a search with the topic, or with a section's title."""
        return math.ceil(self.settings.top_k * self.course.found)

    @property
    def sections(self) -> int:
        """First-level sections."""
        return min(self.settings.max_sections, self.course.sections)

    @property
    def subheadings(self) -> int:
        """Subheadings a section."""
        return self.course.subheadings if self.settings.outline_depth > 1 else 0
