"""Renders the gallery anew: articles of a capable writer as pages and files, with the passages that they cite.

    python -m storm_benchmarks.gallery --to docs/gallery

The articles are Markdown in ``docs/demos``. Their sources are pages of the embedded corpus, so that everything in the
gallery may be passed on: text of Wikipedia, CC BY-SA 4.0.
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from storm_pipeline import Article
from storm_pipeline.api import fetch
from storm_pipeline.documents.articles.pages import AvailablePages, Reference
from storm_pipeline.documents.articles.reading import read_article
from storm_pipeline.identity import page_address
from storm_pipeline.judges.spans import with_spans

CORPUS = "wikipedia-vital-article-leads-en"
ARTICLES = {"renaissance-capable.md": "Renaissance"}
"""File in ``docs/demos`` → title."""
FILES: dict[str, Callable[[Article], bytes]] = {
    ".html": lambda article: article.to_html().encode(),
    ".docx": Article.to_docx,
    ".pdf": Article.to_pdf,
    ".epub": Article.to_epub,
    ".bib": lambda article: article.to_bibtex().encode(),
}
"""Suffix → what makes the file."""
NOTE = (
    "A language model that saw the program's prompts alone wrote this, from the opening paragraphs of Wikipedia's "
    "articles, which are available under CC BY-SA 4.0."
)


def gallery_article(file: Path, title: str, corpus: Path) -> Article:
    """An article with the passages that its sentences cite, and in them the words that carry each."""
    leads: dict[str, dict[str, str]] = json.loads(corpus.read_text(encoding="utf-8"))
    pages = AvailablePages(Reference(page_address(name), name, lead["extract"]) for name, lead in leads.items())
    return with_spans(replace(read_article(file, title, pages), note=NOTE))


def main() -> None:
    """Write a page and its exports for each article."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--demos", type=Path, default=Path("docs/demos"), help="folder of the articles")
    parser.add_argument("--to", type=Path, default=Path("docs/gallery"), help="folder to write to")
    parser.add_argument("--cache", type=Path, default=Path("cache"), help="folder of downloads")
    options = parser.parse_args()
    corpus = fetch(CORPUS, options.cache)
    options.to.mkdir(parents=True, exist_ok=True)
    for file, title in ARTICLES.items():
        article = gallery_article(options.demos / file, title, corpus)
        stem = options.to / title.casefold().replace(" ", "-")
        for suffix, content in FILES.items():
            stem.with_suffix(suffix).write_bytes(content(article))
        print(f"{title}: {sum(1 for _ in article.sentences())} sentences, {len(article.references)} sources")


if __name__ == "__main__":
    main()
