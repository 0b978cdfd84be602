"""Adds up how pairs of answers were read: outlined and plain ones, by FoRAG's measures (Cai et al. 2024, section 6.1).

    python -m storm_benchmarks.answer_readings

Coherence and helpfulness are the shares of answers that got 4 or 5 of 5; factuality by query is the share of answers
without a sentence that their passages do not support, by sentence the share of sentences that they do support. An
answer that could not be written is ``null`` and counts in none of them.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from storm_benchmarks.answers import METHODS

READINGS = Path(__file__).with_suffix(".json")
_HEAD = (
    *("writer", "reader", "method", "answers", "coherence", "helpfulness", "fact/q", "fact/s", "words"),
    *("tokens in", "tokens out", "better"),
)
_GOOD = 4  # of 5: the least grade that counts


def table(readings: Sequence[dict[str, Any]]) -> str:
    """A row per reading and method, in Markdown; ``better`` counts the pairs in which it was the better answer."""
    rows = [_HEAD, ["---"] * len(_HEAD), *(_row(one, method) for one in readings for method in METHODS)]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)


def _row(reading: dict[str, Any], method: str) -> list[object]:
    pairs = reading["pairs"]
    own = [told for pair in pairs if (told := pair["AB"[pair["order"].index(method)]])]
    sentences, wrong = sum(one["sentences"] for one in own), sum(len(one["wrong"]) for one in own)
    better = sum(pair["better"] == "AB"[pair["order"].index(method)] for pair in pairs)
    return [
        *(reading["writer"], reading["reader"], method, len(own)),
        *(_share(one[name] >= _GOOD for one in own) for name in ("coherence", "helpfulness")),
        _share(not one["wrong"] for one in own),
        f"{1 - wrong / sentences:.2f}",
        _mean(pair["words"][method] for pair in pairs if method in pair["words"]),
        *(_mean(pair["tokens"][method][at] for pair in pairs if method in pair["tokens"]) for at in (0, 1)),
        better,
    ]


def _share(told: Iterable[bool]) -> str:
    told = list(told)
    return f"{sum(told) / len(told):.2f}"


def _mean(numbers: Iterable[int]) -> int:
    numbers = list(numbers)
    return round(sum(numbers) / len(numbers))


if __name__ == "__main__":
    print(table(json.loads(READINGS.read_text(encoding="utf-8"))))
