"""The main text of saved web pages."""

from storm_pipeline.documents.decoding import decoded
from storm_pipeline.documents.document import FileText
from storm_pipeline.documents.plain import web_address
from storm_pipeline.documents.record import Record
from storm_pipeline.types import Work


def read_html(data: bytes) -> FileText:
    """A page's main content by trafilatura, or all its text if trafilatura finds none."""
    import trafilatura

    html = decoded(data)
    found = trafilatura.bare_extraction(
        html, with_metadata=True, include_comments=False, date_extraction_params={"extensive_search": False}
    )
    text = (found.text if found else "") or trafilatura.html2txt(html)
    if not found:
        return FileText(pages=((None, text),))
    record = Record(
        title=found.title or "",
        authors=found.author or "",
        published=found.date or "",
        container=found.sitename or "",
        url=web_address(found.url),
        work=Work(kind="page"),
    )
    return FileText(record.title, ((None, text),), found.date, record=record)
