"""``storm check``: what it prints and writes, its judge and its cost, and its exit status."""

import json
from pathlib import Path

import pytest
from commands import run_storm
from llm import FakeModel
from servers import Reply
from year_judge import YearJudge

from storm_pipeline.api import say
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder

PAGE = "Lake Orrin lies in the hills. The dam was finished in 1926 by two hundred workers. Trout live in the lake."
WRITTEN = "# Lake Orrin\n\nLake Orrin lies in the hills.[^1] The dam was finished in 1999.[^1]\n\n[^1]: https://example.org/o\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_clients_left: None) -> Path:
    """A folder with an article and its source, as the current one."""
    (tmp_path / "article.md").write_text(WRITTEN)
    (tmp_path / "pages.jsonl").write_text(json.dumps({"url": "https://example.org/o", "title": "Orrin", "text": PAGE}))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("storm_pipeline.evidence.judges.opening.open_judge", lambda *_, **__: YearJudge())
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    done = run_storm("check", *arguments)
    return done.exit_code, done.output


def test_sentences_that_fail_are_shown_and_end_with_3(folder: Path) -> None:
    code, output = run(".", "--offline", "--to", "report")
    assert code == 3
    assert "2         not      The dam was finished in 1999.  1999 not found" in output
    assert "2 sentences: 1 supported, 1 not supported, as years judges" in output
    assert json.loads((folder / "report" / "check.json").read_text())["counts"]["not"] == 1
    assert "not supported: 1999 not found" in (folder / "report" / "check.html").read_text()


def test_what_was_matched_to_what_is_listed(folder: Path) -> None:
    (folder / "diary.txt").write_text(PAGE)
    (folder / "article.md").write_text(WRITTEN + "[^2]: diary.txt\n[^3]: Smith, A book.\n\nDeep.[^2] Wide.[^3]\n")
    code, output = run("article.md", "--offline")
    assert code == 3
    assert [line.split() for line in output.splitlines()[:4]] == [
        ["cited", "matched", "by", "document"],
        ["https://example.org/o", "address", "https://example.org/o"],
        ["diary.txt", "file", "name", "diary.txt"],
        ["Smith,", "A", "book", "nothing"],
    ]
    assert "2 of 3 references matched to documents" in output
    matches = json.loads(run("article.md", "--offline", "--json")[1].partition("\n1 of")[0])["matches"]
    assert matches[1:] == [
        {"cited": "diary.txt", "documents": ["diary.txt"], "by": "file name"},
        {"cited": "Smith, A book", "documents": [], "by": ""},
    ]


def test_an_article_without_failing_sentences_ends_with_0(folder: Path) -> None:
    assert run(".", "--offline", "--fail-on", "uncited")[0] == 0
    (folder / "article.md").write_text(WRITTEN.replace("1999", "1926"))
    code, output = run(".", "--offline", "--json")
    assert (code, json.loads(output)["support"]) == (0, 1.0)


def test_parts_left_out_are_named_without_control_characters(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.wiki").write_text("It is deep.\n\n{{Infobox evil\x9b31m|a=b<ref>x y</ref>}}\n")
    assert "{{infobox evil31m}} with 1 reference" in run("a.wiki", "--offline")[1]
    say("evil\x9b31m\u202e")
    assert capsys.readouterr().out == "evil 31m \n"


def test_errors_are_no_verdict(folder: Path) -> None:
    assert run("nowhere.md")[0] == 1
    assert run(".", "--fail-on", "nonsense")[0] == 2
    (folder / "pages.jsonl").unlink()
    code, output = run(".", "--offline")
    assert (code, "nothing was judged" in output) == (1, True)


@pytest.mark.parametrize("to", ["article.md", "article.md/x"])
def test_a_folder_that_cannot_be_made_is_refused_before_the_judge_is_asked(folder: Path, to: str) -> None:
    code, output = run(".", "--offline", "--to", to)
    assert code == 1
    assert f"error: cannot write {to}: " in output and "choose another folder (--to)" in output
    assert "1999 not found" not in output


def test_verdicts_are_printed_even_if_they_cannot_be_written(folder: Path) -> None:
    (folder / "report" / "check.json").mkdir(parents=True)
    code, output = run(".", "--offline", "--to", "report")
    assert code == 1
    assert "1999 not found" in output
    assert "error: cannot write report: Is a directory" in output


@pytest.mark.parametrize("name", ["article.md", "article.json"])
def test_a_link_out_of_the_folder_is_not_read(folder: Path, name: str) -> None:
    """Its target would stand in the report, which may be passed on."""
    (folder / "diary.txt").write_text("The key is under the mat.")
    (folder / "sent").mkdir()
    (folder / "sent" / name).symlink_to(folder / "diary.txt")
    code, output = run("sent", "--offline", "--to", "report")
    assert code == 1
    assert "under the mat" not in output
    assert not (folder / "report").exists()


JUDGED = {"CheckSentences": "1: supported [1]\n2: contradicted - finished in 1926 | finished in 1926"}


@pytest.fixture
def opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder, without the judge of years, and a key."""
    monkeypatch.undo()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setattr("storm_pipeline.evidence.judges.language_model.AT_ONCE", 2)
    return folder


def test_without_a_judge_nothing_is_supported_and_status_is_4(opened: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key is set, which chooses no model."""
    monkeypatch.setattr("storm_pipeline.evidence.judges.opening.shared_embedder", lambda *_: HashingEmbedder())
    (opened / "article.md").write_text(WRITTEN.replace("lies in", "lies not in"))
    code, output = run(".", "--offline", "--to", "report")
    assert code == 4
    assert "2         digits not found  The dam was finished in 1999.  “1999” not found" in output
    assert "2 sentences: 1 on topic, 1 digits not found; nothing was read for support" in output
    assert "2 of 2 sentences were not read for support: name a language model (--lm)" in output
    record = json.loads((opened / "report" / "check.json").read_text())
    assert (record["read"], record["support"]) == (0, None)
    assert "nothing was read for support" in record["summary"]
    page = (opened / "report" / "check.html").read_text()
    assert "nothing was read for support" in page
    assert "supported" not in output + page.replace("not supported", "")
    assert run(".", "--offline", "--fail-on", "digits not found")[0] == 3


def test_a_configured_language_model_judges_after_an_estimate_and_is_paid_once(opened: Path) -> None:
    with FakeModel(JUDGED) as server:
        own = (".", "--offline", "--cache", "cache", "--lm", server.lm, "--price", "fake=1/2")
        code, output = run(*own)
        assert code == 3
        assert "model:openai/fake reads 2 sentences in 1 call, for about $0.00" in output
        assert ", capped at $1 (--max-cost)" in output
        assert "1 supported, 1 contradicted, as model:openai/fake judges" in output
        (asked,) = server.asked
        assert "two hundred workers. Trout live in the lake. (Orrin, example.org)" in asked.user
        assert "2. The dam was finished in 1999. [1]" in asked.user
        assert run(*own)[0] == 3
        assert len(server.asked) == 1, "a reply that was paid is kept"
        assert run(".", "--offline", "--cache", "other", "--lm", server.lm)[1].count("at an unknown price") == 1


def test_what_a_cap_leaves_is_unread_and_nothing_paid_is_lost(opened: Path) -> None:
    more = "".join(f" Trout number {n} live in the lake.[^1]" for n in range(6))
    (opened / "article.md").write_text(WRITTEN.replace("\n\n[^1]", f"{more}\n\n[^1]"))
    with FakeModel(JUDGED) as server:
        own = (".", "--offline", "--cache", "cache", "--lm", server.lm, "--price", "fake=1/1000", "--fail-on", "not")
        code, output = run(*own, "--workers", "1", "--max-cost", "1.52")
        assert code == 4
        assert "left unread" in output and "all 1.52 dollars are spent (--max-cost)" in output
        paid = len(server.asked)
        assert 1 <= paid < 4
        assert "a further check pays only for these" in output
        assert run(*own, "--max-cost", "9")[0] == 0
        assert len(server.asked) == 4


def test_a_failed_call_leaves_its_sentences_unread(opened: Path) -> None:
    more = " Trout live in the lake.[^1]"
    (opened / "article.md").write_text(WRITTEN.replace("\n\n[^1]", f"{more}\n\n[^1]"))
    refuses = Reply(400, body=json.dumps({"error": {"message": "no"}}))
    with FakeModel(JUDGED, {"CheckSentences": [refuses]}) as server:
        code, output = run(".", "--offline", "--cache", "cache", "--lm", server.lm, "--workers=1", "--fail-on", "not")
        assert code == 4
        assert "2 left unread" in output
    with FakeModel({"CheckSentences": "I cannot."}) as server:
        code, output = run(".", "--offline", "--cache", "cache", "--lm", server.lm)
        assert code == 1
        assert "cannot be used" in output
        asked = len(server.asked)
        assert run(".", "--offline", "--cache", "cache", "--lm", server.lm)[0] == 1
        assert len(server.asked) > asked, "a useless reply is not kept"
