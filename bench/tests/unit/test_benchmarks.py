"""What the programs of the bench count: sizes, gauges, environments."""

import sys
from pathlib import Path

import pytest

from storm_benchmarks import environments, sizes
from storm_benchmarks.gauges import gauges


def test_commands_in_an_environment_see_nothing_of_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/checkout")
    asked = "import os; print(os.getcwd(), os.environ.get('PYTHONPATH'), os.environ['KEY'])"
    shown = environments.run(sys.executable, "-c", asked, folder=tmp_path, KEY="none")
    assert shown.split() == [str(tmp_path), "None", "none"]


def test_a_command_that_fails_in_an_environment_ends_the_program_with_its_output(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="ended with 3:\nbroken"):
        environments.run(sys.executable, "-c", "print('broken'); raise SystemExit(3)", folder=tmp_path)


def test_sizes_count_a_room_s_lines(tmp_path: Path) -> None:
    files = {
        "signatures/asking.py": "A = 1\n",
        "storm_pipeline/__init__.py": "",
        "storm_pipeline/storm.py": "from storm_pipeline.text import words\ndef f():\n    import storm_pipeline.a\n\n\n",
        "storm_pipeline/a.py": "",
        "storm_pipeline/text/__init__.py": "",
        "storm_pipeline/text/words.py": "\n\n",
        "bench/storm_bench/a.py": "B = 2\n",
        "bench/tests/test_a.py": "C = 3\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "storm_pipeline" / "signatures").symlink_to("../signatures")
    assert sizes.rooms(tmp_path) == {
        "signatures": 1, "storm_pipeline": 5, "storm_pipeline/text": 2, "bench": 1, "core": 8
    }  # fmt: skip
    assert sizes.rooms(tmp_path, sizes.code_lines)["core"] == 4


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


def test_lines_of_code_are_counted_without_blank_lines_comments_and_docstrings() -> None:
    module = """'''A module.

Of two paragraphs.'''

# a comment
A = "# no comment"  # of a line of code
'''What A is.'''


class B:
    '''A class.'''

    def f(self) -> str:
        # another
        return '''
            a text, no docstring
        '''
"""
    assert sizes.code_lines(module) == 6
    assert sizes.code_lines("") == 0
