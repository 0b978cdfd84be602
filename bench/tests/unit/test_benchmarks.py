"""Benchmarks ask what the package asks: a prompt that is added or changed must not break them unseen."""

import itertools
import sys
from pathlib import Path

import pytest

from storm_bench.judges.base import Pair
from storm_bench.judges.doubles import ScriptedSupportJudge
from storm_bench.types import HumanArticle, Topic
from storm_benchmarks import environments, parsing, statements
from storm_pipeline.models.programs import Program, Programs
from storm_pipeline.retrieval.embedder import HashingEmbedder

ASKED = {program.name: (program, inputs) for _, program, inputs in itertools.islice(parsing.calls(Programs()), 50)}


@pytest.mark.parametrize(("program", "inputs"), ASKED.values(), ids=ASKED)
def test_the_benchmark_of_parsing_fills_in_every_field(program: Program, inputs: dict[str, object]) -> None:
    for_other_languages = {"language", "also"}
    assert set(inputs) == set(program.predict.signature.input_fields) - for_other_languages
    assert all(inputs.values())


def test_the_benchmark_of_parsing_asks_all_that_a_run_wants_as_json() -> None:
    programs = Programs()
    typed = (
        programs.related,
        programs.perspectives,
        programs.queries,
        programs.draft,
        programs.refine,
    )
    assert set(ASKED) == {program.name for program in typed}


def test_the_size_of_an_environment_counts_hard_links_once(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(bytes(1 << 20))
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    assert 1.0 < environments.megabytes(tmp_path) < 1.2


def test_commands_in_an_environment_see_nothing_of_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/checkout")
    asked = "import os; print(os.getcwd(), os.environ.get('PYTHONPATH'), os.environ['KEY'])"
    shown = environments.run([sys.executable, "-c", asked], tmp_path, KEY="none")
    assert shown.split() == [str(tmp_path), "None", "none"]


def test_a_command_that_fails_in_an_environment_ends_the_program_with_its_output(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="ended with 3:\nbroken"):
        environments.run([sys.executable, "-c", "print('broken'); raise SystemExit(3)"], tmp_path)


def test_a_whole_text_supports_what_one_of_its_passages_supports() -> None:
    herons = " ".join(f"In year {year} the herons nested again on the shore of the old lake." for year in range(40))
    judge = statements.WholeTextJudge(ScriptedSupportJudge(lambda passage, claim: float(claim in passage)))
    dam = "The dam was begun in 1929."
    pairs = [Pair(herons, dam), Pair(f"{herons} {dam}", dam), Pair(f"{herons} {dam}", "Quartz glitters.")]
    assert judge.scores(pairs) == [0, 1, 0]
    assert (judge.name, judge.threshold) == ("test double", 0.5)


def test_the_tasks_of_statements_hold_each_statement_with_and_without_what_states_it() -> None:
    topics = [
        Topic("dam", "Dam", HumanArticle("Dam", lead="The dam is high. It is grey.", statements=("The dam is high.",))),
        Topic("inn", "Inn", HumanArticle("Inn", lead="The inn is old. Rain fell.", statements=("The inn is old.",))),
    ]
    own, another = statements.article_tasks(topics, HashingEmbedder(), 1)
    stated = [(f"{topic.human.lead}", topic.human.statements[0], True) for topic in topics]
    assert [(item.pair.passage, item.pair.claim, item.positive) for item in another.items] == [
        stated[0],
        (topics[1].human.lead, "The dam is high.", False),
        stated[1],
        (topics[0].human.lead, "The inn is old.", False),
    ]
    assert [(item.pair.passage, item.pair.claim, item.positive) for item in own.items] == [
        stated[0],
        ("It is grey.", "The dam is high.", False),
        stated[1],
        ("Rain fell.", "The inn is old.", False),
    ]
    assert [item.group for item in own.items] == ["dam", "dam", "inn", "inn"]
