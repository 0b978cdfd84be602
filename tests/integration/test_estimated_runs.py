"""Whole runs lie where their estimates say: calls, prompt and completion tokens, by stage and role."""

import functools
import itertools
import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest
from llm import FACT, FakeModel, point_answers, points
from servers import Reply, Request
from tokens import gpt_4_tokens

from storm_pipeline import Settings, Snippet, Storm
from storm_pipeline.estimate import Estimate, EstimateRow, Range, estimate
from storm_pipeline.recipes import DEFAULT, RECIPES
from storm_pipeline.retrieval.embedder import HashingEmbedder
from storm_pipeline.search.fake import FakeSearch
from storm_pipeline.search.tables_of_contents import TableOfContents
from storm_pipeline.types import Usage, UsageRow

TOPIC = "Silk Road"
GOODS = "silk spice glass paper horse jade amber ivory cotton tea salt wool copper tin lacquer dye".split()
PLACES = "Samarkand Bukhara Kashgar Antioch Merv Palmyra Dunhuang Tyre Aleppo Balkh Herat Khotan".split()
TOLD = (
    "The early history of {g} in {p} on the Silk Road begins {n} years before the first caravans from {q} arrived",
    "Goods of the Silk Road such as {g} were weighed on public scales in {p}, and a toll of {n} dirhams was due at "
    "the gates of {q} before a caravan could leave for the towns beyond the desert in spring",
    "Routes of the Silk Road from {p} to {q} took {n} days and were closed in most winters",
    "A legacy of the Silk Road, {g} weaving, survives in {n} villages around {p}, whose songs still "
    "name the herders of {q}",
)


def world(query: str) -> Sequence[Snippet]:
    """Six pages for any query, each with sentences of different lengths about history, goods, routes and legacy."""
    start = sum(map(ord, query)) * 7
    return [page(start + i) for i in range(6)]


def page(i: int) -> Snippet:
    good, place, other = GOODS[i % 16], PLACES[i % 12], PLACES[(i * 5 + 3) % 12]
    text = " ".join(f"{told.format(g=good, p=place, q=other, n=i % 90 + 10)}." for told in TOLD)
    return Snippet(f"https://example.org/{good}/{i}", f"{good.title()} of {place}", text)


class Contents:
    """Tables of contents with ten headings."""

    def table_of_contents(self, title: str) -> TableOfContents | None:
        return TableOfContents(title, tuple((1, f"{good.title()} and trade") for good in GOODS[:10]))


class Counting(FakeModel):
    """A model that says how many tokens it was sent and sent, and which a prefix cache would have served."""

    def __init__(self, answers: dict[str, Callable[[str], str] | str]) -> None:
        super().__init__(answers)
        self._tokens = gpt_4_tokens()
        self._seen: list[str] = []

    def _reply(self, request: Request) -> Reply:
        reply = super()._reply(request)
        prompt = "".join(f"<|{m['role']}|>{m['content']}" for m in request.json["messages"])
        shared = max((os.path.commonprefix([prompt, one]) for one in self._seen), key=len, default="")  # noqa: RUF071
        self._seen.append(prompt)
        sent, told = self._tokens(prompt), self._tokens(reply.body["choices"][0]["message"]["content"])
        cached = {"cached_tokens": self._tokens(shared)}
        counts = {"prompt_tokens": sent, "completion_tokens": told, "total_tokens": sent + told}
        usage = counts | {"prompt_tokens_details": cached}
        return Reply(body=reply.body | {"usage": usage})


def terse() -> dict[str, Callable[[str], str] | str]:
    """Replies that are stubs; no two writers ask the same."""
    count = itertools.count(1)
    return {
        "AskQuestions": lambda user: json.dumps(
            {"questions": [f"What is known about aspect {next(count)} of the Silk Road?" for _ in range(9)]}
        )
    }


def talkative() -> dict[str, Callable[[str], str] | str]:
    """Replies as long as a good model's."""
    count, written = itertools.count(1), itertools.count(1)

    def question(user: str) -> str:
        n = next(count)
        return f"How did the {GOODS[n % 16]} trade of {PLACES[n % 12]} change the Silk Road, and who lost {n} by it?"

    def editors(user: str) -> str:
        number = int(re.findall(r"Number: (\d+)", user)[-1])
        focus = "how trade along the road changed the towns, their crafts and the people who lived in them"
        return json.dumps({"editors": [{"name": f"Historian of {place}", "focus": focus} for place in PLACES[:number]]})

    titles = ("Early history", "Goods and tolls", "Routes", "Legacy", "Weaving villages", "Winter travel")
    sections = [{"title": title, "subsections": [f"{title} in detail"]} for title in titles]
    return {
        "FindRelatedTopics": json.dumps({"related_topics": ["Caravan", "Spice trade", "Incense Route", "Tea road"]}),
        "FindPerspectives": editors,
        "AskQuestion": question,
        "WriteQueries": lambda user: json.dumps({"queries": [f"{TOPIC} {g} {next(count)}" for g in GOODS[:3]]}),
        "DraftOutline": json.dumps({"sections": sections}),
        "RefineOutline": json.dumps({"sections": sections}),
        "PlanOutline": json.dumps({"sections": sections}),
        "AskQuestions": lambda user: json.dumps(
            {"questions": [question(user) for _ in range(int(re.findall(r"Number: (\d+)", user)[-1]))]}
        ),
        "FindPoints": lambda user: points(
            sections=[{"section": n, "points": [question(user) for _ in range(4)]} for n in range(1, 7)]
        ),
        "AnswerPoints": lambda user: point_answers(
            *(retold(sentences_shown(user)[n::4], 40) if n else "" for n in range(4))
        ),
        "PlaceFindings": spread,
        "WriteArticle": lambda user: "\n".join(
            f"## {title}\n{retold(sentences_shown(user)[start::6], words_wanted(user) // 6)}"
            for start, title in enumerate(titles)
        ),
        "WriteFromMemory": lambda user: "\n".join(
            f"## {title}\n{' '.join(f'{told}.' for told in TOLD * 2)}" for title in titles
        ),
        "AnswerFromPassages": lambda user: retold(sentences_shown(user), 120),
        "WriteLead": lambda user: f"{TOPIC}: {retold(sentences_of_the_body(user), words_wanted(user))}",
        "EditArticle": json.dumps({"edits": [{"kind": "cut", "sentence": 2, "other": 1, "text": ""}] * 4}),
        "WriteSection": lambda user: section(user, copied=2 * (next(written) % 2)),
    }


def spread(user: str) -> str:
    """The findings in all sections, one after another."""
    told = user.rpartition("\nOutline:")[2]
    sections = len(re.findall(r"^\s*\d+\. ", told.partition("Findings:")[0], re.M))
    numbers = [int(number) for number in re.findall(r"^\s*\[(\d+)\] ", told.partition("Findings:")[2], re.M)]
    return json.dumps(
        {"places": [{"section": i + 1, "findings": numbers[i::sections]} for i in range(sections)], "same": []}
    )


def section(user: str, copied: int) -> str:
    """A section whose first sentences are copied, which are handed back."""
    shown = sentences_shown(user)
    longest = sorted(shown, key=lambda own: -len(own[1]))[:copied]
    return " ".join([*(f"{text[:-1]} [{n}]." for n, text in longest), retold(shown, words_wanted(user))])


def words_wanted(user: str) -> int:
    """How long a text should be."""
    return int(re.findall(r"^Words: (\d+)$", user, re.M)[-1])


def sentences_shown(user: str) -> list[tuple[str, str]]:
    """The sentences of the passages or facts with their numbers: the first one of each, then the second one of each."""
    shown = [[(n, own) for own in re.findall(r"[^.]+\.", text)] for n, _, text in FACT.findall(user)]
    return [own for turn in itertools.zip_longest(*shown) for own in turn if own]


def sentences_of_the_body(user: str) -> list[tuple[str, str]]:
    """The sentences of an article with their numbers."""
    return re.findall(r"\[(\d+)\] ([^\[\n]+)", user.rpartition("Article:")[2])


def retold(sentences: list[tuple[str, str]], words: int) -> str:
    """These sentences with their words in another order, up to a length."""
    told: list[str] = []
    for number, text in sentences:
        if sum(len(own.split()) for own in told) >= words:
            break
        told.append(f"{inside_out(text)[:-1]} [{number}].")
    return " ".join(told)


def inside_out(user: str) -> str:
    """The last sentence's words in another order."""
    words = user.rsplit("Sentence:", maxsplit=1)[-1].strip(" .\n").split()
    half = len(words) // 2
    mixed = [w for pair in itertools.zip_longest(words[half:], words[:half]) for w in pair if w]
    return f"As told, {' '.join(mixed)}."


RUNS: dict[str, dict[str, object]] = {
    "small": {"perspectives": 0, "turns": 1, "queries": 1, "max_sections": 3, "related_topics": 0},
    "whole": {"perspectives": 2, "turns": 3},
    "large": {"perspectives": 5, "turns": 5, "section_facts": 10},
}
MODELS = {"terse": terse, "talkative": talkative}
_CHANCE = 15
"""Tokens that prompts of different programs begin with in common: how a message opens, a word or two."""


def write(
    tmp_path: Path,
    changes: dict[str, object],
    answers: dict[str, Callable[[str], str] | str],
    recipe: str = DEFAULT,
    engine: FakeSearch | None = None,
) -> Usage:
    """What a whole run used."""
    engine = engine or FakeSearch(world)
    with Counting(answers) as server:
        given = changes | {"lm": server.lm, "out": tmp_path / "runs", "cache": tmp_path / "cache", "call_attempts": 1}
        storm = Storm(Settings.build(given), search=engine, embedder=HashingEmbedder(), contents=Contents())
        article = storm.write(TOPIC, recipe)
    assert not [problem for problem in article.report.problems if problem.kind == "failure"]
    return article.usage


def outside(made: Estimate, used: Usage, numbers: Sequence[str] = ("calls", "tokens_in", "tokens_out")) -> list[str]:
    """Where a run left its estimate: one line a stage, role and number."""
    found = []
    for (stage, role), own in grouped(made).items():
        done = [row for row in used.rows if (row.stage, row.role) == (stage, role)]
        for name in numbers:
            expected, seen = Range.sum(getattr(row, name) for row in own), total(done, name)
            if seen not in expected:
                found.append(f"{stage}, {role}: {seen} {name}, estimated {expected}")
        cached = Range.sum(row.tokens_cached for row in own)
        if total(done, "tokens_cached") > cached.high + _CHANCE * total(done, "calls"):
            found.append(f"{stage}, {role}: {total(done, 'tokens_cached')} cached, estimated {cached}")
    stages = {(row.stage, row.role) for row in used.rows}
    return found + [f"{stage}, {role}: not foreseen" for stage, role in stages - set(grouped(made))]


def grouped(made: Estimate) -> dict[tuple[str, str], list[EstimateRow]]:
    groups: dict[tuple[str, str], list[EstimateRow]] = {}
    for row in made.rows:
        groups.setdefault((row.stage, row.role), []).append(row)
    return groups


def total(rows: Iterable[UsageRow], name: str) -> int:
    return sum(getattr(row, name) for row in rows)


@functools.cache
def estimated(recipe: str = DEFAULT, **given: object) -> Estimate:
    return estimate(Settings.build({"lm": "openai/fake"} | given), TOPIC, recipe=recipe)


@pytest.fixture(scope="module")
def used_by(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Usage]:
    """What each of :data:`RUNS` used, by the run and the model; none is written twice."""

    @functools.cache
    def written(run: str, model: str) -> Usage:
        return write(tmp_path_factory.mktemp("run"), RUNS[run], MODELS[model]())

    return written


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("run", RUNS)
def test_a_run_lies_within_its_estimate(used_by: Callable[..., Usage], run: str, model: str) -> None:
    made, used = estimated(**RUNS[run]), used_by(run, model)
    if model == "terse":  # its replies are stubs
        assert outside(made, used, ("calls", "tokens_in")) == []
        return
    assert outside(made, used) == []


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("recipe", [recipe for recipe in RECIPES if recipe != DEFAULT])
def test_a_run_of_any_recipe_lies_within_its_estimate(tmp_path: Path, recipe: str, model: str) -> None:
    given: dict[str, object] = {"perspectives": 1, "turns": 2, "writing": "whole"}
    made = estimated(recipe, **given)
    engine = FakeSearch(world)
    used = write(tmp_path, given, MODELS[model](), recipe, engine)
    numbers = ("calls", "tokens_in") if model == "terse" else ("calls", "tokens_in", "tokens_out")
    assert outside(made, used, numbers) == []
    assert len(engine.queries) in made.searches


@pytest.mark.parametrize("recipe", ["direct", "rag", "orag", "rr", "rprr"])
def test_the_estimate_of_another_recipe_does_not_fit(tmp_path: Path, recipe: str) -> None:
    used = write(tmp_path, RUNS["small"], talkative(), recipe)
    fitting = {name for name in RECIPES if not outside(estimated(name, **RUNS["small"]), used)}
    alike = ({"orag", "rprr"}, {"rag", "rr"})  # the same calls, from other passages
    assert {recipe} <= fitting <= next((own for own in alike if recipe in own), {recipe})


@pytest.mark.parametrize("run", ["whole", "large"])
def test_where_sources_are_many_the_likely_numbers_are_near(used_by: Callable[..., Usage], run: str) -> None:
    made, used = estimated(**RUNS[run]), used_by(run, "talkative")
    assert used.calls == pytest.approx(made.calls.likely, rel=0.15)
    assert used.tokens_in == pytest.approx(made.tokens_in.likely, rel=0.2)
    assert used.tokens_out == pytest.approx(made.tokens_out.likely, rel=0.25)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"perspectives": 12}, "conversations, asker"),
        ({"turns": 1}, "conversations, expert"),
        ({"max_sections": 1}, "sections, writer"),
        ({"related_topics": 0}, "related topics, asker: not foreseen"),
        ({"perspectives": 0}, "perspectives, asker: not foreseen"),
        ({"outline_words": 100}, "outline, outliner"),
        ({"evidence": 200}, "conversations, expert"),
    ],
)
def test_the_estimate_of_another_run_does_not_fit(
    used_by: Callable[..., Usage], change: dict[str, object], where: str
) -> None:
    made = estimated(**RUNS["whole"] | change)
    assert where in "\n".join(outside(made, used_by("whole", "talkative")))
