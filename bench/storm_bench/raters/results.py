"""The results of a round: means, preferences, agreement, marked sentences and facts, from the answers of its raters."""

import csv
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, NamedTuple

from storm_bench.errors import RatingError
from storm_bench.raters.agreement import alpha, equal_share, somers_d
from storm_bench.raters.scales import ERRORS, FACTS, USEFULNESS, Scale
from storm_bench.raters.sheets import ATTENTION, COMMENT, FACT, MARKED, PREFERRED, marks, sheets_of
from storm_bench.raters.store import Answer, Ratings, Round
from storm_bench.significance import compare, holm, interval, paired_t

KINDS = (("person", "person"), ("model", "person"), ("model", "model"))


class Rating(NamedTuple):
    """An answer with what it is about."""

    rater: str
    number: int  # of the assignment; 0 for the statements at the end
    article: int  # place of the article in the study; -1 for a pair, a check of attention, and the statements
    question: str
    value: str
    saved: str
    kind: str  # ``person`` or ``model``
    topic: str
    system: str  # of the article; of the preferred one for a preference; else empty
    shown: tuple[str, ...]  # the systems of the articles that were shown, in this order


@dataclass(frozen=True)
class Mean:
    """The ratings of a system's articles on a scale."""

    question: str
    system: str
    mean: float
    low: float | None  # of the 95 % interval over the means of topics
    high: float | None
    good: float | None  # share of ratings that count as good; None if the scale does not say which
    ratings: int
    topics: int


@dataclass(frozen=True)
class Difference:
    """Two systems on a scale: second minus first, over raters who rated both on a topic."""

    question: str
    first: str
    second: str
    difference: float
    ratings: int  # pairs of ratings
    topics: int
    t_test: float | None  # p of the paired t-test over pairs of ratings, as STORM's table 6
    corrected_t: float | None  # by Holm's method over the scales
    permutation: float | None  # p of the paired permutation test over means of topics
    corrected_permutation: float | None


@dataclass(frozen=True)
class Results:
    """The evaluated answers of some raters of a round."""

    round: Round
    answers: Sequence[Answer]
    raters: Mapping[str, str]  # name → kind
    scores: Sequence[tuple[str, str, str, float]] = ()  # topic, system, measure, value

    @classmethod
    def of(
        cls, ratings: Ratings, *, only: str | None = None, leave_out: Iterable[str] = (), scores: Any = ()
    ) -> "Results":
        """Return the results of a round; ``only``: of raters of a kind; ``leave_out``: names of raters.

        Answers that no page asks for, which only a changed file has, are skipped.

        Raises RatingError: no answer is left, or a name is unknown.
        """
        everyone = {rater.name: rater.kind for rater in ratings.round.study.raters}
        if unknown := sorted(set(leave_out) - everyone.keys()):
            raise RatingError(f"{unknown[0]!r} is not a rater of this round: {', '.join(everyone)}")
        raters = {name: kind for name, kind in everyone.items() if only in (None, kind) and name not in set(leave_out)}
        answers: list[Answer] = []
        for name in raters:
            known = {(sheet.number, sheet.place): sheet.choices for sheet in sheets_of(ratings.round, name)}
            found = [(one, known[one[1:3]](one.question)) for one in ratings.answers(name) if one[1:3] in known]
            answers += [one for one, of in found if of is not None and one.value in (of or [one.value])]
        if not answers:
            raise RatingError("there are no answers of these raters yet")
        return cls(ratings.round, answers, raters, scores)

    @cached_property
    def ratings(self) -> list[Rating]:
        """The answers with what they are about."""
        return [self._rating(answer) for answer in self.answers]

    def _rating(self, answer: Answer) -> Rating:
        tables, number = self.round.study.articles, answer.number
        shown = [tables[place] for place in self.round.assigned[answer.rater][number - 1].articles] if number else []
        system = tables[answer.article].system if answer.article >= 0 else ""
        if answer.question == PREFERRED:
            system = shown[0 if answer.value == "first" else 1].system
        systems = tuple(table.system for table in shown)
        return Rating(*answer, self.raters[answer.rater], shown[0].topic if shown else "", system, systems)

    @cached_property
    def _pages(self) -> Mapping[tuple[Any, ...], dict[str, str]]:
        """Rater, number and article → question → value."""
        found = defaultdict[tuple[Any, ...], dict[str, str]](dict)
        for one in self.answers:
            found[one[:3]][one.question] = one.value
        return found

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems, in the study's order."""
        return self.round.study.systems

    @property
    def questions(self) -> dict[str, Scale]:
        """The scales that were asked for each article."""
        return self.round.study.questions

    @cached_property
    def _given(self) -> Mapping[tuple[str, ...], list[Rating]]:
        """The ratings by question, by question and system, and by these and a system that was shown."""
        found = defaultdict[tuple[str, ...], list[Rating]](list)
        for one in self.ratings:
            own = (one.question, one.system)
            for key in {own[:1], own, *((*own, beside) for beside in one.shown)}:
                found[key].append(one)
        return found

    @cached_property
    def means(self) -> list[Mean]:
        """Mean ratings, by scale and system."""
        found = []
        for (name, scale), system in product(self.questions.items(), self.systems):
            if values := [float(one.value) for one in self._given[name, system]]:
                good = None if scale.good is None else sum(value >= scale.good for value in values) / len(values)
                across = interval([*_by_topic(self._given[name, system]).values()], scale.lowest, scale.highest)
                row = (fmean(values), across.low, across.high, good, len(values), across.topics)
                found.append(Mean(name, system, *row))
        return found

    @cached_property
    def differences(self) -> list[Difference]:
        """Paired tests of systems, by pair and scale; of articles that were rated one by one, with the first system."""
        pairs = self.round.study.pairs or [(self.systems[0], system) for system in self.systems[1:]]
        return [row for pair in pairs for row in self._differences(*pair)]

    def _differences(self, first: str, second: str) -> list[Difference]:
        rows = []
        for name in self.questions:
            pair = ((second, first), (first, second)) if self.round.study.compare else ((second,), (first,))
            own, other = ({(one.topic, one.rater): one for one in self._given[(name, *of)]} for of in pair)
            if shared := sorted(own.keys() & other.keys()):
                a, b = ([float(side[key].value) for key in shared] for side in (own, other))
                by_topic = [_by_topic([side[key] for key in shared]) for side in (own, other)]
                rows.append((name, fmean(a) - fmean(b), len(shared), paired_t(a, b), compare(*by_topic)))
        t_tests = holm([t_test for *_, t_test, _ in rows])
        permutations = holm([by_topic.permutation for *_, by_topic in rows])
        return [
            Difference(name, first, second, mean, ratings, c.topics, t_test, t, c.permutation, p)
            for (name, mean, ratings, t_test, c), t, p in zip(rows, t_tests, permutations, strict=True)
        ]

    @cached_property
    def preferences(self) -> list[dict[str, Any]]:
        """How often each of two compared systems was preferred, with p of the exact two-sided binomial test."""
        from scipy.stats import binomtest

        found = []
        for first, second in self.round.study.pairs:
            counts = [len(self._given[(PREFERRED, *of)]) for of in ((first, second), (second, first))]
            if total := sum(counts):
                row = {"first": first, "second": second, "preferred": counts}
                found.append(row | {"p": float(binomtest(counts[0], total).pvalue)})
        return found

    @cached_property
    def agreement(self) -> list[dict[str, Any]]:
        """Krippendorff's alpha of each question, and the share of equal ratings by kinds of raters."""
        units = defaultdict[str, defaultdict[tuple[Any, ...], dict[str, float | str]]](lambda: defaultdict(dict))
        for one in self.ratings:
            if one.question in self.questions:
                units[one.question][one.topic, one.system][one.rater] = float(one.value)
            elif one.question == PREFERRED:
                units[PREFERRED][one.topic, *sorted(one.shown)][one.rater] = one.system
            elif one.question.startswith(FACT):
                units["facts"][one.topic, one.system, one.question][one.rater] = one.value
        found = []
        for name, own in units.items():
            level: Literal["ordinal", "nominal"] = "ordinal" if name in self.questions else "nominal"
            equal = {"/".join(pair): equal_share(own, self.raters, pair) for pair in KINDS}
            row = {"question": name, "level": level, "units": len(own)}
            found.append(row | {"alpha": alpha(own, level), "equal": equal})
        return found

    @cached_property
    def facts(self) -> list[dict[str, Any]]:
        """How often each label was given to facts, by topic and system; a fact that is partly said counts half."""
        given = defaultdict[tuple[str, str], list[Rating]](list)
        for one in self.ratings:
            if one.question.startswith(FACT):
                given[one.topic, one.system].append(one)
        found = []
        for (topic, system), own in sorted(given.items()):
            counts = Counter(one.value for one in own)
            row: dict[str, Any] = {"topic": topic, "system": system} | {label: counts[label] for label in FACTS}
            row["points"] = counts["fully"] + counts["partly"] / 2
            found.append(row | {"raters": len({one.rater for one in own})})
        return found

    @cached_property
    def errors(self) -> list[dict[str, Any]]:
        """Marked sentences by class and system, of the sentences of articles whose reading was confirmed."""
        sentences, classes = Counter[str](), defaultdict[str, Counter[str]](Counter)
        for read in self._given[MARKED,]:
            sentences[read.system] += sum(1 for _ in self.round.articles[read.article].sentences())
            classes[read.system].update(marks(self._pages[read[:3]]).values())
        return [
            {"system": system, "sentences": sentences[system], "marked": classes[system].total()}
            | {name: classes[system][name] for name in ERRORS}
            for system in self.systems
            if sentences[system]
        ]

    @cached_property
    def usefulness(self) -> list[dict[str, Any]]:
        """How many raters chose each level of a statement, from the lowest on (STORM, figure 3)."""
        found = []
        for name, scale in USEFULNESS.items():
            if counts := Counter(one.value for one in self._given[name,]):
                found.append({"statement": name, "counts": [counts[value] for value in scale.choices]})
        return found

    @cached_property
    def correlations(self) -> list[dict[str, Any]]:
        """Somers' D between the ratings of a scale and the scores of each measure, by system."""
        scores = defaultdict[str, defaultdict[str, dict[str, float]]](lambda: defaultdict(dict))
        for topic, system, measure, value in self.scores:
            scores[measure][system][topic] = value
        measured = [(measure, system) for measure, of in scores.items() for system in self.systems if system in of]
        found = []
        for name, (measure, system) in product(self.questions, measured):
            rated, of = _by_topic(self._given[name, system]), scores[measure][system]
            pairs = [(rated[topic], of[topic]) for topic in rated if topic in of]
            if d := somers_d(*zip(*pairs, strict=True)) if pairs else None:
                row = {"question": name, "measure": measure, "system": system, "articles": len(pairs)}
                found.append(row | {"d": d[0], "p": d[1]})
        return found

    @cached_property
    def progress(self) -> list[dict[str, Any]]:
        """Complete pages of each rater, and passed checks of attention of those that were answered."""
        found = []
        for name, kind in self.raters.items():
            sheets = sheets_of(self.round, name)
            asked = [(str(one.wanted), self._pages[name, one.number, -1]) for one in self.round.assigned[name]]
            checks = [page[ATTENTION] == wanted for wanted, page in asked if ATTENTION in page]
            done = sum(not sheet.missing(self._pages[name, sheet.number, sheet.place]) for sheet in sheets)
            row = {"rater": name, "kind": kind, "done": done, "of": len(sheets)}
            found.append(row | {"checks": len(checks), "passed": sum(checks)})
        return found

    @property
    def comments(self) -> list[Rating]:
        """The comments, by topic and system."""
        return sorted(self._given[COMMENT,], key=lambda one: (one.topic, one.system, one.rater))

    def as_record(self) -> dict[str, Any]:
        """Return all results as JSON values."""
        names = "preferences agreement facts errors usefulness correlations progress".split()
        record: dict[str, Any] = {"title": self.round.study.title, "raters": dict(self.raters)}
        record |= {name: [asdict(row) for row in getattr(self, name)] for name in ("means", "differences")}
        return record | {name: getattr(self, name) for name in names}


def _by_topic(ratings: Iterable[Rating]) -> dict[str, float]:
    """Return topic → mean rating."""
    values = defaultdict[str, list[float]](list)
    for one in ratings:
        values[one.topic].append(float(one.value))
    return {topic: fmean(own) for topic, own in values.items()}


def read_scores(path: Path | None) -> list[tuple[str, str, str, float]]:
    """Read the scores of articles from a CSV file: topic, system, measure, value. Raises RatingError: it is damaged."""
    if path is None:
        return []
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            rows = csv.DictReader(lines)
            return [(row["topic"], row["system"], row["measure"], float(row["value"])) for row in rows]
    except (OSError, KeyError, TypeError, ValueError, csv.Error) as error:
        raise RatingError(f"{path} is not a CSV file with topic, system, measure and value: {error}") from error
