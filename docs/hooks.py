"""MkDocs hooks: pages from files of the repository's root and of settings, links, roles, and what a button copies."""

import posixpath
import re
import sys
import tomllib
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))
from site_content import settings_page, with_copied_commands

ROOT = Path(__file__).resolve().parents[1]
REPOSITORY = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Repository"]
PAGES = {
    "readme.md": "README.md",
    "contributing.md": "CONTRIBUTING.md",
    "security.md": "SECURITY.md",
    "changelog.md": "CHANGELOG.md",
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages."""
    for page, source in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text(encoding="utf-8")))
    files.append(File.generated(config, "reference/all-settings.md", content=settings_page()))
    return files


def on_page_markdown(markdown: str, *, page: Page, files: Files, **_: object) -> str:
    """Lead links to other pages to the site, and links to other files to the repository."""
    folder = ROOT if page.file.src_uri in PAGES else (ROOT / "docs" / page.file.src_uri).parent

    def moved(found: re.Match[str]) -> str:
        before, target, after = found.groups()
        path, mark, anchor = target.partition("#")
        file = (folder / path).resolve()
        if not path or re.match(r"[a-z]+:", target) or not file.is_relative_to(ROOT):
            return found[0]
        return f"{before}{address(file, files, page.file.src_uri)}{mark}{anchor}{after}"

    return re.sub(r"(\]\(|(?:src|href)=\")([^)\"\s]+)([)\"])", moved, markdown)


def on_page_content(html: str, **_: object) -> str:
    """Let consoles be copied without prompts; show Sphinx's roles as code: ``:class:`~a.b.C``` as ``C``."""
    html = with_copied_commands(html)
    # citations such as [1][2] and lists of a console are not references to headings
    html = re.sub(r"<autoref [^>]*identifier=\"(\d+|'[^\"]*')\"[^>]*>(.*?)</autoref>", r"[\2][\1]", html)
    html = re.sub(r":(?:class|func|meth|mod|data|attr|exc):<code>~(?:\w+\.)*(\w+)</code>", r"<code>\1</code>", html)
    return re.sub(r":(?:class|func|meth|mod|data|attr|exc):(?=<code>)", "", html)


def address(file: Path, files: Files, page_uri: str) -> str:
    """Return the address of a file of the checkout: on the site, relative to a page, or in the repository."""
    inside = file.relative_to(ROOT).as_posix()
    for page, source in PAGES.items():
        if source == inside:
            return posixpath.relpath(page, posixpath.dirname(page_uri) or ".")
    page = inside.removeprefix("docs/")
    if page != inside and files.get_file_from_path(page):
        return posixpath.relpath(page, posixpath.dirname(page_uri) or ".")
    return f"{REPOSITORY}/blob/main/{inside}"
