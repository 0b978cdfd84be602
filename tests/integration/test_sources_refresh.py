"""The list of perennial sources made anew from a local server that speaks MediaWiki's API, with invented outlets."""

import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from servers import Reply, Request, ScriptedServer, closed_port
from typer.testing import CliRunner

from storm_pipeline.cli import app
from storm_pipeline.documents.isolated import ReadingProcess
from storm_pipeline.errors import MissingExtraError, SearchError, SourcesError
from storm_pipeline.sources import refresh
from storm_pipeline.sources.catalogue import load_catalogue, packaged_list, refreshed_file
from storm_pipeline.sources.perennial import Listed, Perennial, Rating, read_perennial, read_rows
from storm_pipeline.sources.refresh import fetch_perennial, save_perennial
from storm_pipeline.sources.site_patterns import SitePattern

pytest.importorskip("mwparserfromhell")

TITLE = "Wikipedia:Reliable sources/Perennial sources"
PAGE = """{{Wikipedia:Reliable sources/Perennial sources/Header}}
{| class="wikitable sortable perennial-sources"
! Source !! Status !! Discussions !! Last !! Summary !! Uses
|-
<onlyinclude>
|- class="s-gu" id="Zed_Post_(politics)"
| data-sort-value="Zed Post" | [[The Zed Post#Past|''Zed Post'']] (politics) {{small|(ZP, Zed on Sunday)}}
{{WP:RSPSHORTCUT|WP:ZED}}
| {{WP:RSPSTATUS|gu|b=y}}
| {{rsnl|100|Zed Post|2020|rfc=y}} [[WP:Somewhere|1]]{{efn|A note about
| a pipe at the start of a line.}}
| {{WP:RSPLAST|2021|stale=n}}
| Editors found that ''Zed Post'' prints rumours: see [https://zedpost.example this].
| {{WP:RSPUSES|www.zedpost.example|zedpost.test/News/ <!-- the weekly -->|zedpost.example}}
|- class="s-gr" id="Zed_Post"
| [[The Zed Post]]
| {{WP:RSPSTATUS|gr}}
|
| {{WP:RSPLAST|2019}}
| Its reports on sports are fine.
| {{WP:RSPUSES|zedpost.example}}
|- class="s-d" id="Blatt"
| Das Blatt <small>(Leipzig)</small>
| {{/Status|d|ar=y|ef=y}}
| {{rsnl|7|Blatt|1}}
| {{/Last|2015}}
| It invents.
| {{/Uses|blatt.example|1 {{!}} 2|{{{x}}}}}
|- class="s-m" id="Quill"
| [[Quill (magazine)|Quill]]
| {{WP:RSPSTATUS|m}}
| {{rsnl|8|Quill|1}}
| {{WP:RSPLAST|2025}}
| It depends.
| {{WP:RSPUSES|quill.example/reviews}}
|- class="s-nc" id="Nowhere"
| [[Nowhere]]
| {{WP:RSPSTATUS|nc}}
| {{rsnl|9|Nowhere|1}}
| {{WP:RSPLAST|2018}}
| A printed paper without a site.
| {{WP:RSPUSES|}}
|- class="s-x" id="Odd"
| [[Odd]]
| {{WP:RSPSTATUS|zz}}
|
| {{WP:RSPLAST|2018}}
| A status that there is not.
| {{WP:RSPUSES|odd.example}}
</onlyinclude>
|}
"""
ROWS = [
    Listed(
        "The Zed Post",
        Rating.UNRELIABLE,
        (SitePattern("zedpost.example"), SitePattern("zedpost.test", "/news")),
        "(politics) (ZP, Zed on Sunday)",
        2021,
        blacklisted=True,
    ),
    Listed("The Zed Post", Rating.RELIABLE, (SitePattern("zedpost.example"),), "", 2019),
    Listed("Das Blatt", Rating.DEPRECATED, (SitePattern("blatt.example"),), "(Leipzig)", 2015),
    Listed("Quill (magazine)", Rating.MIXED, (SitePattern("quill.example", "/reviews"),), "", 2025),
]

ROW = """|- class="s-{code}" id="{name}"
| [[Outlet {name}]]
| {{{{WP:RSPSTATUS|{code}}}}}
| {{{{rsnl|7|Outlet|1}}}}
| {{{{WP:RSPLAST|2020}}}}
| Said to be so.
| {{{{WP:RSPUSES|{name}.example}}}}
"""


def many(prefix: str, number: int) -> str:
    """A page of the list with so many invented outlets of every kind."""
    rows = (ROW.format(name=f"{prefix}{n}", code=("gr", "nc", "gu", "d")[n % 4]) for n in range(number))
    return '{| class="wikitable"\n<onlyinclude>\n' + "".join(rows) + "</onlyinclude>\n|}\n"


def wiki(*pages: str) -> Callable[[Request], Reply]:
    """A wiki that has these pages of the list and no further one."""
    texts = {f"{TITLE}/{n}": text for n, text in enumerate(pages, 1)}

    def answer(request: Request) -> Reply:
        title = request.query["titles"]
        page: dict[str, Any] = {"ns": 4, "title": title}
        if title in texts:
            slot = {"contentmodel": "wikitext", "contentformat": "text/x-wiki", "content": texts[title]}
            page |= {"pageid": 7, "revisions": [{"slots": {"main": slot}}]}
        else:
            page["missing"] = True
        return Reply(body={"batchcomplete": True, "query": {"pages": [page]}})

    return answer


def test_rows_are_read_from_the_lists_own_templates() -> None:
    assert list(read_rows(PAGE)) == ROWS


@given(st.text(max_size=200), st.integers(0, len(PAGE)), st.integers(0, len(PAGE)))
def test_no_wikitext_breaks_the_reader(noise: str, start: int, end: int) -> None:
    for row in read_rows(PAGE[:start] + noise + PAGE[end:]):
        assert row.places
        assert row.name


def test_the_list_is_fetched_page_by_page() -> None:
    with ScriptedServer(wiki(PAGE, many("a", 300), many("b", 200))) as server:
        fetched = fetch_perennial(f"{server.url}/w/api.php", today=date(2026, 5, 1))
    assert fetched.as_of == "2026-05-01"
    assert fetched.sources[:4] == tuple(ROWS)
    assert fetched.size == 505
    assert [r.query["titles"] for r in server.requests] == [f"{TITLE}/{n}" for n in range(1, 5)]
    asked = server.requests[0]
    assert asked.path == "/w/api.php"
    wanted = {"action": "query", "prop": "revisions", "rvprop": "content", "rvslots": "main", "formatversion": "2"}
    assert wanted.items() <= asked.query.items()
    assert "storm-pipeline" in asked.headers["user-agent"]


@pytest.mark.parametrize("pages", [(), (PAGE,), (many("a", 200),), (many("a", 500).replace("|d}}", "|gr}}"),)])
def test_a_list_that_is_implausible_is_refused(pages: tuple[str, ...]) -> None:
    with (
        ScriptedServer(wiki(*pages)) as server,
        pytest.raises(SourcesError, match=r"has \d+ places .* Nothing was written; upgrade"),
    ):
        fetch_perennial(f"{server.url}/w/api.php")


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"code": "maxlag", "info": "Waiting for a server"}},
        {"query": {"pages": []}},
        {"query": {"pages": [{"title": "x", "revisions": []}]}},
        [],
        "null",
        3,
    ],
)
def test_answers_of_another_form_are_told(body: object) -> None:
    with (
        ScriptedServer(Reply(body=body)) as server,
        pytest.raises((SourcesError, SearchError), match=r"Wikipedia .*check"),
    ):
        fetch_perennial(f"{server.url}/w/api.php")


def test_a_page_that_takes_too_long_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    short = ReadingProcess(seconds=0.1)
    monkeypatch.setattr(refresh, "reading", short)
    with (
        ScriptedServer(wiki("{{a|" * 20_000)) as server,
        pytest.raises(SourcesError, match="a page of Wikipedia's list takes more than 0 s"),
    ):
        fetch_perennial(f"{server.url}/w/api.php")
    short.end()


def test_a_wiki_that_cannot_be_asked_is_told() -> None:
    with ScriptedServer(Reply(status=404, body="gone")) as server, pytest.raises(SearchError, match="answered 404"):
        fetch_perennial(f"{server.url}/w/api.php")


def test_a_missing_parser_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mwparserfromhell", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'storm-pipeline\[sources\]'"):
        list(read_rows(PAGE))


def test_saving_replaces_a_file_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "list.json"
    for day in ("2026-05-01", "2026-05-02"):
        save_perennial(Perennial(day, tuple(ROWS)), file)
        assert read_perennial(file) == Perennial(day, tuple(ROWS))
    assert [path.name for path in file.parent.iterdir()] == ["list.json"]
    with pytest.raises(SourcesError, match=r"cannot write .*--out"):
        save_perennial(Perennial("2026-05-03", ()), file / "below-a-file.json")
    assert read_perennial(file).as_of == "2026-05-02"


def test_the_command_refreshes_and_checks_with_what_it_brought(tmp_path: Path) -> None:
    cache = ["--cache", str(tmp_path)]
    with ScriptedServer(wiki(PAGE, many("a", 500))) as server:
        done = CliRunner().invoke(app, ["sources", "refresh", "--api", f"{server.url}/w/api.php", *cache])
    assert done.exit_code == 0, done.output
    assert done.stdout.strip() == str(refreshed_file(tmp_path))
    assert f"504 rows, 505 places as of {date.today().isoformat()}" in done.stderr
    assert load_catalogue(tmp_path).size == 505
    checked = CliRunner().invoke(app, ["sources", "check", "https://zedpost.test/news/1", "blatt.example", *cache])
    assert [line.split()[:2] for line in checked.stdout.splitlines()[1:]] == [
        ["https://zedpost.test/news/1", "no"],
        ["blatt.example", "no"],
    ]
    assert "Das Blatt (Leipzig): deprecated (2015)" in checked.stdout


def test_the_command_writes_nothing_when_it_fails(tmp_path: Path) -> None:
    out = tmp_path / "list.json"
    with ScriptedServer(wiki(PAGE)) as server:
        done = CliRunner().invoke(app, ["sources", "refresh", "--api", f"{server.url}/w/api.php", "--out", str(out)])
    assert done.exit_code == 1
    assert "error: Wikipedia's list has 5 places" in done.stderr
    assert not out.exists()


def test_check_explains_verdicts(tmp_path: Path) -> None:
    urls = ["https://www.nytimes.com/a", "https://www.forbes.com/sites/b", "https://a.example/c", "https://b.example/d"]
    options = ["--policy", "strict", "--allow", "a.example", "--deny", "b.example", "--cache", str(tmp_path)]
    done = CliRunner().invoke(app, ["sources", "check", *urls, *options])
    assert done.exit_code == 0, done.output
    head, *lines = done.stdout.splitlines()
    assert head.split() == ["page", "allowed", "status", "by", "why"]
    assert [line.split()[1] for line in lines] == ["yes", "no", "yes", "no"]
    assert "forbes.com/sites" in lines[1]
    assert f"as of {packaged_list().as_of}, {packaged_list().size} places" in done.stderr


@pytest.mark.parametrize(
    ("options", "said"), [(["--policy", "lax"], "no source policy 'lax'"), (["--deny", " "], "is not a valid place")]
)
def test_check_refuses_what_it_cannot_use(options: list[str], said: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["sources", "check", "a.org", *options, "--cache", str(tmp_path)])
    assert done.exit_code == 2
    assert said in done.stderr
    assert not done.stdout


def test_an_unreachable_wiki_ends_the_command_with_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closed_port() as url:
        done = CliRunner().invoke(app, ["sources", "refresh", "--api", f"{url}/w/api.php", "--cache", str(tmp_path)])
    assert done.exit_code == 1
    assert done.stderr.startswith("error: Wikipedia (127.0.0.1:")
    assert len(done.stderr.splitlines()) == 1
