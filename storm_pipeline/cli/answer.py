"""``storm answer``."""

from typing import Annotated

import typer

from storm_pipeline.cli.consent import settings_asking, with_consent
from storm_pipeline.cli.guard import Guard
from storm_pipeline.cli.model_choice import with_chosen_model
from storm_pipeline.cli.write import Debug, JsonEvents, Quiet, print_article, run_with_progress


def answer(
    ctx: typer.Context,
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="The question, e.g. 'Why do rivers meander?'", show_default=False)
    ],
    *,
    quiet: Quiet = False,
    json_events: JsonEvents = False,
    debug: Debug = False,
) -> None:
    """Search for QUESTION and answer it at length, along an outline, every sentence traceable to a source.

    Prints the paths of the answer in Markdown and HTML, and a summary on standard error. The answer is a run like an
    article's: `storm resume`, `storm show` and `storm export` take it.
    """
    with Guard(debug=debug) as guard:
        settings = with_chosen_model(settings_asking(ctx.obj), quiet=quiet or json_events)
        result = with_consent(
            lambda: run_with_progress(
                settings, [guard], lambda storm: storm.answer(question), quiet=quiet, json_events=json_events
            )
        )
        print_article(result, guard, quiet=quiet, json_events=json_events)
