"""What the documentation says exists: files, headings, commands, options, make targets, downloads, settings."""

import html
import importlib.util
import pkgutil
import re
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer
from documentation import PAGES, ROOT, Command, anchors, commands, links, name
from hypothesis import given
from hypothesis import strategies as st
from typer.core import TyperGroup

from storm_pipeline.interfaces.cli.app import app
from storm_pipeline.run.assets import catalogue
from storm_pipeline.settings import Settings, option_name

LAB = sorted((ROOT / "docs" / "lab").glob("*.md"))
COMMANDS = [command for page in PAGES for command in commands(page)]
UNFINISHED = {"MissingParameter", "NoArgsIsHelpError", "BadOptionUsage"}
"""What a command lacks that is only mentioned, such as `storm write --outline`."""
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))


def parse(words: Sequence[str]) -> None:
    """Parse a `storm` command to its last option without running it."""
    command: Any = typer.main.get_command(app)
    context = None
    left = list(words)
    while left:
        context = command.make_context(left[0], left[1:], parent=context)
        if not isinstance(command, TyperGroup):
            return
        left = [*context._protected_args, *context.args]
        if left:
            _, command, rest = command.resolve_command(context, left)
            left = [left[0], *rest]


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.words[0] == "storm"], ids=str)
def test_commands_of_the_documentation_parse(command: Command) -> None:
    if command.words[1:] in {("--help",), ("--version",)}:
        return
    try:
        parse(command.words)
    except Exception as error:
        if command.whole or type(error).__name__ not in UNFINISHED:
            raise


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.words[0] == "make"], ids=str)
def test_make_targets_of_the_documentation_exist(command: Command) -> None:
    wanted = [word for word in command.words[1:] if "=" not in word]
    assert set(wanted) <= TARGETS


@pytest.mark.parametrize("command", [c for c in COMMANDS if c.words[0] == "python"], ids=str)
def test_programs_of_the_documentation_exist(command: Command) -> None:
    program = command.words[2].replace(".", "/") if command.words[1] == "-m" else command.words[1]
    places = [ROOT / program, ROOT / "bench" / program, ROOT / "training" / program]
    assert any(place.is_dir() or place.with_suffix(".py").is_file() for place in places)


@pytest.mark.parametrize("page", [*PAGES, *LAB], ids=name)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for target in links(page):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


def test_the_manual_names_every_wheel_that_is_downloaded() -> None:
    manual = (ROOT / "docs" / "install.md").read_text("utf-8")
    for asset in catalogue():
        first, last = asset.wheels[0], asset.wheels[-1]
        assert f"`{first.project}`" in manual
        assert first is last or f"`-part{len(asset.wheels)}`" in manual
        assert f" {first.version} |" in manual
        assert asset.licence.split(" (")[0] in manual


REFERENCE = sorted((ROOT / "docs" / "reference").glob("*.md"))


@pytest.mark.parametrize("page", REFERENCE, ids=name)
def test_the_reference_names_modules_and_classes_that_exist(page: Path) -> None:
    paths = re.findall(r"^::: (\S+)$", page.read_text("utf-8"), re.M)
    assert paths
    for path in paths:
        assert pkgutil.resolve_name(path) is not None


def test_the_functions_that_how_it_works_names_exist() -> None:
    page = (ROOT / "docs" / "how-it-works.md").read_text("utf-8")
    paths = re.findall(r"`(storm_pipeline(?:\.\w+)+)`", page)
    assert len(paths) > 25
    for path in paths:
        assert callable(pkgutil.resolve_name(path)), path


def test_the_users_pages_are_short() -> None:
    words = [len(page.read_text("utf-8").split()) for page in (ROOT / "docs").glob("*.md")]
    assert sum(words) <= 15_000
    readme = re.sub(r"^```.*?^```$", "", (ROOT / "README.md").read_text("utf-8"), flags=re.M | re.S)
    assert len(readme.split()) <= 1_000


def _site() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_content", ROOT / "docs" / "site_content.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SITE = _site()


def test_every_setting_has_a_row_with_option_and_variable() -> None:
    rows = {row.split("`")[1]: row for row in SITE.settings_page().splitlines() if row.startswith("| `")}
    assert list(rows) == list(Settings.model_fields)
    for setting, row in rows.items():
        assert f"`{option_name(setting)}`<br>`STORM_{setting.upper()}` |" in row
        assert len(re.findall(r"(?<!\\)\|", row)) == 6, row
    assert "number | more than 0 |" in rows["max_cost"]
    assert "at least 0, at most 20 | `5` |" in rows["perspectives"]
    assert "choice | `auto`, `always`, `never` | `auto` |" in rows["structured"]


@given(st.lists(st.text("ab $<&\"'|", max_size=12), max_size=5))
def test_a_console_is_copied_without_prompts_and_output(lines: list[str]) -> None:
    shown = "\n".join(f'<span class="gp">$ </span>{html.escape(one)}\n<span class="go">printed</span>' for one in lines)
    page = SITE.with_copied_commands(f'<div class="highlight"><pre><code>{shown}</code></pre></div>')
    found = re.search(r'data-copy="([^"]*)"', page)
    assert bool(found) == bool(lines)
    if found:
        assert html.unescape(found[1]).split("\n") == lines
