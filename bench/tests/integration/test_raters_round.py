"""A round of ratings through its server: who may answer what, what is kept, and a blind reading entered again."""

import csv
import json
import os
import re
import shutil
import signal
import sqlite3
import struct
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from rounds import client, rate_all, serving, set_up_round, study_file
from typer.testing import CliRunner

from storm_bench.errors import RatingError
from storm_bench.raters import store
from storm_bench.raters.__main__ import app as commands
from storm_bench.raters.app import OTHER
from storm_bench.raters.report import write_report
from storm_bench.raters.results import Results
from storm_bench.raters.store import CLOSED, FILE, Ratings, set_up
from storm_bench.raters.study import read_study
from storm_pipeline import Article, DatasetError, StormError
from storm_pipeline.types import Paragraph, Sentence

HEAD = 'compare = ["oRAG", "STORM"]\nrubrics = ["storm"]\nerrors = true'
SHEET = "1-1"


@pytest.fixture
def begun(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A new round: its folder, and rater → token."""
    return tmp_path / "round", set_up_round(study_file(tmp_path, head=HEAD), tmp_path / "round")[1]


def give(program: Any, page: str = SHEET, **answers: str) -> Any:
    named = {name.replace("__", "."): value for name, value in answers.items()}
    return program.post("/api/answers", json={"page": page, "answers": named})


def action(browser: Any) -> str:
    """Return the address to which the form of a page is sent."""
    return str(re.findall(r'action="(/sheet/[^"]+)"', browser.get(f"/sheet/{SHEET}").text)[0])


def test_a_page_for_programs_has_no_mark_of_the_writer(begun: tuple[Path, dict[str, str]]) -> None:
    folder, tokens = begun
    page = client(folder, tokens["anna"]).get("/api/next").json()
    assert (page["page"], page["done"], page["of"], page["is_open"]) == ("1-1", 0, 6, True)
    assert page["sentences"][0] == {
        "number": 1,
        "text": "The road is long.",
        "passages": ["The road was built in 100 BC."],
    }
    assert [one["name"] for one in page["questions"]][:2] == ["storm.interest", "storm.organisation"]
    text = json.dumps(page) + client(folder, tokens["anna"]).get(f"/sheet/{SHEET}").text
    assert "oRAG" not in text
    assert "STORM" not in text


def test_answers_are_kept_changed_and_taken_back(begun: tuple[Path, dict[str, str]]) -> None:
    folder, tokens = begun
    program = client(folder, tokens["anna"])
    assert len(give(program, storm__interest="3", error__2="inference").json()["missing"]) == 5
    give(program, storm__interest="5", error__2="")
    body = b'{"page": "1-1", "answers": {"comment": " So so.\\ud800 "}}'  # half of a character
    kind = {"Content-Type": "application/json"}
    assert program.post("/api/answers", content=body, headers=kind).status_code == 200
    again = client(folder, tokens["anna"]).get(f"/api/pages/{SHEET}").json()
    assert {one["name"]: one["answer"] for one in again["questions"] if one["answer"]} == {
        "storm.interest": "5",
        "comment": "So so.?",
    }
    assert again["marks"]["answers"] == {}
    assert len(Ratings(folder).answers()) == 2
    with closing(sqlite3.connect(folder / FILE)) as file:
        assert file.execute("SELECT count(*) FROM answers").fetchone() == (5,)  # all that was ever given
    assert client(folder, tokens["boris"]).get(f"/api/pages/{SHEET}").json()["questions"][0]["answer"] is None


@pytest.mark.parametrize(
    ("page", "answers", "said"),
    [
        (SHEET, {"storm.interest": "8"}, "storm.interest: '8' is not one of 1, 2, 3, 4, 5, 6, 7"),
        (SHEET, {"preference": "first"}, "'preference' is not asked on the page 1-1"),
        (SHEET, {"error.5": "inference"}, "'error.5' is not asked on the page 1-1"),
        (SHEET, {"error.1": "wrong"}, "error.1: 'wrong' is not one of inference"),
        (SHEET, {"storm.interest": "3", "comment": "x" * 5_001}, "comment: at most 5,000 characters"),
        ("9-1", {"storm.interest": "3"}, "you have no page '9-1'"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_whole(
    begun: tuple[Path, dict[str, str]], page: str, answers: dict[str, str], said: str
) -> None:
    folder, tokens = begun
    answer = client(folder, tokens["anna"]).post("/api/answers", json={"page": page, "answers": answers})
    assert answer.status_code == 422
    assert answer.json()["error"].startswith(said)
    assert Ratings(folder).answers() == []


@pytest.mark.parametrize("body", [b'{"page": ["\\ud800"]}', b'{"page": NaN}', b"\xff", b"[" * 60_000, b"[]"])
def test_no_body_is_too_odd_to_refuse(begun: tuple[Path, dict[str, str]], body: bytes) -> None:
    folder, tokens = begun
    program = client(folder, tokens["anna"])
    answer = program.post("/api/answers", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code in (400, 422), list(answer.json())) == (True, ["error"])


def test_strangers_get_nothing(begun: tuple[Path, dict[str, str]]) -> None:
    folder, _ = begun
    for token in ("", "wrong"):
        stranger = client(folder, token)
        assert stranger.get("/api/next").status_code == 401
        assert give(stranger, storm__interest="3").status_code == 401
        assert stranger.get("/").status_code == 401
        assert "ask" in stranger.get("/enter?key=wrong").text
        assert stranger.get("/enter?key=wrong").status_code == 401


def test_a_body_comes_whole_and_of_raters_alone(begun: tuple[Path, dict[str, str]]) -> None:
    folder, tokens = begun
    with serving(folder) as (address, _), httpx.Client(base_url=address, trust_env=False) as program:
        for token, body, status in (
            (tokens["anna"], iter([b"{}"]), 400),  # in chunks, without a length
            ("wrong", b"x" * 100_000, 401),
            (tokens["anna"], b"x" * 100_000, 413),
        ):
            answer = program.post("/api/answers", content=body, headers={"Authorization": f"Bearer {token}"})
            assert (answer.status_code, "error" in answer.text) == (status, status != 400)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_browser_gets_a_session_and_not_its_token(begun: tuple[Path, dict[str, str]], scheme: str) -> None:
    folder, tokens = begun
    browser = client(folder, base_url=f"{scheme}://testserver", follow_redirects=False)
    given = [browser.get(f"/enter?key={tokens['anna']}").headers["set-cookie"] for _ in range(2)]
    assert len({one.partition(";")[0] for one in given}) == 2
    for one in given:
        assert tokens["anna"] not in one
        parts = set(one.lower().split("; ")[1:])
        assert {"httponly", "samesite=strict"} <= parts
        assert ("secure" in parts) == (scheme == "https")
    assert "You rate as <strong>anna" in browser.get("/").text
    letter = client(folder, headers={"Accept": "text/html", "Sec-Fetch-Site": "cross-site"})
    onward = letter.get(f"/enter?key={tokens['anna']}")
    assert "url=/" in onward.text  # a redirect would lead on without the cookie
    Ratings(folder).renew("anna")
    assert browser.get("/").status_code == 401
    asked = browser.get("/sheet/1-1", headers={"Accept": "text/html"})
    assert "Open the address that you were given" in browser.get(asked.headers["location"]).text


def test_raters_are_let_in_while_an_answer_waits_for_the_disk(begun: tuple[Path, dict[str, str]]) -> None:
    folder, tokens = begun
    program = client(folder, tokens["anna"])
    with closing(sqlite3.connect(folder / FILE)) as file, ThreadPoolExecutor() as pool:
        file.execute("BEGIN IMMEDIATE")
        saving = pool.submit(give, program, storm__interest="3")
        assert client(folder).get("/api/next").status_code == 401
        assert program.get("/static/raters.css").status_code == 200
        assert not saving.done()
        file.rollback()
        assert saving.result().status_code == 200


def test_raters_cannot_make_a_round_too_large_to_be_opened(
    begun: tuple[Path, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, tokens = begun
    before = (folder / FILE).stat().st_size
    monkeypatch.setattr(store, "_MOST_OF_ALL", 100_000)
    for name, most, saved in (("anna", 50_000, 24), ("boris", 5_000, 2)):
        monkeypatch.setattr(store, "_MOST_BYTES", most)
        program = client(folder, tokens[name])
        twice = [f"{n}{'ж' * 950}" for n in range(30) for _ in range(2)]  # equal ones are kept once
        given = [give(program, comment=one) for one in twice]
        assert [one.status_code for one in given] == [200] * 2 * saved + [422] * (60 - 2 * saved)
        assert given[-1].json()["error"].startswith(f"a round keeps {most:,} bytes of a rater's answers")
        assert give(program, comment=Ratings(folder).answers(name)[0].value).status_code == 200
    browser = client(folder, headers={"Origin": "http://testserver"})
    browser.get(f"/enter?key={tokens['boris']}")
    refused = browser.post(action(browser), data={"comment": "x" * 5000, "do": "stay"})
    assert (refused.status_code, "A round keeps 5,000 bytes of a rater" in refused.text) == (422, True)
    with closing(sqlite3.connect(folder / FILE)) as file:
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert (folder / FILE).stat().st_size - before < 2 * 100_000
        plan = str(file.execute(f"EXPLAIN QUERY PLAN {store._VALUE}", ["anna", 1, 0, "comment"]).fetchall())
    assert "INDEX latest (rater=? AND number=? AND article=? AND question=?)" in plan
    monkeypatch.setattr(store, "LARGEST_DATABASE", 2 * before - 2)
    with pytest.raises(RatingError, match="rate fewer in a round"):
        set_up_round(folder.with_name("study.toml"), folder.with_name("another"))
    assert not list(folder.with_name("another").iterdir())


def test_a_new_address_replaces_the_old_one_and_no_token_is_in_the_file(begun: tuple[Path, dict[str, str]]) -> None:
    folder, tokens = begun
    new = Ratings(folder).renew("anna")
    assert client(folder, tokens["anna"]).get("/api/next").status_code == 401
    assert client(folder, new).get("/api/next").status_code == 200
    assert not any(token.encode() in file.read_bytes() for token in (new, tokens["boris"]) for file in folder.iterdir())
    with pytest.raises(RatingError, match="'eve' is not a rater of this round: anna, boris"):
        Ratings(folder).renew("eve")


def test_other_sites_and_other_names_of_the_server_are_refused(begun: tuple[Path, dict[str, str]]) -> None:
    folder, tokens = begun
    browser = client(folder)
    browser.get(f"/enter?key={tokens['anna']}")
    form = {"storm.interest": "3", "do": "stay"}
    assert browser.post("/sheet/1-1", data=form).status_code == 403  # neither a page's nor a program's
    for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert browser.post("/sheet/1-1", data=form, headers=headers).status_code == 403
    assert browser.get("/", headers={"Host": "evil.example"}).status_code == 403
    assert Ratings(folder).answers() == []
    own = {"Origin": "http://testserver"}
    assert browser.post(action(browser), data=form, headers=own, follow_redirects=False).status_code == 303
    assert [one.value for one in Ratings(folder).answers()] == ["3"]
    assert browser.post("/sheet/1-1", data={"comment": "x" * (1 << 20)}, headers=own).status_code == 413


def test_a_form_works_without_scripts(begun: tuple[Path, dict[str, str]]) -> None:
    folder, tokens = begun
    browser = client(folder, headers={"Origin": "http://testserver"}, follow_redirects=False)
    assert browser.get(f"/enter?key={tokens['anna']}").headers["location"] == "/"
    form = {"storm.interest": "3", "sentence": "2", "class": "irrelevant", "comment": "", "do": "stay"}
    assert browser.post(action(browser), data=form).headers["location"] == f"/sheet/{SHEET}"
    page = browser.post(action(browser), data=form | {"sentence": "", "do": "next"})
    assert page.status_code == 422
    assert page.text.count("Please answer.") == 5
    rest = {f"storm.{name}": "4" for name in ("organisation", "relevance", "coverage", "verifiability")}
    done = browser.post(action(browser), data=form | rest | {"errors.done": "yes", "sentence": "", "do": "next"})
    assert done.headers["location"] == "/sheet/1-2"
    assert 'class="s marked" id="s2"' in browser.get(f"/sheet/{SHEET}").text
    assert "1 of 6 pages complete" in browser.get("/").text


@pytest.mark.parametrize("headers", [{}, {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}])
def test_an_open_page_never_saves_as_the_rater_of_a_later_link(
    begun: tuple[Path, dict[str, str]], headers: dict[str, str]
) -> None:
    folder, tokens = begun
    browser = client(folder, headers={"Origin": "http://testserver"}, follow_redirects=False)
    browser.get(f"/enter?key={tokens['boris']}")
    of_form = action(browser)
    of_script = of_form.replace(f"/sheet/{SHEET}", "/api/answers")
    given = {"page": SHEET, "answers": {"storm.interest": "3"}}
    browser.get(f"/enter?key={tokens['anna']}", headers=headers)
    for address in (of_script, "/api/answers"):
        refused = browser.post(address, json=given)
        assert refused.status_code == 409
        assert refused.json() == {"error": OTHER}
        assert "Retry-After" in refused.headers
    for address in (of_form, f"/sheet/{SHEET}"):
        page = browser.post(address, data={"storm.interest": "3", "do": "next"})
        assert page.status_code == 409
        assert "This page belongs to another rater: open your own link again" in page.text
    assert client(folder, tokens["anna"]).post(of_script, json=given).status_code == 409
    assert Ratings(folder).answers() == []
    assert not any(token in of_form for token in tokens.values())
    browser.get(f"/enter?key={tokens['boris']}")
    assert browser.post(of_script, json=given).status_code == 200
    assert [(one.rater, one.value) for one in Ratings(folder).answers()] == [("boris", "3")]


def test_a_closed_round_says_so_and_keeps_what_it_has(begun: tuple[Path, dict[str, str]]) -> None:
    folder, tokens = begun
    program = client(folder, tokens["anna"])
    give(program, storm__interest="3")
    Ratings(folder).set_open(is_open=False)  # as another process does
    refused = give(program, storm__interest="4")
    assert (refused.status_code, refused.json()) == (409, {"error": CLOSED})
    assert "This round is closed" in program.get("/").text
    assert [one.value for one in Ratings(folder).answers()] == ["3"]
    Ratings(folder).set_open(is_open=True)
    assert give(program, storm__interest="4").status_code == 200


@pytest.mark.parametrize("first", ["=", "\t=", "\r=", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_a_comment_is_not_a_formula_for_a_spreadsheet(
    begun: tuple[Path, dict[str, str]], tmp_path: Path, first: str
) -> None:
    folder, tokens = begun
    give(client(folder, tokens["anna"]), comment=f'{first}HYPERLINK("http://evil.example")')
    write_report(tmp_path / "report", Results.of(Ratings(folder)))
    with (tmp_path / "report" / "ratings.csv").open(encoding="utf-8", newline="") as lines:
        assert [row["value"] for row in csv.DictReader(lines)] == [f'\'{first.strip()}HYPERLINK("http://evil.example")']


def test_a_second_round_never_replaces_one(begun: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    with pytest.raises(RatingError, match="is there already"):
        set_up_round(tmp_path / "study.toml", begun[0])
    with pytest.raises(RatingError, match=r"has no ratings\.sqlite"):
        Ratings(tmp_path)


def test_nothing_that_was_acknowledged_is_lost_when_the_server_is_killed(begun: tuple[Path, dict[str, str]]) -> None:
    folder, tokens = begun
    given = []
    with serving(folder) as (address, process), httpx.Client(base_url=address, trust_env=False) as program:
        program.headers["Authorization"] = f"Bearer {tokens['anna']}"
        for n in range(30):
            value = str(n % 7 + 1)
            assert give(program, storm__interest=value, comment=f"{n}").status_code == 200
            given.append(value)
        os.kill(process.pid, signal.SIGKILL)
        process.wait(60)
    with serving(folder) as (address, _), httpx.Client(base_url=address, trust_env=False) as program:
        program.headers["Authorization"] = f"Bearer {tokens['anna']}"
        page = program.get(f"/api/pages/{SHEET}").json()
        assert {one["name"]: one["answer"] for one in page["questions"] if one["answer"]} == {
            "storm.interest": given[-1],
            "comment": "29",
        }


READ_BLIND = {
    "A": "openai",
    "B": "langchain_w_gpt5",
    "C": "ours",
    "D": "gemini_2.5_pro",
    "E": "perplexity",
    "F": "gemini_3_pro",
    "G": "qwen",
}
"""Letter of the reading of "Morris Park Aerodrome" → who wrote the article."""


@pytest.mark.data
def test_a_blind_reading_entered_again_gives_its_figures(data_dir: Path, tmp_path: Path) -> None:
    place, topic = data_dir / "capable_morris", "Morris Park Aerodrome"
    with (place / "facts.csv").open(encoding="utf-8", newline="") as lines:
        read = list(csv.DictReader(lines))
    head = f'title = "{topic}"\nraters_per_item = 1\ncitations = false\n[[raters]]\nname = "reader"\nkind = "model"\n'
    (tmp_path / "wiki_live").mkdir()  # of the data set this topic alone, since reading all takes a minute
    shutil.copy(data_dir / "wiki_live" / "Morris_Park_Aerodrome.json.gz", tmp_path / "wiki_live")
    head += f'[data]\nset = "wiki_live"\npath = "{tmp_path / "wiki_live"}"\n'
    head += f'[[facts]]\ntopic = "{topic}"\npath = "{place / "facts.csv"}"\n'
    for system in READ_BLIND.values():
        path = f'path = "{place / "run"}"\n' if system == "ours" else ""
        head += f'[[articles]]\ntopic = "{topic}"\nsystem = "{system}"\n{path}'
    (tmp_path / "study.toml").write_text(head, "utf-8")
    study, tokens = set_up_round(tmp_path / "study.toml", tmp_path / "round")
    texts = zip(study.articles, Ratings(tmp_path / "round").round.articles, strict=True)
    letters = {article.to_markdown(): letter for (_, article), letter in zip(texts, READ_BLIND, strict=True)}
    labels = {"fully": "fully", "partly": "partly", "no": "missing", "contradicted": "wrong"}

    def label(_: str, question: Any) -> str:
        number = int(question["name"].removeprefix("fact."))
        assert question["text"] == read[number - 1]["fact"]
        return labels[read[number - 1][letters[question["markdown"]]]]

    rate_all(tmp_path / "round", tokens, label)
    results = Results.of(Ratings(tmp_path / "round"))
    counts = {row["system"]: [row[name] for name in labels.values()] for row in results.facts}
    wanted = {letter: Counter(row[letter] for row in read) for letter in READ_BLIND}
    assert counts == {READ_BLIND[letter]: [own[name] for name in labels] for letter, own in wanted.items()}
    assert counts["ours"] == [23, 6, 6, 1]
    report = write_report(tmp_path / "report", results)[0].read_text("utf-8")
    assert "| Morris Park Aerodrome | ours | 23 | 6 | 6 | 1 | 26.0 | 1 |" in report


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    study = read_study(study_file(tmp_path, head=HEAD))
    text = Article("Road 0", (Paragraph((Sentence("It is long."),)),))
    set_up(tmp_path / "round", study, [text] * 4, ())
    (tmp_path / "round" / FILE).write_bytes(b"no database")
    with pytest.raises(RatingError, match="cannot be used"):
        Ratings(tmp_path / "round")


def test_links_of_a_round_are_refused(begun: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    folder, tokens = begun
    give(client(folder, tokens["anna"]), storm__interest="3")
    (tmp_path / "mine").mkdir()
    (folder / "report").symlink_to(tmp_path / "mine")
    assert "is a link" in CliRunner().invoke(commands, ["report", str(folder)]).output
    assert list((tmp_path / "mine").iterdir()) == []
    for end in ("", "-wal", "-shm", "-journal"):
        other = tmp_path / f"round{end or '-file'}"
        other.mkdir()
        (other / FILE).write_bytes((folder / FILE).read_bytes())
        (other / f"{FILE}{end}").unlink(missing_ok=True)
        (other / f"{FILE}{end}").symlink_to(folder / FILE)
        with pytest.raises(DatasetError, match="is a link"):
            Ratings(other)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("CREATE TRIGGER t AFTER UPDATE ON round BEGIN DELETE FROM answers; END", "this program does not make"),
        ("ALTER TABLE round RENAME TO r; CREATE VIEW round AS SELECT * FROM r", "this program does not make"),
        ("UPDATE assigned SET articles = '[0, 99]'", "does not fit the study"),
        ("UPDATE assigned SET articles = '[0, 3]'", "does not fit the study"),  # two topics
        ("UPDATE assigned SET articles = '[0, 1]'", "does not fit the study"),  # twice for a rater
        ("UPDATE assigned SET number = number + 5", "does not fit the study"),
        ("UPDATE round SET study = json_set(study, '$.raters_per_item', 99)", "99 raters an item"),
        (f"UPDATE round SET study = json_set(study, '$.compare', json('{json.dumps(['a'] * 99_999)}'))", "20 items"),
        ("UPDATE assigned SET rater = 'eve' || rater", "cannot be used"),
        ("DELETE FROM round", "cannot be used"),
    ],
)
def test_a_file_that_setup_did_not_make_is_refused(begun: tuple[Path, dict[str, str]], sql: str, said: str) -> None:
    with closing(sqlite3.connect(begun[0] / FILE)) as file:
        file.executescript(sql)
    with pytest.raises(RatingError, match=said):
        Ratings(begun[0])


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE answers SET question = x'ff'",
        "UPDATE answers SET value = CAST(x'ff' AS TEXT)",
        "UPDATE articles SET article = replace(article, '_id\": \"t', '_id\": \"tt')",
    ],
)
def test_pages_and_report_do_without_what_is_damaged(begun: tuple[Path, dict[str, str]], sql: str) -> None:
    folder, tokens = begun
    give(client(folder, tokens["anna"]), storm__interest="3")
    with closing(sqlite3.connect(folder / FILE)) as file:
        file.executescript(sql)
        assert file.total_changes
    for address in ("/", f"/sheet/{SHEET}", f"/api/pages/{SHEET}"):
        assert client(folder, tokens["anna"]).get(address).status_code == (503 if "CAST" in sql else 200)
    done = CliRunner().invoke(commands, ["report", str(folder)])
    assert isinstance(done.exception, StormError | SystemExit | None), done.output


@pytest.mark.parametrize("name", [FILE, f".{FILE}"])
def test_a_journal_beside_a_round_of_somebody_else_deletes_no_file(
    begun: tuple[Path, dict[str, str]], tmp_path: Path, name: str
) -> None:
    victim = tmp_path / "victim.txt"
    victim.write_text("precious")
    with closing(sqlite3.connect(begun[0] / FILE)) as file:
        file.execute("PRAGMA journal_mode = DELETE")
    magic, named, size = bytes.fromhex("d9d505f920a163d7"), str(victim).encode(), (begun[0] / FILE).stat().st_size
    header = (magic + struct.pack(">5I", 0, 0, size // 4096, 512, 4096)).ljust(512, b"\0")
    end = struct.pack(">I", 0x40000000 // 4096 + 1) + named + struct.pack(">II", len(named), sum(named)) + magic
    (begun[0] / f"{name}-journal").write_bytes(header + end)
    if name == FILE:
        assert Ratings(begun[0]).is_open
    else:
        (begun[0] / FILE).rename(begun[0] / name)
        set_up_round(tmp_path / "study.toml", begun[0])
    assert victim.read_text() == "precious"


def test_a_page_that_a_file_uses_twice_is_refused(begun: tuple[Path, dict[str, str]]) -> None:
    with closing(sqlite3.connect(begun[0] / FILE)) as file:
        (root,) = file.execute("SELECT rootpage FROM sqlite_master WHERE name = 'assigned'").fetchone()
        file.executescript(
            f"PRAGMA writable_schema = ON; UPDATE sqlite_master SET rootpage = {root} WHERE name = 'articles'"
        )
    with pytest.raises(RatingError, match="cannot be used"):
        Ratings(begun[0])


def test_answers_that_no_page_asks_for_do_not_count(begun: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    folder, tokens = begun
    give(client(folder, tokens["anna"]), storm__interest="3", comment="Good", error__1="inference")
    before = Results.of(Ratings(folder)).answers
    assert len(before) == 3
    columns = "INSERT INTO answers (rater, number, article, question, value, saved) SELECT"
    with closing(sqlite3.connect(folder / FILE)) as file, file:
        for changed in (
            "'eve', number, article, question, value",
            "rater, 99, article, question, value",
            "rater, number, 77, question, value",
            "rater, number, article, 'storm.' || question, value",
            "rater, number, 1 - article, question, 'nan'",
        ):
            file.execute(f"{columns} {changed}, saved FROM answers WHERE question != 'comment'")
    results = Results.of(Ratings(folder))
    assert results.answers == before
    write_report(tmp_path / "report", results)
