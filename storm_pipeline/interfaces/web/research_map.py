"""The map of a run's research: who asked what, what was found, and in which section it ended up."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from storm_pipeline.evidence.citations import cited_snippet_ids
from storm_pipeline.types import READERS, Article, Perspective, Sentence

_MOST = 50  # sections of a passage that are counted, so that the time is linear
_MOST_ROWS, _MOST_FOUND = 1000, 100  # questions and sections that are drawn; findings of a question


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


@dataclass(frozen=True)
class Asker:
    """A perspective, or the reader who asked afterwards, with its questions."""

    perspective: Perspective
    questions: tuple[Question, ...]
    is_reader: bool  # whether it asked after the interviews


@dataclass(frozen=True)
class ResearchMap:
    """Perspectives with their questions and findings, and the headings of the sections that use these."""

    askers: tuple[Asker, ...]
    sections: tuple[str, ...]
    is_cut: bool  # whether the article has more than is drawn

    @property
    def questions(self) -> list[Question]:
        """All questions in order."""
        return [question for asker in self.askers for question in asker.questions]

    @cached_property
    def given(self) -> Counter[int | None]:
        """Place of a section → how many findings it uses."""
        return Counter(place for question in self.questions for _, place in question.findings)


def research_map(article: Article) -> ResearchMap:
    """Return the map of an article: a finding is used by the section that cites most of its passages."""
    users, askers, number = dict[str, list[int]](), list[Asker](), 0  # passage → places of the sections that cite it
    sections = article.sections[:_MOST_ROWS]
    is_cut = sections != article.sections
    for place, section in enumerate(sections):
        for passage in cited_snippet_ids(section.sentences()):
            users.setdefault(passage, []).append(place)
    for talk in article.conversations:
        turns = [turn for turn in talk.turns if turn.answer]
        is_cut |= len(turns) > _MOST_ROWS - number or any(len(turn.answer) > _MOST_FOUND for turn in turns)
        turns = turns[: _MOST_ROWS - number]
        questions = tuple(
            Question(place, turn.question, tuple((s.text, _user(s, users)) for s in turn.answer[:_MOST_FOUND]))
            for place, turn in enumerate(turns, number + 1)
        )
        number += len(turns)
        askers += [Asker(talk.perspective, questions, talk.perspective.focus in READERS)] if questions else []
    return ResearchMap(tuple(askers), tuple(section.heading[:120] for section in sections), is_cut)


def _user(sentence: Sentence, users: Mapping[str, list[int]]) -> int | None:
    """Return the place of the section that cites most passages of a sentence; None if none cites any."""
    shared = Counter(place for passage in cited_snippet_ids((sentence,)) for place in users.get(passage, [])[:_MOST])
    return min(shared, key=lambda place: (-shared[place], place), default=None)
