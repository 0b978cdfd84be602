"""Articles with an outline of the user's own."""

import json
from pathlib import Path

import pytest
from llm import FakeModel
from test_pipeline import folder, storm
from typer.testing import CliRunner

from storm_pipeline.errors import RunError, SettingsError
from storm_pipeline.interfaces.batch import resume_batch, write_batch
from storm_pipeline.interfaces.cli import app
from storm_pipeline.method.context import parse_pieces, read_outline
from storm_pipeline.method.outlines import outline_to_markdown
from storm_pipeline.recipes import RECIPES
from storm_pipeline.settings import Settings
from storm_pipeline.types import Heading, Outline

TREE = ["# Goods", "## Silk", "## Jade", "# Routes", "## Northern routes", "### Passes"]
FORMS = {
    "with the topic as title": "# Silk Road\n\n## Goods\n### Silk\n### Jade\n"
    "## Routes\n### Northern routes\n#### Passes\n",
    "sections alone": "# Goods\n## Silk\n## Jade\n# Routes\n## Northern routes\n### Passes\n",
    "a list": "- Goods\n  - Silk\n  - Jade\n- Routes\n  - Northern routes\n    - Passes\n",
    "a list below the topic": "Silk Road\n\n* Goods\n    * Silk\n    * Jade\n"
    "* Routes\n    * Northern routes\n        * Passes",
    "numbers": "1. Goods\n   1.1 Silk\n   1.2 Jade\n2. Routes\n   2.1 Northern routes\n      2.1.1 Passes\n",
    "indented lines": "Silk Road\n\tGoods\n\t\tSilk\n\t\tJade\n\tRoutes\n\t\tNorthern routes\n\t\t\tPasses\n",
    "lines": "Goods\n  Silk\n  Jade\nRoutes\n  Northern routes\n    Passes\n\n",
    "back matter": "# Introduction\n# Goods\n## Silk\n## Jade\n# Routes\n"
    "## Northern routes\n### Passes\n# References\n",
}
BAD = {
    "": "is empty",
    " \n\t\n": "is empty",
    "This is a letter, and it has no heading at all.\nIt goes on.": "has no heading",
    "\x00\x01\x02PNG\x1a" * 50: "not text",
    "# Heading\n" * 20_000: "more than 100,000 bytes",
}


@pytest.mark.parametrize("form", FORMS)
def test_headings_are_read_in_every_usual_form(tmp_path: Path, form: str) -> None:
    (tmp_path / "outline.md").write_text(FORMS[form], "utf-8")
    text = read_outline(tmp_path / "outline.md", "Silk Road")
    outline = parse_pieces("Silk Road", {"outline": text}).outline
    assert outline is not None
    assert outline_to_markdown(outline).splitlines() == TREE


@pytest.mark.parametrize("content", BAD, ids=list(BAD.values()))
def test_a_file_that_is_no_outline_is_refused_before_anything_is_bought(tmp_path: Path, content: str) -> None:
    path = tmp_path / "outline.md"
    path.write_text(content, "utf-8")
    with FakeModel() as server:
        with pytest.raises(SettingsError, match=BAD[content]) as error:
            storm(server, tmp_path).write("Silk Road", outline=path)
        with pytest.raises(SettingsError, match="--outline"):
            storm(server, tmp_path).write("Silk Road", outline=tmp_path / "nowhere.md")
        with pytest.raises(SettingsError, match="--outline"):
            storm(server, tmp_path).write("Silk Road", outline=str(tmp_path))
    assert f"--outline {path}" in str(error.value)
    assert not server.asked
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("number", [51, 20_000])
def test_perspectives_of_a_stranger_buy_few_interviews(number: int) -> None:
    with pytest.raises(RunError, match="at most 50"):
        parse_pieces("x", {"perspectives": [{"name": str(one), "focus": "x"} for one in range(number)]})
    with pytest.raises(RunError, match="more than 4,000 characters"):
        parse_pieces("x", {"perspectives": [{"name": "x", "focus": "y" * 4000}]})
    assert len(parse_pieces("x", {"perspectives": [{"name": "x", "focus": "y"}] * 50}).perspectives or ()) == 50


def test_an_article_has_the_sections_that_are_given(tmp_path: Path) -> None:
    path = tmp_path / "outline.md"
    path.write_text("# Silk Road\n## Goods\n## Routes\n", "utf-8")
    with FakeModel() as server:
        article = storm(server, tmp_path, perspectives=1).write("Silk Road", outline=path)
        assert [section.heading for section in article.sections] == ["Goods", "Routes"]
        assert not {"DraftOutline", "RefineOutline"} & {asked.signature for asked in server.asked}
        asked = len(server.asked)
        path.unlink()
        again = storm(server, tmp_path, perspectives=1).resume(folder(tmp_path))
        assert [section.heading for section in getattr(again, "sections")] == ["Goods", "Routes"]  # noqa: B009
        assert len(server.asked) == asked


WITHOUT_OUTLINE = {"rag", "rr", "rr-no-documents", "storm-no-outline", "answer", "answer-no-outline"}


def test_every_recipe_with_an_outline_takes_the_users(tmp_path: Path) -> None:
    outline = Outline("Silk Road", (Heading("Goods"), Heading("Routes")))
    with FakeModel() as server:
        for recipe in WITHOUT_OUTLINE:
            with pytest.raises(SettingsError, match="without an outline"):
                storm(server, tmp_path).write("Silk Road", recipe, outline=outline)
        for recipe in RECIPES.keys() - WITHOUT_OUTLINE:
            article = storm(server, tmp_path, perspectives=1, turns=1).write("Silk Road", recipe, outline=outline)
            assert article.outline == outline, recipe
        assert not {"DraftOutline", "RefineOutline", "PlanOutline"} & {asked.signature for asked in server.asked}


def test_a_template_is_for_every_topic_of_a_batch(tmp_path: Path) -> None:
    template = tmp_path / "biography.txt"
    template.write_text("Early life\nCareer\nLegacy\n", "utf-8")
    topics = ("Silk Road", "Jade Road")
    with FakeModel() as server:

        def open_storm(settings: Settings) -> object:
            return storm(server, tmp_path, **settings.model_dump(exclude_unset=True, exclude={"lm", "search", "cache"}))

        report = write_batch(topics, outline=template, open_storm=open_storm, out=tmp_path / "runs", perspectives=1)  # type: ignore[arg-type]
        template.unlink()
        assert report.all_written, report
        for row in report.rows:
            told = json.loads((report.folder / row.folder / "article.json").read_text("utf-8"))
            assert [s["title"] for s in told["article"]["outline"]["sections"]] == ["Early life", "Career", "Legacy"]
        assert resume_batch(report.folder, open_storm=open_storm).all_written  # type: ignore[arg-type]


def test_the_command_line_explains_it_and_refuses_two_outlines(tmp_path: Path) -> None:
    runner = CliRunner(env={"COLUMNS": "200", "TERM": "dumb"})
    for command in ("write", "estimate", "batch"):
        assert "--outline" in runner.invoke(app, [command, "--help"]).output
    both = runner.invoke(app, ["write", "runs/x", "--from", "outline", "--outline", "x.md"])
    assert both.exit_code != 0
    assert "choose one of them" in both.stderr
    missing = runner.invoke(app, ["estimate", "Silk Road", "--outline", str(tmp_path / "x.md")])
    assert "--outline" in missing.stderr
    assert "cannot be read" in missing.stderr
