"""The command line, run in the process of the tests."""

from typing import Any

from typer.testing import CliRunner, Result

from storm_pipeline.interfaces.cli import app


def run_storm(*arguments: object, **options: Any) -> Result:
    """Run ``storm`` on a wide terminal that prints lines; options are those of Typer's runner."""
    return CliRunner(env={"COLUMNS": "300", "TERM": "dumb"}).invoke(app, list(map(str, arguments)), **options)
