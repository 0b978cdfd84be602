"""Reads DeepScholar-Bench: recent papers whose related work is to be written, and the works that theirs cite.

The folder, or its ``dataset/`` as in the authors' repository, contains ``papers_with_related_works.csv`` (arxiv_id,
title, abstract, the human section as LaTeX), ``citations.csv`` or, with what was found of the others later,
``recovered_citations.csv`` (parent paper, cited title, abstract and address), each perhaps as ``.csv.gz``; and the
nuggets of the human sections, as ``nuggets/ID.json`` or in ``gt_nuggets_outputs/**/res.json``.
"""

import csv
import io
import re
import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from storm_bench.datasets.dataset import DataSet, file_bytes, not_such, read_model
from storm_bench.folders import without_links
from storm_bench.types import HumanArticle, HumanSection, Topic, TopicDocument
from storm_pipeline import DatasetError
from storm_pipeline.api import plain_text, web_address

NAME = "deepscholar"
_PAPERS, _CITATIONS = "papers_with_related_works.csv", ("recovered_citations.csv", "citations.csv")
_LARGEST_FIELD = 10_000_000
_HEADING = re.compile(r"\\(?P<sub>(?:sub)*)(?:section|paragraph)\*?\s*\{(?P<title>[^{}]*)\}\.?")
_COMMENT = re.compile(r"(?<!\\)%.*")
_CITED = re.compile(
    r"(?<![~\s])[~\s]*\\(?:(?=[a-zA-Z]*cite)[a-zA-Z]++|label|ref|autoref|cref)\*?(?:\[[^\]]{0,500}\])*\{[^{}]*\}"
)
_BRACE = re.compile(r"\\[a-zA-Z]+\*?\s*\{|[{}]")
_COMMAND = re.compile(r"\\[a-zA-Z]+\*?|[{}$]")
_ESCAPED = re.compile(r"\\([%&#_$])")


class _Nugget(BaseModel):
    text: str
    importance: Literal["vital", "okay"] = "okay"


class _Nuggets(BaseModel):
    qid: str
    nuggets: list[_Nugget]


Row = Mapping[str, str]


def read_deepscholar(folder: Path) -> DataSet:
    """Read the papers of a folder, ordered by arXiv id.

    A topic is a paper: its title, and its abstract as ``about``. ``documents`` are the works that it cites of which an
    abstract or an excerpt is known; search over all topics' documents (``corpus = "pooled"``), so that those of others
    distract. ``human.references`` has all citations, ``human.statements`` the nuggets, vital ones first. Raises
    DatasetError: the folder is not such a data set, or a file is damaged.
    """
    folder = without_links(folder)
    base = next((own for own in (folder, folder / "dataset") if _file(own, _PAPERS)), None)
    found = base and next(filter(None, (_file(base, name) for name in _CITATIONS)), None)
    if base is None or found is None:
        raise DatasetError(not_such(folder, NAME, f"it has no {_PAPERS if base is None else _CITATIONS[1]}"))
    cited = defaultdict(list)
    for row in _rows(found, "parent_paper_arxiv_id", "cited_paper_title"):
        cited[row["parent_paper_arxiv_id"]].append(row)
    files = sorted([*base.glob("nuggets/*.json"), *base.rglob("res.json")])
    nuggets = {read.qid: read.nuggets for read in (read_model(file, _Nuggets) for file in files)}
    topics, problems = [], []
    for row in _rows(_file(base, _PAPERS) or base, "arxiv_id", "title", "abstract"):
        name = row["arxiv_id"]
        if not row.get("clean_latex_related_works", "").strip() or name not in nuggets:
            problems.append(f"skipped: {name} has no related work, or no nuggets")
            continue
        try:
            topics.append(_topic(row, cited[name], nuggets[name]))
        except DatasetError as error:
            problems.append(f"skipped: {error}")
    if not topics:
        raise DatasetError(f"{folder} holds no readable paper: {problems[0] if problems else 'it is empty'}")
    return DataSet(NAME, tuple(sorted(topics, key=lambda topic: topic.id)), tuple(problems))


def sections_of_latex(text: str) -> tuple[str, tuple[HumanSection, ...]]:
    """Return plain text before the first heading, and one level of sections, without commands and citations."""
    text = _COMMENT.sub("", text)
    marks = list(_HEADING.finditer(text))
    ends = [*(mark.start() for mark in marks), len(text)]
    parts = [
        HumanSection(_plain(mark["title"]), _plain(text[mark.end() : end]))
        for mark, end in zip(marks, ends[1:], strict=True)
    ]
    return _plain(text[: ends[0]]), tuple(part for part in parts if part.heading)


def _plain(latex: str) -> str:
    text = _ESCAPED.sub(r"\1", _CITED.sub("", latex).replace("~", " "))
    return plain_text(_COMMAND.sub(" ", _unstyled(text)))


def _unstyled(text: str) -> str:
    r"""Return the text with what commands such as ``\emph`` hold in their place."""
    pieces: list[str] = []
    opened: list[int | None] = []  # places of commands in the pieces; None: a brace without one
    end = 0
    for mark in _BRACE.finditer(text):
        pieces += (text[end : mark.start()], mark[0])
        end = mark.end()
        if mark[0] != "}":
            opened.append(None if mark[0] == "{" else len(pieces) - 1)
        elif opened and (place := opened.pop()) is not None:
            pieces[place] = pieces[-1] = ""
    return "".join((*pieces, text[end:]))


def _topic(paper: Row, cited: Sequence[Row], nuggets: Sequence[_Nugget]) -> Topic:
    title = plain_text(paper["title"])
    lead, sections = sections_of_latex(paper["clean_latex_related_works"])
    works = tuple({work.title.casefold(): work for work in map(_work, cited) if work.title}.values())
    ranked = sorted(nuggets, key=lambda nugget: nugget.importance != "vital")
    human = HumanArticle(
        title,
        f"https://arxiv.org/abs/{paper['arxiv_id']}",
        lead,
        sections,
        works,
        statements=tuple(nugget.text for nugget in ranked),
    )
    documents = tuple(work for work in works if work.url and work.text)
    return Topic(paper["arxiv_id"], title, human, documents, about=plain_text(paper["abstract"]))


def _work(row: Row) -> TopicDocument:
    """Return a cited work: its abstract, else the excerpt that a search found later; addresses from arXiv first."""
    doi = row.get("bib_paper_doi", "").strip()
    addresses = (
        row.get("cited_paper_arxiv_link", ""),
        f"https://doi.org/{doi}" if doi else "",
        row.get("bib_paper_url", ""),
        row.get("search_res_url", ""),
    )
    text = row.get("cited_paper_abstract", "").strip() or row.get("search_res_content", "")
    url = next(filter(None, map(web_address, addresses)), "")
    return TopicDocument(url, plain_text(row["cited_paper_title"]), plain_text(text))


def _file(folder: Path, name: str) -> Path | None:
    return next((file for file in (folder / name, folder / f"{name}.gz") if file.is_file()), None)


def _rows(file: Path, *columns: str) -> list[Row]:
    """Return the rows of a CSV file, absent values as empty strings."""
    try:
        text = file_bytes(file).decode("utf-8")
        csv.field_size_limit(_LARGEST_FIELD)
        read = csv.DictReader(io.StringIO(text))
        rows: list[Row] = [{key: value or "" for key, value in row.items() if isinstance(key, str)} for row in read]
    except (OSError, EOFError, zlib.error, ValueError, csv.Error) as error:
        raise DatasetError(f"{file} is damaged ({error}): download it again") from error
    if missing := set(columns) - set(read.fieldnames or ()):
        raise DatasetError(f"{file} is damaged: it has no column {min(missing)}; download it again")
    return rows
