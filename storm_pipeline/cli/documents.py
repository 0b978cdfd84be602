"""``storm documents``: what a folder of own documents holds, and text recognition of its scans."""

from pathlib import Path
from typing import Annotated

import typer

from storm_pipeline.cli.guard import Guard
from storm_pipeline.cli.output import say, show_table
from storm_pipeline.text.formatting import printable


def documents(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder, or file, of your documents.")],
    *,
    ocr: Annotated[
        bool, typer.Option("--ocr", help="Recognise the text of scans first, in copies beside them (extra 'ocr').")
    ] = False,
    ocr_language: Annotated[
        str, typer.Option("--ocr-language", metavar="CODE", help="Language of the scans by Tesseract's code: deu+eng.")
    ] = "eng",
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Show what FOLDER holds: which documents can be read, as which works they are cited, and why others cannot."""
    with Guard(debug=debug):
        from storm_pipeline.configuration.variables import default_cache
        from storm_pipeline.documents.inventory import take_inventory
        from storm_pipeline.documents.recognition import recognise
        from storm_pipeline.errors import CorpusError

        if not folder.expanduser().exists():
            raise CorpusError(f"{folder} does not exist; check the path")
        found = take_inventory(folder, default_cache())
        if ocr:
            for scan in found.scans:
                say(printable(str(recognise(scan, ocr_language))))
            found = take_inventory(folder, default_cache()) if found.scans else found
        rows = [(one.title, one.record.authors, one.published or "", len(one.pages)) for one in found.documents]
        if rows:
            show_table(("title", "authors", "date", "pages"), [tuple(map(printable, map(str, row))) for row in rows])
        say(printable(found.summary))
        for problem in found.problems:
            typer.echo(printable(problem), err=True)
