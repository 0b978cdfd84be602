"""Author, date and journal of the user's documents from Crossref, by the DOI on their first page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from storm_pipeline.errors import SearchError
from storm_pipeline.run.retrying import Patience
from storm_pipeline.sources.documents.bibliography import csl_record
from storm_pipeline.sources.documents.document import UNKNOWN, Document, Record
from storm_pipeline.sources.documents.reader import KeptDocuments
from storm_pipeline.sources.search.papers import first_text
from storm_pipeline.sources.transport.gates import Rate
from storm_pipeline.sources.transport.http import ApiClient
from storm_pipeline.text.words import folded_words

CROSSREF = "https://api.crossref.org/works"
_PATIENCE = Patience(connect=3, read=8, total=10, attempts=1)


def with_crossref(
    documents: Sequence[Document],
    kept: KeptDocuments | None = None,
    base_url: str = CROSSREF,
    *,
    check: Callable[[], None] = lambda: None,
    most: int = 300,
) -> tuple[list[Document], str]:
    """Complete documents with a DOI but without author, date or journal from Crossref.

    Stops at the first failing request, so that there is no waiting without a network. ``kept``: cache of answers;
    ``check``: called before each request, and may raise; ``most``: maximum number of requests.

    Returns the documents in their order, and a sentence on why some were not looked up, else empty.
    """
    client = ApiClient("crossref", base_url, rate=Rate(3.0, concurrent=1), patience=_PATIENCE)
    completed_documents, reason, asked = [], "", 0
    for document in documents:
        record, doi = document.record, document.record.doi
        wanted = doi and not (record.authors and record.published and (record.container or record.publisher))
        known = kept.record(doi) if kept and wanted else None
        if wanted and not known and asked == most:
            reason = reason or f"it is asked about {most} at most"
        if wanted and not known and not reason:
            check()
            asked += 1
            try:
                known = _fetch(doi, client)
                if kept:
                    kept.keep_record(doi, known)
            except SearchError as error:
                reason = str(error)
        if known and folded_words(known.title) != folded_words(record.title):  # another's DOI?
            known = replace(known, work=replace(known.work, kind=""))
        record = record.part("bibliography").completed(known).completed(record) if known else record
        completed = replace(document, title=record.title, published=record.published or None, record=record)
        completed_documents.append(completed if known else document)
    problem = f"Crossref could not be asked who wrote your papers ({reason}); they are cited as far as known."
    return completed_documents, problem if reason else ""


def _fetch(doi: str, client: ApiClient) -> Record:
    if ".." in doi.split("/"):  # a server may read it as another path
        return UNKNOWN
    try:
        answer = client.get_json({}, f"/{quote(doi, safe='')}")
    except SearchError as error:
        if "answered 404" in str(error):  # registered elsewhere or misread
            return UNKNOWN
        raise
    message = answer.get("message") if isinstance(answer, dict) else None
    return csl_record(_as_csl(message)).of("DOI record") if isinstance(message, Mapping) else UNKNOWN


def _as_csl(message: Mapping[str, Any]) -> dict[str, Any]:
    """Convert Crossref's item to CSL-JSON: titles are lists of marked-up texts, types have other names."""
    kinds = {"journal-article": "article-journal", "book-chapter": "chapter", "proceedings-article": "paper-conference"}
    kinds |= {"monograph": "book", "edited-book": "book", "dissertation": "thesis", "posted-content": "manuscript"}
    kind = str(message.get("type") or "")
    isbn = message.get("ISBN")
    return dict(message) | {
        "type": kinds.get(kind, kind),
        "title": first_text(message.get("title")),
        "container-title": first_text(message.get("container-title")),
        "ISBN": isbn[0] if isinstance(isbn, list) and isbn else "",
    }
