"""Where facts were lost: a tiny run in which each fact is last at hand at another step, read by a scripted judge."""

import json
import re
from pathlib import Path

import pytest
from judge_llm import FakeModel
from wiki_live_files import FILLER, topic_file, write_wiki_live

from storm_benchmarks.lost_facts import main, read_facts, read_told
from storm_pipeline import Article, Snippet
from storm_pipeline.run.article_json import to_json
from storm_pipeline.types import Conversation, Paragraph, Perspective, Section, Sentence, Source, Turn

FOUND, EXCLUDED, UNFOUND = (f"https://{name}.example/" for name in ("found", "excluded", "unfound"))
FACTS = {
    "F1": ("granite", "in the article"),
    "F2": ("bridges", "in the section, not told"),
    "F3": ("floods", "a finding, in another section"),
    "F4": ("fishers", "shown, no finding"),
    "F5": ("mills", "shown, no finding"),  # only the writer of a section saw the passage
    "F6": ("ferries", "returned, not shown"),
    "F7": ("orchards", "page found, passage never returned"),
    "F8": ("smugglers", "page left out by the source policy"),
    "F9": ("comets", "page never found"),
    "F10": ("volcanoes", "on no page of the web"),
}
SHOWN, SEEN, RETURNED = (Snippet(FOUND, "Orrin", f"There are {FACTS[name][0]}.") for name in ("F4", "F5", "F6"))


def findings(*names: str) -> tuple[Sentence, ...]:
    return tuple(Sentence(f"It had {FACTS[name][0]}.") for name in names)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    folder.mkdir()
    talk = Conversation(Perspective("Reader", ""), (Turn("What had it?", (), findings("F2", "F3"), (SHOWN,)),))
    sections = (Section("Lake", (Paragraph(findings("F1")),)), Section("Dam"))
    source = Source("s1", FOUND, "Orrin", (SHOWN, SEEN))
    article = Article("Lake Orrin", (), sections, (source,), conversations=(talk,))
    (folder / "article.json").write_text(to_json(article))
    passages = [{"url": one.url, "title": one.title, "text": one.text} for one in (SHOWN, SEEN, RETURNED)]
    result = {"snippets": passages, "excluded": [{"url": EXCLUDED}]}
    (folder / "journal.jsonl").write_text(json.dumps({"kind": "search", "value": result}) + "\n")
    given = [("Lake", "F2", [SEEN.id]), ("Dam", "F3", [])]
    evidence = [{"heading": h, "findings": [s.text for s in findings(f)], "snippets": i} for h, f, i in given]
    (folder / "evidence.json").write_text(json.dumps(evidence))
    return folder


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    pages = [
        {"url": url, "title": url[8:-9], "text": f"{FILLER} There were {FACTS[name][0]}."}
        for url, name in ((FOUND, "F7"), (EXCLUDED, "F8"), (UNFOUND, "F9"))
    ]
    folder = write_wiki_live(tmp_path / "data", orrin=topic_file(pages=pages))
    listed = (f"{name} There were {word} [{number}, 7]" for number, (name, (word, _)) in enumerate(FACTS.items()))
    (tmp_path / "facts.txt").write_text("Facts of the article [by page]\n" + "\n".join(listed))
    return str(folder / "orrin.json.gz"), str(tmp_path / "facts.txt")


def judged(user: str) -> str:
    """A judge that finds a fact where its last word stands."""
    texts, _, facts = user.rpartition("Facts:")
    asked = re.findall(r"(\d+)\. .*?(\w+)$", facts, re.M)
    return json.dumps({"verdicts": [{"fact": int(n), "told": "fully" if w in texts else "no"} for n, w in asked]})


def placed(user: str) -> str:
    asked = re.findall(r"^(?:Facts: )?(\d+)\. .*?(\w+)$", user.rpartition("Facts:")[2].strip(), re.M)
    return json.dumps({"places": [{"fact": int(number), "section": 1} for number, _ in asked]})


def printed(capsys: pytest.CaptureFixture[str], run: Path, files: tuple[str, str], *more: str) -> dict[str, str]:
    web, facts = files
    with FakeModel({"FindFacts": judged, "PlaceFacts": placed}) as model:
        cache = ["--cache", str(run.parent / "cache")]
        main([str(run), facts, "--web", web, "--lm", model.lm, *cache, *more])
    rows = re.findall(r"^\| (F\d+) [^|]+ \| ([^|]+) \|$", capsys.readouterr().out, re.M)
    return dict(rows)


def test_each_fact_was_lost_at_the_last_step_that_had_it(
    run: Path, files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    told = {name: step for name, (_, step) in FACTS.items() if name != "F1"}
    assert printed(capsys, run, files) == told


def test_a_run_without_records_of_its_sections_tells_less(
    run: Path, files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    (run / "evidence.json").unlink()
    lost = printed(capsys, run, files)
    assert [lost[name] for name in ("F2", "F3", "F4")] == 2 * ["a finding, in no section"] + ["shown, no finding"]
    assert lost["F5"] == "returned, not shown"


def test_what_a_reader_found_counts(run: Path, files: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    table = run.parent / "facts.csv"
    words = {"F1": "no", "F2": "partly", "F4": "fully"}
    table.write_text("n,A,C\n" + "\n".join(f"{name},fully,{words.get(name, 'contradicted')}" for name in FACTS))
    assert read_told(table, "C") == dict.fromkeys(FACTS, 0) | {"F2": 1, "F4": 2}
    lost = printed(capsys, run, files, "--told", f"{table}:C")
    assert "F4" not in lost
    assert lost["F1"] == "on no page of the web"
    assert lost["F2"] == "in the section, not told"


def test_facts_are_named_lines(files: tuple[str, str]) -> None:
    facts = read_facts(Path(files[1]))
    assert list(facts) == list(FACTS)
    assert facts["F1"] == "There were granite"


@pytest.mark.parametrize("name", ["article.json", "journal.jsonl", "evidence.json"])
def test_a_record_that_is_a_link_is_one_line(run: Path, files: tuple[str, str], name: str) -> None:
    (run / name).rename(run.parent / name)
    (run / name).symlink_to(run.parent / name)
    with pytest.raises(SystemExit, match=rf"^error: .*it is a link.*{name}'$"):
        main([str(run), files[1], "--web", files[0], "--lm", "scripted/model"])


def test_control_characters_of_a_fact_are_not_printed(
    run: Path, files: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path(files[1]).write_text("F9 There were \x1b[31mcomets")
    with FakeModel({"FindFacts": judged, "PlaceFacts": placed}) as model:
        main([str(run), files[1], "--web", files[0], "--lm", model.lm, "--cache", str(run.parent / "cache")])
    assert "| F9 There were [31mcomets |" in capsys.readouterr().out
