"""Published sentences with evidence and labels: WiCE (Kamoi et al. 2023), AttributionBench (Li et al. 2024)."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from storm_bench.datasets.dataset import file_bytes

_ATTRIBUTION_BENCH = "attributionbench_dev.jsonl.gz"

Label = Literal["supported", "partly", "not"]


@dataclass(frozen=True)
class LabelledSentence:
    """A sentence, the texts that it cites, whether they support it, and the topic whose sentences are correlated."""

    text: str
    sources: tuple[str, ...]  # none is empty
    label: Label
    topic: str  # title of the article, or the question


def read_wice(folder: Path, file: str = "wice_claim_dev.jsonl.gz") -> tuple[LabelledSentence, ...]:
    """WiCE: sentences of Wikipedia and the pages that they cite. Raises OSError: the file is not there."""
    labels: dict[str, Label] = {"supported": "supported", "partially_supported": "partly", "not_supported": "not"}
    return tuple(
        LabelledSentence(row["claim"], ("\n".join(row["evidence"]),), labels[row["label"]], row["meta"]["claim_title"])
        for row in json_lines(folder / file)
    )


def read_attribution_bench(folder: Path, *, left_out: str = "ExpertQA") -> tuple[LabelledSentence, ...]:
    """AttributionBench: sentences of answers and their sources. Raises OSError: the file is not there.

    ``left_out``: the part that is not read; ExpertQA is a data set of its own.
    """
    rows = (row for row in json_lines(folder / _ATTRIBUTION_BENCH) if row["src_dataset"] != left_out)
    found = (
        LabelledSentence(
            row["claim"],
            tuple(text for text in row["references"] if text.strip()),
            "supported" if row["attribution_label"] == "attributable" else "not",
            row["question"],
        )
        for row in rows
    )
    return tuple(one for one in found if one.sources)


def json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a compressed file with one a line. Raises OSError: the file is not there."""
    yield from map(json.loads, file_bytes(path).splitlines())
