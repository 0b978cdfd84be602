"""The pages of a rater, as questions about an article, about a pair, or about all."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from storm_bench.errors import RatingError
from storm_bench.raters.assignment import Assigned
from storm_bench.raters.scales import ERRORS, FACTS, PREFERENCE, USEFULNESS
from storm_bench.raters.store import Round
from storm_pipeline import Article
from storm_pipeline.types import Paragraph, Sentence

_LONGEST = 5_000  # characters of an answer: encoded in a form they fit into a request
_CHECK = "This page checks that pages are read before they are rated. It asks for the number {}."
_MARK = "error."
FACT = "fact."
COMMENT, PREFERRED, MARKED, ATTENTION = "comment", "preference", "errors.done", "attention"
"""Names of questions; those of a scale are its name, those of facts ``fact.1`` and so on."""


@dataclass(frozen=True)
class Question:
    """A question with its choices, value → words; without choices it asks for free text, and may stay unanswered."""

    name: str
    text: str
    choices: Mapping[str, str]


@dataclass(frozen=True)
class Sheet:
    """A page of a rater."""

    name: str  # part of its address: ``3-1`` and ``3-2`` for the articles of the third item, ``3-pair``, ``end``
    number: int  # of the assignment; 0 at the end
    place: int  # of the article in the study, or -1
    title: str
    about: str  # which part of the item it is
    questions: tuple[Question, ...]
    article: Article | None = None
    marks: Mapping[str, str] | None = None  # classes of errors that its sentences may get; None: they get none

    @cached_property
    def _asked(self) -> dict[str, Mapping[str, str]]:
        return {question.name: question.choices for question in self.questions}

    @cached_property
    def _marked(self) -> range:
        """The numbers of sentences that may be marked."""
        return range(1, 1 + sum(1 for _ in self.article.sentences()) if self.article and self.marks else 1)

    def choices(self, question: str) -> Mapping[str, str] | None:
        """Return the choices of a question or of a sentence's mark, none for free text; None: it is not asked."""
        with suppress(ValueError, TypeError):  # a changed file has anything
            if (number := int(question.removeprefix(_MARK))) in self._marked and question == f"{_MARK}{number}":
                return self.marks
        return self._asked.get(question)

    def missing(self, answers: Mapping[str, str]) -> list[str]:
        """Return the names of the questions that are to be answered yet; ``answers``: question → value."""
        return [question.name for question in self.questions if question.choices and not answers.get(question.name)]

    def accept(self, given: Mapping[str, str]) -> list[tuple[int, str, str]]:
        """Return answers as they are stored: place of the article, question, value; an empty value takes one back.

        Raises RatingError: a question is not asked here, or a value is not one of its choices.
        """
        answers = {name: value.strip().encode("utf-8", "replace").decode() for name, value in given.items()}
        for name, value in answers.items():
            choices = self.choices(name)
            if choices is None:
                known = ", ".join([*self._asked, *(f"{_MARK}{number}" for number in self._marked[:1])])
                raise RatingError(f"{name[:100]!r} is not asked on the page {self.name}: {known[:500]}")
            if value and choices and value not in choices:
                raise RatingError(f"{name}: {value[:100]!r} is not one of {', '.join(choices)}")
            if len(value) > _LONGEST:
                raise RatingError(f"{name}: at most {_LONGEST:,} characters, not {len(value):,}")
        return [(self.place, name, value) for name, value in answers.items()]

    def as_record(self, answers: Mapping[str, str]) -> dict[str, Any]:
        """Return the page for a program, as JSON values."""
        questions = [
            {"name": one.name, "text": one.text, "choices": one.choices, "answer": answers.get(one.name)}
            for one in self.questions
        ]
        record: dict[str, Any] = {"page": self.name, "title": self.title, "about": self.about, "questions": questions}
        if self.article:
            record["markdown"] = self.article.to_markdown()
            record["sentences"] = list(_sentences(self.article))
        if self.marks:
            record["marks"] = {"choices": self.marks, "answers": marks(answers)}
        return record


def marks(answers: Mapping[str, str]) -> dict[int, str]:
    """Return number of a sentence, from 1 → class of its error."""
    marked = {name: value for name, value in answers.items() if name.startswith(_MARK) and name != MARKED}
    return dict(sorted((int(name.removeprefix(_MARK)), value) for name, value in marked.items()))


def _sentences(article: Article) -> Iterator[dict[str, Any]]:
    texts = {(source.id, snippet.id): snippet.text for source in article.sources for snippet in source.snippets}
    for number, sentence in enumerate(article.sentences(), 1):
        cited = ((citation.source_id, citation.snippet_id) for citation in sentence.citations)
        passages = [texts[passage] for passage in cited if passage in texts]  # a round may be a stranger's
        yield {"number": number, "text": sentence.text, "passages": passages}


def sheets_of(ratings: Round, rater: str) -> list[Sheet]:
    """Return the pages of a rater, in order."""
    found = [sheet for assigned in ratings.assigned[rater] for sheet in _sheets(ratings, assigned)]
    if ratings.study.usefulness:
        statements = tuple(Question(name, scale.question, scale.choices) for name, scale in USEFULNESS.items())
        about = "At the end: how much do you agree?"
        comment = Question(COMMENT, "Anything else?", {})
        found.append(Sheet("end", 0, -1, "What you think of it", about, (*statements, comment)))
    return found


def _sheets(ratings: Round, assigned: Assigned) -> Iterator[Sheet]:
    study, number, places = ratings.study, assigned.number, assigned.articles
    if not places:
        asked = Question(ATTENTION, "Which number does the text ask for?", {str(n): "" for n in range(1, 8)})
        check = Article("A short text", (Paragraph((Sentence(_CHECK.format(assigned.wanted)),)),))
        yield Sheet(str(number), number, -1, check.title, "", (asked,), check)
        return
    for position, place in enumerate(places, 1):
        topic = study.articles[place].topic
        questions = [Question(name, scale.question, scale.choices) for name, scale in study.questions.items()]
        facts = next((table.facts for table in study.facts if table.topic == topic), ())
        questions += [Question(f"{FACT}{n}", fact, FACTS) for n, fact in enumerate(facts, 1)]
        if study.errors:
            text = "Have you marked each sentence that its sources do not support?"
            questions.append(Question(MARKED, text, {"yes": "yes, or there is none"}))
        if study.comments:
            questions.append(Question(COMMENT, "Comments on this article", {}))
        about = f"Article {position} of {len(places)} on this topic" if len(places) > 1 else ""
        shown, classes = ratings.articles[place], ERRORS if study.errors else None
        yield Sheet(f"{number}-{position}", number, place, topic, about, tuple(questions), shown, classes)
    if len(places) > 1 and study.preference:
        preferred = Question(PREFERRED, "Which article is better, all in all?", PREFERENCE)
        comment = [Question(COMMENT, "Why?", {})] if study.comments else []
        yield Sheet(f"{number}-pair", number, -1, topic, "Both articles compared", (preferred, *comment))
