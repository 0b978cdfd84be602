"""``storm experiment``: methods compared on a data set, and the report of it."""

from collections.abc import Mapping
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from storm_pipeline.cli.conner import conner_app
from storm_pipeline.cli.datasets import data_app
from storm_pipeline.cli.guard import Guard
from storm_pipeline.cli.options import SettingsCommand
from storm_pipeline.cli.output import say, table_text
from storm_pipeline.cli.signals import stopping

if TYPE_CHECKING:
    from storm_pipeline.estimate import Range
    from storm_pipeline.evaluation.reporting.results import ExperimentResults
    from storm_pipeline.experiments import Experiment, ExperimentConfig
    from storm_pipeline.experiments.forecast import Forecast, JudgingForecast

experiment_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Methods compared on a data set (FreshWiki, WikiGenBench)."
)
experiment_app.add_typer(data_app, name="data")
experiment_app.add_typer(conner_app, name="conner")
_ROOT = Path("runs") / "experiments"

_Config = Annotated[
    Path,
    typer.Argument(metavar="CONFIG", help="A .toml that describes it, see experiments/.", show_default=False),
]
_Size = Annotated[str, typer.Option("--size", metavar="NAME", help="full, or a size that CONFIG names, such as smoke.")]
_Topics = Annotated[int | None, typer.Option("--topics", metavar="N", min=1, help="The first N topics only.")]
_Executor = Annotated[Literal["local", "ray"], typer.Option("--executor", help="What the articles are spread over.")]
_Address = Annotated[str, typer.Option("--address", help="A Ray cluster's address; default: a Ray on this machine.")]
_AtOnce = Annotated[int, typer.Option("--at-once", metavar="K", min=1, max=64, help="Articles side by side.")]
_Judge = Annotated[
    str | None, typer.Option("--judge", help="Of support: screen, nli:MODEL or lm:MODEL, instead of CONFIG's.")
]
_JudgeLm = Annotated[str | None, typer.Option("--judge-lm", help="Language model that grades, instead of CONFIG's.")]
_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Nothing on standard error but errors.")]
_Debug = Annotated[bool, typer.Option("--debug", help="Show an error's traceback, and what libraries log.")]


@experiment_app.command("run", cls=SettingsCommand, short_help="Write and score what CONFIG describes.")
def run(
    ctx: typer.Context,
    config: _Config,
    *,
    size: _Size = "full",
    topics: _Topics = None,
    executor: _Executor = "local",
    address: _Address = "",
    at_once: _AtOnce = 1,
    judge: _Judge = None,
    judge_lm: _JudgeLm = None,
    quiet: _Quiet = False,
    debug: _Debug = False,
) -> None:
    """Write every article that CONFIG describes, score it, and write a report.

    The experiment lies in the folder --out (default: runs/experiments/CONFIG's name). The same command goes on where
    an interrupted one stopped. Settings given here are laid over those of CONFIG.
    """
    with Guard(debug=debug):
        from storm_pipeline.evaluation.reporting import write_report
        from storm_pipeline.experiments import Experiment, open_executor

        chosen, folder, cache = _chosen(config, size, topics, ctx.obj)
        chosen = chosen.with_judges(judge=judge, judge_lm=judge_lm)
        tell = _nothing if quiet else _to_stderr
        with (
            open_executor(executor, at_once=at_once, address=address) as work,
            Experiment(chosen, folder, work, cache=cache, on_progress=tell) as experiment,
        ):
            tell(f"{chosen.title}: {folder}")
            tell(_forecast_lines(_forecast(experiment)))
            with stopping(experiment):
                results = experiment.run()
            report = write_report(folder / "report", results)
            _tell(results, report)
            _end(experiment)


@experiment_app.command("estimate", cls=SettingsCommand, short_help="Show what CONFIG will take.")
def estimate(
    ctx: typer.Context,
    config: _Config,
    *,
    size: _Size = "full",
    topics: _Topics = None,
    judge: _Judge = None,
    judge_lm: _JudgeLm = None,
    debug: _Debug = False,
) -> None:
    """Show what writing and judging the articles of CONFIG will take: calls, tokens and dollars; nothing is asked."""
    with Guard(debug=debug):
        from storm_pipeline.experiments.data import topics_of
        from storm_pipeline.experiments.forecast import forecast
        from storm_pipeline.experiments.units import units_of

        chosen, _, _ = _chosen(config, size, topics, ctx.obj)
        chosen = chosen.with_judges(judge=judge, judge_lm=judge_lm)
        held = topics_of(chosen)
        units = dict.fromkeys(units_of(chosen, held), chosen.metrics)
        say(_forecast_lines(forecast(chosen, held, units, units)))


@experiment_app.command("report", short_help="Write the report of an experiment's FOLDER anew.")
def report(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="What `experiment run` wrote.", show_default=False)],
    *,
    out: Annotated[Path | None, typer.Option("--out", help="Where the report goes; default: FOLDER/report.")] = None,
    debug: _Debug = False,
) -> None:
    """Write tables, plots and values of an experiment as far as it is: Markdown, HTML and JSON."""
    with Guard(debug=debug):
        from storm_pipeline.errors import RunError
        from storm_pipeline.evaluation.reporting import write_report
        from storm_pipeline.experiments import ExperimentStore, results_of

        if not folder.is_dir():
            raise RunError(f"{folder} is no folder: give the one that `storm experiment run` wrote")
        with ExperimentStore(folder, read_only=True) as store:
            results = results_of(store)
        _tell(results, write_report(out or folder / "report", results))


def _chosen(
    config: Path, size: str, topics: int | None, given: Mapping[str, Any]
) -> "tuple[ExperimentConfig, Path, Path]":
    """The experiment as the command wants it, its folder, and the cache."""
    from storm_pipeline.experiments import read_config
    from storm_pipeline.settings import Settings

    values = dict(given)
    default = _ROOT / (config.stem if size == "full" else f"{config.stem}-{size}")
    folder = Path(values.pop("out", default)).expanduser()
    cache = Settings.build({"cache": values.pop("cache")} if "cache" in values else {}).cache
    return read_config(config).sized(size).with_overrides(topics=topics, settings=values), folder, cache


def _forecast(experiment: "Experiment") -> "Forecast":
    from storm_pipeline.experiments.forecast import forecast

    return forecast(experiment.config, experiment.topics, experiment.missing, experiment.unscored)


def _forecast_lines(expected: "Forecast") -> str:
    if not expected.articles:
        lines = ["no article is left to be written"]
    else:
        dollars = _dollars(expected.dollars)
        if expected.unpriced:
            dollars += f" and unknown dollars for {', '.join(expected.unpriced)}"
        lines = [f"to be written: {expected.articles} articles, {_takes(expected)}, {dollars}"]
    for judging in expected.judging:
        dollars = _dollars(judging.dollars) if judging.dollars else "unknown dollars"
        asks = f"{judging.model} for {', '.join(judging.metrics)}"
        lines.append(f"to be judged by {asks}: {judging.articles} articles, {_takes(judging)}, {dollars}")
    return "\n".join(lines)


def _takes(expected: "Forecast | JudgingForecast") -> str:
    from storm_pipeline.text.display import amount

    calls, tokens_in, tokens_out = (
        f"{amount(round(own.likely))} ({amount(round(own.low))}–{amount(round(own.high))})"
        for own in (expected.calls, expected.tokens_in, expected.tokens_out)
    )
    return f"{calls} calls, {tokens_in} tokens in, {tokens_out} out"


def _dollars(own: "Range") -> str:
    return f"${own.likely:.2f} ({own.low:.2f}–{own.high:.2f})"


def _tell(results: "ExperimentResults", report: tuple[Path, ...]) -> None:
    from storm_pipeline.evaluation.reporting import topic_means

    methods = list(dict.fromkeys(result.method for result in results.results))
    rows = []
    for measure in results.measures:
        values = [list(topic_means(results, method, measure.name).values()) for method in methods]
        if any(values):
            rows.append((measure.name, *(f"{mean(own):.3f} ({len(own)})" if own else "-" for own in values)))
    if rows:
        say(table_text(("mean (topics)", *methods), rows))
    say("\n".join(str(path) for path in report if path.suffix in {".md", ".html"}))


def _end(experiment: "Experiment") -> None:
    """A stopped or failed experiment has an exit code of its own."""
    from storm_pipeline.errors import StoppedError

    if experiment.stopped:
        typer.echo("what was finished is saved; the same command goes on", err=True)
        raise StoppedError("stopped")
    if missing := experiment.missing:
        told = f"{len(missing)} articles failed (see the report); the same command tries them again"
    elif unscored := experiment.unscored:
        told = f"{len(unscored)} articles lack scores (see the report); the same command tries again"
    else:
        return
    typer.echo(f"error: {told}", err=True)
    raise typer.Exit(1)


def _to_stderr(line: str) -> None:
    typer.echo(line, err=True)


def _nothing(_: str) -> None:
    return
