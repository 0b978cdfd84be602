"""Claims with the passages that they cite, and what experts say of the support: ExpertQA (Malaviya et al. 2024).

The experts of a question judged for each claim of an answer whether the evidence behind it supports it completely,
partially, incompletely (not enough to tell), or is missing. Only claims with evidence that holds text, and with a
label that says how far it carries, are kept: an address alone supports nothing that a judge can read.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storm_pipeline.errors import DatasetError
from storm_pipeline.references.citations import parse_cited
from storm_pipeline.text.words import tidy, word_count

_FILE = "rand_val.jsonl"
_LABELS = ("Complete", "Partial", "Incomplete")
_ADDRESS = re.compile(r"\A\s*(?:\[\d+\]\s*)?(?P<url>\S+)\s*")
_EMPHASIS = re.compile(r"\*\*")
_FEWEST_WORDS = 10
"""Evidence with fewer words than this is a title or an address, not a passage."""


@dataclass(frozen=True)
class Passage:
    """A piece of evidence: the page it stands on and its text."""

    url: str
    text: str


@dataclass(frozen=True)
class LabelledClaim:
    """A claim of an answer, its evidence, and the expert's label.

    Attributes:
        question: what was asked; claims of one question are not independent of each other.
        claim: the claim without citation markers.
        passages: its evidence, one or more.
        label: ``Complete``, ``Partial`` or ``Incomplete``.
    """

    question: str
    claim: str
    passages: tuple[Passage, ...]
    label: str

    @property
    def supported(self) -> bool:
        """Whether the expert holds the claim fully supported."""
        return self.label == "Complete"

    @property
    def evidence(self) -> str:
        """All passages as one text."""
        return "\n".join(passage.text for passage in self.passages)


def read_expertqa(folder: Path) -> tuple[LabelledClaim, ...]:
    """Read the labelled claims, in the order of the file.

    Args:
        folder: where ``rand_val.jsonl`` lies.

    Raises:
        DatasetError: the file is absent or has another form.
    """
    path = folder / _FILE
    try:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        found = tuple(claim for row in rows for claim in _claims(row))
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: put ExpertQA's {_FILE} there") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DatasetError(f"{path} is not ExpertQA's {_FILE} ({error}): fetch it anew") from error
    if not found:
        raise DatasetError(f"{path} holds no labelled claim with evidence: fetch it anew")
    return found


def _claims(row: dict[str, Any]) -> list[LabelledClaim]:
    found = []
    for answer in row["answers"].values():
        for claim in answer["claims"]:
            passages = tuple(p for text in claim["evidence"] if (p := _passage(text)) is not None)
            cited = parse_cited(_EMPHASIS.sub("", claim["claim_string"]), ())
            text = " ".join(sentence.text for sentence in cited.sentences)
            if claim["support"] in _LABELS and passages and text:
                found.append(LabelledClaim(row["question"], text, passages, claim["support"]))
    return found


def _passage(evidence: str) -> Passage | None:
    """Evidence is an address, a number in brackets before it, and the text of the page behind it."""
    opening = _ADDRESS.match(evidence)
    if opening is None:
        return None
    text = tidy(evidence[opening.end() :])
    return Passage(opening["url"], text) if word_count(text) >= _FEWEST_WORDS else None
