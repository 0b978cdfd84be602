"""``storm compile``: improving programs for a model with the user's articles."""

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from storm_pipeline.errors import SettingsError
from storm_pipeline.interfaces.cli.guard import with_guard
from storm_pipeline.interfaces.cli.options import argument, option
from storm_pipeline.interfaces.cli.output import choose_model, load_settings, say, show_table, tell

if TYPE_CHECKING:
    from storm_pipeline.models.programs import CompiledSet

_PROGRAMS = "Programs to compile; or `list` for those that can be, or `show SET`."
_TRAIN = (
    "Good articles, one a file: .md, .json, .wiki, .docx, .html; or NAME:FOLDER of a data set that a package reads."
)
_OPTIMIZER = "labeled, bootstrap or gepa; default: the program's usual one, see `storm compile list`."
_TOPICS = "Topics to draw from --train, at most: fewer calls; default: all."
_TEACHER, _REFLECTION = "Makes the examples; default: --lm.", "Writes new instructions; default: --lm."


@with_guard
def compile_programs(
    ctx: typer.Context,
    names: Annotated[list[str], argument("PROGRAM...", _PROGRAMS)],
    *,
    train: Annotated[str | None, option("--train", "FOLDER", _TRAIN)] = None,
    optimizer: Annotated[str | None, option("--optimizer", "NAME", _OPTIMIZER)] = None,
    to: Annotated[Path, option("--to", "SET", "Folder of the compiled set; it is added to.")] = Path("compiled"),
    candidates: Annotated[int, option("--candidates", None, "Programs that the optimiser tries.", min=1, max=100)] = 6,
    topics: Annotated[int | None, option("--topics", None, _TOPICS, min=5)] = None,
    split_seed: Annotated[int, option("--split-seed", None, "Draws the topics that are held back.", min=0)] = 0,
    teacher_lm: Annotated[str | None, option("--teacher-lm", "MODEL", _TEACHER)] = None,
    reflection_lm: Annotated[str | None, option("--reflection-lm", "MODEL", _REFLECTION)] = None,
) -> None:
    """Improve programs for the model of --lm with the articles of --train, and measure the gain on others.

    Use the set with `storm write TOPIC --programs SET`. Topics are split: the gain is measured on topics used neither
    for examples nor for choosing candidates. A killed compilation continues where it ended; --max-tokens and --max-cost
    apply.
    """
    if names[0] == "list":
        _show_programs()
        return
    if names[0] == "show":
        if len(names) != 2:
            raise SettingsError("name one set: storm compile show SET")
        _show(_read(Path(names[1])))
        return
    if train is None:
        raise SettingsError("name a folder of good articles with --train")
    from storm_pipeline.evidence.retrieval.embedder import shared_embedder
    from storm_pipeline.optimize.compiling import compile_program, job_for
    from storm_pipeline.optimize.tasks import read_training

    settings = choose_model(load_settings(ctx.obj))
    articles = read_training(train)
    command = " ".join(["storm", *sys.argv[1:]])
    job = partial(job_for, candidates=candidates, topics=topics, seed=split_seed, command=command)
    jobs = [job(name, articles, settings, optimizer) for name in names]
    for next_job in jobs:
        tell(f"{next_job.task.program}: {next_job.sizes}; {next_job.optimizer}, at most {next_job.most_calls} calls")
    for title in jobs[0].copies:
        tell(f"left out: {title!r}, most of which is another article's text")
    embedder = shared_embedder(settings.embedder, settings.cache, None)
    for next_job in jobs:
        compile_program(next_job, embedder.embed, to, teacher_lm=teacher_lm, reflection_lm=reflection_lm, tell=tell)
    _show(_read(to))
    say(str(to))


def _show_programs() -> None:
    from storm_pipeline.optimize.tasks import TASKS
    from storm_pipeline.recipes import PROGRAMS

    recipes = {name: " ".join(recipe for recipe, asked in PROGRAMS.items() if name in asked) or "–" for name in TASKS}
    recipes |= {"check": "all with sources, unless --judge off"}
    rows = [(name, task.metric_name, task.optimizer, task.role, recipes[name]) for name, task in TASKS.items()]
    show_table(("program", "metric", "optimizer", "asked of", "by recipes"), rows)


def _read(folder: Path) -> "CompiledSet":
    from storm_pipeline.models.programs import Programs, read_set

    compiled_set = read_set(folder)
    compiled_set.apply(Programs())
    return compiled_set


def _show(compiled_set: "CompiledSet") -> None:
    columns = ("program", "model", "optimizer", "metric", "before → after, 95 %", "topics + held back", "calls")
    rows = []
    for name, entry in compiled_set.programs.items():
        topics = f"{len(entry.topics)} + {len(entry.held_back)}"
        gain = f"{entry.before:.3f} → {entry.after:.3f} [{entry.interval[0]:+.3f}, {entry.interval[1]:+.3f}]"
        rows.append((name, entry.model, entry.optimizer, entry.metric, gain, topics, str(entry.calls)))
    show_table(columns, rows)
