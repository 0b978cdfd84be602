"""``storm experiment data``: building a new data set from what Wikipedia is today."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from storm_pipeline.cli.guard import Guard
from storm_pipeline.cli.options import SettingsCommand
from storm_pipeline.cli.output import say

if TYPE_CHECKING:
    from storm_pipeline.evaluation.datasets.dataset import DataSet
    from storm_pipeline.search.base import Search

data_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Build a new data set for any months.")

_Months = Annotated[list[str], typer.Argument(metavar="MONTH…", help="Months, each as 2026-09.", show_default=False)]
_To = Annotated[Path, typer.Option("--to", help="The folder to build in; an interrupted build goes on.")]
_Size = Annotated[int, typer.Option("--size", min=1, help="Topics at most, taken by chance.")]
_Seed = Annotated[int, typer.Option("--chance", min=0, help="Seed of that choice.")]
_Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


@data_app.command("freshwiki", short_help="The most edited articles of MONTHs (STORM, section 2.1).")
def freshwiki(
    months: _Months,
    *,
    to: _To = Path("data/freshwiki"),
    size: _Size = 100,
    max_words: Annotated[int, typer.Option("--max-words", min=1, help="The longest article.")] = 3000,
    chance: _Seed = 0,
    debug: _Debug = False,
) -> None:
    """Build a FreshWiki of good articles that were edited most in MONTHs. Asks Wikimedia's services, politely."""
    with Guard(debug=debug):
        from storm_pipeline.evaluation.datasets.freshwiki_builder import build_freshwiki
        from storm_pipeline.evaluation.datasets.freshwiki_plan import FreshWikiPlan

        plan = FreshWikiPlan(tuple(months), size=size, max_words=max_words, seed=chance)
        _told(build_freshwiki(plan, to, on_progress=_to_stderr), to)


@data_app.command(
    "wikigenbench", cls=SettingsCommand, short_help="Recent events of MONTHs with their pages (WikiGenBen, 2.2)."
)
def wikigenbench(
    ctx: typer.Context,
    months: _Months,
    *,
    to: _To = Path("data/wikigenbench"),
    size: _Size = 100,
    created_after: Annotated[str, typer.Option("--created-after", metavar="DAY", help="Only newer articles.")] = "",
    chance: _Seed = 0,
    debug: _Debug = False,
) -> None:
    """Build a WikiGenBench: events edited most in MONTHs, the pages they cite, and pages that --search finds."""
    with Guard(debug=debug):
        from storm_pipeline.evaluation.datasets.wikigenbench_builder import build_wikigenbench
        from storm_pipeline.evaluation.datasets.wikigenbench_plan import WikiGenBenchPlan

        plan = WikiGenBenchPlan(tuple(months), size=size, seed=chance, created_after=created_after)
        _told(build_wikigenbench(plan, to, _engine(ctx.obj), on_progress=_to_stderr), to)


def _engine(values: dict[str, Any]) -> "Search":
    from storm_pipeline.run.search import open_engine
    from storm_pipeline.settings import Settings

    return open_engine(Settings.build(values)).search


def _told(made: "DataSet", folder: Path) -> None:
    say(f"{len(made.topics)} topics in {folder}")


def _to_stderr(line: str) -> None:
    typer.echo(line, err=True)
