"""Adds up how articles of the embedded writer were read; a reading numbers all its sentences from 1, topic by topic."""

import json
from itertools import combinations
from pathlib import Path
from typing import Any

READINGS = Path(__file__).with_suffix(".json")
_LABELS = ("off", "wrong", "reversed", "leans", "out_of_place")
_HEAD = ("seed", "commit", "reading", "sentences", "off", "of them narrow", *_LABELS[1:], "interest", "organisation")


def table(readings: list[dict[str, Any]]) -> str:
    """A row per reading, in Markdown; below it the agreement of readings of the same articles on what is off."""
    rows = [_HEAD, ["---"] * len(_HEAD), *map(_row, readings)]
    lines = [f"| {' | '.join(map(str, row))} |".replace("_", " ") for row in rows]
    for a, b in combinations(readings, 2):
        if (a["seed"], a["commit"]) == (b["seed"], b["commit"]):
            total = sum(a["sentences"].values())
            same = total - len(set(a["off"]) ^ set(b["off"]))
            lines.append(f"\nSeed {a['seed']}: the readings agree on {same} of {total} sentences ({same / total:.1%}).")
    return "\n".join(lines)


def _row(one: dict[str, Any]) -> list[object]:
    topics = [topic for topic, number in one["sentences"].items() for _ in range(number)]
    narrow = sum(topics[number - 1] in one["narrow"] for number in one["off"])
    off, *counts = (len(one[label]) for label in _LABELS)
    scores = [one[name].values() for name in _HEAD[-2:]]
    means = [f"{sum(own) / len(own):.2f}" if own else "–" for own in scores]
    share = f"{off} ({off / len(topics):.1%})"
    return [one["seed"], one["commit"], one["reading"], len(topics), share, narrow, *counts, *means]


if __name__ == "__main__":
    print(table(json.loads(READINGS.read_text(encoding="utf-8"))))
