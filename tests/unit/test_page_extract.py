"""From fetched bytes to a page's text: what is read, what counts as not had, and what hostile pages can't do."""

import ipaddress
import socket
import threading
import time
from html import escape

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from test_search_corpus import pdf

from storm_pipeline.errors import PageError
from storm_pipeline.sources.documents.markup import under_headings
from storm_pipeline.sources.pages.connection import Access, is_public, require_allowed_addresses, target_of
from storm_pipeline.sources.pages.extract import Page, extract
from storm_pipeline.sources.pages.fetch import FetchedPage

URL = "https://news.example.org/story?id=7"
SENTENCES = [
    f"In the year {100 + n} the caravan number {n} reached the oasis of Dunhuang with silk." for n in range(30)
]
BODY = "".join(f"<p>{' '.join(SENTENCES[n : n + 3])}</p>" for n in range(0, 30, 3))
NAVIGATION = "<nav><ul><li><a href='/a'>Home</a></li><li><a href='/b'>Sports</a></li></ul></nav>"
HEAD = """<title>Caravans | Example News</title><meta property="og:title" content="Caravans of the desert">
<meta name="author" content="Jane Doe"><meta property="og:site_name" content="Example News">
<meta property="article:published_time" content="2021-03-04T05:06:07Z">"""


def html(body: str = BODY, head: str = HEAD, lang: str = ' lang="en-GB"') -> str:
    return f"<!doctype html><html{lang}><head>{head}</head><body>{NAVIGATION}<article>{body}</article></body></html>"


def read(body: bytes | str, kind: str = "text/html", charset: str | None = None, url: str = URL) -> Page:
    return extract(FetchedPage(url, url, kind, body.encode() if isinstance(body, str) else body, charset))


def text_of(page: Page) -> str:
    return " ".join(" ".join(text for _, text in page.pages).split())


def test_a_page_declares_how_to_cite_it() -> None:
    tags = {
        "citation_author": ["Doe, Jane", "Roe, R.; Jr."],
        "citation_journal_title": ["Marine Letters"],
        "DC.Publisher": ["Sea Press"],
        "citation_publication_date": ["2019/05/02"],
    }
    head = "".join(f'<meta name="{name}" content="{text}">' for name, texts in tags.items() for text in texts)
    page = read(html(head=f"<title>Caravans</title>{head}"))
    known = (page.author, page.site, page.publisher, page.published)
    assert known == ("Doe, Jane; Roe, R., Jr.", "Marine Letters", "Sea Press", "2019-05-02")


def test_a_page_of_html() -> None:
    page = read(html())
    assert text_of(page) == " ".join(SENTENCES)
    assert (page.url, page.title, page.published) == (URL, "Caravans of the desert", "2021-03-04")
    assert (page.author, page.site, page.language) == ("Jane Doe", "Example News", "en")
    assert [number for number, _ in page.pages] == [None]


def test_a_pdf_keeps_its_page_numbers() -> None:
    page = read(pdf([" ".join(SENTENCES[:8]), "", " ".join(SENTENCES[8:])], title="On Caravans"), "application/pdf")
    assert page.title == "On Caravans"
    assert [number for number, _ in page.pages] == [1, 3]
    assert text_of(page) == " ".join(SENTENCES)


def test_a_long_pdf_is_read_to_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storm_pipeline.sources.pages.extract._MAX_PDF_PAGES", 20)
    page = read(pdf([" ".join(SENTENCES[:5])] * 23), "application/pdf")
    assert [number for number, _ in page.pages] == list(range(1, 21))


@pytest.mark.parametrize("data", [b"", b"%PDF-1.4", pdf([""]), pdf(["A text."], password="x")])
def test_a_pdf_without_text_is_not_had(data: bytes) -> None:
    with pytest.raises(PageError, match=URL.replace("?", r"\?")):
        read(data, "application/pdf")


@pytest.mark.parametrize(
    ("encoding", "header", "meta"),
    [
        *(("shift_jis", "Shift_JIS", None), ("euc-jp", None, "euc-jp"), ("shift_jis", "utf-8", "shift_jis")),
        *(("utf-8", "iso-8859-1", None), ("utf-16", None, None)),
    ],
)
def test_character_sets(encoding: str, header: str | None, meta: str | None) -> None:
    japanese = "".join(f"第{n}の隊商は絹を積んで敦煌のオアシスに到着した。" for n in range(20))
    head = f'<meta http-equiv="Content-Type" content="text/html; charset={meta}">' if meta else ""
    assert japanese in text_of(read(html(f"<p>{japanese}</p>", head).encode(encoding), charset=header))
    if not meta:
        assert japanese == text_of(read(japanese.encode(encoding), "text/plain", header))


@pytest.mark.parametrize(
    "notice",
    [
        "Please enable JavaScript to view this page.",
        "Just a moment... Checking your browser before accessing the site.",
        *("Verify you are human by completing the action below.", "We use cookies. Accept all cookies to continue."),
        *("Bitte JavaScript aktivieren.", "404 Not Found"),
    ],
)
@pytest.mark.parametrize("filler", ["", " ".join(["The reference number of this request is kept in a log."] * 10)])
def test_notices_are_not_had(notice: str, filler: str) -> None:
    with pytest.raises(PageError):
        read(html(f"<p>{notice}</p><p>{filler}</p>"))
    with pytest.raises(PageError, match=r"notice instead of a page|words"):
        read(f"{notice} {filler}", "text/plain")


@pytest.mark.parametrize("body", ["", "<p>Short.</p>", "<div id=app></div><script>start()</script>", "<p>词。</p>"])
def test_pages_of_few_words_are_not_had(body: str) -> None:
    with pytest.raises(PageError, match=r"words|no text|no HTML"):
        read(html(body))


def test_a_page_is_not_believed_another_address_or_a_doi() -> None:
    page = read(html(head='<link rel="canonical" href="/b"><meta name="citation_doi" content="10.1038/x">'))
    assert page.url == URL
    assert "10.1038" not in repr(page)


def test_what_a_page_says_of_itself_is_bounded_and_plain() -> None:
    head = f'<title>{"T" * 999}</title><meta name="author" content="A\x00\x07B{"C" * 999}">'
    page = read(html(head=head))
    assert len(page.title) <= 200
    assert page.author is None or (len(page.author) <= 200 and page.author.isprintable())


FILLED = "<p>The caravan reached the oasis at noon, tired but whole, and rested there.</p>"
HOSTILE = {
    "deep bold": "<html><body>" + "<b>" * 300_000 + FILLED * 5,
    "open paragraphs": "<p>" * 300_000,
    "short paragraphs": "<html><body><article>" + "<p>word</p>" * 90_000,
    "nested tables": "<table><tr><td>" * 200_000,
    "attributes": "<html><body><p " + "a=b " * 700_000 + ">x</p>" + FILLED * 5,
    "dates": "<html><body>" + "<time>2020-01-01</time> 2021/02/03 " * 25_000,
    "comments": "<html><body>" + "<!---->" * 400_000,
    "angles": "<" * 1_000_000,
    "ampersands": "&" * 1_000_000,
    "one line": "<html><body><p>" + "word " * 200_000,
    "one word": "<html><body><p>" + "a" * 1_000_000,
    "JSON": '<html><head><script type="application/ld+json">' + '{"a":' * 500_000 + "</script></head>" + FILLED * 10,
}


@pytest.mark.slow
@pytest.mark.parametrize("page", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_pages_take_bounded_work(page: str) -> None:
    start = time.process_time()
    try:
        assert len(text_of(read(page))) <= 1_000_000
    except PageError as error:
        assert URL in str(error)
    assert time.process_time() - start < 30  # a few seconds; the margin is for slow machines


MARKUP = st.lists(
    st.sampled_from(
        ["<p>", "</p>", "<div", ">", "<article>", "<!--", "-->", "\0", "&#0;", "<table><tr>", "word. ", "词。"]
    )
    | st.text(max_size=8),
    max_size=40,
).map("".join)


@given(
    st.binary(max_size=200) | MARKUP.map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.booleans(),
    st.sampled_from(["text/html", "text/plain", "application/xhtml+xml"]),
)
def test_any_bytes_are_read_or_refused(data: bytes, filled: bool, kind: str) -> None:
    try:
        page = read(data + (FILLED * 10).encode() * filled, kind, "utf-8")
    except PageError as error:
        assert URL in str(error)
    else:
        assert any(text.strip() for _, text in page.pages)


def test_headings_stand_above_what_is_below_them_as_lines_of_markdown() -> None:
    headings = ("h1>The silk road", "h2>Trade <em>goods</em>", "h3>Paper", "h2>End")
    told = [(f"<{one}</{one[:2]}>", f"<p>{n}. {' '.join(SENTENCES[:5])}</p>") for n, one in enumerate(headings)]
    page = read(html("".join(map("".join, told))))
    assert [(heading, text.split()[0]) for heading, text in under_headings(page.pages[0][1])] == [
        *(("The silk road", "0."), ("The silk road › Trade goods", "1.")),
        *(("The silk road › Trade goods › Paper", "2."), ("The silk road › End", "3.")),
    ]


@given(st.lists(st.sampled_from(["# A", "## B", "### C", "#", "#x", "text", "", " # D "])))
def test_no_text_is_lost_between_headings(lines: list[str]) -> None:
    parts = list(under_headings("\n".join(lines)))
    told = "\n".join(text for _, text in parts)
    assert told.count("text") == lines.count("text")
    assert told.count("#x") == lines.count("#x")
    titles = {line.strip().partition(" ")[2] for line in lines if line.strip()[:2] in {"# ", "##"}} - {""}
    assert all(any(title in f"{above}\n{text}" for above, text in parts) for title in titles)


@given(st.lists(st.tuples(st.sampled_from(["citation_author", "citation_doi", "dc.date"]), st.text(max_size=30))))
@settings(max_examples=30)
def test_any_tags_can_be_read(pairs: list[tuple[str, str]]) -> None:
    tags = "".join(f'<meta name="{name}" content="{escape(text)}">' for name, text in pairs)
    assert text_of(read(html(head=f"<title>Caravans</title>{tags}"))) == " ".join(SENTENCES)


PRIVATE = """
    0.0.0.0 10.1.2.3 100.64.0.1 100.100.100.200 127.0.0.1 127.255.255.254 168.63.129.16 169.254.169.254 172.16.0.1
    192.0.0.192 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255 ::
    ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:169.254.169.254 64:ff9b::7f00:1 64:ff9b:1::1 100::1 2001::1 2001:db8::1
    2002:7f00:1::1 2002:a9fe:a9fe::1 3fff::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1
""".split()
PUBLIC = """
    1.1.1.1 93.184.215.14 2606:2800:21f:cb07:6820:80da:af6b:8b2c ::ffff:1.1.1.1 64:ff9b::1.1.1.1 2002:101:101::1
""".split()
SECONDS = 5


def test_addresses_that_are_public() -> None:
    assert [address for address in PUBLIC if not is_public(ipaddress.ip_address(address))] == []


@given(st.ip_addresses(v=4))
def test_an_embedded_address_is_as_public_as_itself(address: ipaddress.IPv4Address) -> None:
    for prefix in ("::ffff:0:0", "64:ff9b::"):
        embedded = ipaddress.IPv6Address(int(ipaddress.IPv6Address(prefix)) + int(address))
        assert is_public(embedded) == is_public(address)
    sixtofour = ipaddress.IPv6Address((0x2002 << 112) + (int(address) << 80) + 1)
    assert is_public(sixtofour) == is_public(address)


@given(st.ip_addresses())
def test_nothing_is_public_that_python_knows_to_be_private(address: ipaddress.IPv4Address) -> None:
    if is_public(address) and getattr(address, "ipv4_mapped", None) is None and address not in NAT64:
        assert address.is_global and not address.is_multicast and not address.is_link_local


NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        *(("file:///etc/passwd", "not an http or https"), ("data:text/html,hello", "not an http or https")),
        *(("javascript:alert(1)", "not an http or https"), ("//example.org/a", "not an http or https")),
        *(("example.org", "not an http or https"), ("http://", "not an http or https"), ("", "no")),
        *(("http://user:secret@example.org/", "user name"), ("http://2130706433/", "not a valid host name")),
        *(("http://0x7f.1/", "not a valid host name"), ("http://0177.0.0.1/", "not a valid host name")),
        *(("http://1.2.3.4.5/", "not a valid host name"), ("http://127.0.0.1%2f.example.org/", "no")),
        *(("http://example.org:99999/", "not a valid URL"), ("http://[fe80::1%25eth0]/", "not a valid host name")),
        *(("http://[::1/", "not a valid URL"), ("http://１２７.０.０.１/", "no")),
        ("http://example..org/", "not a valid host name"),
        ("http://" + "a" * 300 + ".org/", "no"),
    ],
)
def test_what_is_no_address_to_fetch(url: str, says: str) -> None:
    with pytest.raises(PageError, match=says) as error:
        target_of(url)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize(
    ("url", "host", "port", "path"),
    [
        ("HTTP://Example.ORG./a b?c=d#e", "example.org", 80, "/a%20b?c=d"),
        ("https://example.org:8443", "example.org", 8443, "/"),
        ("https://bücher.example/ü", "xn--bcher-kva.example", 443, "/%C3%BC"),
        ("http://[2606:2800::1]/x", "2606:2800::1", 80, "/x"),
        ("http://good.example\\@evil.example/", "good.example", 80, "/%5C@evil.example/"),
        ("http://good.example#@evil.example/", "good.example", 80, "/"),
    ],
)
def test_addresses_taken_apart(url: str, host: str, port: int, path: str) -> None:
    target = target_of(url)
    assert (target.host, target.port, target.path) == (host, port, path)
    assert target_of(target.url) == target
    assert "#" not in target.url


@given(st.text(max_size=60) | st.text("ht:/.@[]%0x127#?\\ ", max_size=30).map("http://".__add__))
@example("http://\ud800/")
@example("http://a/\ud800")
def test_any_string_is_taken_apart_or_refused(url: str) -> None:
    try:
        target = target_of(url)
    except PageError:
        return
    assert target.scheme in {"http", "https"}
    assert target.host
    assert target.path.startswith("/")
    assert not set(target.path) & set("\r\n \t")


def access(*found: str) -> Access:
    return Access(resolve=lambda _: found)


@pytest.mark.parametrize("address", PRIVATE)
def test_a_private_address_is_refused_as_it_stands_and_among_those_of_a_name(address: str) -> None:
    host = target_of(f"http://[{address}]/" if ":" in address else f"http://{address}/").host
    with pytest.raises(PageError, match="not a public address"):
        require_allowed_addresses(host, Access(resolve=lambda _: pytest.fail("looked up")), SECONDS)
    with pytest.raises(PageError, match=r"example\.org resolves to .* not a public address"):
        require_allowed_addresses("example.org", access("1.1.1.1", address), SECONDS)


@pytest.mark.parametrize(("code", "is_gone"), [(socket.EAI_NONAME, True), (socket.EAI_AGAIN, False)])
def test_names_that_cannot_be_resolved(code: int, is_gone: bool) -> None:
    def failing(_: str) -> list[str]:
        raise socket.gaierror(code, "no such host")

    with pytest.raises(PageError, match="has no address"):
        require_allowed_addresses("example.org", access(), SECONDS)
    with pytest.raises(PageError, match="could not be resolved") as raised:
        require_allowed_addresses("example.org", Access(resolve=failing), SECONDS)
    assert raised.value.is_gone == is_gone


def test_a_resolver_that_hangs_is_not_waited_for() -> None:
    asked = threading.Event()
    with pytest.raises(PageError, match="was not resolved within"):
        require_allowed_addresses("example.org", Access(resolve=lambda _: asked.wait(60) and []), 0.1)
    asked.set()
