"""Plans the sections from what there is: groups of pages on one matter, each under the planned heading that fits it.

In the paper an outline is planned and then filled. A small model plans headings that nothing fills, so here the sources
make the groups, and the outline names them.
"""

import re
from collections.abc import Sequence

import faiss
import numpy as np
import numpy.typing as npt

from storm_pipeline.references.facts import without_topic
from storm_pipeline.references.store import ReferenceStore
from storm_pipeline.references.subject import Subject
from storm_pipeline.text.index_terms import without_function_words
from storm_pipeline.types import Heading, Outline
from storm_pipeline.writers.small.statements import Statement

Matrix = npt.NDArray[np.float32]
_PER_SECTION = 7
"""Statements per section that the number of sections is chosen for."""
_SEED = 7
_BRACKETS = re.compile(r"\s*\([^()]*\)")


def sections_of(
    subject: Subject,
    outline: Outline,
    statements: Sequence[Statement],
    store: ReferenceStore,
    *,
    most: int,
    fewest: int,
) -> tuple[tuple[Heading, tuple[Statement, ...]], ...]:
    """Groups of statements with provisional headings, the most relevant group first.

    Args:
        subject: of the article.
        outline: as planned; each of its headings is used once at most, the others are left out.
        statements: to be grouped.
        store: embeds them.
        most: maximum number of sections.
        fewest: minimum statements of a section; none is returned if there are not even as many statements.
    """
    if len(statements) < fewest:
        return ()
    vectors = _apart(subject, statements, store)
    pages = _by_page(statements)
    centres = np.stack([vectors[rows].mean(axis=0) for rows in pages])
    number = max(1, min(most, round(len(statements) / _PER_SECTION), len(pages)))
    groups = _large_enough(_clustered(centres, number), centres, [len(rows) for rows in pages], fewest)
    chosen = [tuple(statements[i] for page in group for i in pages[page]) for group in groups]
    chosen.sort(key=lambda group: -float(np.mean(sorted((one.relevance for one in group), reverse=True)[:fewest])))
    return tuple(zip(_headings(subject, outline, chosen, store), chosen, strict=True))


def _apart(subject: Subject, statements: Sequence[Statement], store: ReferenceStore) -> Matrix:
    """Unit vectors of the statements without what they share: their nearness to the subject."""
    vectors = store.embed([subject.described, *(one.fact.in_context for one in statements)])
    about, rows = vectors[0], vectors[1:]
    rest = rows - np.outer(rows @ about, about)
    return np.asarray(rest / np.maximum(np.linalg.norm(rest, axis=1, keepdims=True), 1e-6), dtype=np.float32)


def _by_page(statements: Sequence[Statement]) -> list[list[int]]:
    pages: dict[str, list[int]] = {}
    for i, one in enumerate(statements):
        pages.setdefault(one.fact.citation.source_id, []).append(i)
    return list(pages.values())


def _clustered(centres: Matrix, number: int) -> list[list[int]]:
    """Rows of the matrix in at most ``number`` clusters."""
    kmeans = faiss.Kmeans(
        centres.shape[1], number, niter=25, nredo=5, seed=_SEED, spherical=True, min_points_per_centroid=1
    )
    kmeans.train(centres)
    nearest = kmeans.index.search(centres, 1)[1][:, 0]
    return [rows for label in range(number) if (rows := [int(i) for i in np.flatnonzero(nearest == label)])]


def _large_enough(groups: list[list[int]], centres: Matrix, sizes: Sequence[int], fewest: int) -> list[list[int]]:
    """The groups, after the pages of groups with too few statements joined the nearest other group."""
    groups = [list(group) for group in groups]
    while len(groups) > 1:
        smallest = min(groups, key=lambda group: sum(sizes[page] for page in group))
        if sum(sizes[page] for page in smallest) >= fewest:
            break
        groups.remove(smallest)
        means = np.stack([centres[group].mean(axis=0) for group in groups])
        for page in smallest:
            groups[int(np.argmax(means @ centres[page]))].append(page)
    return groups


def _headings(
    subject: Subject, outline: Outline, groups: Sequence[Sequence[Statement]], store: ReferenceStore
) -> list[Heading]:
    """A heading for each group: a planned one that fits it best and is free, or else the titles of its best pages."""
    free = {_bare(subject, title) for section in outline.sections for title in section.titles()}
    found: list[Heading] = []
    for group in groups:
        pages = list(dict.fromkeys(_bare(subject, one.fact.title) for one in group))
        titles = [*pages, *sorted(free - set(pages))]
        vectors = store.embed([*titles, *(one.fact.in_context for one in group)])
        cosines = (vectors[: len(titles)] @ vectors[len(titles) :].T).mean(axis=1)
        fit = {title: float(cosine) for title, cosine in zip(titles, cosines, strict=True)}
        best = max(fit, key=lambda title: fit[title])
        central = sorted(pages, key=lambda title: -fit[title])[:2]
        found.append(Heading(best if best in free else " and ".join(central)))
        free.discard(best)
    return found


def _bare(subject: Subject, title: str) -> str:
    """A title without the topic's words and without brackets, as a heading."""
    plain = _BRACKETS.sub("", title).strip() or title
    plain = without_function_words(without_topic(subject.topic, plain)) or plain
    return plain[:1].upper() + plain[1:]
