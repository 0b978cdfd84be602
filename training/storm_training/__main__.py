"""``python -m storm_training``: the stages as commands."""

import os
from pathlib import Path
from typing import Annotated

import typer

from storm_bench.folders import without_links
from storm_pipeline import StormError
from storm_training.errors import TrainingError

app = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None, help=__doc__)


@app.callback()
def _commands() -> None:
    """Train writers in a synthetic world (FoRAG), and export them."""


@app.command()
def tables(
    settings: Annotated[Path, typer.Argument(help="TOML file of the run, such as training/recipes/tables.toml")],
    folder: Annotated[Path, typer.Option("--to", help="folder of results, checkpoints and curves")],
    seed: Annotated[list[int] | None, typer.Option(help="only this seed (repeatable), to share the work")] = None,
    model: Annotated[list[str] | None, typer.Option(help="only this row, such as subclaim (repeatable)")] = None,
    threads: Annotated[int, typer.Option(help="processor threads", min=1)] = 1,
) -> None:
    """Train and measure the models of FoRAG's tables and its Figure 2; what the folder has is not trained again."""
    import torch

    from storm_training.settings import RunSettings
    from storm_training.tables import make

    torch.set_num_threads(threads)
    typer.echo(make(RunSettings.read(settings), without_links(folder), typer.echo, seed or (), model or ()))


@app.command()
def tune(
    model: Annotated[str, typer.Argument(help="folder, name on the model hub, or .gguf file of the writer")],
    data: Annotated[Path, typer.Argument(help="JSON lines with prompt and response")],
    *,
    folder: Annotated[Path, typer.Option("--to", help="folder of the tuned model, its checkpoint and curve")],
    epochs: Annotated[int, typer.Option(help="passes over the data", min=1)] = 1,
    lora: Annotated[int, typer.Option(help="rank of LoRA; 0 trains all weights", min=0)] = 16,
    batch: Annotated[int, typer.Option(help="pairs of a step", min=1)] = 4,
    rate: Annotated[float, typer.Option(help="highest learning rate")] = 1e-4,
    most: Annotated[int, typer.Option(help="tokens of a pair; longer ones are left out", min=2)] = 2048,
    numbers: Annotated[str, typer.Option(help="of the GGUF file: F16 or Q8_0")] = "Q8_0",
    seed: Annotated[int, typer.Option(help="of LoRA's weights and of the order")] = 0,
    threads: Annotated[int, typer.Option(help="processor threads", min=1)] = 1,
    device: Annotated[str, typer.Option(help="where it is trained, such as cuda")] = "cpu",
) -> None:
    """Fine-tune a writer and export it as safetensors and as writer.gguf, which `--lm gguf:PATH` runs."""
    import torch

    from storm_training import writers
    from storm_training.export import export, numbers_of
    from storm_training.loop import Steps

    kind, folder = numbers_of(numbers), without_links(folder)
    torch.set_num_threads(threads)
    whole, tokenizer = writers.load(model)
    whole = writers.on(whole, device)
    examples = writers.read_pairs(data, tokenizer, most)
    trained = writers.with_lora(whole, lora, seed) if lora else whole
    settings = Steps(batch=batch, rate=rate, warmup=5, seed=seed)
    steps = writers.tune(trained, tokenizer, examples, epochs=epochs, settings=settings, folder=folder)
    typer.echo(f"{len(examples)} pairs, {steps} steps: {export(trained, tokenizer, folder, kind)}")


@app.command()
def reinforce(
    model: Annotated[str, typer.Argument(help="folder, name on the model hub, or .gguf file of the tuned writer")],
    data: Annotated[Path, typer.Argument(help="questions with passages: a file, or ExpertQA's folder")],
    *,
    layout: Annotated[str, typer.Option(help="of the data: webglm, webcpm or expertqa")],
    tests: Annotated[Path, typer.Option(help="questions of the data that measure and are not trained on, a line each")],
    folder: Annotated[Path, typer.Option("--to", help="folder of the writer, its checkpoints and curves")],
    cell: Annotated[str, typer.Option(help="of the reward model, as Table 5 names it")] = "sentence+token",
    judge: Annotated[str, typer.Option(help="labels answers: screen, nli:MODEL, lm:MODEL")] = "screen",
    also: Annotated[list[str] | None, typer.Option(help="another judge that measures (repeatable)")] = None,
    samples: Annotated[int, typer.Option(help="answers to a question that the reward model learns from", min=1)] = 4,
    rounds: Annotated[int, typer.Option(help="of PPO", min=1)] = 12,
    batch: Annotated[int, typer.Option(help="answers of a round", min=1)] = 64,
    most: Annotated[int, typer.Option(help="tokens of an answer", min=2)] = 256,
    longest: Annotated[int, typer.Option(help="tokens of a prompt; questions with more are left out", min=2)] = 1536,
    rate: Annotated[float, typer.Option(help="learning rate of PPO")] = 5e-5,
    lora: Annotated[int, typer.Option(help="rank of LoRA; 0 trains all weights", min=0)] = 16,
    numbers: Annotated[str, typer.Option(help="of the GGUF file: F16 or Q8_0")] = "Q8_0",
    seed: Annotated[int, typer.Option(help="of samples, order, and LoRA's weights")] = 0,
    threads: Annotated[int, typer.Option(help="processor threads", min=1)] = 1,
    device: Annotated[str, typer.Option(help="where it is trained, such as cuda")] = "cpu",
) -> None:
    """Optimise a tuned writer for what a judge finds supported (reward model, PPO), and export it as `tune` does."""
    import torch

    from storm_training import reinforcement, writers
    from storm_training.export import export, numbers_of
    from storm_training.files import text_of
    from storm_training.lfqa import parted, read
    from storm_training.ppo import PpoSettings

    kind, chosen, folder = numbers_of(numbers), reinforcement.cell_of(cell), without_links(folder)
    judges = [reinforcement.judge_of(name) for name in (judge, *(also or ()))]
    torch.set_num_threads(threads)
    learnt, measured = parted(read(_found(data), layout), text_of(tests).splitlines())
    whole, tokenizer = writers.load(model)
    ppo = PpoSettings(iterations=rounds, batch=batch, minibatch=8, rate=rate, most_tokens=most, seed=seed)
    plan = reinforcement.Plan(cell=chosen, samples=samples, ppo=ppo, lora=lora, longest=longest)
    typer.echo(plan.summary)
    asked, held = (reinforcement.questions(part, tokenizer, judges[0], plan) for part in (learnt, measured))
    trained, _ = reinforcement.reinforce(
        writers.on(whole, device), asked, held, plan, folder, others=judges[1:], say=typer.echo
    )
    typer.echo(export(trained, tokenizer, folder, kind))


@app.command()
def lfqa(
    data: Annotated[Path, typer.Argument(help="questions with passages: a file, or ExpertQA's folder")],
    *,
    layout: Annotated[str, typer.Option(help="of the data: webglm, webcpm or expertqa")],
    path: Annotated[Path, typer.Option("--to", help="JSON lines with prompt and response, as `tune` reads them")],
    lm: Annotated[str, typer.Option(help="the teacher, as `storm` names models")] = "embedded",
    language: Annotated[str, typer.Option(help="of the answers, such as en or zh")] = "en",
    words: Annotated[int, typer.Option(help="of an answer, about", min=100)] = 400,
    max_cost: Annotated[float | None, typer.Option(help="dollars of a call of this command, at most", min=0)] = None,
    tests: Annotated[Path | None, typer.Option(help="a file of test questions, a line each, to be kept out")] = None,
    questions: Annotated[int | None, typer.Option(help="no more than so many, from the first", min=1)] = None,
    answers: Annotated[Path | None, typer.Option(help="written answers in place of a teacher's, see the docs")] = None,
) -> None:
    """Build a set of outlined answers (FoRAG 4.2) and print its statistics, in words; a second call goes on."""
    from storm_pipeline import Settings
    from storm_pipeline.api import count_words
    from storm_training.costs import expected
    from storm_training.files import text_of
    from storm_training.lfqa import build, read
    from storm_training.teachers import model_teacher, written_answers

    sources = read(_found(data), layout)[:questions]
    _prepare(path)
    kept = text_of(tests).splitlines() if tests else []
    if answers:
        answered = written_answers(answers)
        own = [source for source in sources if source.question in answered]
        typer.echo(build(own, lambda source: answered[source.question], path, tests=kept, count=count_words).table)
        return
    settings = Settings.build({"lm": lm, "article_language": language, "length": words, "max_cost": max_cost})
    typer.echo(expected(settings, "answer", sources[0].question, len(sources)), err=True)
    with model_teacher(settings, path.with_suffix(".replies.jsonl")) as teacher:
        typer.echo(build(sources, teacher, path, tests=kept, count=count_words).table)


@app.command()
def articles(
    data: Annotated[Path, typer.Argument(help="a data set in WikiGenBench's layout")],
    *,
    path: Annotated[Path, typer.Option("--to", help="JSON lines with prompt and response, as `tune` reads them")],
    lm: Annotated[str, typer.Option(help="the teacher, as `storm` names models")] = "embedded",
    length: Annotated[int, typer.Option(help="words of an article, about", min=100)] = 400,
    evidence: Annotated[int, typer.Option(help="words of its chunks", min=100)] = 1280,
    max_cost: Annotated[float | None, typer.Option(help="dollars of a call of this command, at most", min=0)] = None,
    without: Annotated[list[str] | None, typer.Option(help="id of a topic to be kept out (repeatable)")] = None,
    topics: Annotated[int | None, typer.Option(help="no more than so many, from the first", min=1)] = None,
) -> None:
    """Build TunedRR's pairs: a topic's five best chunks, and a teacher's article on them; a second call goes on."""
    from storm_bench.datasets.wikigenbench import read_wikigenbench
    from storm_training.articles import build_articles

    every = read_wikigenbench(_found(data), core_only=True).topics
    kept = [topic for topic in every if topic.id not in (without or ())]
    settings = {"lm": lm, "length": str(length), "evidence": evidence}
    _prepare(path)
    typer.echo(f"{build_articles(kept[:topics], settings, path, typer.echo, max_cost=max_cost)} pairs: {path}")


def _prepare(path: Path) -> None:
    """Make the folder of a file to be written. Raises TrainingError: the file is a link."""
    if path.is_symlink():
        raise TrainingError(f"{path} is a link, and what it leads to would be overwritten: delete it")
    path.parent.mkdir(parents=True, exist_ok=True)


def _found(data: Path) -> Path:
    """Return the data where they are named, or else below STORM_DATA."""
    return data if data.exists() else Path(os.environ.get("STORM_DATA", "")).expanduser() / data


def main() -> None:
    """Run a command; an error is one line."""
    try:
        app()
    except (StormError, OSError) as error:
        typer.echo(f"error: {error}", err=True)
        raise SystemExit(1) from error


if __name__ == "__main__":
    main()
