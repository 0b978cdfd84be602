"""Article quality: Lift Wing's articlequality model, and a feature-based fallback.

The paper used ORES, whose model is now ``<wiki>-articlequality`` in Lift Wing. It grades one revision.
"""

import math
from dataclasses import dataclass
from typing import Any

from storm_bench.datasets.wiki_page import Features
from storm_bench.datasets.wikimedia import KEY_VARIABLE, AnswerCache, Wikimedia
from storm_pipeline import SearchError

GOOD = frozenset({"FA", "GA", "A", "B"})
"""Grades accepted by the paper: B-class or better."""

STAND_IN = "features-1 (stand-in)"
"""Name of the fallback judge; its grades are ``B`` for B or better, else ``C``."""

# 95th percentiles of English articles, as the language-agnostic model of Wikimedia scales the same features.
_LONG, _REFERENCED, _DIVIDED = 96.7, 0.507, 0.155
_LEAST, _SHORTEST = 0.7, 0.5


@dataclass(frozen=True)
class QualityGrade:
    """A grade (FA, GA, B, C, Start, Stub) and its judge."""

    grade: str
    judge: str

    @property
    def is_good(self) -> bool:
        """Whether it is B or better."""
        return self.grade in GOOD


class LiftWing:
    """Client of one Wikipedia's model."""

    def __init__(self, services: Wikimedia, answers: AnswerCache) -> None:
        self._model = f"{services.database}-articlequality"
        self._database = services.database
        self._answers = answers
        refused = f"set {KEY_VARIABLE} to a personal token of api.wikimedia.org"
        self._client = services.client(
            "Lift Wing",
            services.lift_wing,
            {401: refused, 403: refused, 404: f"it has no model {self._model}"},
            token=services.token,
        )

    def judge(self, revision: int) -> QualityGrade:
        """Grade a revision. Raises SearchError: the request failed, or the model cannot grade this revision."""
        answer = self._answers.get(
            ["lift-wing", self._model, revision],
            lambda: self._scored(self._client.post_json({"rev_id": revision}, f"/{self._model}:predict"), revision),
        )
        return QualityGrade(str(answer["grade"]), f"lift-wing {self._model} {answer['version']}")

    def _scored(self, answer: Any, revision: int) -> dict[str, str]:
        try:
            wiki = answer[self._database]
            grade = wiki["scores"][str(revision)]["articlequality"]["score"]["prediction"]
            return {"grade": str(grade), "version": str(wiki["models"]["articlequality"]["version"])}
        except (LookupError, TypeError) as error:
            raise SearchError("Lift Wing returned an unexpected response; check its address or upgrade") from error


def by_features(page: Features) -> QualityGrade:
    """The fallback: grades long, well referenced, well structured articles without a cleanup banner as B.

    With r = sqrt(characters), the features r, references / r and headings / r are divided by their 95th percentiles and
    capped at 1. The score weights them 1/2, 1/3 and 1/6; an article is B with a score of at least 0.7 and a length
    feature of at least 0.5. The thresholds were chosen by hand: 31 of 31 published FreshWiki topics pass (ORES graded
    all B or better), and 20 of 85 WikiGenBench articles (grades unknown; only fetched references count).
    """
    root = math.sqrt(max(page.characters, 1))
    length = min(1.0, root / _LONG)
    referenced = min(1.0, page.references / root / _REFERENCED)
    divided = min(1.0, page.headings / root / _DIVIDED)
    score = length / 2 + referenced / 3 + divided / 6
    is_good = score >= _LEAST and length >= _SHORTEST and not page.has_banner
    return QualityGrade("B" if is_good else "C", STAND_IN)
