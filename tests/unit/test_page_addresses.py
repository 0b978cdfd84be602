"""Which addresses may be fetched: the public internet's, however another is written, embedded or resolved."""

import ipaddress
import socket
import threading

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from storm_pipeline.errors import PageError
from storm_pipeline.sources.pages.address_checks import Access, is_public, require_allowed_addresses, target_of

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


@pytest.mark.parametrize("address", PUBLIC)
def test_addresses_that_are_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


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
def test_a_private_literal_is_refused_without_a_look_up(address: str) -> None:
    host = target_of(f"http://[{address}]/" if ":" in address else f"http://{address}/").host
    with pytest.raises(PageError, match="not a public address"):
        require_allowed_addresses(host, Access(resolve=lambda _: pytest.fail("looked up")), SECONDS)


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


@pytest.mark.parametrize("address", PRIVATE)
def test_one_private_address_closes_a_name(address: str) -> None:
    with pytest.raises(PageError, match=r"example\.org resolves to .* not a public address"):
        require_allowed_addresses("example.org", access("1.1.1.1", address), SECONDS)
