"""The test samples of CONNER (Chen et al. 2023): Natural Questions and Wizard of Wikipedia, 500 rows each.

Each row has a topic (title of a Wikipedia page), a query, reference knowledge from that page, and the true answer. In
Wizard of Wikipedia the query is a dialogue whose turns are parted by ``[SEP]``; its last turn is what is answered.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from storm_pipeline import DatasetError
from storm_pipeline.api import tidy

Name = Literal["nq", "wow", "wow-unseen"]
_FILES: dict[Name, str] = {
    "nq": "nq/random_testset/nq_test_random_testset.txt",
    "wow": "wow/random_testset/seen_random_testset.txt",
    "wow-unseen": "wow/random_testset/unseen_random_testset.txt",
}
_VIEWS: dict[Name, str] = {
    "wow": "wow/random_testset/seen_topic_pageviews.txt",
    "wow-unseen": "wow/random_testset/unseen_topic_pageviews.txt",
}
_PUBLISHED = {"coherence_paragraph": "nq_ref_avg_coh_para", "perplexity": "nq_ref_avg_sent_ppl"}
_TURN = "[SEP]"


@dataclass(frozen=True)
class KnowledgeItem:
    """A row."""

    id: str  # data set and line, counted from 0
    topic: str  # title of the page that the reference stands on
    query: str  # the question, or the last turn of the dialogue
    reference: str  # knowledge that answers it; for Natural Questions sometimes a table or list on one line
    answer: str  # the true answer: a short span, or the next turn of the dialogue
    open_ended: bool  # whether the answer is a turn of a dialogue
    pageviews: int | None = None  # of the topic's page, 2015 to 2021; None where they are not published


def read_conner(folder: Path, name: Name) -> tuple[KnowledgeItem, ...]:
    """The rows of a data set, in the order of the file.

    ``folder``: where ``nq`` and ``wow`` lie. Raises DatasetError: a file is absent or has another form.
    """
    path = folder / _FILES[name]
    views = _pageviews(folder / _VIEWS[name]) if name in _VIEWS else ()
    found = []
    for number, line in enumerate(_lines(path)):
        parts = [tidy(part) for part in line.split("\t")]
        if len(parts) != 4 or not all(parts):
            raise DatasetError(f"{path}, line {number + 1}: not topic, query, knowledge and answer parted by tabs")
        topic, query, reference, answer = parts
        turn = query.rsplit(_TURN, 1)[-1].strip() or query
        seen = views[number] if views else None
        found.append(KnowledgeItem(f"{name}-{number}", topic, turn, reference, answer, name != "nq", seen))
    return tuple(found)


def published_scores(folder: Path, measure: Literal["coherence_paragraph", "perplexity"]) -> tuple[float | None, ...]:
    """What the authors' models give the reference knowledge of Natural Questions, in the order of the rows.

    ``coherence_paragraph`` is the raw score of Coherence-Momentum, ``perplexity`` the mean over sentences under
    GPT-neo-2.7B, each sentence's bounded by 100. None where the file has no number. Raises DatasetError: the file is
    absent or has another form.
    """
    path = folder / "nq" / "random_testset" / _PUBLISHED[measure]
    try:
        values = [float(value) for value in json.loads(_lines(path)[0])]
    except (ValueError, TypeError, IndexError) as error:
        raise DatasetError(f"{path} holds no list of numbers ({error}): fetch it anew") from error
    return tuple(value if math.isfinite(value) else None for value in values)


def _pageviews(path: Path) -> tuple[int, ...]:
    try:
        return tuple(int(line.split("\t")[1]) for line in _lines(path))
    except (ValueError, IndexError) as error:
        raise DatasetError(f"{path} is no list of topics and page views ({error}): fetch it anew") from error


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except OSError as error:
        raise DatasetError(f"{path} cannot be read: put the files of CONNER's emnlp_data there") from error
