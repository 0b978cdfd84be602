"""The main text of saved web pages."""

from storm_pipeline.documents.decoding import decoded
from storm_pipeline.documents.document import FileText


def read_html(data: bytes) -> FileText:
    """A page's main content by trafilatura, or all its text if trafilatura finds none."""
    import trafilatura

    html = decoded(data)
    found = trafilatura.bare_extraction(
        html, with_metadata=True, include_comments=False, date_extraction_params={"extensive_search": False}
    )
    text = (found.text if found else "") or trafilatura.html2txt(html)
    return FileText((found and found.title) or "", ((None, text),), found.date if found else None)
