"""Plans the sections from what there is: groups of pages on one matter, each under the planned heading that fits it.

In the paper an outline is planned and then filled. A small model plans headings that nothing fills, so here the sources
make the groups, and the outline names them.
"""

import re
from collections.abc import Sequence

import faiss
import numpy as np
import numpy.typing as npt

from storm_pipeline.languages import stem_set
from storm_pipeline.references.facts import without_topic
from storm_pipeline.references.store import ReferenceStore
from storm_pipeline.references.subject import Subject
from storm_pipeline.text.index_terms import without_function_words
from storm_pipeline.types import Heading, Outline
from storm_pipeline.writers.small.kinds import KINDS
from storm_pipeline.writers.small.statements import Statement

Matrix = npt.NDArray[np.float32]
_PER_SECTION = 7
"""Statements per section that the number of sections is chosen for."""
_SEED = 7
_LONGEST = 5
"""Words of a heading that lists all parts of the subject at most."""
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
    """Groups of statements with provisional headings: parts of the subject, the most relevant others, kinds.

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
    kinds = _by_kind(statements, fewest)
    others = [one for one in statements if not any(one in own for own in kinds.values())]
    groups = _grouped(subject, others, store, max(1, most - len(kinds)), fewest) if others else []
    headings = _headings(subject, outline, groups, store)
    sections = list(zip(headings, groups, strict=True))
    return (*sections, *((Heading(kind), tuple(own)) for kind, own in kinds.items()))


def names_all(subject: Subject, heading: Heading, statements: Sequence[Statement]) -> bool:
    """Whether a provisional heading names all that a section is about: a kind of pages, or each part of the subject."""
    titles = {_bare(subject, one.fact.title) for one in statements}
    return heading.title in KINDS or (
        all(one.of_a_part for one in statements) and heading.title == _listed(sorted(titles))
    )


def _by_kind(statements: Sequence[Statement], fewest: int) -> dict[str, list[Statement]]:
    """Statements about places, people and works, where they fill a section and leave enough for another, or none."""
    found: dict[str, list[Statement]] = {}
    left = len(statements)
    for kind in KINDS:
        own = [one for one in statements if one.kind == kind]
        if len(own) >= fewest and (left - len(own) >= fewest or left == len(own)):
            found[kind] = own
            left -= len(own)
    return found


def _grouped(
    subject: Subject, statements: Sequence[Statement], store: ReferenceStore, most: int, fewest: int
) -> list[tuple[Statement, ...]]:
    """The statements by matter: those of the subject's parts first, if they fill a section, then by relevance."""
    parts = [one for one in statements if one.of_a_part or one.own]
    others = [one for one in statements if not (one.of_a_part or one.own)]
    if min(len(parts), len(others)) < fewest or most < 2:
        return _by_matter(subject, statements, store, most, fewest)
    room = max(1, min(most - 1, round(most * len(parts) / len(statements))))
    return [
        *_by_matter(subject, parts, store, room, fewest),
        *_by_matter(subject, others, store, most - room, fewest),
    ]


def _by_matter(
    subject: Subject, statements: Sequence[Statement], store: ReferenceStore, most: int, fewest: int
) -> list[tuple[Statement, ...]]:
    """Clusters of pages, the most relevant first."""
    vectors = _apart(subject, statements, store)
    pages = _by_page(statements)
    centres = np.stack([vectors[rows].mean(axis=0) for rows in pages])
    number = max(1, min(most, round(len(statements) / _PER_SECTION), len(pages)))
    groups = _large_enough(_clustered(centres, number), centres, [len(rows) for rows in pages], fewest)
    chosen = [tuple(statements[i] for page in group for i in pages[page]) for group in groups]
    return sorted(
        chosen, key=lambda group: -float(np.mean(sorted((one.relevance for one in group), reverse=True)[:fewest]))
    )


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
    free = {title for title in free if stem_set(title) - stem_set(subject.names[0])}
    found: list[Heading] = []
    for group in groups:
        parts = sorted({_bare(subject, one.fact.title) for one in group})
        if all(one.of_a_part for one in group) and len(listed := _listed(parts).split()) <= _LONGEST:
            found.append(Heading(" ".join(listed)))
            continue
        pages = list(dict.fromkeys(_bare(subject, one.fact.title) for one in group if not one.own))
        pages = pages or [_bare(subject, group[0].fact.title)]
        titles = [*pages, *sorted(free - set(pages))]
        vectors = store.embed([*titles, *(one.fact.in_context for one in group)])
        cosines = (vectors[: len(titles)] @ vectors[len(titles) :].T).mean(axis=1)
        fit = {title: float(cosine) for title, cosine in zip(titles, cosines, strict=True)}
        best = max(fit, key=lambda title: fit[title])
        central = sorted(pages, key=lambda title: -fit[title])[:2]
        found.append(Heading(best if best in free else " and ".join(central)))
        free.discard(best)
    return found


def _listed(titles: Sequence[str]) -> str:
    """Art, Music, Philosophy → ``Art, music and philosophy``."""
    first, *others = [title if i == 0 else title[:1].lower() + title[1:] for i, title in enumerate(titles)]
    return " and ".join([", ".join([first, *others[:-1]]), *others[-1:]])


def _bare(subject: Subject, title: str) -> str:
    """A title without the topic's words and without brackets, as a heading."""
    plain = _BRACKETS.sub("", title).strip() or title
    plain = without_function_words(without_topic(subject.topic, plain)) or plain
    return plain[:1].upper() + plain[1:]
