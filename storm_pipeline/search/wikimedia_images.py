"""Lead images of Wikipedia articles, with author and free licence, through MediaWiki's API."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from storm_pipeline.documents.inline_markup import local_name
from storm_pipeline.documents.plain import objects, plain_text
from storm_pipeline.errors import SearchError
from storm_pipeline.identity import is_title
from storm_pipeline.net.gates import Rate
from storm_pipeline.net.http import ApiClient
from storm_pipeline.net.retrying import Patience, within
from storm_pipeline.text.words import tidy
from storm_pipeline.types import Image

_COMMONS = "https://creativecommons.org"
_CREATIVE_COMMONS = re.compile(
    r"cc by(?P<alike> sa)? (?P<version>[1-4]\.[0-9])(?: [1-4]\.[0-9])*(?: (?P<country>[a-z]+))?"
)
_VERSIONS = frozenset({"1.0", "2.0", "2.1", "2.5", "3.0", "4.0"})
_COUNTRIES = frozenset(
    "ar at au be bg br ca ch cl cn co cr cz de dk ec ee eg es fi fr ge gr gt hk hr hu ie igo il in it jp kr lu mk mt "
    "mx my nl no nz pe ph pl pr pt ro rs scotland se sg si th tw ug uk us ve vn za".split()
)
"""Countries, and the intergovernmental organisations, that have versions of their own."""
_GNU = re.compile(r"gfdl(?: (?P<version>1\.[123]))?")
_GNU_TEXTS = {"1.1": "old-licenses/fdl-1.1.html", "1.2": "old-licenses/fdl-1.2.html", "1.3": "fdl-1.3.html"}
_PUBLIC_DOMAIN = frozenset({"public domain", "pd"})
_ZERO = frozenset({"cc0", "cc0 1.0", "cc zero"})


@dataclass(frozen=True)
class Licence:
    """A free licence."""

    name: str  # its common name, e.g. ``CC BY-SA 3.0 de``
    url: str  # address of its text; empty for the public domain
    requires_author: bool = True  # whether the author must be named


def free_licence(name: str) -> Licence | None:
    """The free licence of this name: public domain, CC0, CC BY, CC BY-SA or GFDL; None for all others.

    Case does not matter, nor whether words are joined by spaces or hyphens. If it names several versions, the first
    one counts.
    """
    words = re.sub(r"[\s_-]+", " ", name).strip().lower()
    if words in _PUBLIC_DOMAIN:
        return Licence("Public domain", "", requires_author=False)
    if words in _ZERO:
        return Licence("CC0 1.0", f"{_COMMONS}/publicdomain/zero/1.0/", requires_author=False)
    if found := _GNU.fullmatch(words):
        text = _GNU_TEXTS[found["version"] or "1.3"]
        return Licence(f"GFDL {found['version'] or ''}".rstrip(), f"https://www.gnu.org/licenses/{text}")
    return _creative_commons(words)


def _creative_commons(words: str) -> Licence | None:
    found = _CREATIVE_COMMONS.fullmatch(words)
    if not found or found["version"] not in _VERSIONS or (found["country"] or "de") not in _COUNTRIES:
        return None
    kind, version, country = "by-sa" if found["alike"] else "by", found["version"], found["country"]
    name = f"CC {kind.upper()} {version} {country or ''}".rstrip()
    return Licence(name, f"{_COMMONS}/licenses/{kind}/{version}/" + (f"{country}/" if country else ""))


_MOST = 50  # titles that the API takes in one request
_WIDTH = 960
"""Pixels; one of the widths that Wikimedia keeps, see https://www.mediawiki.org/wiki/Common_thumbnail_sizes."""
_PATIENCE = Patience(connect=2.5, read=5.0, total=6.0, attempts=2, first_pause=0.5, longest_pause=2.0)
_SECONDS = 8.0
_RATE = Rate(5.0, concurrent=2)
_MAX_MARKUP, _MAX_AUTHOR, _MAX_ALT = 20_000, 300, 300
_FACTS = "LicenseShortName|License|NonFree|Artist|Attribution|Credit|ImageDescription|ObjectName"


@dataclass(frozen=True)
class LeadImages:
    """What was found of some articles' lead images."""

    images: tuple[Image, ...] = ()  # those under a free licence
    refused: tuple[str, ...] = ()  # the others, each as its file's name with the reason in brackets


class ImageSource(Protocol):
    """Looks up the images of encyclopedia articles."""

    def lead_images(self, language: str, titles: Mapping[str, str]) -> LeadImages:
        """The lead images of articles of one Wikipedia.

        ``titles``: id of a source → title of its article. Raises SearchError: the look-up failed.
        """
        ...


class NoImages:
    """A source without images."""

    def lead_images(self, _language: str, _titles: Mapping[str, str]) -> LeadImages:
        """No images."""
        return LeadImages()


class WikimediaImages:
    """Lead images of Wikipedia articles that are on Wikimedia Commons under a free licence.

    Two requests per Wikipedia, of at most 50 articles. Wikimedia chooses an article's lead image among the free ones.

    Args:
        api: URL of another MediaWiki's ``api.php``, instead of Wikipedia's.
        seconds: time limit of a whole look-up, > 0.
    """

    def __init__(
        self,
        language: str = "en",
        *,
        api: str | None = None,
        patience: Patience = _PATIENCE,
        seconds: float = _SECONDS,
    ) -> None:
        self._language = language
        self._api = api
        self._patience = patience
        self._seconds = seconds

    def lead_images(self, language: str, titles: Mapping[str, str]) -> LeadImages:
        """The free lead images, in the order of the titles; articles without one are left out.

        Raises SearchError: Wikimedia cannot be reached, does not answer in time, or in an unknown format.
        """
        asked = dict([(name, title) for name, title in titles.items() if is_title(title)][:_MOST])
        if not asked:
            return LeadImages()
        found = within(self._seconds, lambda: self._look_up(language, asked))
        if found is None:
            raise SearchError(f"Wikimedia did not answer within {self._seconds:g} s; check the network")
        return found

    def _look_up(self, language: str, asked: Mapping[str, str]) -> LeadImages:
        address = self._api or f"https://{language}.wikipedia.org/w/api.php"
        client = ApiClient("Wikimedia", address, rate=_RATE, patience=self._patience)
        pages = _pages(
            client,
            {"prop": "pageimages", "piprop": "name", "pilicense": "free", "pilimit": _MOST, "redirects": 1},
            asked,
        )
        names = {own: plain_text(page.get("pageimage")) for own, page in pages.items() if page.get("ns") == 0}
        files = {own: f"File:{name}" for own, name in names.items() if is_title(name)}
        if not files:
            return LeadImages()
        about: dict[str, str | int] = {
            "prop": "imageinfo",
            "iiprop": "url|extmetadata",
            "iiurlwidth": _WIDTH,
            "iiextmetadatafilter": _FACTS,
            "iiextmetadatalanguage": self._language,
        }
        read = [_image(own, page) for own, page in _pages(client, about, files).items()]
        images = tuple(one for one in read if isinstance(one, Image))
        return LeadImages(images, tuple(dict.fromkeys(one for one in read if isinstance(one, str))))


def _pages(client: ApiClient, query: Mapping[str, str | int], titles: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The pages of these titles by the titles' keys, redirects followed; those that the answer lacks are left out.

    Raises SearchError: the request failed, or the answer has an unknown format.
    """
    form = {"action": "query", "format": "json", "formatversion": 2, **query}
    answer = client.post_form_json({**form, "titles": "|".join(dict.fromkeys(titles.values()))})
    if isinstance(answer, dict) and isinstance(error := answer.get("error"), dict):
        reason = plain_text(error.get("info")) or plain_text(error.get("code"))
        raise SearchError(f"Wikimedia refused to look up images: {reason[:200]}; try again later")
    found = answer.get("query") if isinstance(answer, dict) else None
    if not isinstance(found, dict) or not isinstance(found.get("pages"), list):
        raise SearchError("Wikimedia answered in an unknown format; check the network for a login page")
    renamed = {
        plain_text(one.get("from")): plain_text(one.get("to"))
        for kind in ("normalized", "redirects")
        for one in objects(found.get(kind))
    }
    pages = {plain_text(page.get("title")): page for page in objects(found["pages"])}
    final = {key: renamed.get(title, title) for key, title in titles.items()}
    final = {key: renamed.get(title, title) for key, title in final.items()}  # a normalised title may redirect
    return {key: pages[title] for key, title in final.items() if title in pages}


def _image(source_id: str, page: Mapping[str, Any]) -> Image | str:
    """The image on a file's page; or the file's name and why it cannot be used."""
    name = plain_text(page.get("title")).partition(":")[2]
    info = next(iter(objects(page.get("imageinfo"))), {})
    facts = info.get("extmetadata")
    said = {key: _visible_text(facts, key) for key in _FACTS.split("|")} if isinstance(facts, dict) else {}
    name_of_licence, code = said.get("LicenseShortName", ""), said.get("License", "")  # the name may be translated
    licence = None if said.get("NonFree") else free_licence(name_of_licence) or free_licence(code)
    author = said.get("Attribution") or said.get("Artist") or said.get("Credit") or ""
    if licence is None:
        return f"{name[:100]} ({_shortened(name_of_licence or code, 60) or 'no licence stated'})"
    if licence.requires_author and not author:
        return f"{name[:100]} (no author to credit)"
    described = said.get("ImageDescription") or said.get("ObjectName") or name.rpartition(".")[0] or name
    try:
        return Image(
            plain_text(info.get("thumburl")),
            plain_text(info.get("descriptionurl")),
            licence.name,
            licence.url,
            _shortened(author, _MAX_AUTHOR),
            _shortened(described, _MAX_ALT),
            source_id,
        )
    except ValueError:
        return f"{name[:100]} (not on Wikimedia Commons)"


def _visible_text(facts: Mapping[str, Any], name: str) -> str:
    """The visible text of a metadata field, whose value is HTML: without tags, styles and hidden text."""
    import lxml.html

    fact = facts.get(name)
    markup = plain_text(fact.get("value")) if isinstance(fact, dict) else ""
    if not markup:
        return ""
    root = lxml.html.fragment_fromstring(markup[:_MAX_MARKUP], create_parent="div")
    for element in list(root.iter()):
        style = str(element.get("style") or "").replace(" ", "").lower() if local_name(element) else "display:none"
        if element is not root and (local_name(element) in {"script", "style"} or "display:none" in style):
            element.drop_tree()
    return tidy(str(root.text_content()))


def _shortened(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
