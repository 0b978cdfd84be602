"""Frozen values that pass between the steps. Data only: no I/O, no model, no search."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from storm_pipeline.text.formatting import amount
from storm_pipeline.text.identity import snippet_id, source_id
from storm_pipeline.text.languages import language_name
from storm_pipeline.text.stubs import open_seam

Spans = tuple[tuple[int, int], ...]
"""Disjoint parts of a text in order: start and end of each, in characters."""
UNTITLED = "Overview"
"""Heading of an article body without headings."""
LATER_ROUND = "What a reader expects and the interviews leave open."
"""Focus of the reader whose questions are researched after the interviews; not part of the paper."""
READING = "What pages tell that are read from end to end."
READERS = frozenset({LATER_ROUND, READING})
"""Focuses of conversations that are not interviews."""
SupportError = Literal[
    "improper inferential linking", "inaccurate paraphrasing", "irrelevant source", "wrongly split", "no citation"
]
"""Classes of unsupported sentences (paper, Table 9)."""


@dataclass(frozen=True)
class Brief:
    """The order for an article: the topic, the user's note about it, and length and style.

    ``preview`` has the results of a first search for the topic, quoted; empty: none was made.
    """

    topic: str
    about: str = ""
    preview: str = ""
    language: str = "en"  # ISO 639-1 code
    length: int = 0  # target words of an article
    style: str = ""

    @property
    def topic_with_note(self) -> str:
        """The topic as prompts name it, with what the user says about it."""
        return f"{self.topic} ({' '.join(self.about.split())})" if self.about else self.topic

    @property
    def topic_with_preview(self) -> str:
        """The same, with the results of the first search."""
        return f"{self.topic_with_note} {self.preview}".rstrip()

    @property
    def language_name(self) -> str:
        """The language as a prompt names it; empty for English, which the prompts are in."""
        return "" if self.language == "en" else language_name(self.language)

    @property
    def inputs(self) -> dict[str, str]:
        """Topic and language as inputs of a prompt."""
        return {"topic": self.topic_with_note, "language": self.language_name}

    @property
    def manner(self) -> dict[str, str]:
        """Language and style as inputs of a prompt; empty ones are not shown."""
        return {"language": self.language_name, "style": self.style}


@dataclass(frozen=True)
class Work:
    """Bibliographic data beyond author, title, date, publisher and DOI; unknown fields are empty.

    Its kind is ``article`` (in a journal), ``chapter``, ``book``, ``paper`` (in proceedings), ``thesis``, ``report``,
    ``manuscript`` or ``page`` (of the web).
    """

    kind: str = ""
    volume: str = ""  # of the journal or the series
    issue: str = ""  # of the journal
    extent: str = ""  # page range of the work, such as ``233-250``
    editors: str = ""  # of the containing book, joined by ``; ``
    place: str = ""  # place of publication
    isbn: str = ""  # of the book
    edition: str = ""  # edition of the book
    url: str = ""  # its web address, if it was read from a file
    stated_by: str = ""  # ``bibliography`` if that states its kind; empty if its file, or a record of its DOI, does


NO_WORK = Work()
"""A work without data."""


@dataclass(frozen=True)
class Snippet:
    """A piece of text that a search engine found, and the page it comes from.

    Attributes:
        url: address of the page, as the engine gave it; never empty.
        title: title of the page; may be empty.
        text: the passage itself, plain text; never empty.
        published: ISO date of the page; None if unknown.
        page: page number within a paged document (PDF), counted from 1.
        engine: name of the search engine that found it.
        origin: ``snippet`` if the engine gave the text, ``page`` if it was read from the fetched page.
        author: authors that the page states, joined by ``; ``, each as ``Given Family`` or ``Family, Given``; None if
            it states none.
        site: name of the site that the page states, or the journal of a paper; None if unknown.
        language: language code that the page states, e.g. ``en``; None if it states none.
        publisher: name of the publisher; None if unknown.
        doi: DOI of the page in lower case, without ``https://doi.org/``; None if unknown.
        accessed: ISO date on which the search service or the page was requested, or a bibliography's; else None.
        page_label: the number that is printed on the page, if it is another than ``page``: ``xiv``, ``233``.
        work: further bibliographic data; None if there are none.
        heading: the headings above the passage on its page, outermost first, joined by ``›``; empty if unknown.
        place: position of the passage on its page, from 0, if the whole page was split; None if unknown.
    """

    url: str
    title: str
    text: str
    published: str | None = None
    page: int | None = None
    engine: str = ""
    origin: str = "snippet"
    author: str | None = None
    site: str | None = None
    language: str | None = None
    publisher: str | None = None
    doi: str | None = None
    accessed: str | None = None
    page_label: str | None = None
    work: Work | None = None
    heading: str = ""
    place: int | None = None

    @cached_property
    def id(self) -> str:
        """Content-derived id; equal for equal text on one page, at any address of the page."""
        return snippet_id(self.url, self.text)

    @cached_property
    def source_id(self) -> str:
        """Id of the page, see :func:`storm_pipeline.text.identity.source_id`."""
        return source_id(self.url)


@dataclass(frozen=True)
class Source:
    """A page with all its snippets that the research found, by page number, then by id.

    Address and title are the most frequent ones of the snippets; ``also`` has the addresses of other pages with the
    same text, in alphabetical order, whose snippets come last.
    """

    id: str
    url: str
    title: str
    snippets: tuple[Snippet, ...] = ()
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Exclusion:
    """A search result that was not used."""

    url: str  # address of the page, as the engine gave it
    title: str  # title of the page; may be empty
    reason: str  # the reason, in one sentence
    query: str  # the query that found it; the first in alphabetical order if several did


@dataclass(frozen=True)
class Citation:
    """A snippet that supports a sentence, and the source of the snippet, by their ids.

    Its spans locate the supporting words in the snippet's text. Set once the article is finished; empty if the snippet
    shares no word with the sentence.
    """

    source_id: str
    snippet_id: str
    spans: Spans = ()


@dataclass(frozen=True)
class Sentence:
    """A sentence without citation markers, and the citations it carries (distinct, in order; possibly none)."""

    text: str
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True)
class Paragraph:
    """Sentences that belong together."""

    sentences: tuple[Sentence, ...]


@dataclass(frozen=True)
class Section:
    """A heading, the paragraphs under it, and its subsections in order."""

    heading: str
    paragraphs: tuple[Paragraph, ...] = ()
    subsections: tuple["Section", ...] = ()

    def sentences(self) -> Iterator[Sentence]:
        """Yield all sentences of the section and its subsections, in reading order."""
        for paragraph in self.paragraphs:
            yield from paragraph.sentences
        for subsection in self.subsections:
            yield from subsection.sentences()


@dataclass(frozen=True)
class Body:
    """The text of an article: a lead, possibly empty, and sections."""

    lead: tuple[Paragraph, ...]
    sections: tuple[Section, ...]


@dataclass(frozen=True)
class Heading:
    """A node of an outline: a title without marks or numbers, and its subheadings."""

    title: str
    children: tuple["Heading", ...] = ()

    def titles(self) -> Iterator[str]:
        """Yield this title and those of all subheadings, depth first."""
        yield self.title
        for child in self.children:
            yield from child.titles()


@dataclass(frozen=True)
class Outline:
    """Multi-level section headings of an article (paper section 2.2). ``sections`` are the first level."""

    topic: str
    sections: tuple[Heading, ...] = ()

    def titles(self) -> Iterator[str]:
        """Yield all headings, depth first."""
        for section in self.sections:
            yield from section.titles()


@dataclass(frozen=True)
class Perspective:
    """A perspective on the topic (paper section 3.1): a short name and what it focuses on."""

    name: str
    focus: str


@dataclass(frozen=True)
class Turn:
    """One round of a conversation (paper section 3.2)."""

    question: str  # what the writer asked
    queries: tuple[str, ...] = ()  # the queries sent to the search engine
    answer: tuple[Sentence, ...] = ()  # the expert's sentences, each with its citations; empty when no source was found
    snippets: tuple[Snippet, ...] = ()  # the snippets shown to the expert, in the order shown

    @property
    def answer_text(self) -> str:
        """The answer without citation markers; a statement that no source was found if there is none."""
        return " ".join(s.text for s in self.answer) or "No source was found for this question."


@dataclass(frozen=True)
class Conversation:
    """The interview of one perspective, turn by turn."""

    perspective: Perspective
    turns: tuple[Turn, ...] = ()

    def with_answers(self, change: Callable[[Sentence], Sentence | None]) -> "Conversation":
        """Return the conversation with each sentence of its answers replaced or left out."""
        answers = (tuple(new for s in turn.answer if (new := change(s)) is not None) for turn in self.turns)
        return replace(self, turns=tuple(map(lambda turn, answer: replace(turn, answer=answer), self.turns, answers)))


Conversations = tuple[Conversation, ...]
"""The interviews of a run, and what was read and looked up afterwards."""


@dataclass(frozen=True)
class Price:
    """Prices in US dollars per million tokens."""

    fresh: float  # of prompt tokens that are not cached
    cached: float  # of prompt tokens from the server's prefix cache; equal to ``fresh`` if no discount is known
    output: float  # of completion tokens, including reasoning

    def cost(self, tokens_in: float, tokens_cached: float, tokens_out: float) -> float:
        """Return the cost of calls in US dollars; ``tokens_in`` includes the cached prompt tokens."""
        cached = min(tokens_cached, tokens_in)
        return ((tokens_in - cached) * self.fresh + cached * self.cached + tokens_out * self.output) / 1e6


@dataclass(frozen=True)
class Range:
    """An estimated number; ``low <= likely <= high``."""

    low: float
    likely: float
    high: float

    @classmethod
    def of(cls, likely: float, factors: Iterable[float], least: int = 0) -> "Range":
        """Return the whole numbers that are these multiples of the likely one: for low, likely and high."""
        return cls(*(max(least, round(factor * likely)) for factor in factors))

    @classmethod
    def sum(cls, ranges: Iterable["Range"]) -> "Range":
        """Return the sum of the ranges, adding lows, likely numbers and highs."""
        return cls(*map(sum, zip((0, 0, 0), *(own.ends for own in ranges), strict=True)))

    @property
    def ends(self) -> tuple[float, float, float]:
        """Return low, likely and high number."""
        return self.low, self.likely, self.high

    def amounts(self) -> str:
        """Return the range as text: ``30 (12–42)``, ``12.3k (10.1k–15.0k)``; ``30`` if the bounds are equal."""
        low, likely, high = (amount(round(number)) for number in self.ends)
        return likely if low == high else f"{likely} ({low}–{high})"

    def dollars(self) -> str:
        """Return the range as US dollars: ``$1.25 (0.63–2.50)``; ``$0`` if nothing is paid."""
        digits = 2 if self.likely >= 1 else 3
        low, likely, high = (f"{number:.{digits}f}" for number in self.ends)
        return f"${likely} ({low}–{high})" if self.high else "$0"

    def __contains__(self, number: float) -> bool:
        return self.low <= number <= self.high


@dataclass(frozen=True)
class UsageRow:
    """Calls of one role in one stage."""

    stage: str  # stage of the run, e.g. ``conversations``
    role: str  # role of the model, e.g. ``asker``
    model: str  # the model's name
    calls: int = 0  # replies received
    tokens_in: int = 0  # prompt tokens, including those from a prefix cache
    tokens_cached: int = 0  # prompt tokens that the server took from its prefix cache
    tokens_out: int = 0  # completion tokens
    seconds: float = 0.0  # latency summed over calls (calls overlap, so this exceeds wall time)
    cost: float | None = None  # US dollars, or None where the price is unknown
    estimated: int = 0  # calls whose tokens are estimated from characters, since the server did not report them


def is_plausible(record: object) -> bool:
    """Return whether all numbers of a flat record are from 0 to 10^15, as counts, seconds and dollars are."""
    numbers = (value for value in vars(record).values() if isinstance(value, int | float))
    return all(0 <= number <= 10**15 for number in numbers)


@dataclass(frozen=True)
class Usage:
    """Usage of a run: one row per stage, role and model; ``seconds`` is its wall time."""

    rows: tuple[UsageRow, ...] = ()
    seconds: float = 0.0

    @property
    def calls(self) -> int:
        """Total number of replies."""
        return sum(row.calls for row in self.rows)

    @property
    def tokens_in(self) -> int:
        """Total prompt tokens."""
        return sum(row.tokens_in for row in self.rows)

    @property
    def tokens_cached(self) -> int:
        """Total prompt tokens from a server's prefix cache."""
        return sum(row.tokens_cached for row in self.rows)

    @property
    def tokens_out(self) -> int:
        """Total completion tokens."""
        return sum(row.tokens_out for row in self.rows)

    @property
    def estimated(self) -> int:
        """Total number of calls whose tokens are estimated."""
        return sum(row.estimated for row in self.rows)

    @property
    def cost(self) -> float | None:
        """Total US dollars; None if the price of any row is unknown."""
        costs = [row.cost for row in self.rows]
        return None if any(cost is None for cost in costs) else sum(c for c in costs if c is not None)


@dataclass(frozen=True)
class Problem:
    """Something that went wrong without ending the run."""

    stage: str  # stage of the run in which it happened
    kind: str  # ``failure`` (a piece is missing) or ``degradation`` (a piece has lower quality)
    detail: str  # what happened, in one sentence


@dataclass(frozen=True)
class ModelChoice:
    """The model of a role, and the origin of that choice.

    Attributes:
        role: a role such as ``writer``, or a program with its own model, such as ``section``.
        model: name of its model.
        chosen_by: ``program`` (``set_lm``, or ``lm=`` of a call), ``Storm`` (an argument), ``settings`` (a value of
            settings, from options, environment or files), ``dspy.settings.lm`` (``dspy.context``,
            ``dspy.configure``), ``run`` (the first session of a resumed run), or ``default``.
    """

    role: str
    model: str
    chosen_by: str


@dataclass(frozen=True)
class Revision:
    """The change of a sentence that its sources did not support as written.

    The outcome is ``citations`` (changed or added by the check), ``rewritten`` or ``deleted by the writer``, ``kept``,
    ``kept without a source``, or ``dropped``.
    """

    where: str  # heading of the section that holds it
    before: str  # the sentence as the writer wrote it
    reason: str  # what the check found
    outcome: str
    after: str = ""  # the sentence as it is now; empty if it was removed


@dataclass(frozen=True)
class Report:
    """Counts of changes by the checks over a run, and its problems.

    Attributes:
        invented_citations: citation markers in model output that matched no snippet shown; removed. In an imported
            article, markers without an entry in its list of references.
        attributed: sentences without citations to which supporting snippets were assigned.
        uncited: body sentences without a citation.
        dropped_unsupported: sentences removed, by the check or by the writer, because no snippet shown supports them.
        dropped_faulty: sentences removed because they were cut off, repeated or in another script.
        reworded: sentences rewritten because they copied a source verbatim, or nothing supported them.
        repeated: sentences removed because another section says the same; their citations moved there.
        off_topic: search results left out of an answer's or section's prompt, since their page is related neither to
            the topic nor to the question; counted per prompt. Only for writers that use passages.
        unplaced: findings that the outliner assigned to no section; each went to the nearest one.
        left_out: findings shown to no section, since they are off the topic or about the sources.
        words_asked: words that the prompts of the first drafts ask for, without a separate lead; fewer than the
            settings' length if the passages hold too little. 0 in extracts.
        cited_in_interviews: snippets that interview answers cite.
        offered_to_sections: those of them shown to the writer of a section.
        cited_in_article: those of them that the article cites.
        unavailable_citations: citations of pages whose text is not available, in imported articles; removed.
        problems: what failed or was degraded, by stage, kind and detail.
        models: the model of each role, and of each program with one of its own, and who chose it.
    """

    invented_citations: int = 0
    attributed: int = 0
    uncited: int = 0
    dropped_unsupported: int = 0
    dropped_faulty: int = 0
    reworded: int = 0
    repeated: int = 0
    off_topic: int = 0
    unplaced: int = 0
    left_out: int = 0
    words_asked: int = 0
    cited_in_interviews: int = 0
    offered_to_sections: int = 0
    cited_in_article: int = 0
    unavailable_citations: int = 0
    problems: tuple[Problem, ...] = ()
    models: tuple[ModelChoice, ...] = ()


@dataclass(frozen=True)
class Support:
    """A judge's verdict on how well the sources support an article's sentences; shares in [0, 1], None if unknown."""

    judge: str  # name of the judge; its calibration is in ``docs/lab/citations.md``
    sentences: int  # number of sentences of lead and body
    recall: float | None = None  # share of sentences that their citations support together (ALCE)
    # share of citations that support the sentence alone, or that the others need to support it (ALCE)
    precision: float | None = None
    recall_alone: float | None = None  # share of sentences that one of their citations supports alone (WikiGenBench)
    precision_alone: float | None = None  # mean share of a sentence's citations that support it alone (WikiGenBench)
    errors: tuple[tuple[SupportError, int], ...] = ()  # class of unsupported sentences → number, most frequent first
    unsettled: int = 0  # number of unjudged sentences


@dataclass(frozen=True)
class Article:
    """A finished article: text, references and provenance.

    Attributes:
        title: the topic as given.
        lead: the summary that opens the article.
        sections: the body.
        sources: every source that the research found, cited or not, those with most snippets first, then by address.
        outline: the refined outline that the body follows.
        conversations: the interviews.
        usage: calls, tokens, time and cost.
        report: counts of changes, and problems.
        sources_excluded: search results that were not used, each with the reason.
        revisions: changed and removed sentences, each with the reason.
        written: ISO date (UTC) of the run's start; None if unknown.
        language: ISO 639-1 code of the text.
        note: a statement for readers on how the text was made, shown below it; may be empty.
        support: the verdict of the run's judge on the citations; None without a judge.
    """

    title: str
    lead: tuple[Paragraph, ...] = ()
    sections: tuple[Section, ...] = ()
    sources: tuple[Source, ...] = ()
    outline: Outline = field(default_factory=lambda: Outline(""))
    conversations: tuple[Conversation, ...] = ()
    usage: Usage = field(default_factory=Usage)
    report: Report = field(default_factory=Report)
    sources_excluded: tuple[Exclusion, ...] = ()
    revisions: tuple[Revision, ...] = ()
    written: str | None = None
    language: str = "en"
    note: str = ""
    support: Support | None = None

    def sentences(self) -> Iterator[Sentence]:
        """Yield all sentences, lead first, in reading order."""
        for paragraph in self.lead:
            yield from paragraph.sentences
        for section in self.sections:
            yield from section.sentences()

    @cached_property
    def references(self) -> tuple[Source, ...]:
        """The cited sources, numbered from 1 by order of first use: ``references[n - 1]`` is ``[n]``."""
        by_id = {source.id: source for source in self.sources}
        cited = dict.fromkeys(c.source_id for s in self.sentences() for c in s.citations)
        return tuple(by_id[i] for i in cited)

    def __repr__(self) -> str:
        """Return one line with the title and the numbers of sections, sentences and sources."""
        amounts = {"section": len(self.sections), "sentence": sum(1 for _ in self.sentences())}
        counted = ", ".join(f"{number} {noun}{'' if number == 1 else 's'}" for noun, number in amounts.items())
        return f"<Article {self.title!r}: {counted}, {len(self.references)} of {len(self.sources)} sources cited>"

    def _repr_html_(self) -> str:
        """Return the page in a frame, for notebooks."""
        return self._render("notebook")

    def to_markdown(self) -> str:
        """Render as Markdown with numbered citations and a reference list."""
        return self._render("markdown")

    def to_html(self) -> str:
        """Render as one HTML page, self-contained."""
        return self._render("html")

    def to_json(self) -> str:
        """Serialise everything; :func:`storm_pipeline.run.article_json.from_json` reads it back."""
        return self._render("json")

    def _render(self, name: str) -> str:
        text: str = open_seam("formats").render(self, name)
        return text
