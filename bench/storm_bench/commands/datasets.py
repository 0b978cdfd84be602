"""``storm experiment data``: a published data set, or a new one from today's Wikipedia."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from storm_pipeline import SettingsError
from storm_pipeline.api import Guard, SettingsCommand, say, tell

if TYPE_CHECKING:
    from storm_pipeline.sources.search.base import Search

_ABOUT = "Fetch a published data set, or build a new one for given months."
data_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help=_ABOUT)

_Months = Annotated[list[str], typer.Argument(metavar="MONTH…", help="Months, each as 2026-09.", show_default=False)]
_To = Annotated[Path, typer.Option("--to", help="Folder to build in; an interrupted build is resumed there.")]
_Size = Annotated[int, typer.Option("--size", min=1, help="Maximum number of topics, sampled at random.")]
_Seed = Annotated[int, typer.Option("--chance", min=0, help="Seed of the sample.")]
_Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks.")]


@data_app.command("fetch", short_help="A data set as its authors publish it: freshwiki, wikigenbench, wiki_live.")
def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", show_default=False)],
    *,
    to: Annotated[Path | None, typer.Option("--to", help="Folder to write to; default: data/NAME.")] = None,
    debug: _Debug = False,
) -> None:
    """Fetch a published data set from its authors' repository on GitHub; the experiments read it as it is."""
    with Guard(debug=debug):
        from storm_bench.datasets.dataset import PUBLISHED
        from storm_bench.datasets.fetching import fetch_published

        if name not in PUBLISHED:
            raise SettingsError(f"no data set {name!r} is published: choose one of {', '.join(PUBLISHED)}")
        folder = to or Path("data") / name
        say(f"{fetch_published(name, folder)} files in {folder}, from https://github.com/{PUBLISHED[name].repository}")


@data_app.command("freshwiki", short_help="The most edited articles of MONTHs (STORM paper, section 2.1).")
def freshwiki(
    months: _Months,
    *,
    to: _To = Path("data/freshwiki"),
    size: _Size = 100,
    max_words: Annotated[int, typer.Option("--max-words", min=1, help="Maximum words of an article.")] = 3000,
    chance: _Seed = 0,
    debug: _Debug = False,
) -> None:
    """Build a FreshWiki data set: the good articles most edited in MONTHs, from rate-limited Wikimedia services."""
    with Guard(debug=debug):
        from storm_bench.datasets.building import Build
        from storm_bench.datasets.freshwiki_builder import FreshWikiPlan, build_freshwiki

        plan = FreshWikiPlan(tuple(months), size=size, max_words=max_words, seed=chance)
        say(f"{len(build_freshwiki(plan, Build(to, on_progress=tell)).topics)} topics in {to}")


@data_app.command(
    "wikigenbench", cls=SettingsCommand, short_help="Recent events of MONTHs with their pages (WikiGenBen paper, 2.2)."
)
def wikigenbench(
    ctx: typer.Context,
    months: _Months,
    *,
    to: _To = Path("data/wikigenbench"),
    size: _Size = 100,
    created_after: Annotated[
        str, typer.Option("--created-after", metavar="DAY", help="Only articles created after DAY.")
    ] = "",
    chance: _Seed = 0,
    debug: _Debug = False,
) -> None:
    """Build a WikiGenBench data set: the events most edited in MONTHs, pages they cite, pages that --search finds."""
    with Guard(debug=debug):
        from storm_bench.datasets.building import Build
        from storm_bench.datasets.wikigenbench_builder import WikiGenBenchPlan, build_wikigenbench

        plan = WikiGenBenchPlan(tuple(months), size=size, seed=chance, created_after=created_after)
        built = build_wikigenbench(plan, Build(to, _engine(ctx.obj), on_progress=tell))
        say(f"{len(built.topics)} topics in {to}")


def _engine(values: dict[str, Any]) -> "Search":
    from storm_pipeline import Settings
    from storm_pipeline.api import open_engine

    return open_engine(Settings.build(values)).search
