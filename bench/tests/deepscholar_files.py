"""A small data set in the form in which DeepScholar-Bench is published: two papers, their citations, their nuggets."""

import csv
import gzip
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

Rows = Sequence[Mapping[str, str]]
PAPERS = [
    {
        "arxiv_id": "2506.00002v1",
        "title": "Routing of\n  Caravans",
        "abstract": "We route\ncaravans.",
        "clean_latex_related_works": "Before all.\n\\subsection{Roads \\& maps}\n"
        "Roads\\cite{a, b} were \\textbf{mapped \\emph{twice}}.% no\n",
    },
    {
        "arxiv_id": "2505.00001v2",
        "title": "Weaving Silk",
        "abstract": "We weave silk.",
        "clean_latex_related_works": "Looms~\\citep[see][]{c} weave 10\\% faster.",
    },
]
CITATIONS = [
    {
        "parent_paper_arxiv_id": "2506.00002v1",
        "cited_paper_title": "Maps of Roads",
        "cited_paper_arxiv_link": "http://arxiv.org/abs/2001.00001v3",
        "cited_paper_abstract": "We map all roads between the towns of the desert by riding along them twice.",
    },
    {
        "parent_paper_arxiv_id": "2506.00002v1",
        "cited_paper_title": "Paths of Camels",
        "bib_paper_doi": "10.1000/camels",
        "search_res_url": "https://camels.example/paths",
        "search_res_content": "Camels follow paths that they remember from earlier journeys through the desert.",
    },
    {"parent_paper_arxiv_id": "2506.00002v1", "cited_paper_title": "A Book Without Text"},
    {
        "parent_paper_arxiv_id": "2505.00001v2",
        "cited_paper_title": "Looms that Learn",
        "cited_paper_arxiv_link": "http://arxiv.org/abs/2002.00002v1",
        "cited_paper_abstract": "We present a loom that learns to weave silk from patterns that were drawn by hand.",
    },
]
NUGGETS = {
    "2506.00002v1": [("Camels remember paths", "okay"), ("Roads have been mapped twice", "vital")],
    "2505.00001v2": [("A loom learns to weave", "vital")],
}


def table(rows: Rows) -> bytes:
    """Rows as CSV."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def write_deepscholar(
    folder: Path, *, papers: Rows = PAPERS, citations: Rows = CITATIONS, packed: bool = False
) -> Path:
    """The data set as in the authors' repository; if packed, gzip files without that folder, nuggets by paper."""
    base = folder if packed else folder / "dataset"
    base.mkdir(parents=True)
    tables = {"papers_with_related_works.csv": papers, "recovered_citations.csv": citations}
    for name, rows in tables.items():
        (base / f"{name}.gz").write_bytes(gzip.compress(table(rows))) if packed else (base / name).write_bytes(
            table(rows)
        )
    for number, (qid, own) in enumerate(NUGGETS.items()):
        file = base / f"nuggets/{qid}.json" if packed else base / f"gt_nuggets_outputs/{number}/7/res.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        told = [{"text": text, "importance": importance, "assignment": "support"} for text, importance in own]
        file.write_text(json.dumps({"qid": qid, "query": "Write …", "nuggets": told, "nuggets_metrics": {}}))
    return folder
