"""Claims with cited passages and expert labels of support: ExpertQA (Malaviya et al. 2024).

Experts judged for each claim of an answer whether its evidence supports it completely, partially, incompletely
(undecidable), or is missing. Only claims with evidence text and one of the first three labels are kept: a judge cannot
read a bare URL.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storm_bench.datasets.dataset import file_bytes, read_isolated
from storm_bench.folders import without_links
from storm_pipeline import DatasetError, Snippet
from storm_pipeline.api import parse_cited, tidy, words

_FILE = "rand_val.jsonl"
_LABELS = ("Complete", "Partial", "Incomplete")
_ADDRESS = re.compile(r"\A\s*(?:\[\d+\]\s*)?(?P<url>\S+)\s*")
_EMPHASIS = re.compile(r"\*\*")
_FEWEST_WORDS = 10  # minimum words of a passage; shorter evidence is a title or a URL


@dataclass(frozen=True)
class LabelledClaim:
    """A claim of an answer with its evidence and the expert's label."""

    question: str  # the question; claims of one question are correlated
    claim: str  # the claim without citation markers
    passages: tuple[Snippet, ...]  # its evidence, one or more, without titles
    supported: bool  # whether the expert judged it fully supported


def read_expertqa(folder: Path) -> tuple[LabelledClaim, ...]:
    """Read the labelled claims, in file order. Raises DatasetError: the file is absent or has an unexpected format."""
    path = without_links(folder) / _FILE
    if found := tuple(read_isolated(path, _every_claim)):
        return found
    raise DatasetError(f"{path} holds no labelled claim with evidence: download it again")


def _every_claim(path: str) -> Iterator[LabelledClaim]:
    try:
        for line in filter(bytes.strip, file_bytes(Path(path)).splitlines()):
            yield from _claims(json.loads(line))
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: put ExpertQA's {_FILE} there") from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise DatasetError(f"{path} is not ExpertQA's {_FILE} ({error}): download it again") from error


def _claims(row: dict[str, Any]) -> list[LabelledClaim]:
    found = []
    for answer in row["answers"].values():
        for claim in answer["claims"]:
            passages = tuple(p for text in claim["evidence"] if (p := _passage(text)) is not None)
            cited = parse_cited(_EMPHASIS.sub("", claim["claim_string"]), ())
            text = " ".join(sentence.text for sentence in cited.sentences)
            if claim["support"] in _LABELS and passages and text:
                found.append(LabelledClaim(row["question"], text, passages, claim["support"] == "Complete"))
    return found


def _passage(evidence: str) -> Snippet | None:
    """Parse evidence of the form ``[n] URL text``; None if the text is too short."""
    opening = _ADDRESS.match(evidence)
    if opening is None:
        return None
    text = tidy(evidence[opening.end() :])
    return Snippet(opening["url"], "", text) if len(words(text)) >= _FEWEST_WORDS else None
