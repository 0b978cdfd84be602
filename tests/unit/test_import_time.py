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


@pytest.mark.parametrize(
    ("words", "shown", "heavy"),
    [(["--help"], "write", set()), (["write", "--help-all"], "--top-k", {"pydantic", "rich"})],
)
def test_help_imports_nothing_heavy(words: list[str], shown: str, heavy: set[str]) -> None:
    code = (
        "from storm_pipeline.interfaces.cli import app\nfrom typer.testing import CliRunner\n"
        f"assert {shown!r} in CliRunner().invoke(app, {words!r}).output\n"
        "import json, sys\nprint(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert {name.split(".")[0] for name in json.loads(done.stdout)} & HEAVY == heavy
