"""``storm estimate`` on the command line."""

import json
import os
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner, Result

from storm_pipeline.interfaces.cli import app

SHORT = ("--perspectives", "1", "--turns", "2", "--queries", "1")
"""For what does not depend on a run's length."""


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": "220", "TERM": "dumb"}).invoke(app, ["estimate", *arguments])


def test_a_table_by_stage_and_role_with_totals() -> None:
    result = run("Silk Road", "--lm", "openai/gpt-4o")
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[0].split() == ["stage", "program", "calls", "tokens", "in", "tokens", "out", "dollars"]
    (question,) = (line for line in lines if "asker: question " in line)
    assert question.split()[:4] == ["conversations", "asker:", "question", "30"]
    (total,) = (line for line in lines if line.startswith("total"))
    assert "$" in total
    (price,) = (line for line in lines if line.startswith("openai/gpt-4o"))
    assert price.endswith(
        "(asker, expert, reader, outliner, writer, judge, reviewer): $2.5 in, $1.25 cached, $10 out per million tokens"
    )
    (told,) = (line for line in lines if line.startswith("Silk Road: "))
    assert re.search(r" calls, \d+ \(\d+–\d+\) searches, ", told)
    assert ", $" in told
    assert max(map(len, lines[: lines.index("")])) <= 120


def test_json_holds_the_same() -> None:
    told = json.loads(run("Silk Road", "--lm", "openai/gpt-4o", "--turns", "2", "--json").stdout)
    assert told["topic"] == "Silk Road"
    assert told["prices"] == {"openai/gpt-4o": {"fresh": 2.5, "cached": 1.25, "output": 10.0}}
    assert told["calls"]["likely"] == sum(row["calls"]["likely"] for row in told["rows"])
    (question,) = (row for row in told["rows"] if row["program"] == "question")
    assert question["calls"] == {"low": 8, "likely": 12, "high": 12}
    assert told["dollars"]["low"] < told["dollars"]["likely"] < told["dollars"]["high"]


def test_control_characters_of_a_topic_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in run("Silk\x1b[2J Road", *SHORT).stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("Silk Road", "--price", "openai/gpt-4o=cheap"), "MODEL=IN/OUT"),
        (("Silk Road", "--turns", "0"), "'turns'"),
        ((" ",), "the topic is empty"),
        (("Silk Road", "--recipe", "stormm"), "choose one of storm, storm-iterative, storm-no-perspective, "),
    ],
)
def test_what_cannot_be_is_one_line_and_exit_code_2(arguments: tuple[str, ...], says: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert says in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_topic_is_read_whatever_the_locale() -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    options = ("--lm", "openai/gpt-4o", *SHORT, "--json")
    command = [sys.executable, "-m", "storm_pipeline", "estimate", "Zürich b", *options]
    done = subprocess.run(command, env={**os.environ, **plain}, capture_output=True, timeout=120, check=True)
    assert json.loads(done.stdout)["topic"] == "Zürich b"
