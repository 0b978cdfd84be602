"""Benchmarks ask what the package asks: a prompt that is added or changed must not break them unseen."""

import itertools

import pytest

from benchmarks import parsing
from storm_pipeline.models.programs import Program, Programs

ASKED = {program.name: (program, inputs) for _, program, inputs in itertools.islice(parsing.calls(Programs()), 50)}


@pytest.mark.parametrize(("program", "inputs"), ASKED.values(), ids=ASKED)
def test_the_benchmark_of_parsing_fills_in_every_field(program: Program, inputs: dict[str, object]) -> None:
    for_other_languages = {"language"}
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
        programs.repeated,
    )
    assert set(ASKED) == {program.name for program in typed}
