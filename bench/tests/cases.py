"""Cases of an evaluation in a few words: what was generated beside what people wrote."""

from collections.abc import Mapping, Sequence

from storm_bench.types import Case, HumanArticle, HumanSection, Topic
from storm_pipeline.text.identity import source_id
from storm_pipeline.types import Article, Citation, Paragraph, Section, Sentence, Snippet, Source

Texts = Mapping[str, str | Sequence[str]]
"""Heading → its text, or its sentences."""


def human(sections: Texts | None = None, lead: str = "") -> HumanArticle:
    """An article that people wrote, with sections of one level."""
    parts = (sections or {}).items()
    return HumanArticle(
        "Topic", lead=lead, sections=tuple(HumanSection(h, t if isinstance(t, str) else " ".join(t)) for h, t in parts)
    )


def generated(sections: Texts | None = None, lead: str = "", sources: int = 0) -> Article:
    """A generated article with sections of one level; ``[n]`` behind a sentence cites the n-th of its sources."""
    found = [Snippet(f"https://example.org/{n}", "", f"Passage {n}.") for n in range(1, sources + 1)]

    def sentence(text: str) -> Sentence:
        plain, _, number = text.partition("[")
        if not number:
            return Sentence(text)
        cited = found[int(number.rstrip("]")) - 1]
        return Sentence(plain, (Citation(cited.source_id, cited.id),))

    def paragraphs(text: str | Sequence[str]) -> tuple[Paragraph, ...]:
        sentences = [text] if isinstance(text, str) else text
        return (Paragraph(tuple(sentence(s) for s in sentences)),) if text else ()

    return Article(
        "Topic",
        lead=paragraphs(lead),
        sections=tuple(Section(heading, paragraphs(text)) for heading, text in (sections or {}).items()),
        sources=tuple(Source(source_id(s.url), s.url, "", (s,)) for s in found),
    )


def case(truth: HumanArticle | str, produced: Article | str) -> Case:
    """A case; texts stand for articles that are nothing but a lead."""
    people = human(lead=truth) if isinstance(truth, str) else truth
    return Case(Topic("topic", "Topic", people), generated(lead=produced) if isinstance(produced, str) else produced)
