"""``storm sources``: the source policy, and Wikipedia's list of perennial sources behind it."""

from pathlib import Path
from typing import Annotated

import typer

from storm_pipeline.cli.folders import configured_cache
from storm_pipeline.cli.guard import Guard
from storm_pipeline.cli.options import Tracebacks
from storm_pipeline.cli.output import say, show_table

sources_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Which pages an article may use as sources."
)

_Urls = Annotated[list[str], typer.Argument(metavar="URL...", help="Pages or domains.", show_default=False)]
_Policy = Annotated[str, typer.Option("--policy", metavar="strict|standard|any", help="Source policy.")]
_Allow = Annotated[
    list[str] | None,
    typer.Option("--allow", metavar="PLACE", help="Domain or domain/path that is always allowed; repeatable."),
]
_Deny = Annotated[
    list[str] | None,
    typer.Option("--deny", metavar="PLACE", help="Domain or domain/path that is never allowed; repeatable."),
]
_Cache = Annotated[
    Path, typer.Option("--cache", metavar="PATH", help="Folder for downloads.", default_factory=configured_cache)
]
_Api = Annotated[str | None, typer.Option("--api", metavar="URL", help="The wiki's api.php; default: Wikipedia's.")]
_Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="File to write; default: the one that later runs read, below --cache."),
]


@sources_app.command()
def check(
    urls: _Urls,
    *,
    policy: _Policy = "standard",
    allow: _Allow = None,
    deny: _Deny = None,
    cache: _Cache,
    debug: Tracebacks = False,
) -> None:
    """Show whether a policy allows pages, how they are classified, and why."""
    with Guard(debug=debug):
        from storm_pipeline.sources.catalogue import load_catalogue
        from storm_pipeline.sources.policies import SourcePolicy, policy_named

        catalogue = load_catalogue(cache.expanduser())
        judge = SourcePolicy(policy_named(policy), allow=allow or (), deny=deny or (), catalogue=catalogue)
        verdicts = [judge.judge(url) for url in urls]
        rows = [(v.url, "yes" if v.allowed else "no", v.status, v.rule or "-", v.reason) for v in verdicts]
        show_table(("page", "allowed", "status", "by", "why"), rows)
        typer.echo(f"Wikipedia's list as of {catalogue.as_of}, {catalogue.size} places", err=True)


@sources_app.command()
def refresh(*, api: _Api = None, out: _Out = None, cache: _Cache, debug: Tracebacks = False) -> None:
    """Download Wikipedia's current list of perennial sources; later runs use it instead of the package's older one."""
    with Guard(debug=debug):
        from storm_pipeline.sources.catalogue import packaged_list, refreshed_file
        from storm_pipeline.sources.refresh import API, fetch_perennial, save_perennial

        perennial = fetch_perennial(api or API)
        file = out.expanduser() if out else refreshed_file(cache.expanduser())
        save_perennial(perennial, file)
        say(str(file))
        known = packaged_list()
        typer.echo(
            f"{len(perennial.sources)} rows, {perennial.size} places as of {perennial.as_of} "
            f"(the package's own: {known.size} as of {known.as_of})",
            err=True,
        )
