"""Questions about the articles of runs, within the caps of the runs and the budgets."""

from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import BaseModel, Field

from storm_pipeline.settings import MAX_TOPIC_LENGTH
from storm_pipeline.types import Article


class QuestionOrder(BaseModel, extra="forbid"):
    """The body of a question about an article."""

    question: str = Field(min_length=1, max_length=MAX_TOPIC_LENGTH, examples=["Who travelled the road?"])


@dataclass(frozen=True)
class AnsweredSentence:
    """A sentence of an answer, and the numbers of its sources."""

    text: str
    sources: tuple[int, ...]


@dataclass(frozen=True)
class AnswerSource:
    """A source of an answer, with the passages that are cited."""

    number: int
    title: str
    url: str
    passages: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """The answer to a question about an article, from the article's sources alone."""

    question: str
    sentences: Annotated[tuple[AnsweredSentence, ...], Field(description="Empty if the sources do not say.")]
    sources: tuple[AnswerSource, ...]
    note: Annotated[str, Field(description="That the sources do not say, or that no model was asked; may be empty.")]
    cost: Annotated[float | None, Field(description="US dollars, once; null if unknown.")]

    @classmethod
    def of(cls, answer: Article) -> Self:
        """Return the answer that an article is."""
        number = {source.id: n for n, source in enumerate(answer.references, 1)}
        cited = ((s, dict.fromkeys(number[c.source_id] for c in s.citations)) for s in answer.sentences())
        return cls(
            answer.title,
            tuple(AnsweredSentence(sentence.text, tuple(numbers)) for sentence, numbers in cited),
            tuple(
                AnswerSource(number[s.id], s.title, s.url, tuple(snippet.text for snippet in s.snippets))
                for s in answer.references
            ),
            answer.note,
            answer.usage.cost,
        )
