"""Canonical addresses of sources, and ids of sources and snippets that depend on their content alone."""

import functools
import hashlib
import re
import unicodedata
from typing import Literal
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

_TRACKING = frozenset(
    """fbclid gclid dclid gbraid wbraid msclkid twclid ttclid srsltid mc_cid mc_eid igshid igsh yclid _ga _gl
    _hsenc _hsmi mkt_tok ref_src spm cmpid wt_mc""".split()
)
_MOBILE = frozenset({"www", "m", "mobile", "amp"})
# `/wiki/amp` is an article; on other sites a final `amp` marks the AMP version of a page. A final `>` remains of the
# markup around an address: `<https://example.org/a.pdf>`.
_AMP_ENDINGS = ("/amp", ".amp", "/", "%3E")
_AMP_QUERY = frozenset({("amp", ""), ("amp", "1"), ("amp", "true"), ("_amp", "true"), ("outputtype", "amp")})
_SURROGATE = re.compile("[\ud800-\udfff]")
_INVALID_IN_HOST = frozenset(map(chr, range(33))) | set('\x7f\\^`{|}<>"[]')
_DEFAULT_PORTS = {"http": "80", "https": "443"}
_SAFE_PATH = "/:@!$&'()*+,;=~-._"
_INVALID_IN_TITLE = frozenset("#<>[]{}|")
_LONGEST_NAME = 255  # maximum bytes of a title, and of a host (RFC 1035), whose parts are compared in quadratic time
LONGEST_ADDRESS = 8000  # maximum characters of a page's address, as most servers accept them
DOI_HOSTS = frozenset({"doi.org", "dx.doi.org"})  # their addresses redirect to publishers
PREPRINT_SERVERS = frozenset(
    "advance.sagepub.com africarxiv.org arxiv.org authorea.com biorxiv.org chemrxiv.org chinaxiv.org eartharxiv.org "
    "eprint.iacr.org medrxiv.org preprints.org psyarxiv.com researchsquare.com sportrxiv.org ssrn.com "
    "techrxiv.org".split()
)
"""Hosts of preprint servers, including their subdomains."""
PREPRINT = "preprint"  # label of such a source in a reference list


@functools.lru_cache(maxsize=4096)
def canonical_url(url: str) -> str:
    """Return one address for all spellings of a page's address.

    Lower-cases scheme and host, drops the fragment (unless it is a route, ``#!…`` or ``#/…``), default ports, user
    names, ``www.``/``m.``/``amp.`` hosts, tracking parameters and a trailing slash or ``>``, sorts the rest of the
    query by name, and unifies http with https. AMP versions of a page map to the page itself. Idempotent; never raises.
    Anything that is not a web address (``file:``, ``corpus:`` …) is returned stripped but otherwise unchanged.
    """
    url = url.strip()
    try:
        parts = split_address(_SURROGATE.sub("\ufffd", url))
        port = parts.port
        host = _canonical_host(parts.hostname or "")
        query = _canonical_query(parts.query)
    except ValueError:
        return url
    if parts.scheme.lower() not in _DEFAULT_PORTS or not host:
        return url
    if port is not None and str(port) not in _DEFAULT_PORTS.values():
        host = f"{host}:{port}"
    path = _requote(parts.path)
    while "//" in path:
        path = path.replace("//", "/")
    path = _without_amp(path).rstrip("/")
    route = _requote(parts.fragment) if parts.fragment.startswith(("!", "/")) else ""
    return urlunsplit(("https", host, path, query, route))


def split_address(url: str) -> SplitResult:
    """Split a URL as browsers do, which read a backslash as a slash; raises ValueError if it is not valid."""
    return urlsplit(url.replace("\\", "/"))


def _without_amp(path: str) -> str:
    """Return a path without the endings of AMP versions."""
    end = kept = len(path)
    while ending := next((ending for ending in _AMP_ENDINGS if path.endswith(ending, 0, end)), ""):
        end -= len(ending)
        if end and path[end - 1] != "/" and (end, path[:5]) != (5, "/wiki"):
            kept = end
    return path[:kept]


def _canonical_host(host: str) -> str:
    """Return a host without the prefixes of mobile and AMP versions; raises ValueError if it is not valid."""
    host = host.lower().strip(".")
    if len(host) > _LONGEST_NAME:
        raise ValueError("too long for the name of a host")
    if not host.isascii():
        import idna

        host = idna.encode(host, uts46=True).decode("ascii")
    if not _INVALID_IN_HOST.isdisjoint(host):
        raise ValueError(f"not a host name: {host!r}")
    if ":" in host:  # IPv6 loses its brackets when it is parsed
        return f"[{host}]"
    labels = host.split(".")
    while len(labels) > 2 and labels[0] in _MOBILE and labels[1] and (labels[0] == "www" or _has_owner(labels[1:])):
        labels = labels[1:]
    host = ".".join(labels)
    while ".m.wiki" in host and _has_owner(host[host.index(".m.wiki") + 3 :].split(".")):
        host = host.replace(".m.wiki", ".wiki", 1)
    return host


def _has_owner(labels: list[str]) -> bool:
    """Return whether a domain and those below it are of one owner, unlike ``co.uk`` and ``github.io``."""
    from tld.utils import is_tld

    return not is_tld(".".join(labels), search_private=True)


def _canonical_query(query: str) -> str:
    pairs = parse_qsl(query, keep_blank_values=True, errors="surrogateescape")
    kept = [pair for pair in pairs if not _is_dropped(*map(str.lower, pair))]
    return urlencode(sorted(kept, key=lambda pair: pair[0]), errors="surrogateescape")


def _is_dropped(name: str, value: str) -> bool:
    return name in _TRACKING or (name.startswith("utm_") and name != "utm_") or (name, value) in _AMP_QUERY


def _requote(path: str) -> str:
    """Return a path in one percent-encoding; an encoded slash stays, since it is not a separator."""
    pieces = (unquote(piece, errors="surrogateescape") for piece in path.replace("%2f", "%2F").split("%2F"))
    return "%2F".join(quote(piece, safe=_SAFE_PATH, errors="surrogateescape") for piece in pieces)


def in_form(text: str, form: Literal["NFC", "NFKC", "NFKD"]) -> str:
    """Return a text in a Unicode form; runs of over 30 combining marks are split by a joiner (UAX #15, D4).

    Python sorts the marks after a letter in quadratic time: a megabyte of them would take an hour.
    """
    if len(text) - len(text.encode("ascii", "ignore")) > 30:
        text = _many_marks().sub("\\g<0>\u034f", text)
    return unicodedata.normalize(form, text)


@functools.cache
def _many_marks() -> re.Pattern[str]:
    """Return a pattern for 30 combining marks before another one."""
    known = map(chr, range(0x300, 0x1F000))
    marks = "".join(char for char in known if unicodedata.combining(unicodedata.normalize("NFKD", char)[0]))
    return re.compile(f"[{marks}]{{30}}(?=[{marks}])")


@functools.lru_cache(maxsize=8192)
def normalised_text(text: str) -> str:
    """Normalise a text for comparison: NFKC, case-folded, white space collapsed."""
    return " ".join(in_form(text, "NFKC").casefold().split())


@functools.lru_cache(maxsize=4096)
def host_of(url: str) -> str:
    """Return the host of a URL, in lower case; empty if it has none, or one too long for a name."""
    try:
        host = (split_address(url.strip()).hostname or "").rstrip(".")
    except ValueError:
        return ""
    return host if len(host) <= _LONGEST_NAME else ""


def is_elsewhere(url: str, final: str) -> bool:
    """Return whether an address leads to another site; that of a DOI leads to the page of its work."""
    host, end = (host_of(canonical_url(address)) for address in (url, final))
    return host not in {end, *DOI_HOSTS}


def source_id(url: str) -> str:
    """Return the id of a source: ``s`` and 40 hexadecimal digits of the hash of its canonical address."""
    return "s" + _digest(canonical_url(url))


def snippet_id(url: str, text: str) -> str:
    """Return the id of a snippet: ``t`` and 40 hexadecimal digits of the hash of its source and normalised text."""
    return "t" + _digest(canonical_url(url) + "\n" + normalised_text(text))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:40]  # too many for a second preimage


def is_wiki_language(code: str) -> bool:
    """Return whether a code can be that of a language of Wikipedia, such as ``en`` or ``zh-min-nan``."""
    main, *variants = code.split("-")
    return code.isascii() and code.islower() and len(main) > 1 and all(map(str.isalpha, (main, *variants)))


def is_title(text: str) -> bool:
    """Return whether MediaWiki allows a title: 1 to 255 bytes of UTF-8, none of ``#<>[]{}|``."""
    return 0 < len(text.encode("utf-8", "replace")) <= _LONGEST_NAME and _INVALID_IN_TITLE.isdisjoint(text)


def is_wikipedia(url: str) -> bool:
    """Return whether an address is on a Wikipedia of any language."""
    return f".{host_of(url)}".endswith(".wikipedia.org")


def page_address(title: str) -> str:
    """Return the URL of an article of the English Wikipedia."""
    return "https://en.wikipedia.org/wiki/" + quote(title.replace(" ", "_"), safe=_SAFE_PATH)


def is_preprint(url: str) -> bool:
    """Return whether an address is on a preprint server."""
    labels = host_of(url).split(".")
    return any(".".join(labels[start:]) in PREPRINT_SERVERS for start in range(len(labels)))
