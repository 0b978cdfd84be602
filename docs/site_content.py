"""What the site has beyond the pages: a table of all settings, made from their declaration; consoles to copy from."""

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any

from storm_pipeline.settings import Settings, option_name

PARTS = {
    "lm": "Language models",
    "perspectives": "Research",
    "search": "Search and sources",
    "embedder": "Writing",
    "out": "Folders",
}
"""Setting → heading of the table that begins with it."""
_BOUNDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "maxLength": "at most {} characters",
    "pattern": "`{}`",
}
_KINDS = {"integer": "whole number", "number": "number", "string": "text", "array": "texts, repeatable"}
_BLOCK = re.compile(r'<div class="highlight">(.+?</code></pre>)', re.S)
_PROMPT = '<span class="gp">'
_FORMATS = {"path": "path", "date": "date", "file-path": "path", "directory-path": "path"}


def settings_page() -> str:
    """The page in Markdown: a table for each part of the settings, a row for each setting."""
    properties: Mapping[str, Mapping[str, Any]] = Settings.model_json_schema()["properties"]
    return "\n".join(_lines(properties)) + "\n"


def with_copied_commands(page: str) -> str:
    """A page of HTML with consoles whose button copies the commands alone, without prompts and what they print."""
    return _BLOCK.sub(_console, page)


def _console(found: re.Match[str]) -> str:
    if _PROMPT not in found[1]:
        return found[0]
    lines = html.unescape(re.sub(r"<[^>]+>", "", found[1])).splitlines()
    commands = "\n".join(line.removeprefix("$ ") for line in lines if line.startswith("$ "))
    return f'<div class="highlight" data-copy="{html.escape(commands)}">{found[1]}'


def _lines(properties: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield "# All settings\n"
    yield (
        "Each is a keyword of `Storm(…)`, an option of `storm write` and its kin, a variable of the environment, and "
        "a line in your `storm.toml`. [Which of them wins](../runs.md); [what a folder's files may "
        "decide](../security.md).\n"
    )
    for name, schema in properties.items():
        if name in PARTS:
            yield f"\n## {PARTS[name]}\n"
            yield "| setting | type | allowed | default | option, variable |"
            yield "|---|---|---|---|---|"
        given = f"`{option_name(name)}`<br>`STORM_{name.upper()}`"
        facts = (_kind(schema), _allowed(schema), _default(schema), given)
        yield f"| `{name}`<br>{_cell(str(schema.get('description', '')))} | {' | '.join(facts)} |"


def _schemas(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What a value may be, without "nothing"."""
    return [one for one in schema.get("anyOf", [schema]) if one.get("type") != "null"]


def _kind(schema: Mapping[str, Any]) -> str:
    first = _schemas(schema)[0]
    if "enum" in first or "const" in first:
        return "choice"
    return _FORMATS.get(str(first.get("format")), _KINDS.get(str(first.get("type")), "text"))


def _allowed(schema: Mapping[str, Any]) -> str:
    found: list[str] = []
    for one in _schemas(schema):
        found += [f"`{value}`" for value in one.get("enum", ())]
        found += [text.format(_cell(str(one[bound]))) for bound, text in _BOUNDS.items() if bound in one]
    return ", ".join(found)


def _default(schema: Mapping[str, Any]) -> str:
    value = schema.get("default")
    return "" if value is None or value == [] else f"`{value}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
