"""PDF: pages to print, by WeasyPrint or, where that is not installed, by Chromium."""

import os
import shutil
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from storm_pipeline.errors import MissingExtraError, RunError
from storm_pipeline.export.programs import run_program

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
"""Programs that can print, the first that is on the PATH is taken."""
_PRINT = """
import sys
try:
    from weasyprint import HTML
except (ImportError, OSError):
    sys.exit(3)
sys.stdout.buffer.write(HTML(string=sys.stdin.read()).write_pdf())
"""
_CANNOT_LOAD = 3  # exit status: a library of the system is missing


def print_page(page: bytes) -> bytes:
    """A page of HTML as PDF.

    Raises MissingExtraError: there is neither WeasyPrint nor Chromium; RunError: the printer fails.
    """
    if find_spec("weasyprint") and (printed := _by_weasyprint(page)):
        return printed
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise MissingExtraError(
            "PDF needs WeasyPrint or Chromium: pip install 'storm-pipeline[pdf]' (on Linux with the system's "
            "package of Pango), or install Chromium or Chrome so that it is on the PATH"
        )
    return _by_browser(browser, page)


def _by_weasyprint(page: bytes) -> bytes:
    """The printed page; empty where a library of the system is missing that WeasyPrint needs.

    It runs in a process of its own: its libraries have Cython's types in another layout than the runtime of the
    embedded model, and whichever came second would not load.
    """
    status, printed, said = run_program([sys.executable, "-P", "-c", _PRINT], page)
    if status not in (0, _CANNOT_LOAD):
        raise RunError(f"WeasyPrint could not print the page ({said}): install Chromium, or export another format")
    return printed


def _by_browser(browser: str, page: bytes) -> bytes:
    with tempfile.TemporaryDirectory(prefix="storm-pdf-") as folder:
        source, target = Path(folder, "article.html"), Path(folder, "article.pdf")
        source.write_bytes(page)
        options = ["--headless", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={folder}/profile"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            options.append("--no-sandbox")  # Chromium refuses to run as root with it; the page holds no script
        _, _, said = run_program([browser, *options, f"--print-to-pdf={target}", source.as_uri()])
        if not target.is_file():
            raise RunError(f"{browser} printed no PDF ({said}); install storm-pipeline[pdf] instead")
        return target.read_bytes()
