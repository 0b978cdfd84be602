"""Fetching pages from local servers that redirect, lie, trickle, never end or lead inside."""

import gzip
import shutil
import socket
import ssl
import subprocess
import threading
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from servers import CONTINUE, Reply, Request, ScriptedServer, Talk, closed_port, raw_server, trickle, until_hung_up

from storm_pipeline.errors import PageError
from storm_pipeline.sources.pages.connection import Access, IPAddress, Limits
from storm_pipeline.sources.pages.fetch import FetchedPage, fetch_page

HTML = {"Content-Type": "text/html; charset=ISO-8859-1"}
BRISK = Limits(connect=2, read=2, total=4, max_bytes=200_000)
HASTY = replace(BRISK, total=0.7)
ENCODINGS = ("br", "zstd", "gzip, gzip", "compress")  # that were not asked for


def on_loopback(address: IPAddress) -> bool:
    return address.is_loopback


HERE = Access(allow=on_loopback)


def fetched(*script: Reply, path: str = "/", limits: Limits = BRISK) -> tuple[FetchedPage, list[Request]]:
    with ScriptedServer(*script) as server:
        return fetch_page(server.url + path, limits, HERE), server.requests


def refused(*script: Reply, limits: Limits = BRISK, says: str) -> list[Request]:
    with ScriptedServer(*script) as server, pytest.raises(PageError, match=says):
        fetch_page(server.url, limits, HERE)
    return server.requests


def test_a_page() -> None:
    page, requests = fetched(Reply(body=b"<p>caf\xe9", headers=HTML), path="/a?b=c#d")
    assert (page.body, page.content_type, page.charset) == (b"<p>caf\xe9", "text/html", "ISO-8859-1")
    assert page.url.endswith("/a?b=c#d")
    assert page.final_url.endswith("/a?b=c")
    request = requests[0]
    assert (request.method, request.path, request.query) == ("GET", "/a", {"b": "c"})
    assert request.headers["user-agent"].startswith("storm-pipeline/")
    assert request.headers["accept-encoding"] == "gzip, deflate"
    assert "cookie" not in request.headers


@pytest.mark.parametrize(
    "kind",
    [
        *("text/plain", "application/pdf", "application/xhtml+xml", "TEXT/HTML;a=b"),
        *("application/octet-stream", "", "application/x-download", "binary/octet-stream"),  # which tell nothing
    ],
)
def test_kinds_that_are_fetched(kind: str) -> None:
    page, _ = fetched(Reply(body=b"%PDF-1.4", headers={"Content-Type": kind}))
    assert (page.body, page.content_type) == (b"%PDF-1.4", kind.partition(";")[0].lower())


@pytest.mark.parametrize("kind", ["image/png", "application/json", "application/zip", "video/mp4", "text/css"])
def test_other_kinds_are_refused_before_their_body_is_read(kind: str) -> None:
    refused(Reply(body=b"x" * 50, pieces=0.2, headers={"Content-Type": kind}), limits=HASTY, says="only HTML")


@pytest.mark.parametrize("status", [204, 304, 401, 403, 404, 410, 429, 500, 503])
def test_other_answers_are_no_page(status: int) -> None:
    with ScriptedServer(Reply(status, headers=HTML)) as server, pytest.raises(PageError) as raised:
        fetch_page(server.url, BRISK, HERE)
    assert f"answered {status}" in str(raised.value)
    assert raised.value.is_gone == (status in {404, 410})


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed(status: int) -> None:
    moved = {"Location": "/n%C3%A9w?x=y#z", "Set-Cookie": "id=1; Path=/"}
    page, requests = fetched(Reply(status, headers=moved), Reply(body="<p>", headers=HTML))
    assert page.final_url.endswith("/n%C3%A9w?x=y")
    assert "cookie" not in requests[1].headers
    assert [request.path for request in requests] == ["/", "/n%C3%A9w"]


@pytest.mark.parametrize(
    ("target", "says"),
    [
        *((f"http://{host}/", "not a public address") for host in ("169.254.169.254", "[::ffff:10.0.0.1]", "[::1]")),
        ("http://10.0.0.1:8080/", "not a public address"),
        *(
            (target, "redirects to a URL that is not fetched")
            for target in ("file:///etc/passwd", "data:text/html,x", "http://u:p@example.org/", "http://0x7f.1/")
        ),
    ],
)
def test_a_redirect_inside_or_to_what_is_no_web_address_is_refused(target: str, says: str) -> None:
    access = Access(allow=lambda address: str(address) == "127.0.0.1")
    with ScriptedServer(Reply(302, headers={"Location": target})) as server, pytest.raises(PageError, match=says):
        fetch_page(server.url, BRISK, access)
    assert len(server.requests) == 1


def test_redirects_end() -> None:
    requests = refused(Reply(302, headers={"Location": "/"}), says="in a loop")
    assert len(requests) == 1
    steps = [Reply(302, headers={"Location": f"/{n}"}) for n in range(9)]
    requests = refused(*steps, limits=replace(BRISK, redirects=3), says="more than 3 times")
    assert len(requests) == 4


def test_the_environments_proxy_and_netrc_play_no_part(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n")
    with ScriptedServer(Reply(500)) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        monkeypatch.setenv("NETRC", str(netrc))
        monkeypatch.delenv("no_proxy", raising=False)
        _, requests = fetched(Reply(body="<p>", headers=HTML))
    assert proxy.requests == []
    assert "authorization" not in requests[0].headers


def test_the_connection_goes_to_the_checked_address(monkeypatch: pytest.MonkeyPatch) -> None:
    connected: list[object] = []

    def refuse(_: socket.socket, address: object) -> None:
        connected.append(address)
        raise ConnectionRefusedError

    answers = iter([["93.184.215.14"], ["127.0.0.1"]])
    monkeypatch.setattr(socket.socket, "connect", refuse)
    with pytest.raises(PageError, match=r"rebinding\.example could not be reached"):
        fetch_page("http://rebinding.example:8080/", BRISK, Access(resolve=lambda _: next(answers)))
    assert connected == [("93.184.215.14", 8080)]
    assert next(answers) == ["127.0.0.1"]  # nobody asked a second time


def test_a_redirect_to_a_name_that_was_rebound_is_refused() -> None:
    answers = iter([["127.0.0.1"], ["10.0.0.1"]])
    access = Access(allow=on_loopback, resolve=lambda _: next(answers))
    with ScriptedServer(Reply(302, headers={"Location": "/again"})) as server:
        port = server.url.rpartition(":")[2]
        with pytest.raises(PageError, match=r"rebinding.example resolves to 10\.0\.0\.1"):
            fetch_page(f"http://rebinding.example:{port}/", BRISK, access)
    assert len(server.requests) == 1
    assert server.requests[0].headers["host"] == f"rebinding.example:{port}"


def test_the_next_address_is_tried_where_one_is_closed() -> None:
    with ScriptedServer(Reply(body="<p>", headers=HTML)) as server:
        port = server.url.rpartition(":")[2]
        access = Access(allow=on_loopback, resolve=lambda _: ["::1", "127.0.0.1"])
        assert fetch_page(f"http://two.example:{port}/", BRISK, access).body == b"<p>"


@pytest.mark.parametrize("wbits", [31, 15, -15], ids=["gzip", "zlib", "deflate"])
def test_compressed_pages_and_bombs(wbits: int) -> None:
    def packed(data: bytes) -> Reply:
        packer = zlib.compressobj(wbits=wbits)
        body = packer.compress(data) + packer.flush()
        return Reply(body=body, headers=HTML | {"Content-Encoding": "gzip" if wbits == 31 else "deflate"})

    assert fetched(packed(b"<p>" * 100))[0].body == b"<p>" * 100
    refused(packed(bytes(50_000_000)), says="larger than 200,000 bytes")


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        *(
            (Reply(body=gzip.compress(b"x"), headers=HTML | {"Content-Encoding": one}), "unsupported")
            for one in ENCODINGS
        ),
        (Reply(body=b"no gzip", headers=HTML | {"Content-Encoding": "gzip"}), "closed the connection"),
        (Reply(body=b"x" * 200_001, headers=HTML), "larger than 200,000 bytes"),
        (Reply(body=b"x", cut=True, headers=HTML), "closed the connection"),
        (Reply(reset=True), "closed the connection"),
    ],
)
def test_bodies_of_no_use_are_refused(reply: Reply, says: str) -> None:
    refused(reply, says=says)


def test_a_page_may_be_as_large_as_the_limit_and_a_closed_port_is_named() -> None:
    assert len(fetched(Reply(body=b"x" * 200_000, headers=HTML))[0].body) == 200_000
    with closed_port() as url, pytest.raises(PageError, match="could not be reached"):
        fetch_page(url, BRISK, HERE)


def test_slow_answers_end_at_a_limit() -> None:
    refused(Reply(delay=20), limits=replace(BRISK, read=0.3), says="did not answer in time")
    refused(Reply(body=b"x" * 100, pieces=0.05, headers=HTML), limits=HASTY, says="not fetched within 0.7 s")
    steps = [Reply(302, headers={"Location": f"/{n}"}, delay=0.3) for n in range(9)]
    refused(*steps, limits=HASTY, says="not fetched within 0.7 s")


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def flood(start: bytes, data: bytes) -> Talk:
    return until_hung_up(start, data, pause=0)[0]


CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
ENDLESS: dict[str, tuple[Talk, str]] = {
    "headers trickle": (trickle(b"HTTP/1.1 200 OK\r\nX-A: b\r\n"), "not fetched within"),
    "interim answers trickle": (trickle(CONTINUE), "not fetched within"),
    "interim answers": (flood(b"", CONTINUE * 1000), "not fetched within|closed the connection"),
    "silence": (lambda _, closing: closing.wait(5) and None, "not fetched within"),
    "half a page": (until_hung_up(HEAD + b"\r\n<p>half a page", b"")[0], "not fetched within"),
    "body": (flood(HEAD + b"\r\n", b"x" * 1000), "larger than 200,000 bytes"),
    "chunked body": (flood(CHUNKED, b"5\r\nhello\r\n" * 99), "larger than 200,000 bytes"),
    "huge header": (lambda line, _: line.sendall(HEAD + b"X-A: " + b"a" * 1_000_000), "closed the connection"),
    "many headers": (lambda line, _: line.sendall(HEAD + b"X-A: b\r\n" * 10_000), "closed the connection"),
    "not HTTP": (lambda line, _: line.sendall(b"SSH-2.0-OpenSSH_9.6\r\n" * 20), "closed the connection"),
}


@pytest.mark.parametrize("case", ENDLESS)
def test_servers_that_never_finish_or_send_too_much(case: str) -> None:
    talk, says = ENDLESS[case]
    limits = replace(BRISK, total=30) if "body" in case else HASTY
    with raw_server(talk) as port, pytest.raises(PageError, match=says):
        fetch_page(f"http://127.0.0.1:{port}/", limits, HERE)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of ``right.example`` that only vouches for itself; key and certificate in one file."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs openssl to make a certificate")
    path = tmp_path_factory.mktemp("tls") / "right.pem"
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=right.example"]
    command += ["-addext", "subjectAltName=DNS:right.example", "-keyout", str(path), "-out", str(path) + ".crt"]
    subprocess.run(command, check=True, capture_output=True)
    path.write_text(path.read_text() + Path(str(path) + ".crt").read_text())
    return path


@pytest.mark.parametrize(
    ("host", "trusted", "says"),
    [
        ("right.example", True, None),
        ("wrong.example", True, "certificate of wrong.example cannot be trusted"),
        ("right.example", False, "certificate of right.example cannot be trusted"),
    ],
)
def test_certificates_are_checked(certificate: Path, host: str, trusted: bool, says: str | None) -> None:
    def talk(line: socket.socket, _: threading.Event) -> None:
        line.sendall(HEAD + b"Content-Length: 3\r\n\r\n<p>")

    asked: list[str | None] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.sni_callback = lambda _, name, __: asked.append(name)
    access = Access(on_loopback, lambda _: ["127.0.0.1"], certificate if trusted else None)
    with raw_server(talk, context) as port:
        url = f"https://{host}:{port}/"
        if says is None:
            assert fetch_page(url, BRISK, access).body == b"<p>"
        else:
            with pytest.raises(PageError, match=says):
                fetch_page(url, BRISK, access)
    assert asked == [host]


def test_a_handshake_that_trickles_ends_at_the_limit() -> None:
    with raw_server(trickle(b"\x16\x03\x03\x40\x00")) as port, pytest.raises(PageError, match="not fetched within"):
        fetch_page(f"https://127.0.0.1:{port}/", HASTY, HERE)


def test_https_may_lead_to_http(certificate: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with ScriptedServer(Reply(body="<p>", headers=HTML)) as server:
        location = f"HTTP/1.1 301 Moved\r\nLocation: {server.url}/\r\nContent-Length: 0\r\n\r\n".encode()
        access = Access(on_loopback, lambda _: ["127.0.0.1"], certificate)
        with raw_server(lambda line, _: line.sendall(location), context) as port:
            assert fetch_page(f"https://right.example:{port}/", BRISK, access).final_url == f"{server.url}/"
