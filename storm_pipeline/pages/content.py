"""What a fetched page is: its bytes tell, and its header where they do not."""

import zlib
from dataclasses import replace

from storm_pipeline.documents import formats
from storm_pipeline.errors import PageError
from storm_pipeline.pages.connection import Limits
from storm_pipeline.pages.fetch import HTML, PDF, TEXT, Fetched


def told_by_bytes(fetched: Fetched) -> Fetched:
    """The page with its real content type, unpacked if it is a gzip file.

    Raises PageError: it is neither HTML nor plain text nor PDF, or unpacks to more than 10 MB.
    """
    told = formats.format_of(fetched.body)
    if told == formats.GZIP:
        fetched = replace(fetched, body=_unpacked(fetched))
        told = formats.format_of(fetched.body)
    if told == formats.PDF:
        return replace(fetched, content_type=PDF)
    if told == formats.HTML:
        return fetched if fetched.content_type in HTML else replace(fetched, content_type="text/html")
    if not told and fetched.content_type in {*HTML, TEXT, PDF}:
        return fetched
    what = {formats.DOCX: "a Word file", formats.EPUB: "an EPUB book"}.get(told, told) or "of an unknown kind"
    raise PageError(f"{fetched.final_url} is {what}; only HTML, plain text and PDF are read")


def _unpacked(fetched: Fetched) -> bytes:
    unpacker = zlib.decompressobj(wbits=31)
    try:
        body = unpacker.decompress(fetched.body, Limits.max_bytes)
    except zlib.error as error:
        raise PageError(f"{fetched.final_url} is a damaged gzip file; it was not read") from error
    if unpacker.unconsumed_tail:
        raise PageError(f"{fetched.final_url} unpacks to more than {Limits.max_bytes:,} bytes; such pages are not read")
    return body
