"""Importing the package, and asking the command line for help, loads nothing heavy."""

import json
import subprocess
import sys

import pytest

HEAVY = set(
    """
    bm25s docx dspy faiss fastapi filelock httpx jinja2 litellm lxml mcp numpy openai pydantic pdfminer pypdf
    py3langid qdrant_client requests rich sentence_transformers starlette tenacity torch trafilatura transformers
    uvicorn wikipediaapi xllamacpp
""".split()
)

CASES = {
    "package": "import storm_pipeline",
    "command line": "import storm_pipeline.interfaces.cli",
    "help": "from storm_pipeline.interfaces.cli import app\nfrom typer.testing import CliRunner\n"
    "assert 'write' in CliRunner().invoke(app, ['--help']).output",
}


@pytest.mark.parametrize("case", CASES)
def test_nothing_heavy_is_imported(case: str) -> None:
    code = f"{CASES[case]}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert {name.split(".")[0] for name in json.loads(done.stdout)} & HEAVY == set()


def test_help_of_a_command_loads_the_settings_and_no_more() -> None:
    code = (
        "from storm_pipeline.interfaces.cli import app\nfrom typer.testing import CliRunner\n"
        "assert '--top-k' in CliRunner().invoke(app, ['write', '--help-all']).output\n"
        "import json, sys\nprint(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert {name.split(".")[0] for name in json.loads(done.stdout)} & HEAVY == {"pydantic", "rich"}


def test_the_package_run_as_a_module_is_the_command_line() -> None:
    command = [sys.executable, "-m", "storm_pipeline", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.startswith("storm-pipeline ")
