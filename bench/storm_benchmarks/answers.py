"""Outlined against plain answers to ExpertQA's questions, both from the same passages, as pairs to be read blind.

    python -m storm_benchmarks.answers OUT [--questions 20] [--seed 38] [--lm embedded] [--length 150] [--judge screen]

Draws questions with at least three pieces of evidence, of which every answer is written: nothing is searched. Writes
``pairs.md`` (passages, and the two answers of each question in an order drawn by the seed, their sentences numbered)
and ``key.json`` (which is which, with tokens and words). Runs that are there are loaded, so a second call continues.
With ``--judge`` (repeatable) it prints what judges of support find: the share of answers all of whose sentences the
passages support, and the share of such sentences.
"""

import json
import random
import time
from collections import defaultdict
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from storm_bench.datasets.expertqa import EvidencePassage, read_expertqa
from storm_benchmarks.shared import options
from storm_pipeline.errors import StormError
from storm_pipeline.judges.base import Judge, Question
from storm_pipeline.judges.opening import open_judge
from storm_pipeline.languages import count_words
from storm_pipeline.recipes import Recipe
from storm_pipeline.references.passages import passages
from storm_pipeline.run.context import RunContext
from storm_pipeline.search.fake import FakeSearch
from storm_pipeline.settings import Settings
from storm_pipeline.steps.article import write_answer
from storm_pipeline.steps.finish import as_article
from storm_pipeline.storm import Storm
from storm_pipeline.types import Article, Outline, Snippet

METHODS = ("answer", "plain_answer")
_FEWEST, _LONGEST = 3, 300  # pieces of evidence, and characters of a question


def drawn(data: Path, number: int, seed: int) -> dict[str, tuple[Snippet, ...]]:
    """Question → its evidence, of so many questions."""
    evidence: defaultdict[str, dict[EvidencePassage, None]] = defaultdict(dict)
    for claim in read_expertqa(data / "expertqa"):
        evidence[claim.question] |= dict.fromkeys(claim.passages)
    rich = [question for question, own in evidence.items() if len(own) >= _FEWEST and len(question) <= _LONGEST]
    chosen = random.Random(seed).sample(rich, number)
    return {question: tuple(Snippet(one.url, "", one.text) for one in evidence[question]) for question in chosen}


def method(program: str, found: tuple[Snippet, ...]) -> Recipe:
    """The recipe that answers from these results alone, without a search."""

    def answered(ctx: RunContext, question: str) -> Article:
        body = write_answer(ctx, question, found, getattr(ctx.programs, program))
        return replace(as_article(ctx, Outline(question), body), note="")

    return answered


def written(place: Path, program: str, question: str, found: tuple[Snippet, ...], **settings: Any) -> Article | None:
    """The answer, made or resumed in a folder of its own; None if it fails."""
    storm = Storm(search=FakeSearch({}), out=place, recipes={"own": method(program, found)}, **settings)
    try:
        runs = sorted(place.iterdir()) if place.is_dir() else []
        return storm.resume(runs[0], Article) if runs else storm.write(question, "own")
    except StormError as error:
        print(f"{program}: {error}")
        return None


def shown(article: Article | None, found: tuple[Snippet, ...]) -> str:
    """Its numbered sentences, with the numbers of the passages that they cite."""
    if article is None:
        return "(no answer)"
    number = {c.snippet_id: n for n, one in enumerate(passages(found), 1) for c in one.citations()}
    sentences = enumerate(article.sentences(), 1)
    return "\n".join(f"{n}. {s.text} {sorted({number[c.snippet_id] for c in s.citations})}" for n, s in sentences)


def supported(judge: Judge, article: Article, found: tuple[Snippet, ...]) -> list[bool]:
    """Whether the passages support each of an answer's sentences."""
    texts = tuple(one.text for one in passages(found))
    verdicts = judge.judge([Question(sentence.text, texts) for sentence in article.sentences()])
    return [verdict.label == "supported" for verdict in verdicts]


def main() -> None:
    parser = options(__doc__, "data")
    parser.add_argument("out", type=Path)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--seed", type=int, default=38)
    parser.add_argument("--lm", default="embedded")
    parser.add_argument("--length", default="150")
    parser.add_argument("--evidence", type=int, default=600)
    parser.add_argument("--minutes", type=float, default=25.0)
    parser.add_argument("--judge", action="append", default=[])
    own = parser.parse_args()
    draw, end, pairs, key = random.Random(own.seed), time.monotonic() + 60 * own.minutes, [], []
    judges = [open_judge(name, Settings.build({})) for name in own.judge]
    found_by = {(judge.name, program): list[list[bool]]() for judge in judges for program in METHODS}
    settings = {"writing": "whole", "source_policy": "any", "lm_timeout": 3600.0}
    settings |= {"lm": own.lm, "length": own.length, "evidence": own.evidence}
    for number, (question, found) in enumerate(drawn(own.data, own.questions, own.seed).items(), 1):
        order = draw.sample(METHODS, 2)
        if time.monotonic() > end:
            print(f"{own.minutes:g} minutes are over: {number - 1} questions answered")
            break
        articles = {p: written(own.out / f"{number:02}-{p}", p, question, found, **settings) for p in METHODS}
        numbered = [f"[{n}] {one.site}: {one.text}" for n, one in enumerate(passages(found), 1)]
        texts = [f"### {name}\n\n{shown(articles[p], found)}" for name, p in zip("AB", order, strict=True)]
        pairs.append("\n\n".join([f"## {number}. {question}", *numbered, *texts]))
        made = {p: one for p, one in articles.items() if one}
        for judge, (program, one) in product(judges, made.items()):
            found_by[judge.name, program].append(supported(judge, one, found))
        tokens = {p: [one.usage.tokens_in, one.usage.tokens_out] for p, one in made.items()}
        words = {p: sum(count_words(s.text) for s in one.sentences()) for p, one in made.items()}
        key.append({"pair": number, "question": question, "order": order, "tokens": tokens, "words": words})
        (own.out / "pairs.md").write_text("\n\n".join(pairs), encoding="utf-8")
        (own.out / "key.json").write_text(json.dumps(key, indent=1, ensure_ascii=False), encoding="utf-8")
    for (name, program), told in found_by.items():
        by_query = sum(map(all, told)) / max(1, len(told))
        by_sentence = sum(map(sum, told)) / max(1, sum(map(len, told)))
        print(f"{name}, {program}: {len(told)} answers, fact/q {by_query:.2f}, fact/s {by_sentence:.2f}")


if __name__ == "__main__":
    main()
