"""Programs of the bench: gauges of the package, stored notebooks, and readers whose time grows with the text alone."""

import gc
import json
import re
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from dspy.utils.exceptions import AdapterParseError

from storm_bench.datasets.storm_runs import recorded_outline
from storm_benchmarks.fuzz import PATTERNS
from storm_benchmarks.gauges import gauges
from storm_benchmarks.notebooks import MARK, fingerprint, without_places
from storm_pipeline.errors import DatasetError
from storm_pipeline.method.outlines import parse_outline
from storm_pipeline.method.writers.drafts import read_draft
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.models.replies import strip_thinking
from storm_pipeline.output.articles.markdown import markdown_article
from storm_pipeline.output.articles.wikitext import wikitext_article
from storm_pipeline.signatures.research import AskQuestion, WriteQueries
from storm_pipeline.text.languages import split_sentences
from storm_pipeline.text.markers import without_markers
from storm_pipeline.text.sentences import is_complete
from storm_pipeline.text.words import tidy


def readers() -> dict[str, Callable[[str], object]]:
    """Return the readers of untrusted text, by name."""
    adapter = PromptAdapter()
    return {
        "sentences, English": partial(split_sentences, language="en"),
        "sentences, German": partial(split_sentences, language="de"),
        "reply, text": partial(adapter.parse, AskQuestion),
        "reply, object": partial(adapter.parse, WriteQueries),
        "reply, within an object": lambda text: adapter.parse(WriteQueries, f'{{"queries": ["{text}'),
        "outline": lambda text: parse_outline(text, "Topic"),
        "draft": lambda text: read_draft(text, 3),
        "thinking": strip_thinking,
        "imported Markdown": lambda text: markdown_article("A topic", f"{text}\n## References\n1. https://example.org"),
        "imported wikitext": lambda text: wikitext_article("A topic", text),
        "markers": without_markers,
        "heading of knowledge-storm": lambda text: recorded_outline("Topic", f"# a{3 * text}b"),
        "one line": tidy,
        "completeness": is_complete,
    }


def seconds_for(read: Callable[[str], object], pattern: str, length: int) -> float:
    """Return the processor time that a reader takes for a pattern, repeated to a length in characters.

    That of this thread, without collections of garbage: what else a process holds and does is not the reader's.
    """
    text = (pattern * (length // len(pattern) + 1))[:length]
    gc.disable()
    start = time.thread_time()
    try:
        with suppress(AdapterParseError, DatasetError):
            read(text)
        return time.thread_time() - start
    finally:
        gc.enable()


def test_gauges_count_what_is_defined_and_leave_worked_examples_apart(tmp_path: Path) -> None:
    module = """import re

A = re.compile("a")
B, C = 1, 2
D = -60 * 2
E = True
WORDS = frozenset("one two three four five".split())
FEW = ("one", "two")
COLOURS = ["red", "green", "blue", "grey", "off-white", "rose"]


def f(text):
    limit = 3
    return re.split(r"b|c", text) or re.match(A, text) or A.search(text)
"""
    table = """words = "eins zwei drei vier fünf"
few = ["uno", "due"]
more = ["uno", "due", "tre", "quattro", "cinque"]
names = "One Two Three Four Five"
ends = '\\b(?:a|b)'
"""
    files = {
        "storm_pipeline/a.py": module,
        "storm_pipeline/a.toml": table,
        "storm_pipeline/page.html": "<p>",
        "storm_pipeline/models/sets/a.json": "{}",
        "signatures/examples.toml": table,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert gauges(tmp_path) == {
        "lines": 19, "regular expressions": 2, "word lists": 4, "thresholds": 1, "thresholds in tuples": 2,
        "patterns in tables": 1,
    }  # fmt: skip


ROOT = Path(__file__).resolve().parents[3]

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_of_the_cells_that_stand_there(path: Path) -> None:
    book = json.loads(path.read_text(encoding="utf-8"))
    assert book["metadata"].get(MARK, {}).get("cells") == fingerprint(book), f"make notebooks: {path.name} was changed"
    assert any(cell.get("outputs") for cell in book["cells"])
    text = json.dumps([cell.get("outputs", []) for cell in book["cells"]])
    assert not re.search(r"/(?:root|home|work|tmp|Users)/", text), "a path of a machine"
    assert "Traceback" not in text


def test_the_fingerprint_changes_with_code_alone() -> None:
    code, text = {"cell_type": "code", "source": ["a\n", "b"]}, {"cell_type": "markdown", "source": "c"}
    assert fingerprint({"cells": [code, text]}) == fingerprint({"cells": [{**code, "source": "a\nb"}]})
    assert fingerprint({"cells": [code]}) != fingerprint({"cells": [{**code, "source": "a\nc"}]})


def test_paths_of_the_checkout_are_relative() -> None:
    root = Path("/place/of/checkout")
    said = without_places(f"{root}/runs/a.md, file://{root}/runs/b.md, {root}, {Path.home()}/.cache", root)
    assert said == "runs/a.md, file:///…/runs/b.md, ., ~/.cache"


@pytest.mark.parametrize("name", readers())
def test_no_reader_takes_long_for_a_repeated_pattern(name: str) -> None:
    slow = {pattern: took for pattern in PATTERNS if (took := seconds_for(readers()[name], pattern, 20_000)) > 2.0}
    assert not slow
