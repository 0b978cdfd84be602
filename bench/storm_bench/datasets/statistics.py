"""Statistics of a data set: Table 7 and the histograms of Figures 4 and 5 (STORM, appendix A)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from pydantic import BaseModel, ValidationError

from storm_bench.datasets.dataset import write_text
from storm_bench.types import HumanArticle, Topic
from storm_pipeline import DatasetError

FILE = "histories.jsonl"
"""File in a data set built with histories, one line per article; the original has no such file."""


@dataclass(frozen=True)
class EditHistory:
    """The edits of one article up to the data set's revision."""

    edits: int  # number of edits, >= 1
    # (edit number from 1, references after that edit) for a sample of edits, in order
    references: tuple[tuple[int, int], ...] = ()


class _Line(BaseModel):
    id: str
    edits: int
    references: list[tuple[int, int]] = []


def write_histories(folder: Path, histories: Mapping[str, EditHistory]) -> None:
    """Write topics' histories, keyed by topic id, into a data set. Raises DatasetError: they cannot be written."""
    lines = (
        json.dumps({"id": name, "edits": history.edits, "references": history.references}, ensure_ascii=False)
        for name, history in histories.items()
    )
    write_text(folder / FILE, "".join(f"{line}\n" for line in lines))


def read_histories(folder: Path) -> dict[str, EditHistory]:
    """Read a data set's histories by topic id; empty if it has none. Raises DatasetError: the file is damaged."""
    file = Path(folder).expanduser() / FILE
    if not file.is_file():
        return {}
    found = {}
    for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        try:
            read = _Line.model_validate_json(line)
        except ValidationError as error:
            raise DatasetError(f"{file} is damaged in line {number}; delete it or rebuild the data set") from error
        found[read.id] = EditHistory(read.edits, tuple(read.references))
    return found


@dataclass(frozen=True)
class ArticleSize:
    """The size of one article. Words are split at white space."""

    sections: int  # first-level headings
    headings: int  # headings of all levels
    section_words: tuple[int, ...]  # words of each section with text, including subsections; the lead counts as one
    words: int  # words of lead and sections, without headings
    references: int  # citations, including those without a URL


@dataclass(frozen=True)
class Table7:
    """Means over articles, as in Table 7; a section's words are the mean over all sections with text."""

    topics: int
    sections: float
    headings: float
    words_a_section: float
    words: float
    references: float


PAPER = Table7(100, 8.4, 15.8, 327.8, 2159.1, 90.1)
"""The paper's values for 100 FreshWiki articles. The paper does not define a section's length."""


@dataclass(frozen=True)
class Histogram:
    """``counts[i]`` values lie in ``[edges[i], edges[i + 1])``; the last bin includes its right edge."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]


def article_size(article: HumanArticle, *, back_matter: bool = False) -> ArticleSize:
    """The size of an article. ``back_matter``: whether to count back matter, as the paper's table does."""
    sections = article.sections + (article.back_matter if back_matter else ())
    words = [_words(article.lead), *(sum(_words(part.text) for part in section.walk()) for section in sections)]
    return ArticleSize(
        len(sections),
        sum(1 for section in sections for _ in section.walk()),
        tuple(count for count in words if count),
        sum(words),
        len(article.references),
    )


def table_7(topics: Sequence[Topic], *, back_matter: bool = True) -> Table7:
    """The means over topics.

    ``back_matter``: whether to count back matter; only then the paper's values are reproduced. Raises DatasetError:
    there are no topics, or none with text.
    """
    sizes = [article_size(topic.human, back_matter=back_matter) for topic in topics]
    lengths = [count for size in sizes for count in size.section_words]
    if not lengths:
        raise DatasetError("the data set has no topic with text; check its folder")
    return Table7(
        len(sizes),
        fmean(size.sections for size in sizes),
        fmean(size.headings for size in sizes),
        fmean(lengths),
        fmean(size.words for size in sizes),
        fmean(size.references for size in sizes),
    )


def histogram(values: Iterable[float], bins: int | Sequence[float] = 10) -> Histogram:
    """Histogram of words, sections or references of articles, or of edits as in Figure 5.

    ``bins``: number of equal-width bins, >= 1, or increasing bin edges. Raises DatasetError: there are no values.
    """
    import numpy as np

    data = list(values)
    if not data:
        raise DatasetError("no values for a histogram; for edits, build the data set with history_points above 0")
    counts, edges = np.histogram(data, bins=bins)
    return Histogram(tuple(map(float, edges)), tuple(map(int, counts)))


def edit_counts(histories: Iterable[EditHistory], bins: int | Sequence[float] = 10) -> Histogram:
    """Figure 5: number of edits per article. Raises DatasetError: there are no histories."""
    return histogram((history.edits for history in histories), bins)


def reference_evolution(histories: Iterable[EditHistory], points: int = 11) -> tuple[tuple[float, float], ...]:
    """Figure 4: growth of the number of references over an article's edits.

    Args:
        histories: histories without counted revisions are ignored.
        points: number of evenly spaced shares of edits from 0 to 1, >= 2.

    Returns:
        (share of edits, mean number of references), interpolated between counted revisions.

    Raises:
        DatasetError: no history has counted revisions.
    """
    import numpy as np

    counted = [history for history in histories if history.references and history.edits]
    if not counted:
        raise DatasetError("no edit history has counted references; build the data set with history_points above 0")
    shares = np.linspace(0.0, 1.0, points)
    grown = [
        np.interp(shares, [edit / history.edits for edit, _ in history.references], [n for _, n in history.references])
        for history in counted
    ]
    return tuple((float(share), float(mean)) for share, mean in zip(shares, np.mean(grown, axis=0), strict=True))


def _words(text: str) -> int:
    return len(text.split())
