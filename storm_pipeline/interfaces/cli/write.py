"""``storm write``, ``storm answer``, ``storm outline`` and ``storm resume``."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import typer

from storm_pipeline.errors import DamagedRunError, SettingsError
from storm_pipeline.interfaces.cli.guard import Guard, stop_on_interrupt, with_guard
from storm_pipeline.interfaces.cli.options import (
    Address,
    AtOnce,
    BatchMaxCost,
    CopyTo,
    ExecutorName,
    JsonEvents,
    OutlineFile,
    Processes,
    Quiet,
    Topic,
    argument,
    flag,
    option,
)
from storm_pipeline.interfaces.cli.output import (
    EventLines,
    Output,
    choose_model,
    distinct_lines,
    is_interactive,
    load_settings,
    say,
    tell,
)
from storm_pipeline.text.formatting import amount, dollars, printable, with_noun

if TYPE_CHECKING:
    from storm_pipeline.run.events import EventSink
    from storm_pipeline.settings import Settings
    from storm_pipeline.storm import Storm
    from storm_pipeline.types import Article, Outline, Problem, Usage

    _Work: TypeAlias = Callable[[Storm, bool], Article | Outline]
    """A command's function of a ``Storm`` and of whether a damaged run is accepted."""

T = TypeVar("T")
_MOST_PROBLEMS = 5

_FROM = (
    "Continue from an edited piece of an earlier run, outline or perspectives; give the run's folder instead of TOPIC."
)
_YES = "Continue although files of the run were lost or changed, and repeat the missing paid calls."
_Yes = Annotated[bool, flag("--yes -y", _YES)]


@with_guard
def write(
    ctx: typer.Context,
    topic: Topic,
    *,
    piece: Annotated[str | None, option("--from", "PIECE", _FROM)] = None,
    headings: OutlineFile = None,
    yes: _Yes = False,
    quiet: Quiet = False,
    json_events: JsonEvents = False,
    guard: Guard,
) -> None:
    """Research TOPIC and write an article about it, every sentence traceable to a source.

    Prints the paths of the article in Markdown and HTML, and a summary on standard error.
    """
    from storm_pipeline.settings import Settings

    if piece and headings:
        raise SettingsError("--from goes on with the outline of a run, --outline gives another: choose one of them")
    shown = Output(quiet, json_events)
    if piece:

        def run_write(storm: "Storm", accept_damage: bool) -> "Article":  # noqa: FBT001
            from storm_pipeline.storm import write_from

            return write_from(storm, piece, topic, accept_damage=accept_damage, user=load_settings(folder=None))

        _run(Settings.build(ctx.obj), run_write, guard, shown, yes=yes)
    else:
        settings = choose_model(load_settings(ctx.obj), quiet=shown.nothing_else)
        _run(settings, lambda storm, _: storm.write(topic, outline=headings), guard, shown)


@with_guard
def answer(
    ctx: typer.Context,
    question: Annotated[str, argument("QUESTION", "The question, e.g. 'Why do rivers meander?'")],
    *,
    quiet: Quiet = False,
    json_events: JsonEvents = False,
    guard: Guard,
) -> None:
    """Search for QUESTION and answer it at length, along an outline, every sentence traceable to a source.

    Prints the paths of the answer in Markdown and HTML, and a summary on standard error. `storm resume`, `storm show`
    and `storm export` work as for articles.
    """
    shown = Output(quiet, json_events)
    settings = choose_model(load_settings(ctx.obj), quiet=shown.nothing_else)
    _run(settings, lambda storm, _: storm.answer(question), guard, shown)


@with_guard
def outline(
    ctx: typer.Context, topic: Topic, *, quiet: Quiet = False, json_events: JsonEvents = False, guard: Guard
) -> None:
    """Research TOPIC and print an outline of an article about it, as Markdown."""
    shown = Output(quiet, json_events)
    settings = choose_model(load_settings(ctx.obj), quiet=shown.nothing_else)
    _run(settings, lambda storm, _: storm.outline(topic), guard, shown)


@with_guard
def resume(
    ctx: typer.Context,
    run: Annotated[Path, argument("RUN", "Folder of a run or a batch.")],
    *,
    at_once: AtOnce = None,
    processes: Processes = 1,
    executor: ExecutorName = "local",
    address: Address = "",
    batch_max_cost: BatchMaxCost = None,
    to: CopyTo = None,
    yes: _Yes = False,
    quiet: Quiet = False,
    json_events: JsonEvents = False,
    guard: Guard,
) -> None:
    """Resume RUN after an interruption, a cap, or a failure, reusing recorded replies and searches.

    The run's content settings apply, unless options override them. Its model, engine and other settings must be in your
    configuration or given again as options; a message names missing ones. The result of a finished run is printed
    again. In a batch, finished articles are kept, and all other topics are resumed or started. If files of the run were
    lost or changed, so that paid calls would be repeated, it asks first; without a terminal it needs --yes.
    """
    from storm_pipeline.interfaces.batch import is_batch, open_executor
    from storm_pipeline.settings import Settings

    shown = Output(quiet, json_events)
    if is_batch(run):
        from storm_pipeline.interfaces.cli.batch import resume_batch

        options: dict[str, Any] = {"batch_max_cost": batch_max_cost, "to": to, "accept_damage": yes}
        with open_executor(executor, at_once=at_once, processes=processes, address=address) as place:
            resume_batch(run, Settings.build(ctx.obj), guard, shown, executor=place, **options)
        return
    if batch_max_cost is not None or to is not None:
        raise SettingsError(f"{run} is not a batch's folder: cap a run with --max-cost, and copy it yourself")
    if (run / "run.json").exists():
        guard.folder = run

    def resume_run(storm: "Storm", accept_damage: bool) -> "Article | Outline":  # noqa: FBT001
        return storm.resume(run, accept_damage=accept_damage, user=load_settings(folder=None))

    _run(Settings.build(ctx.obj), resume_run, guard, shown, yes=yes)


def _run(settings: "Settings", work: "_Work", guard: Guard, shown: Output, *, yes: bool = False) -> None:
    """Do the work; print the paths of its article, or its outline, and a summary."""
    from storm_pipeline.method.outlines import outline_to_markdown
    from storm_pipeline.run.ledger import Ledger
    from storm_pipeline.types import Article

    ledger, start = Ledger(), time.monotonic()

    def attempt(accept_damage: bool) -> "Article | Outline":  # noqa: FBT001
        with ExitStack() as stack:
            sinks: list[EventSink] = [guard, ledger]
            if not shown.nothing_else:
                from storm_pipeline.interfaces.progress import ProgressSink

                sinks.append(stack.enter_context(ProgressSink()))
            elif shown.json_events:
                sinks.append(EventLines("run"))
            from storm_pipeline.storm import Storm  # after the progress is shown, since it takes long to load

            storm = Storm(settings, sinks=sinks)
            stack.enter_context(stop_on_interrupt(storm))
            return work(storm, accept_damage)

    made = _run_with_consent(attempt, yes=yes)
    if isinstance(made, Article):
        report = _article_summary(made)
        files = ("article.md", "article.html") if guard.folder else ()
        result = "\n".join(printable(str(guard.folder / file)) for file in files if guard.folder)
    else:
        report = _outline_summary(made, ledger.usage(time.monotonic() - start), ledger.report().problems)
        result = outline_to_markdown(made).rstrip("\n")
    if not shown.quiet:
        tell(f"{report}\n{result}" if shown.json_events else report)
    if not shown.json_events:
        say(result)


def _run_with_consent(work: Callable[[bool], T], *, yes: bool) -> T:
    """Return the result of ``work(accept_damage)``; for a damaged run, only with the user's consent or --yes."""
    try:
        return work(yes)
    except DamagedRunError as error:
        if not is_interactive():
            raise
        tell(printable(f"{error.folder}: {'; '.join(error.findings)}."))
        try:
            agreed = typer.confirm("Go on?", err=True)
        except typer.Abort:  # end of input, or Ctrl-C
            agreed = False
        if not agreed:
            raise
        return work(True)  # noqa: FBT003


def _article_summary(article: "Article") -> str:
    """Return a summary of an article: size, uncited sentences, questions, usage, problems."""
    from storm_pipeline.text.languages import length_in_words

    sentences = list(article.sentences())
    words = sum(length_in_words(sentence.text) for sentence in sentences)
    uncited = sum(not sentence.citations for sentence in sentences)
    sections, references = with_noun(len(article.sections), "section"), with_noun(len(article.references), "reference")
    facts = [sections, with_noun(words, "word"), references, f"{uncited} of {len(sentences)} sentences uncited"]
    if asked := sum(len(conversation.turns) for conversation in article.conversations):
        facts.append(f"{with_noun(asked, 'question')} asked")
    note = [printable(article.note)] if article.note else []
    lines = [", ".join(facts), _usage(article.usage), *_problems(article.report.problems), *note]
    return "\n".join([printable(article.title), *(f"  {line}" for line in lines)])


def _outline_summary(outline: "Outline", usage: "Usage", problems: "tuple[Problem, ...]") -> str:
    """Return a summary of an outline: sections, headings, usage, problems."""
    headings = sum(1 for _ in outline.titles())
    size = f"{with_noun(len(outline.sections), 'section')}, {with_noun(headings, 'heading')}"
    lines = [size, _usage(usage), *_problems(problems)]
    return "\n".join([printable(outline.topic), *(f"  {line}" for line in lines)])


def _usage(usage: "Usage") -> str:
    tokens = f"{amount(usage.tokens_in)} tokens in, {amount(usage.tokens_out)} out"
    if usage.estimated:
        tokens += f" (estimated for {usage.estimated} calls, whose server reports none)"
    cost = "unknown cost" if usage.cost is None else dollars(usage.cost)
    return f"{with_noun(usage.calls, 'call')}, {tokens}, {cost}, {usage.seconds:.0f} s"


def _problems(problems: "tuple[Problem, ...]") -> list[str]:
    if not problems:
        return ["no problems"]
    lines = (printable(f"{problem.kind} in {problem.stage}: {problem.detail}") for problem in problems)
    return [f"{with_noun(len(problems), 'problem')}:", *(f"  {line}" for line in distinct_lines(lines, _MOST_PROBLEMS))]
