"""FoRAG's Tables 4, 5, 6 and 8 and Figure 2, and TunedRR's epochs, with intervals over seeds and the papers' orderings.

Departures from the paper: one world instead of two test sets; a row has the mean over seeds and half the width of its
95 % interval (Student's t), which the paper does not give. The paper's numbers are shown beside them
(:mod:`.published`).
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from storm_training import published
from storm_training.files import rows_of, undamaged
from storm_training.laboratory import Row, Seed, prepare
from storm_training.languages import SHARES, bilingual
from storm_training.reward_model import CELLS, LEVELS, Cell
from storm_training.settings import RunSettings
from storm_training.world import Style

_MEASURES = ("coherence", "helpfulness", "by_query", "by_sentence", "length")
_T = {2: 12.71, 3: 4.303, 4: 3.182, 5: 2.776, 6: 2.571, 7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}
"""Student's t at 97.5 % by number of seeds."""
EPOCHS = (1, 5, 10)
"""Passes of TunedRR (WikiGenBench, second version, Figure 2)."""
Group = Mapping[tuple[str, str], Sequence[Row]]
"""(style, model) → its rows, one a seed."""


def make(
    settings: RunSettings,
    folder: Path,
    say: Callable[[str], None],
    seeds: Sequence[int] = (),
    models: Sequence[str] = (),
) -> str:
    """Train and measure what is not in the folder yet, and write ``tables.md``; its text.

    Args:
        settings: of the run; those of a folder do not change.
        folder: gets ``results.jsonl``, ``tables.md``, and checkpoints and curves of all stages.
        say: receives a message on each row.
        seeds: those to be trained now, so that several processes share the work; none means all of the settings.
        models: names of those to be trained now; none means all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    wanted: dict[Style, dict[str, Any]] = {
        "outlined": {"cells": CELLS, "baselines": True},
        "unplanned": {"cells": (), "baselines": False},
        "original": {"cells": (Cell("subclaim"),), "baselines": False, "epochs": EPOCHS},
    }
    found: dict[tuple[int, str, str], Callable[[], Row]] = {}
    for style, kinds in wanted.items():
        laboratory = cache(partial(prepare, settings, folder, style))
        for seed in seeds or range(settings.seeds):
            rows = Seed(settings, laboratory, seed).models(**kinds)
            found |= {(seed, style, name): trained for name, trained in rows.items()}
    for seed in seeds or range(settings.seeds):
        found |= {(seed, "bilingual", ratio): partial(bilingual, settings, folder, ratio, seed) for ratio in SHARES}
    for (seed, kind, name), trained in found.items():
        if name in (models or [name]) and not _has(folder, seed, kind, name):
            _add(folder, trained())
            say(f"seed {seed}, {kind}, {name}")
    with undamaged(folder / "results.jsonl"):
        text = tables(read(folder))
    (folder / "tables.md").write_text(text, encoding="utf-8")
    return text


def read(folder: Path) -> list[Row]:
    """Return the rows of a run so far. Raises TrainingError: they cannot be read."""
    path = folder / "results.jsonl"
    with undamaged(path):
        return list(rows_of(str(path))) if path.exists() else []


def _has(folder: Path, seed: int, style: str, name: str) -> bool:
    with undamaged(folder / "results.jsonl"):
        return any((row["seed"], row["style"], row["model"]) == (seed, style, name) for row in read(folder))


def _add(folder: Path, row: Row) -> None:
    with (folder / "results.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def tables(rows: Sequence[Row]) -> str:
    """Return the tables in Markdown, and which of the paper's orderings hold."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in sorted(rows, key=lambda row: float(row["seed"])):
        groups.setdefault((str(row["style"]), str(row["model"])), []).append(row)
    five = [("outlined", name) for name in ("-", "unlikelihood", "filtering", *(cell.name for cell in CELLS))]
    five += [("outlined", f"true {level}") for level in LEVELS]
    taught = [("original", "-"), *(("original", f"{count} epochs") for count in EPOCHS)]
    four = [("original", "-"), ("original", "subclaim"), ("outlined", "-"), ("outlined", "subclaim")]
    parts = [
        _table("Table 4: outline-enhanced answers and factuality optimisation", groups, four),
        _table("Table 5: ways of factuality optimisation", groups, five),
        _table("Table 6: the same answers without the outline stage", groups, [("unplanned", "-"), ("outlined", "-")]),
        _table("WikiGenBench, Figure 2: epochs over a few answers of a good teacher", groups, taught),
        _languages(groups),
        _rewarders(groups),
        _times(groups),
        _orderings(groups),
    ]
    return "\n\n".join(parts) + "\n"


def _table(title: str, groups: Group, keys: Sequence[tuple[str, str]]) -> str:
    head = "| answers | model | Cohr. | Help. | Fact/q. | Fact/s. | words | seeds | the paper's |\n" + "|---" * 9 + "|"
    lines = [
        f"| {style} | {name} | "
        + " | ".join(interval([float(row[measure]) for row in groups[style, name]]) for measure in _MEASURES)
        + f" | {len(groups[style, name])} | {_published(style, name)} |"
        for style, name in keys
        if (style, name) in groups
    ]
    return "\n".join([f"## {title}\n", head, *lines])


def _published(style: str, name: str) -> str:
    return ", ".join(f"{value:.3f}" for value in published.scores(style, name))


def interval(values: Sequence[float]) -> str:
    """Return the mean and half the width of the 95 % interval; the mean alone of a single value."""
    if len(values) < 2:
        return f"{mean(values):.3f}"
    return f"{mean(values):.3f} ± {_T.get(len(values), 1.96) * stdev(values) / math.sqrt(len(values)):.3f}"


_PAPER_SAYS = {"coherence": "rises", "helpfulness": "rises", "by_sentence": "stays"}


def _languages(groups: Group) -> str:
    """Figure 2: measures of both languages by the share of the second, and what the larger share adds to its own."""
    head = (
        "## Figure 2: share of the second language\n\n| second : first | first: Cohr. | Help. | Fact/s. "
        "| second: Cohr. | Help. | Fact/s. | seeds |\n" + "|---" * 8 + "|"
    )
    rows = {ratio: groups[("bilingual", ratio)] for ratio in SHARES if ("bilingual", ratio) in groups}
    names = [prefix + measure for prefix in ("", "second_") for measure in _PAPER_SAYS]
    lines = [
        f"| {ratio} | {' | '.join(interval([float(row[name]) for row in own]) for name in names)} | {len(own)} |"
        for ratio, own in rows.items()
    ]
    lines += ["\n| ten of eleven instead of one | first | second | the paper's |\n|---|---|---|---|"]
    least, most = rows.get("1:10", ()), rows.get("10:1", ())
    for measure, said in _PAPER_SAYS.items():
        first, second = _gaps(least, most, measure), _gaps(most, least, f"second_{measure}")
        if first:
            lines.append(f"| {measure} | {interval(first)} | {interval(second)} | {said} |")
    return "\n".join([head, *lines])


_CELLS = ("holistic", "sentence", "subclaim", "holistic+token", "sentence+token", "subclaim+token")


def _rewarders(groups: Group) -> str:
    """Return reward models' ranking of unseen segments of the tuned model and of the optimised one."""
    head = (
        "## Reward models\n\n| model | ranks segments of the tuned model | of the optimised one | KL | rounds |\n"
        "|---|---|---|---|---|"
    )
    lines = []
    for name in _CELLS:
        if found := groups.get(("outlined", name), ()):
            parts = (interval([float(row[key]) for row in found]) for key in ("ranking", "ranking_after", "kl"))
            lines.append(f"| {name} | {' | '.join(parts)} | {mean(float(row['iterations']) for row in found):.0f} |")
    return "\n".join([head, *lines])


def _times(groups: Group) -> str:
    """Table 8: seconds of processor time of reward model and RLHF, and what they are more than holistic rewards'."""
    head = (
        "## Table 8: processor time\n\n| model | RM, s | RLHF, s | total | over holistic | the paper's |\n"
        "|---|---|---|---|---|---|"
    )
    spent = {name: _seconds(groups["outlined", name]) for name in _CELLS if ("outlined", name) in groups}
    lines = []
    for name, (model, rl) in spent.items():
        least = sum(spent.get(published.holistic(name), ()))
        more = f"{(model + rl) / least - 1:+.1%}" if least else "–"
        lines.append(
            f"| {name} | {model:.1f} | {rl:.1f} | {model + rl:.1f} | {more} | {published.extra_time(name):+.1%} |"
        )
    return "\n".join([head, *lines])


def _seconds(rows: Sequence[Row]) -> tuple[float, float]:
    """Return columns of a reward model and of its PPO."""
    return mean(float(row["reward_model_seconds"]) for row in rows), mean(float(row["rl_seconds"]) for row in rows)


_ORDERS = (
    ("subclaim ≥ sentence (sequence)", "by_sentence", ("outlined", "subclaim"), ("outlined", "sentence")),
    ("sentence ≥ holistic (sequence)", "by_sentence", ("outlined", "sentence"), ("outlined", "holistic")),
    ("subclaim ≥ sentence (token)", "by_sentence", ("outlined", "subclaim+token"), ("outlined", "sentence+token")),
    ("sentence ≥ holistic (token)", "by_sentence", ("outlined", "sentence+token"), ("outlined", "holistic+token")),
    ("sequence ≥ token (subclaim)", "by_sentence", ("outlined", "subclaim"), ("outlined", "subclaim+token")),
    ("RLHF, subclaim ≥ unlikelihood", "by_sentence", ("outlined", "subclaim"), ("outlined", "unlikelihood")),
    ("unlikelihood ≥ filtering", "by_sentence", ("outlined", "unlikelihood"), ("outlined", "filtering")),
    ("RLHF, subclaim ≥ tuned", "by_query", ("outlined", "subclaim"), ("outlined", "-")),
    ("subclaim ≥ sentence (true labels)", "by_sentence", ("outlined", "true subclaim"), ("outlined", "true sentence")),
    ("sentence ≥ holistic (true labels)", "by_sentence", ("outlined", "true sentence"), ("outlined", "true holistic")),
    ("RLHF (true labels) ≥ unlikelihood", "by_sentence", ("outlined", "true subclaim"), ("outlined", "unlikelihood")),
    ("RLHF (true labels) ≥ filtering", "by_sentence", ("outlined", "true subclaim"), ("outlined", "filtering")),
    ("RLHF (true labels) ≥ tuned", "by_query", ("outlined", "true subclaim"), ("outlined", "-")),
    ("original: RLHF, subclaim ≥ tuned", "by_query", ("original", "subclaim"), ("original", "-")),
    ("outlined ≥ original, coherence", "coherence", ("outlined", "-"), ("original", "-")),
    ("outlined ≥ original, helpfulness", "helpfulness", ("outlined", "-"), ("original", "-")),
    ("outlined ≥ unplanned, coherence", "coherence", ("outlined", "-"), ("unplanned", "-")),
    ("outlined ≥ unplanned, helpfulness", "helpfulness", ("outlined", "-"), ("unplanned", "-")),
)
"""An ordering of the paper: its measure, and the model that is better or as good, then the other one."""


def _orderings(groups: Group) -> str:
    head = (
        "## The paper's orderings\n\n| ordering | measure | mean difference over seeds | the paper's | "
        "seeds in which it holds |\n|---|---|---|---|---|"
    )
    lines = []
    for name, measure, better, other in _ORDERS:
        if gaps := _gaps(groups.get(better, ()), groups.get(other, ()), measure):
            theirs = published.score(*better, measure) - published.score(*other, measure)
            held = f"{sum(gap >= 0 for gap in gaps)} of {len(gaps)}"
            lines.append(f"| {name} | {measure} | {interval(gaps)} | {theirs:+.3f} | {held} |")
    return "\n".join([head, *lines])


def _gaps(better: Sequence[Row], other: Sequence[Row], measure: str) -> list[float]:
    """Return the difference of a measure between two models, for each seed that has both."""
    known = {row["seed"]: float(row[measure]) for row in other}
    return [float(row[measure]) - known[row["seed"]] for row in better if row["seed"] in known]
