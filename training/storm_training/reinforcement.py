"""Optimising any tuned writer for factuality (FoRAG 5.2): its answers, a judge's labels, a reward model, PPO.

Departures from the paper: a judge of the package labels, not GPT-4, and a sentence is its own only subclaim; PPO trains
a LoRA of the writer, where the paper does not say what; the answers that are measured take the likeliest token each
time. Beside the judge that labels, others may measure, so that a writer who pleases the one alone is seen.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from storm_bench.judges.base import ScoringJudge
from storm_pipeline import Settings
from storm_training.errors import TrainingError
from storm_training.lfqa import Source, prompt
from storm_training.loop import Steps, slices
from storm_training.ppo import Answers, PpoSettings, Rewards, optimise
from storm_training.reward_data import Judged, judge_labels, judged
from storm_training.reward_model import CELLS, Cell, RewardModel, ranking, train_reward_model
from storm_training.sampling import sample
from storm_training.segments import Segmented, segment
from storm_training.writers import rendered, with_lora

_AT_ONCE = 64  # answers that are sampled or rewarded side by side
_EVERY = 8  # one question of so many measures the reward model and trains nothing


@dataclass(frozen=True)
class Plan:
    """The training plan.

    Attributes:
        cell: of the reward model (Table 2).
        ppo: of the writer.
        reward_model: how it is trained; its ``steps`` follow from the passes.
        samples: answers to each question that it learns from, drawn at temperature 1.
        passes: over these.
        lora: rank of what PPO trains; 0 trains all weights.
        longest: tokens of a prompt; questions with longer ones are left out.
    """

    cell: Cell
    ppo: PpoSettings
    reward_model: Steps = field(default_factory=lambda: Steps(batch=8, rate=1e-5, warmup=5))
    samples: int = 4
    passes: int = 2
    lora: int = 16
    longest: int = 1536

    @property
    def summary(self) -> str:
        """The parameters of rewards and of PPO's bounds, on one line."""
        by = "its last token" if self.cell.granularity == "sequence" else f"the {self.cell.aggregate} of its tokens"
        return (
            f"reward model {self.cell.name}: a segment's reward is that of {by}; PPO: "
            f"β {self.ppo.beta:g} a token's KL, clip {self.ppo.clip:g}, γ {self.ppo.discount:g}, λ {self.ppo.decay:g}, "
            f"stops above a KL of {self.ppo.kl_bound:g} nats an answer"
        )


def cell_of(name: str) -> Cell:
    """Return the cell of Table 2 that Table 5 names so. Raises TrainingError: there is none."""
    for cell in CELLS:
        if cell.name == name:
            return cell
    raise TrainingError(f"there is no reward model {name!r}: choose one of {', '.join(cell.name for cell in CELLS)}")


def judge_of(name: str) -> ScoringJudge:
    """Return a judge of the bench by name. Raises SettingsError: there is none."""
    from storm_bench.judges.open_judge import open_support_judge

    return open_support_judge(name, Settings.build({}))


@dataclass(frozen=True)
class Questions:
    """Questions whose prompts are not too long, and the judge of their answers.

    Attributes:
        sources: questions with materials.
        prompts: token ids, as many.
        tokenizer: of the writer.
        judge: of support by the materials.
        most: tokens of an answer.
    """

    sources: Sequence[Source]
    prompts: Sequence[tuple[int, ...]]
    tokenizer: Any
    judge: ScoringJudge
    most: int

    def answers(self, model: Any, places: Sequence[int], seed: int, temperature: float) -> list[tuple[int, Segmented]]:
        """Return an answer to the question at each of these places."""
        end, found = self.tokenizer.eos_token_id, []
        for part in slices(len(places), _AT_ONCE):
            prompts = [self.prompts[at] for at in places[part]]
            draws = seed * 1_000_003 + part.start
            found += sample(model, prompts, ending=end, most=self.most, seed=draws, temperature=temperature)
        return [(at, segment(self.tokenizer, example)) for at, example in zip(places, found, strict=True)]

    def labelled(self, answers: Answers, judge: ScoringJudge | None = None) -> list[Judged]:
        """Return the answers with the labels of a judge, by default the own one."""
        by = judge or self.judge
        rows = [judge_labels(by, answer.sentences, self.sources[at].materials) for at, answer in answers]
        return [judged(answer, labels) for (_, answer), labels in zip(answers, rows, strict=True)]


def questions(sources: Sequence[Source], tokenizer: Any, judge: ScoringJudge, plan: Plan) -> Questions:
    """Return those of the sources whose prompts a writer can read.

    Raises:
        TrainingError: none is left.
    """
    prompts = [rendered(prompt(source), tokenizer) for source in sources]
    encoded = [tuple(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in prompts]
    kept = [pair for pair in zip(sources, encoded, strict=True) if len(pair[1]) <= plan.longest]
    if not kept:
        raise TrainingError(f"none of the {len(sources)} questions has a prompt of at most {plan.longest} tokens")
    known, ids = zip(*kept, strict=True)
    return Questions(known, ids, tokenizer, judge, plan.ppo.most_tokens)


def reinforce(
    writer: Any,
    asked: Questions,
    tests: Questions,
    plan: Plan,
    folder: Path,
    *,
    others: Sequence[ScoringJudge] = (),
    say: Callable[[str], object] = lambda _: None,
) -> tuple[Any, dict[str, float]]:
    """Optimise a writer.

    Args:
        writer: the tuned model.
        asked: questions that are trained on.
        tests: questions on which it is measured before and after.
        plan: how.
        folder: gets checkpoints and curves of ``reward-model`` and ``ppo``, ``figures.json``, and the tests' answers as
            ``answers-before.jsonl`` and ``answers-after.jsonl``; a killed run goes on from its checkpoints.
        others: judges that measure too.
        say: receives progress messages.

    Returns:
        The writer, with its LoRA, and figures by name: ``ranking`` of the reward model on questions it has not seen,
        and ``before`` or ``after``, the judge's name and the measure joined by a blank: ``by_query`` and
        ``by_sentence`` are shares in [0, 1] as in Table 5, ``words`` a mean.

    Raises:
        TrainingError: the judge gives one label only, or a loss is not a number.
    """
    places = list(range(len(asked.prompts)))
    learnt = [at for at in places if at % _EVERY] or places
    held = [at for at in places if not at % _EVERY]
    figures = _measured(writer, tests, others, folder, "before")
    say(f"before: {figures}")
    rewarder = _rewarder(writer, asked, learnt, plan, folder / "reward-model")
    figures["ranking"] = ranking(rewarder, asked.labelled(asked.answers(writer, held * plan.samples, 2, 1.0)))
    say(f"the reward model ranks {figures['ranking']:.3f}")
    policy = with_lora(writer, plan.lora, plan.ppo.seed) if plan.lora else writer
    rewards = _rewards(rewarder)
    own = asked.answers(writer, places, 3, 1.0)
    baseline = [_mean(row) for part in slices(len(own), _AT_ONCE) for row in rewards(own[part])[0]]

    def watch(answers: Answers) -> float:
        return _shares(asked.labelled(answers))["by_sentence"]

    tokenizer, place = asked.tokenizer, folder / "ppo"
    curve = optimise(policy, tokenizer, asked.prompts, rewards, plan.ppo, baseline=baseline, watch=watch, folder=place)
    figures |= {"rounds": float(len(curve)), "kl": curve[-1]["kl"] if curve else 0.0}
    figures |= _measured(policy, tests, others, folder, "after")
    (folder / "figures.json").write_text(json.dumps(figures, indent=1), encoding="utf-8")
    say(f"after: {figures}")
    return policy, figures


def _rewarder(writer: Any, asked: Questions, places: Sequence[int], plan: Plan, folder: Path) -> RewardModel:
    """Return a reward model of answers that the judge labelled."""
    rewarder = RewardModel(writer, plan.cell, asked.tokenizer.eos_token_id)
    data = asked.labelled(asked.answers(writer, list(places) * plan.samples, 1, 1.0))
    steps = max(1, plan.passes * len(data) // min(plan.reward_model.batch, len(data)))
    train_reward_model(rewarder, data, replace(plan.reward_model, steps=steps, seed=plan.ppo.seed), folder)
    return rewarder


def _rewards(rewarder: RewardModel) -> Rewards:
    def rewards(answers: Answers) -> tuple[list[list[float]], list[tuple[int, ...]]]:
        own = [answer for _, answer in answers]
        return rewarder.rewards(own), [rewarder.segments(answer) for answer in own]

    return rewards


def _measured(
    model: Any, tests: Questions, others: Sequence[ScoringJudge], folder: Path, when: str
) -> dict[str, float]:
    """Return the tests' answers, written to the folder, and their measures by each judge."""
    answers = tests.answers(model, range(len(tests.prompts)), 0, 0.0)
    rows = {judge.name: tests.labelled(answers, judge) for judge in (tests.judge, *others)}
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"answers-{when}.jsonl").open("w", encoding="utf-8") as file:
        for number, (at, answer) in enumerate(answers):
            labels = {name: [sentence[0] for sentence in own[number].labels] for name, own in rows.items()}
            row = {"question": tests.sources[at].question, "sentences": answer.sentences, "labels": labels}
            text = tests.tokenizer.decode(answer.example.response, skip_special_tokens=True)
            file.write(json.dumps({**row, "text": text}, ensure_ascii=False) + "\n")
    found = {f"{when} {name} {key}": value for name, own in rows.items() for key, value in _shares(own).items()}
    return {**found, f"{when} words": _mean([len(" ".join(answer.sentences).split()) for _, answer in answers])}


def _shares(answers: Sequence[Judged]) -> Mapping[str, float]:
    """Return the shares of factual answers, and of supported ones among all sentences."""
    labels = [sentence[0] for answer in answers for sentence in answer.labels]
    return {"by_query": _mean([float(answer.factual) for answer in answers]), "by_sentence": _mean(labels)}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
