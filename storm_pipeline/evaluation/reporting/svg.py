"""A drawing as SVG that can do nothing but be looked at, in a file of its own or inside a page."""

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

if TYPE_CHECKING:
    from lxml import etree

_SPACE = "http://www.w3.org/2000/svg"
_ELEMENTS = {"svg", "g", "defs", "path", "use", "rect", "clipPath", "text", "tspan"}
_GEOMETRY = {"d", "x", "y", "width", "height", "transform", "viewBox"}
_PAINT = {
    "fill",
    "fill-opacity",
    "stroke",
    "stroke-opacity",
    "stroke-width",
    "stroke-dasharray",
    "stroke-dashoffset",
    "stroke-linejoin",
    "stroke-linecap",
    "stroke-miterlimit",
    "opacity",
    "font-size",
    "font-family",
    "font-weight",
    "font-style",
    "text-anchor",
}
_VALUE = re.compile(r"[\w\s#.,%+()'-]*")
_LOCAL = re.compile(r"url\(#([\w-]+)\)")
_HREF = "{http://www.w3.org/1999/xlink}href"


def inert(drawing: str, name: str, label: str) -> str:
    """A drawing of matplotlib's with nothing left that acts, loads, or clashes with its page.

    Kept are shapes and texts with attributes that place or paint them; styles become attributes, so that a page may
    forbid inline styles. Scripts, links, style sheets, metadata and addresses are gone; references lead to ids of the
    drawing alone, which begin with its name.

    Args:
        drawing: an SVG document.
        name: of the drawing, unique within a page: letters, digits, hyphens.
        label: what it shows, for those who do not see it.

    Raises:
        ValueError: it is no SVG.
    """
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    try:
        root = etree.fromstring(drawing.encode("utf-8"), parser)
    except etree.XMLSyntaxError as error:
        raise ValueError(f"no SVG: {error}") from error
    if _tag(root) != "svg":
        raise ValueError(f"no SVG, but <{_tag(root)}>")
    body = "".join(_drawn(child, name) for child in root)
    head = "".join(f" {key}={quoteattr(root.get(key, ''))}" for key in ("width", "height", "viewBox") if root.get(key))
    paint = 'stroke-linejoin="round" stroke-linecap="butt"'
    return f'<svg xmlns="{_SPACE}"{head} role="img" aria-label={quoteattr(label)} {paint}>{body}</svg>\n'


def _drawn(element: "etree._Element", name: str) -> str:
    """An element as it may stay, with what it holds; empty for one that may not, and for a group of nothing."""
    from xml.sax.saxutils import escape

    tag = _tag(element)
    if tag not in _ELEMENTS:
        return ""
    inside = "".join(_drawn(child, name) for child in element)
    text = escape(element.text or "") if tag in {"text", "tspan"} else ""
    if tag in {"g", "defs"} and not inside:
        return ""
    kept = _attributes(element, name)
    if tag == "use" and "href" not in kept:
        return ""
    own = "".join(f" {key}={quoteattr(value)}" for key, value in kept.items())
    return f"<{tag}{own}>{text}{inside}</{tag}>" if text or inside else f"<{tag}{own}/>"


def _attributes(element: "etree._Element", name: str) -> dict[str, str]:
    kept: dict[str, str] = {}
    if _tag(element) in {"path", "clipPath"} and element.get("id"):
        kept["id"] = f"{name}-{element.get('id')}"
    target = element.get(_HREF, "")
    if _tag(element) == "use" and target.startswith("#"):
        kept["href"] = f"#{name}-{target[1:]}"
    clip = _LOCAL.fullmatch(element.get("clip-path", ""))
    if clip:
        kept["clip-path"] = f"url(#{name}-{clip[1]})"
    styles = (rule.partition(":") for rule in element.get("style", "").split(";"))
    found = {str(key): str(value) for key, value in element.items()} | {k.strip(): v.strip() for k, _, v in styles}
    for key, value in found.items():
        if key in _GEOMETRY | _PAINT and _VALUE.fullmatch(value) and "url" not in value:
            kept[key] = " ".join(value.split())
    return kept


def _tag(element: "etree._Element") -> str:
    space, _, tag = str(element.tag).rpartition("}")
    return tag if space == f"{{{_SPACE}" else ""
