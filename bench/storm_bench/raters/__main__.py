"""People's judgement of articles, from a study's file to tables like the papers'.

python -m storm_bench.raters setup STUDY.toml --to FOLDER
python -m storm_bench.raters serve FOLDER
python -m storm_bench.raters report FOLDER
"""

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

import typer

from storm_pipeline import MissingExtraError
from storm_pipeline.api import Guard, say, tell

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Let people and models judge articles.")
_Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of the round.", show_default=False)]
_Address = Annotated[str, typer.Option("--address", help="How raters reach the server, such as https://rate.example.")]
_HERE = "http://127.0.0.1:8610"


@app.command("setup", short_help="Read STUDY.toml, draw who rates what, and print an address for each rater.")
def setup(
    study: Annotated[Path, typer.Argument(metavar="STUDY", help="A study's .toml file.", show_default=False)],
    *,
    to: Annotated[Path, typer.Option("--to", help="New folder of the round.", show_default=False)],
    address: _Address = _HERE,
) -> None:
    """Set up a round: its articles, without their writers' marks, and what each rater gets.

    The addresses are printed once, since only hashes of their tokens are kept.
    """
    with Guard():
        from storm_bench.raters.articles import read_articles, revealing
        from storm_bench.raters.assignment import draw
        from storm_bench.raters.store import set_up
        from storm_bench.raters.study import read_study

        read = read_study(study)
        articles = read_articles(read, study.parent)
        for warning in revealing(read, articles):
            tell(f"WARNING: {warning}")
        assigned = draw(read)
        tokens = set_up(to, read, articles, assigned)
        say(f"{len(read.items)} items, {len(tokens)} raters, {len(assigned)} assignments in {to}")
        say("\n".join(f"{name}: {address.rstrip('/')}/enter?key={token}" for name, token in tokens.items()))


@app.command("serve", short_help="Serve the pages on which raters rate.")
def serve(
    folder: _Folder,
    *,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Port to listen on.")] = 8610,
    allow_host: Annotated[
        list[str] | None, typer.Option("--allow-host", metavar="NAME", help="A name of this server; repeatable.")
    ] = None,
    trust_proxy: Annotated[
        list[str] | None, typer.Option("--trust-proxy", metavar="CIDR", help="Network of your proxy; repeatable.")
    ] = None,
) -> None:
    """Serve a round until Ctrl-C. By default only this machine reaches it; everywhere raters need their tokens."""
    with Guard():
        try:
            import uvicorn

            from storm_bench.raters.app import create_app
        except ModuleNotFoundError as error:
            raise MissingExtraError(f"this needs {error.name}: pip install 'storm-bench[raters]'") from error
        from storm_pipeline.api import Reach, server_config

        reach = Reach.build(host, tuple(allow_host or ()), tuple(trust_proxy or ()))
        config = server_config(create_app(folder, reach), host, port, reach, access_log=False)
        say(f"the round {folder} is at http://{host}:{port}")
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run()


@app.command("link", short_help="Print a new address for a rater; the old one works no longer.")
def link(
    folder: _Folder,
    rater: Annotated[str, typer.Argument(metavar="RATER", show_default=False)],
    *,
    address: _Address = _HERE,
) -> None:
    """Give a rater a new address, such as for one that was lost."""
    with Guard():
        from storm_bench.raters.store import Ratings

        say(f"{rater}: {address.rstrip('/')}/enter?key={Ratings(folder).renew(rater)}")


@app.command("close", short_help="Close a round: nothing is saved any more.")
def close(
    folder: _Folder,
    *,
    again: Annotated[bool, typer.Option("--open", help="Open it again.")] = False,
) -> None:
    """Close a round, or open it again; a server need not be stopped."""
    with Guard():
        from storm_bench.raters.store import Ratings

        Ratings(folder).set_open(is_open=again)
        say(f"the round {folder} is {'open' if again else 'closed'}")


@app.command("report", short_help="Write tables like the papers', and all ratings.")
def report(
    folder: _Folder,
    *,
    out: Annotated[Path | None, typer.Option("--out", help="Folder to write to; default: FOLDER/report.")] = None,
    only: Annotated[Literal["person", "model"] | None, typer.Option("--only", help="Raters of one kind only.")] = None,
    leave_out: Annotated[list[str] | None, typer.Option("--leave-out", metavar="RATER", help="Repeatable.")] = None,
    scores: Annotated[
        Path | None, typer.Option("--scores", help="CSV file: topic, system, measure, value; for Somers' D.")
    ] = None,
) -> None:
    """Write report.md, results.json, means.csv and ratings.csv of a round, finished or not."""
    with Guard():
        from storm_bench.folders import folder_to_write
        from storm_bench.raters.report import write_report
        from storm_bench.raters.results import Results, read_scores
        from storm_bench.raters.store import Ratings

        to = folder_to_write(out or folder / "report")
        ratings = Ratings(folder)
        results = Results.of(ratings, only=only, leave_out=leave_out or (), scores=read_scores(scores))
        say("\n".join(map(str, write_report(to, results))))


if __name__ == "__main__":
    app()
