"""The map of a run's research: who asked what, what was found, and in which section it ended up."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from storm_pipeline.text.formatting import with_noun
from storm_pipeline.types import READERS, Article, Perspective, Sentence


@dataclass(frozen=True)
class Question:
    """A question with its findings: each sentence of the answer, and the place of the section that uses it, or None."""

    number: int  # from 1, over all perspectives
    text: str
    findings: tuple[tuple[str, int | None], ...]

    @property
    def threads(self) -> list[tuple[int, int]]:
        """The places of the sections that use its findings, from 0, each with how many."""
        return sorted(Counter(place for _, place in self.findings if place is not None).items())

    @property
    def used(self) -> int:
        """How many of its findings the article uses."""
        return sum(many for _, many in self.threads)


@dataclass(frozen=True)
class Asker:
    """A perspective, or the reader who asked afterwards, with its questions."""

    perspective: Perspective
    questions: tuple[Question, ...]

    @property
    def is_reader(self) -> bool:
        """Whether it asked after the interviews."""
        return self.perspective.focus in READERS


@dataclass(frozen=True)
class ResearchMap:
    """Perspectives with their questions and findings, and the headings of the sections that use these."""

    askers: tuple[Asker, ...]
    sections: tuple[str, ...]

    @property
    def questions(self) -> list[Question]:
        """All questions in order."""
        return [question for asker in self.askers for question in asker.questions]

    @property
    def most(self) -> int:
        """The most findings of a question."""
        return max((len(question.findings) for question in self.questions), default=0)

    def given_to(self, place: int) -> int:
        """Return how many findings a section uses."""
        return sum(dict(question.threads).get(place, 0) for question in self.questions)

    @property
    def summary(self) -> str:
        """The map in one sentence."""
        total, used = sum(len(q.findings) for q in self.questions), sum(q.used for q in self.questions)
        asked = f"{with_noun(len(self.askers), 'perspective')} asked {with_noun(len(self.questions), 'question')}"
        return f"{asked} and found {with_noun(total, 'sentence')}; the article uses {used:,} of them."


def research_map(article: Article) -> ResearchMap:
    """Return the map of an article: a finding is used by the section that cites most of its passages."""
    users, askers, number = [_snippets(section.sentences()) for section in article.sections], list[Asker](), 0
    for talk in article.conversations:
        turns = [turn for turn in talk.turns if turn.answer]
        questions = tuple(
            Question(place, turn.question, tuple((sentence.text, _user(sentence, users)) for sentence in turn.answer))
            for place, turn in enumerate(turns, number + 1)
        )
        number += len(turns)
        askers += [Asker(talk.perspective, questions)] if questions else []
    return ResearchMap(tuple(askers), tuple(section.heading for section in article.sections))


def _user(sentence: Sentence, users: list[frozenset[str]]) -> int | None:
    """Return the place of the section that cites most passages of a sentence; None if none cites any."""
    shared = [len(_snippets(iter((sentence,))) & used) for used in users]
    most = max(shared, default=0)
    return shared.index(most) if most else None


def _snippets(sentences: Iterator[Sentence]) -> frozenset[str]:
    return frozenset(citation.snippet_id for sentence in sentences for citation in sentence.citations)
