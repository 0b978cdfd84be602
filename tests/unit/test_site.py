"""What the documentation's site generates: a row for each setting, and consoles whose commands can be copied."""

import html
import importlib.util
import re
from pathlib import Path
from types import ModuleType

from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.settings import Settings, option_name

FILE = Path(__file__).resolve().parents[2] / "docs" / "site_content.py"


def _site() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_content", FILE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SITE = _site()


def test_every_setting_has_a_row_with_option_and_variable() -> None:
    rows = {row.split("`")[1]: row for row in SITE.settings_page().splitlines() if row.startswith("| `")}
    assert list(rows) == list(Settings.model_fields)
    for name, row in rows.items():
        assert f"`{option_name(name)}`<br>`STORM_{name.upper()}` |" in row
        assert len(re.findall(r"(?<!\\)\|", row)) == 6, row
    assert "number | more than 0 |" in rows["max_cost"]
    assert "at least 0, at most 20 | `5` |" in rows["perspectives"]
    assert "choice | `auto`, `always`, `never` | `auto` |" in rows["structured"]


@given(st.lists(st.text("ab $<&\"'|", max_size=12), max_size=5))
def test_a_console_is_copied_without_prompts_and_output(lines: list[str]) -> None:
    shown = "\n".join(
        f'<span class="gp">$ </span>{html.escape(line)}\n<span class="go">printed</span>' for line in lines
    )
    page = SITE.with_copied_commands(f'<div class="highlight"><pre><code>{shown}</code></pre></div>')
    found = re.search(r'data-copy="([^"]*)"', page)
    assert bool(found) == bool(lines)
    if found:
        assert html.unescape(found[1]).split("\n") == lines
