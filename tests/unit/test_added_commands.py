"""Commands of other distributions: those that are installed, and what is said of one that is not."""

from importlib import import_module
from importlib.metadata import EntryPoint

import pytest
from typer.testing import CliRunner

from storm_pipeline.errors import MissingExtraError
from storm_pipeline.interfaces.cli.app import app

COMMANDS = import_module("storm_pipeline.interfaces.cli.app")


@pytest.mark.parametrize("arguments", [(), ("--help",), ("run", "x.toml", "--size", "smoke")])
def test_a_command_without_its_package_says_it(monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]) -> None:
    monkeypatch.setattr(COMMANDS, "_plugins", dict)
    assert "experiment  Compare methods on a data set (needs" in CliRunner().invoke(app, ["--help"]).output
    done = CliRunner().invoke(app, ["experiment", *arguments])
    assert done.exit_code != 0
    assert done.output.strip() == "error: `storm experiment` needs the package storm-bench: pip install storm-bench"


def test_a_command_that_cannot_be_loaded_is_refused_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint("experiment", "no_such_package.commands:app", COMMANDS.ENTRY_POINTS)
    monkeypatch.setattr(COMMANDS, "_plugins", lambda: {"experiment": broken})
    done = CliRunner().invoke(app, ["experiment"])
    assert isinstance(done.exception, MissingExtraError)
    assert "reinstall no_such_package" in str(done.exception)
