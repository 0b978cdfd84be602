"""The tables' models, trained in the synthetic world: what is tuned once, and what each seed trains (FoRAG 6)."""

import copy
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from storm_training.batches import encode
from storm_training.evaluation import answers_of, encoded, score
from storm_training.fine_tuning import fine_tune, tune_filtered, tune_unlikely
from storm_training.loop import slices
from storm_training.ppo import Answers, Rewards, optimise
from storm_training.reward_data import Judged, Level, judged, targets
from storm_training.reward_model import LEVELS, Cell, RewardModel, ranking, train_reward_model
from storm_training.segments import Segmented
from storm_training.settings import RunSettings
from storm_training.tiny import tiny_llama, train_tokenizer
from storm_training.truth import measure, subclaims
from storm_training.world import Item, Style, demonstrate, items

Row = Mapping[str, str | float]
"""A model of a seed: ``model``, ``seed``, the measures, and the seconds of its stages."""
TRAINING, _JUDGED, _PROMPTS, TESTS, _HELD_OUT, _TAUGHT = 1, 2, 3, 4, 5, 100
"""Seeds of the questions of each part. Where a town does the same in every question, a question may come again."""


@dataclass(frozen=True)
class Laboratory:
    """Objects shared by the seeds.

    Attributes:
        style: of the demonstrations.
        tokenizer: of all models.
        tuned: the model that is tuned on demonstrations of this style.
        folder: of checkpoints and curves.
    """

    style: Style
    tokenizer: Any
    tuned: Any
    folder: Path


def prepare(settings: RunSettings, folder: Path, style: Style) -> Laboratory:
    """Tune a model on demonstrations of a style, or go on where an earlier start ended."""
    world = settings.world
    questions = items(world.questions, TRAINING, anew=world.anew)
    texts = [item.prompt + demonstrate(item, "outlined", 0.0, random.Random(0)) for item in questions[:500]]  # noqa: S311
    rng = random.Random(style)  # noqa: S311 - the same errors each time
    pairs = [(item.prompt, demonstrate(item, style, world.error_rate, rng)) for item in questions]
    model, tokenizer = tuned(settings, texts, pairs, folder / f"sft-{style}", settings.fine_tuning.seed)
    return Laboratory(style, tokenizer, model, folder)


def tuned(
    settings: RunSettings, texts: Sequence[str], pairs: Sequence[tuple[str, str]], folder: Path, seed: int
) -> tuple[Any, Any]:
    """Return a tokenizer of texts and a model that is tuned on pairs of prompt and answer; the model comes first.

    Args:
        settings: of the run: the model's size, and how it is tuned.
        texts: what the tokenizer is trained on.
        pairs: what the model is tuned on.
        folder: of its checkpoint, which is gone on from, and its curve.
        seed: of the first weights and of the order of pairs.
    """
    tokenizer, world = train_tokenizer(texts), settings.world
    model = tiny_llama(tokenizer, seed=seed, hidden=world.hidden, layers=world.layers)
    examples = [encode(tokenizer, *pair) for pair in pairs]
    steps = replace(settings.fine_tuning, seed=seed)
    fine_tune(model, examples, steps, padding=tokenizer.eos_token_id, folder=folder)
    return model, tokenizer


class Seed:
    """All that one seed trains and measures from a laboratory's tuned model.

    Args:
        settings: of the run.
        laboratory: called when a model is first trained or measured, as the tuned model may have to be trained.
        seed: its number, which all draws depend on.
    """

    def __init__(self, settings: RunSettings, laboratory: Callable[[], Laboratory], seed: int) -> None:
        self._settings, self._laboratory, self._seed = settings, laboratory, seed
        world = settings.world
        self._tests = items(world.tests, TESTS, anew=world.anew)
        self._questions = items(world.prompts, _PROMPTS, anew=world.anew)

    def models(
        self, cells: Sequence[Cell], *, baselines: bool, epochs: Sequence[int] = ()
    ) -> dict[str, Callable[[], Row]]:
        """By name what trains and measures a model: the tuned one, one for each cell, and what these are held against.

        That is unlikelihood, filtering, and PPO by the world's own labels at each level: the most that rewards can do.
        ``epochs`` adds the tuned model after so many more passes over a few answers of a good teacher (TunedRR).
        """
        found: dict[str, Callable[[], Row]] = {"-": lambda: self._measured(self._tuned, "-", {})}
        for cell in cells:
            found[cell.name] = partial(self._reinforced, cell)
        if baselines:
            found["unlikelihood"] = partial(self._tuned_again, "unlikelihood", tune_unlikely)
            found["filtering"] = partial(self._tuned_again, "filtering", tune_filtered)
            found |= {f"true {level}": partial(self._reinforced_by_truth, level) for level in LEVELS}
        found |= {f"{count} epochs": partial(self._taught, count) for count in epochs}
        return found

    @cached_property
    def _lab(self) -> Laboratory:
        return self._laboratory()

    @property
    def _tuned(self) -> Any:
        return self._lab.tuned

    @cached_property
    def _data(self) -> list[Judged]:
        """Training data of reward models and baselines: answers of the tuned model."""
        world = self._settings.world
        return self._judged(self._tuned, items(world.judged, _JUDGED, anew=world.anew), 5)

    @cached_property
    def _baseline(self) -> list[Segmented]:
        """The tuned model's answers to the questions of PPO."""
        return self._answers(self._tuned, self._questions, 7)

    def _reinforced(self, cell: Cell) -> Row:
        """Return a reward model, and a writer optimised by it."""
        settings = self._settings
        data, held_out = self._data, items(settings.world.held_out, _HELD_OUT, anew=settings.world.anew)
        begun = time.process_time()
        rewarder = RewardModel(self._tuned, cell, self._lab.tokenizer.eos_token_id)
        train_reward_model(rewarder, data, replace(settings.reward_model, seed=self._seed))
        seconds = time.process_time() - begun

        def rewards(answers: Answers) -> tuple[list[list[float]], list[tuple[int, ...]]]:
            own = [answer for _, answer in answers]
            return rewarder.rewards(own), [rewarder.segments(answer) for answer in own]

        writer, figures = self._optimised(cell.name, rewards)
        reward_figures = {
            "ranking": ranking(rewarder, self._judged(self._tuned, held_out, 6)),
            "ranking_after": ranking(rewarder, self._judged(writer, held_out, 6)),
            "reward_model_seconds": seconds,
        }
        return self._measured(writer, cell.name, {**reward_figures, **figures})

    def _reinforced_by_truth(self, level: Level) -> Row:
        """Return a writer optimised by the world's labels, as if a reward model knew them."""

        def rewards(answers: Answers) -> tuple[list[list[float]], list[tuple[int, ...]]]:
            asked = [(self._questions[at], answer) for at, answer in answers]
            found = [targets(judged(own, subclaims(item, own.sentences)), level) for item, own in asked]
            return [list(labels) for _, labels in found], [numbers for numbers, _ in found]

        writer, figures = self._optimised(f"true-{level}", rewards)
        return self._measured(writer, f"true {level}", figures)

    def _optimised(self, name: str, rewards: Rewards) -> tuple[Any, dict[str, float]]:
        """Return the tuned model after PPO, and the figures of that."""
        settings, tokenizer = self._settings, self._lab.tokenizer
        answers, begun = list(enumerate(self._baseline)), time.process_time()
        parts = [rewards(answers[part])[0] for part in slices(len(answers), 64)]
        writer = copy.deepcopy(self._tuned)
        curve = optimise(
            writer,
            tokenizer,
            encoded(tokenizer, [item.prompt for item in self._questions]),
            rewards,
            replace(settings.ppo, seed=self._seed, most_tokens=settings.world.most_tokens),
            baseline=[sum(row) / len(row) for part in parts for row in part],
            watch=self._true_share,
            folder=self._lab.folder / f"{self._lab.style}-{name}-{self._seed}",
        )
        seconds = time.process_time() - begun
        return writer, {"rl_seconds": seconds, "kl": curve[-1]["kl"], "iterations": float(len(curve))}

    def _tuned_again(self, name: str, tune: Callable[..., object]) -> Row:
        settings = self._settings
        writer = copy.deepcopy(self._tuned)
        answers = [(item.answer.example, item.factual) for item in self._data]
        begun = time.process_time()
        steps = replace(settings.baselines, seed=self._seed)
        tune(writer, answers, steps, padding=self._lab.tokenizer.eos_token_id)
        return self._measured(writer, name, {"rl_seconds": time.process_time() - begun})

    def _taught(self, epochs: int) -> Row:
        """Return the tuned model after passes over outlined answers without errors."""
        settings, tokenizer = self._settings, self._lab.tokenizer
        questions = items(settings.world.taught, _TAUGHT + self._seed, anew=settings.world.anew)
        rng = random.Random(self._seed)  # noqa: S311 - never drawn from: there are no errors
        examples = [encode(tokenizer, item.prompt, demonstrate(item, "outlined", 0.0, rng)) for item in questions]
        writer, begun = copy.deepcopy(self._tuned), time.process_time()
        count = max(1, len(examples) // settings.baselines.batch)
        steps = replace(settings.baselines, seed=self._seed, steps=epochs * count)
        fine_tune(writer, examples, steps, padding=tokenizer.eos_token_id)
        return self._measured(writer, f"{epochs} epochs", {"rl_seconds": time.process_time() - begun})

    def _true_share(self, answers: Answers) -> float:
        """Return the share of true sentences among sampled answers."""
        found = [measure(self._questions[at], answer.sentences) for at, answer in answers]
        return sum(one.true_sentences for one in found) / max(1, sum(one.sentences for one in found))

    def _answers(self, model: Any, questions: Sequence[Item], part: int) -> list[Segmented]:
        most = self._settings.world.most_tokens
        seed = self._seed * 101 + part
        return answers_of(model, self._lab.tokenizer, [item.prompt for item in questions], most=most, seed=seed)

    def _judged(self, model: Any, questions: Sequence[Item], part: int) -> list[Judged]:
        """Return the answers of a model with the world's labels."""
        pairs = zip(questions, self._answers(model, questions, part), strict=True)
        return [judged(answer, subclaims(item, answer.sentences)) for item, answer in pairs]

    def _measured(self, model: Any, name: str, figures: Mapping[str, float]) -> Row:
        scores = score(self._tests, [answer.sentences for answer in self._answers(model, self._tests, 11)])
        return {"model": name, "style": self._lab.style, "seed": float(self._seed), **scores.row(), **figures}
