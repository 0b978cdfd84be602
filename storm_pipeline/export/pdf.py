"""PDF: pages to print, by WeasyPrint or, where that is not installed, by Chromium."""

import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from storm_pipeline.configuration.variables import child_environment
from storm_pipeline.errors import MissingExtraError, RunError
from storm_pipeline.export.manuscript import Manuscript
from storm_pipeline.export.pages import article_page

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
"""Programs that can print, the first that is on the PATH is taken."""
_SECONDS = 120
_PRINT = """
import sys
try:
    from weasyprint import HTML
except (ImportError, OSError):
    sys.exit(3)
sys.stdout.buffer.write(HTML(string=sys.stdin.read()).write_pdf())
"""
_CANNOT_LOAD = 3  # exit status: a library of the system is missing


def write(manuscript: Manuscript) -> bytes:
    """The pages. Raises MissingExtraError: there is neither WeasyPrint nor Chromium; RunError: the printer fails."""
    page = article_page(manuscript, "print.css")
    if find_spec("weasyprint") and (printed := _by_weasyprint(page)):
        return printed
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise MissingExtraError(
            "PDF needs WeasyPrint or Chromium: pip install 'storm-pipeline[pdf]' (on Linux with the system's "
            "package of Pango), or install Chromium or Chrome so that it is on the PATH"
        )
    return _by_browser(browser, page)


def _by_weasyprint(page: str) -> bytes:
    """The printed page; empty where a library of the system is missing that WeasyPrint needs.

    It runs in a process of its own: its libraries have Cython's types in another layout than the runtime of the
    embedded model, and whichever came second would not load.
    """
    command = [sys.executable, "-P", "-c", _PRINT]
    try:
        done = subprocess.run(  # noqa: S603
            command, input=page.encode(), capture_output=True, timeout=_SECONDS, check=False, env=child_environment()
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise RunError("WeasyPrint could not print the page: install Chromium, or export another format") from error
    if done.returncode not in (0, _CANNOT_LOAD):
        said = done.stderr.decode("utf-8", "replace").strip()[-200:]
        raise RunError(f"WeasyPrint could not print the page ({said}): install Chromium, or export another format")
    return done.stdout


def _by_browser(browser: str, page: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="storm-pdf-") as folder:
        source, target = Path(folder, "article.html"), Path(folder, "article.pdf")
        source.write_text(page, encoding="utf-8")
        options = ["--headless", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={folder}/profile"]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            options.append("--no-sandbox")  # Chromium refuses to run as root with it; the page holds no script
        command = [browser, *options, f"--print-to-pdf={target}", source.as_uri()]
        try:
            done = subprocess.run(  # noqa: S603
                command, capture_output=True, timeout=_SECONDS, check=False, env=child_environment()
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RunError(
                f"{browser} did not print the article: {error}; install storm-pipeline[pdf] instead"
            ) from error
        if not target.is_file():
            said = done.stderr.decode("utf-8", "replace").strip()[-200:]
            raise RunError(f"{browser} printed no PDF ({said}); install storm-pipeline[pdf] instead")
        return target.read_bytes()
