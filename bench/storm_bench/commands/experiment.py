"""``storm experiment``: comparing methods on a data set."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from storm_bench.commands.datasets import data_app
from storm_pipeline.api import Guard, SettingsCommand, say, stop_on_interrupt, tell

if TYPE_CHECKING:
    from storm_bench.experiments import Experiment, ExperimentConfig
    from storm_bench.experiments.forecast import Forecast, JudgingForecast
    from storm_bench.reporting.results_file import ExperimentResults

experiment_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Compare methods on a data set (FreshWiki, WikiGenBench, …)."
)
experiment_app.add_typer(data_app, name="data")
_ROOT = Path("runs") / "experiments"

_Config = Annotated[
    Path,
    typer.Argument(
        metavar="CONFIG", help="A .toml that describes the experiment, see experiments/.", show_default=False
    ),
]
_Size = Annotated[str, typer.Option("--size", metavar="NAME", help="full, or a size defined in CONFIG, such as smoke.")]
_Topics = Annotated[int | None, typer.Option("--topics", metavar="N", min=1, help="Use the first N topics only.")]
_Executor = Annotated[Literal["local", "ray"], typer.Option("--executor", help="Where the articles are written.")]
_Address = Annotated[str, typer.Option("--address", help="Address of a Ray cluster; default: Ray on this machine.")]
_AtOnce = Annotated[int, typer.Option("--at-once", metavar="K", min=1, help="Articles written concurrently.")]
_Processes = Annotated[int, typer.Option("--processes", metavar="N", min=1, help="Local processes that write them.")]
_Judge = Annotated[
    str | None,
    typer.Option(
        "--judge", help="Judge of citations: lm:MODEL, nli:MODEL, true:MODEL or screen; default: --judge-lm's model."
    ),
]
_JudgeLm = Annotated[str | None, typer.Option("--judge-lm", help="Language model that grades; overrides CONFIG.")]
_AllowCode = Annotated[
    bool, typer.Option("--allow-code", help="Run the code of recipes and metrics that CONFIG names as module:name.")
]
_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors on standard error.")]
_Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks, and warnings and logs of libraries.")]


@experiment_app.command("run", cls=SettingsCommand, short_help="Write and score the articles of CONFIG.")
def run(
    ctx: typer.Context,
    config: _Config,
    *,
    size: _Size = "full",
    topics: _Topics = None,
    executor: _Executor = "local",
    address: _Address = "",
    at_once: _AtOnce = 1,
    processes: _Processes = 1,
    judge: _Judge = None,
    judge_lm: _JudgeLm = None,
    allow_code: _AllowCode = False,
    quiet: _Quiet = False,
    debug: _Debug = False,
) -> None:
    """Write and score every article that CONFIG describes, and write a report.

    CONFIG decides all that options could: models, addresses, files and names of keys. Read another's before you run it.

    The experiment's folder is --out (default: runs/experiments/ and CONFIG's name). The same command resumes an
    interrupted experiment. Settings given here override those of CONFIG.
    """
    with Guard(debug=debug):
        from storm_bench.experiments import Experiment
        from storm_bench.experiments.forecast import forecast
        from storm_bench.reporting import write_report
        from storm_pipeline.interfaces.batch import open_executor

        chosen, folder, cache = _read_config(config, size, topics, ctx.obj, allow_code=allow_code)
        chosen = chosen.with_judges(judge=judge, judge_lm=judge_lm)
        log = (lambda _: None) if quiet else tell
        with (
            open_executor(executor, at_once=max(at_once, processes), processes=processes, address=address) as work,
            Experiment(chosen, folder, work, cache=cache, on_progress=log) as experiment,
        ):
            log(f"{chosen.title}: {folder}")
            expected = forecast(experiment.config, experiment.topics, experiment.missing, experiment.unscored)
            log(_forecast_lines(expected))
            for warning in _warnings(expected) if quiet else ():
                tell(warning)
            with stop_on_interrupt(experiment):
                results = experiment.run()
            report = write_report(folder / "report", results)
            _print_results(results, report)
            _exit_unless_complete(experiment)


@experiment_app.command("estimate", cls=SettingsCommand, short_help="Estimate calls, tokens and cost of CONFIG.")
def estimate(
    ctx: typer.Context,
    config: _Config,
    *,
    size: _Size = "full",
    topics: _Topics = None,
    judge: _Judge = None,
    judge_lm: _JudgeLm = None,
    allow_code: _AllowCode = False,
    debug: _Debug = False,
) -> None:
    """Estimate calls, tokens and dollars of writing and judging the articles of CONFIG; no service is called."""
    with Guard(debug=debug):
        from storm_bench.experiments.data import topics_of
        from storm_bench.experiments.forecast import forecast
        from storm_bench.experiments.units import units_of

        chosen, _, _ = _read_config(config, size, topics, ctx.obj, allow_code=allow_code)
        chosen = chosen.with_judges(judge=judge, judge_lm=judge_lm)
        selected = topics_of(chosen)
        units = {unit: chosen.metrics_of(chosen.method(unit.method)) for unit in units_of(chosen, selected)}
        say(_forecast_lines(forecast(chosen, selected, units, units)))


@experiment_app.command("report", short_help="Rewrite the report of an experiment's FOLDER.")
def report(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder that `experiment run` wrote.", show_default=False)
    ],
    *,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the report; default: FOLDER/report.")] = None,
    debug: _Debug = False,
) -> None:
    """Write tables, plots and values of an experiment, finished or not: Markdown and JSON."""
    with Guard(debug=debug):
        from storm_bench.experiments import ExperimentStore, results_of
        from storm_bench.folders import require_no_links
        from storm_bench.reporting import write_report
        from storm_pipeline import RunError

        if not folder.is_dir():
            raise RunError(f"{folder} is not a folder: give the one that `storm experiment run` wrote")
        require_no_links([folder / "report", folder / "report" / "plots"])
        with ExperimentStore(folder, read_only=True) as store:
            results = results_of(store)
        _print_results(results, write_report(out or folder / "report", results))


def _read_config(
    config: Path, size: str, topics: int | None, options: Mapping[str, Any], *, allow_code: bool = False
) -> "tuple[ExperimentConfig, Path, Path]":
    """Return the experiment with the command's options applied, its folder, and the cache."""
    from storm_bench.experiments import read_config
    from storm_bench.experiments.config import CAPS
    from storm_bench.folders import folder_to_write, require_no_links
    from storm_pipeline.api import load_settings

    values = dict(options)
    default = _ROOT / (config.stem if size == "full" else f"{config.stem}-{size}")
    folder = folder_to_write(values.pop("out", default))
    require_no_links([folder / "report", folder / "report" / "plots"])  # it may be a stranger's
    own = load_settings({name: values[name] for name in ("cache", *CAPS) if name in values})
    caps = {name: cap for name in CAPS if (cap := getattr(own, name)) is not None}
    values.pop("cache", None)
    read = read_config(config, allow_code=allow_code)
    chosen = read.sized(size).with_overrides(topics=topics, settings=values)
    return chosen.model_copy(update={"caps": caps}), folder, own.cache


def _forecast_lines(expected: "Forecast") -> str:
    if not expected.articles:
        lines = ["all articles are written"]
    else:
        dollars = expected.dollars.dollars()
        if expected.unpriced:
            dollars += f" and unknown dollars for {', '.join(expected.unpriced)}"
        lines = [f"to be written: {expected.articles} articles, {_usage(expected)}, {dollars}"]
    for judging in expected.judging:
        dollars = judging.dollars.dollars() if judging.dollars else "unknown dollars"
        judge = f"{judging.model} for {', '.join(judging.metrics)}"
        lines.append(f"to be judged by {judge}: {judging.articles} articles, {_usage(judging)}, {dollars}")
    return "\n".join([*lines, *_warnings(expected)])


def _warnings(expected: "Forecast") -> list[str]:
    """Return warnings on a missing or small judge; shown with ``--quiet`` too."""
    from storm_bench.reporting.formats import WITHOUT_JUDGE

    nobody = [f"WARNING: {', '.join(expected.unjudged)}: {WITHOUT_JUDGE}"] if expected.unjudged else []
    return nobody + [
        f"WARNING: the judge of {', '.join(judging.metrics)} is {judging.model}, a small model on this machine: its "
        "grades show that everything runs, and are nothing to report; name a capable one with --judge-lm"
        for judging in expected.judging
        if judging.model.startswith(("embedded", "gguf:"))
    ]


def _usage(expected: "Forecast | JudgingForecast") -> str:
    calls, tokens_in, tokens_out = (n.amounts() for n in (expected.calls, expected.tokens_in, expected.tokens_out))
    return f"{calls} calls, {tokens_in} tokens in, {tokens_out} out"


def _print_results(results: "ExperimentResults", report: tuple[Path, ...]) -> None:
    from storm_bench.reporting import Report

    page = Report(results)
    for table in page.tables:
        say(f"{table.group.title}\n\n{page.part('means', table)}")
    say("\n".join(str(path) for path in report if path.suffix == ".md"))


def _exit_unless_complete(experiment: "Experiment") -> None:
    """End a stopped or failed experiment with an error message and exit code."""
    from storm_pipeline import StoppedError

    if experiment.stopped:
        typer.echo("finished articles are saved; the same command resumes the experiment", err=True)
        raise StoppedError("stopped")
    if missing := experiment.missing:
        problem = f"{len(missing)} articles failed (see the report); the same command retries them"
    elif unscored := experiment.unscored:
        problem = f"{len(unscored)} articles lack scores (see the report); the same command retries them"
    else:
        return
    typer.echo(f"error: {problem}", err=True)
    raise typer.Exit(1)
