"""``storm experiment conner``: knowledge scored from the six perspectives of CONNER, and the tables of it."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from storm_bench.commands.datasets import to_stderr
from storm_pipeline.api import Guard, say

if TYPE_CHECKING:
    from storm_bench.datasets.conner import KnowledgeItem, Name

conner_app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Acquired knowledge from six perspectives (CONNER)."
)
_OUT = Path("runs") / "conner"

_Data = Annotated[
    Path | None, typer.Option("--data", help="CONNER's emnlp_data; default: conner_emnlp_data below STORM_DATA.")
]
_Out = Annotated[Path, typer.Option("--out", help="Folder of the records.")]
_Cache = Annotated[Path | None, typer.Option("--cache", metavar="PATH", help="Downloads and trained models.")]
_Model = Annotated[
    list[str] | None, typer.Option("--model", metavar="SEAM=NAME", help="inference, matching, lm, downstream.")
]
_Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


@conner_app.command("run", short_help="Acquire, answer with and score knowledge; goes on where it stopped.")
def run(
    *,
    data: _Data = None,
    out: _Out = _OUT,
    cache: _Cache = None,
    items: Annotated[int, typer.Option("--items", min=1, help="Of each data set and kind of knowledge.")] = 100,
    answers: Annotated[int, typer.Option("--answers", min=0, help="Of those, the first that are answered too.")] = 100,
    choices: Annotated[int, typer.Option("--choices", min=1, help="Items of knowledge selection.")] = 30,
    writer: Annotated[str, typer.Option("--writer", help="As storm write --lm takes it.")] = "embedded:0.5b",
    minutes: Annotated[float, typer.Option("--minutes", min=0, help="Stop after so long.")] = 600,
    model: _Model = None,
    debug: _Debug = False,
) -> None:
    """Score reference, retrieved and generated knowledge of NQ and WoW.

    The same command goes on, and so does one with more items, answers or choices. Other models or another writer
    need another --out.
    """
    with Guard(debug=debug):
        from storm_bench.conner.completing import open_writer
        from storm_bench.conner.evidence_source import LEADS, Bm25Evidence, passage_pool
        from storm_bench.conner.named_models import model_names, open_models
        from storm_bench.conner.study import Study
        from storm_bench.metrics.resources import Resources
        from storm_pipeline.api import configured, fetch

        names = model_names(dict(pair.partition("=")[::2] for pair in model or ()))
        cache = _opened(cache)
        datasets = (_rows(data, "nq"), _rows(data, "wow"))
        pool = passage_pool((item for own in datasets for item in own), fetch(LEADS, cache))
        models = open_models(names, cache, Resources(cache).vectors)
        evidence = Bm25Evidence(pool)
        study = Study(
            datasets,
            evidence,
            models,
            open_writer(writer, configured().model_copy(update={"cache": cache})),
            _records(out),
            items=items,
            answers=answers,
            choices=choices,
        )
        done = study.run(minutes, to_stderr)
        say(f"{len(study.records())} records in {_records(out)}" + ("" if done else "; the same command goes on"))


@conner_app.command("report", short_help="Print the tables of what was measured.")
def report(*, data: _Data = None, out: _Out = _OUT, cache: _Cache = None, debug: _Debug = False) -> None:
    """Print means, correlations, both uses and the paper's claims as Markdown."""
    with Guard(debug=debug):
        from storm_bench.conner.evidence_source import LEADS
        from storm_bench.conner.report import beside_published, to_markdown
        from storm_bench.conner.sentence_order import trained_order
        from storm_bench.conner.study_records import read_records, read_setup
        from storm_bench.datasets.conner import published_scores
        from storm_bench.metrics.resources import Resources
        from storm_pipeline.api import fetch

        cache = _opened(cache)
        records, setup = read_records(_records(out)), read_setup(_records(out))
        views = {item.id: item.pageviews for item in _rows(data, "wow") if item.pageviews is not None}
        discourse = trained_order(cache, Resources(cache).vectors, fetch(LEADS, cache))
        folder = _folder(data)
        beside = beside_published(
            _rows(data, "nq"),
            published_scores(folder, "coherence_paragraph"),
            published_scores(folder, "perplexity"),
            discourse,
            records,
        )
        say(f"{to_markdown(records, views, setup)}\n\n{beside}")


@conner_app.command("writers", short_help="Put the studies of several writers side by side (Table 16, Figure 3).")
def writers(
    folders: Annotated[list[Path], typer.Argument(metavar="FOLDER…", help="Folders of --out, such as by size.")],
    *,
    plot: Annotated[Path | None, typer.Option("--plot", metavar="FILE.png", help="Draw the means as curves.")] = None,
    debug: _Debug = False,
) -> None:
    """Print the means of what each writer wrote as Markdown. Studies must be alike but for the writer."""
    with Guard(debug=debug):
        from storm_bench.conner.report import by_writer
        from storm_bench.conner.study_records import read_studies

        studies = read_studies([_records(folder) for folder in folders])
        say(by_writer(studies))
        if plot:
            from storm_bench.conner.writer_plot import plot_writers

            plot_writers(studies, plot)
            say(str(plot))


@conner_app.command("train-order", short_help="Train the stand-in for paragraph coherence anew.")
def train_order(*, cache: _Cache = None, debug: _Debug = False) -> None:
    """Train on sentence order of Wikipedia's leads, and print the accuracy on leads that were kept apart."""
    with Guard(debug=debug):
        from storm_bench.conner.evidence_source import LEADS
        from storm_bench.conner.sentence_order import order_file, save_order, train_on_leads
        from storm_bench.metrics.resources import Resources
        from storm_pipeline.api import fetch

        cache = _opened(cache)
        embedder = Resources(cache).vectors
        trained = train_on_leads(fetch(LEADS, cache), embedder)
        save_order(trained.weights, embedder.name, order_file(cache))
        say(
            f"{trained.paragraphs} leads learnt from; of {trained.held_out} others {trained.accuracy:.1%} score higher "
            f"than a random order of theirs (chance: 50%): {order_file(cache)}"
        )


def _rows(data: Path | None, name: "Name") -> "tuple[KnowledgeItem, ...]":
    from storm_bench.datasets.conner import read_conner

    return read_conner(_folder(data), name)


def _folder(data: Path | None) -> Path:
    return data or Path(os.environ.get("STORM_DATA", "data")).expanduser() / "conner_emnlp_data"


def _opened(cache: Path | None) -> Path:
    from storm_pipeline.api import configured

    return cache or configured().cache


def _records(out: Path) -> Path:
    return out / "records.jsonl"
