"""ZIM files made by the test: what is found in them, under which address, and which headings they give."""

import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from libzim.writer import Creator, Hint, Item, StringProvider

from storm_pipeline.errors import CorpusError, MissingExtraError, SettingsError
from storm_pipeline.run.context import ContentsSource
from storm_pipeline.search.engines.kiwix import KiwixSearch
from storm_pipeline.search.registry import open_search
from storm_pipeline.search.tables_of_contents import TableOfContents
from storm_pipeline.search.zim import ZimFile

SILK = """<p>The Silk Road linked China with the Mediterranean.<sup class="reference">[1]</sup></p>
<section><h2>History<span class="mw-editsection">[edit]</span></h2><p>Zhang Qian travelled west.</p>
<section><h3>Han dynasty</h3><p>Horses came from Fergana &amp; beyond.</p></section></section>
<details><summary><h2>Goods</h2></summary><p>Jade and paper.</p></details>
<section><h2>See also</h2><p>Horses everywhere</p><section><h3>Portals</h3></section></section>
<div class="navbox"><p>Horses in a box</p></div>"""
PAGES = {
    "Silk_Road": ("Silk Road", SILK),
    "Amber_Road": ("Amber Road", "<p>Amber went from the Baltic to Rome.</p>" + "<p>Traders met in Aquileia.</p>" * 40),
    "Café/Küche": ("Café/Küche", "<p>Coffee was roasted in the harbour.</p>"),
}
WIKIPEDIA = {"Name": "wikipedia_en_history", "Language": "eng", "Source": "en.wikipedia.org"}


class Page(Item):
    def __init__(self, path: str, title: str, body: str, mimetype: str = "text/html") -> None:
        super().__init__()
        self.path, self.title, self.mimetype = path, title, mimetype
        self.content = f"<html><head><title>{title}</title></head><body><h1>{title}</h1>{body}</body></html>"

    def get_path(self) -> str:
        return self.path

    def get_title(self) -> str:
        return self.title

    def get_mimetype(self) -> str:
        return self.mimetype

    def get_contentprovider(self) -> StringProvider:
        return StringProvider(self.content)

    def get_hints(self) -> dict[Hint, int]:
        return {Hint.FRONT_ARTICLE: self.mimetype == "text/html"}


def zim(folder: Path, metadata: Mapping[str, str] = WIKIPEDIA, *, indexed: bool = True) -> Path:
    path = folder / "history.zim"
    with Creator(path).config_indexing(indexed, "eng") as creator:
        creator.set_mainpath("Silk_Road")
        for name, (title, body) in PAGES.items():
            creator.add_item(Page(name, title, body))
        creator.add_item(Page("style.css", "Silk horses", "silk horses", "text/css"))
        creator.add_redirection("Silk_Route", "Silk Route", "Silk_Road", {Hint.FRONT_ARTICLE: True})
        for key, value in metadata.items():
            creator.add_metadata(key, value)
    return path


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return zim(tmp_path_factory.mktemp("zim"))


def test_passages_with_online_addresses(file: Path) -> None:
    found = open_search(f"kiwix:{file}").engine.search("Which horses came from Fergana?", 3).snippets
    assert [(s.url, s.title, s.engine) for s in found] == [
        ("https://en.wikipedia.org/wiki/Silk_Road", "Silk Road", "kiwix")
    ]
    assert "Horses came from Fergana & beyond." in found[0].text
    for left_out in ("[1]", "[edit]", "everywhere", "in a box"):
        assert left_out not in found[0].text


def test_words_that_no_article_has_are_left_out(file: Path) -> None:
    found = KiwixSearch(ZimFile(file)).search("zyzzyva harbour coffee in 1999", 3)
    assert {s.url for s in found} == {"https://en.wikipedia.org/wiki/Caf%C3%A9/K%C3%BCche"}


def test_the_commonest_words_are_left_out_first(file: Path) -> None:
    titles = [s.title for s in KiwixSearch(ZimFile(file), passages=1).search("Aquileia coffee road amber", 1)]
    assert titles == ["Amber Road"]


def test_k_counts_articles_and_each_gives_a_few_passages(file: Path) -> None:
    engine = KiwixSearch(ZimFile(file), limit=20)
    assert len({s.url for s in engine.search("road traders amber silk", 1)}) == 1
    assert len(engine.search("Aquileia traders", 1)) == 3
    assert len(engine.search("road", 5)) <= 6


@pytest.mark.parametrize("query", ["", "zyzzyva", '"NOT ( OR', "-silk:", "\x00", "the of and", "x" * 5000, "NOT silk"])
def test_odd_queries_do_no_harm(file: Path, query: str) -> None:
    engine = KiwixSearch(ZimFile(file))
    assert len({s.url for s in engine.search(query, 3)}) <= 3
    assert list(engine.search("silk", 0)) == []


def test_without_an_index_titles_are_searched(tmp_path: Path) -> None:
    engine = KiwixSearch(ZimFile(zim(tmp_path, indexed=False)))
    assert {s.title for s in engine.search("amber trade", 2)} == {"Amber Road"}
    assert list(engine.search("zyzzyva", 2)) == []


@pytest.mark.parametrize(
    ("metadata", "address"),
    [
        ({"Name": "x", "Source": "https://de.wikipedia.org/"}, "https://de.wikipedia.org/wiki/Silk_Road"),
        ({"Name": "wiktionary_fr_all_maxi"}, "https://fr.wiktionary.org/wiki/Silk_Road"),
        ({"Name": "own files", "Source": "evil.org/en.wikipedia.org"}, "zim:own%20files/Silk_Road"),
        ({}, "zim:history/Silk_Road"),
    ],
)
def test_addresses(tmp_path: Path, metadata: dict[str, str], address: str) -> None:
    assert KiwixSearch(ZimFile(zim(tmp_path, metadata))).search("Fergana", 1)[0].url == address


TABLE = TableOfContents("Silk Road", ((1, "History"), (2, "Han dynasty"), (1, "Goods")))


@pytest.mark.parametrize("title", ["Silk Road", "silk_Road", "Silk Route", " Silk  Road#Goods", "SILK ROAD"])
def test_contents(file: Path, title: str) -> None:
    source: ContentsSource = KiwixSearch(ZimFile(file)).contents
    assert source.table_of_contents(title) == TABLE


@pytest.mark.parametrize("title", ["", "Silk", "Silk Roads", "style.css", "\x00", "#"])
def test_no_such_article(file: Path, title: str) -> None:
    assert KiwixSearch(ZimFile(file)).contents.table_of_contents(title) is None


def test_threads_share_a_file(file: Path) -> None:
    engine = KiwixSearch(ZimFile(file))
    queries = ["Fergana horses", "amber Rome", "coffee harbour"] * 20
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda query: engine.search(query, 2)[0].title, queries))
    assert found == ["Silk Road", "Amber Road", "Café/Küche"] * 20


@pytest.mark.parametrize("content", [b"", b"ZIM\x04", b"x" * 1000, None])
def test_what_is_no_zim_file_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "a.zim"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CorpusError, match=r"a\.zim.*(does not exist|cannot be read as a ZIM file)"):
        open_search(f"kiwix:{path}")


def test_a_damaged_file_is_named_or_read(file: Path, tmp_path: Path) -> None:
    data = bytearray(file.read_bytes())
    at = data.index(b"\x28\xb5\x2f\xfd")  # where zstd begins
    data[at + 8 : at + 40] = b"\xff" * 32
    (tmp_path / "b.zim").write_bytes(data)
    with pytest.raises(CorpusError, match=r"b\.zim is damaged"):
        KiwixSearch(ZimFile(tmp_path / "b.zim")).search("Fergana", 1)


def test_what_is_missing_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SettingsError, match=r"kiwix:FILE\.zim"):
        open_search("kiwix")
    monkeypatch.setitem(sys.modules, "libzim.reader", None)
    with pytest.raises(MissingExtraError, match=r"storm-pipeline\[zim\]"):
        open_search(f"kiwix:{file}")


def reader_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str) -> None:
    """Put a script in place of the reading process: it answers the first request and then does something."""
    script = tmp_path / "reader.py"
    opened = '{"value": {"full_text": true, "new_paths": true}}'
    script.write_text(f"import os, sys, time\nsys.stdin.readline()\nprint({opened!r}, flush=True)\n{does}\n", "utf-8")
    monkeypatch.setattr("storm_pipeline.search.zim._READER", script)


@pytest.mark.parametrize(
    "does", ["while True: pass", "time.sleep(60)", "sys.stdin.readline(); os.abort()", "os._exit(0)"]
)
def test_a_reader_that_hangs_or_dies_costs_a_moment(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str
) -> None:
    reader_that(tmp_path, monkeypatch, does)
    start = time.monotonic()
    engine = KiwixSearch(ZimFile(file, seconds=0.5))
    for _ in range(6):
        with pytest.raises(CorpusError, match=r"history\.zim is damaged .*; download it again"):
            engine.search("Fergana", 1)
    assert time.monotonic() - start < 10


def test_what_libzim_prints_is_no_answer(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    data = bytearray(file.read_bytes())
    at = data.index(b"Xapian Glass") + 20
    data[at : at + 200] = bytes(200)  # libzim tells on standard error that the index cannot be opened
    file.with_name("c.zim").write_bytes(data)
    found = ZimFile(file.with_name("c.zim")).article("Silk Road")
    assert found is not None and "China" in found.text()
    assert capfd.readouterr() == ("", "")


def test_a_reader_that_was_killed_is_started_again(file: Path) -> None:
    engine = ZimFile(file)
    engine.close()
    assert engine.article("Silk Road") is not None


def test_the_reader_ends_with_its_parent(file: Path) -> None:
    code = (
        "import sys, os; from pathlib import Path; from storm_pipeline.search.zim import ZimFile; "
        "zim = ZimFile(Path(sys.argv[1])); print(zim._process._process._running.pid, flush=True); os._exit(0)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True)
    status, end = Path(f"/proc/{int(done.stdout)}/stat"), time.monotonic() + 10
    while status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < end
        time.sleep(0.05)
