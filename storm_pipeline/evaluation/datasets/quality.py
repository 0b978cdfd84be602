"""How good an article is: Lift Wing's articlequality model, and a stand-in by features when the service is away.

The paper used ORES, whose model lives on in Lift Wing as ``<wiki>-articlequality``. It is asked about one revision.
"""

import math
from dataclasses import dataclass
from typing import Any

from storm_pipeline.errors import SearchError
from storm_pipeline.evaluation.datasets.answers import Answers
from storm_pipeline.evaluation.datasets.wiki_page import Features
from storm_pipeline.evaluation.datasets.wikimedia import KEY_VARIABLE, Wikimedia

GOOD = frozenset({"FA", "GA", "A", "B"})
"""Grades of the paper's articles: B-class or better."""

STAND_IN = "features-1 (stand-in)"
"""The judge's name where Lift Wing did not judge; its grades are ``B`` for B or better, and ``C`` for the rest."""

# 95th percentiles of English articles, as the language-agnostic model of Wikimedia scales the same features.
_LONG, _REFERENCED, _DIVIDED = 96.7, 0.507, 0.155
_LEAST, _SHORTEST = 0.7, 0.5


@dataclass(frozen=True)
class Verdict:
    """A grade (FA, GA, B, C, Start, Stub) and who gave it."""

    grade: str
    judge: str

    @property
    def is_good(self) -> bool:
        """Whether it is B or better."""
        return self.grade in GOOD


class LiftWing:
    """Asks the model of one Wikipedia.

    Args:
        services: where to ask.
        answers: of this build.
    """

    def __init__(self, services: Wikimedia, answers: Answers) -> None:
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

    def judge(self, revision: int) -> Verdict:
        """The grade of a revision.

        Raises:
            SearchError: the service could not be asked, or not about this revision.
        """
        answer = self._answers.get(
            ["lift-wing", self._model, revision],
            lambda: self._scored(self._client.post_json({"rev_id": revision}, f"/{self._model}:predict"), revision),
        )
        return Verdict(str(answer["grade"]), f"lift-wing {self._model} {answer['version']}")

    def _scored(self, answer: Any, revision: int) -> dict[str, str]:
        try:
            wiki = answer[self._database]
            grade = wiki["scores"][str(revision)]["articlequality"]["score"]["prediction"]
            return {"grade": str(grade), "version": str(wiki["models"]["articlequality"]["version"])}
        except (LookupError, TypeError) as error:
            raise SearchError("Lift Wing answered in an unknown form; check its address or upgrade") from error


def by_features(page: Features) -> Verdict:
    """The stand-in: B or better for long, well referenced and divided articles without a banner of complaint.

    Length (root of its characters), references and headings a root of a character are each taken as a share of what one
    article in twenty exceeds; half the length, a third of the references and a sixth of the headings make up the score,
    and 0.7 of 1 is enough if the length has half of its share. Coarse, and chosen, not trained: of the published
    FreshWiki topics, all of which ORES held to be B or better, 31 of 31 pass; of WikiGenBench's articles, whose grades
    are unknown and whose references count only as far as they could be fetched, 20 of 85.
    """
    root = math.sqrt(max(page.characters, 1))
    length = min(1.0, root / _LONG)
    referenced = min(1.0, page.references / root / _REFERENCED)
    divided = min(1.0, page.headings / root / _DIVIDED)
    score = length / 2 + referenced / 3 + divided / 6
    is_good = score >= _LEAST and length >= _SHORTEST and not page.has_banner
    return Verdict("B" if is_good else "C", STAND_IN)
