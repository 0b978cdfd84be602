"""``storm refresh``: what it says of own files that changed, what it writes, its exit status, and wording anew."""

from pathlib import Path

import pytest
from articles import article, section, sentence
from commands import run_storm
from year_judge import YearJudge

from storm_pipeline.evidence.judges.spans import with_spans
from storm_pipeline.run.article_json import from_json
from storm_pipeline.types import Sentence, Snippet, Source

DAM = "Lake Orrin lies in the hills. The dam was finished in 1926 by two hundred workers. Trout live in the lake."
LATER = DAM.replace("in 1926", "in 1931")
SENTENCES = ("The dam was finished in 1926.", "Trout live in Lake Orrin.", "Falk was a lawyer in 1931.")


def _source(path: Path, text: str) -> Source:
    path.write_text(text)
    snippet = Snippet(path.as_uri(), path.stem, text, engine="corpus")
    return Source(snippet.source_id, snippet.url, path.stem, (snippet,))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_clients_left: None) -> Path:
    """The current folder, with a run's article over two files."""
    dam = _source(tmp_path / "dam.txt", DAM)
    falk = _source(tmp_path / "falk.txt", "Dag Falk was a lawyer in 1931.")
    own = (sentence(SENTENCES[0], dam), sentence(SENTENCES[1], dam), sentence(SENTENCES[2], falk))
    (tmp_path / "run").mkdir()
    written = with_spans(article(section("Dam", *own), sources=(dam, falk)))
    (tmp_path / "run" / "article.json").write_text(written.to_json())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setattr("storm_pipeline.evidence.judges.opening.open_judge", lambda *_, **__: YearJudge())
    return tmp_path


def refresh(*options: str, files: str = ".") -> tuple[int, str]:
    done = run_storm("refresh", "run", "--to", "new", "--pages", files, *options)
    return done.exit_code, done.output


def sentences(path: Path) -> list[Sentence]:
    return list(from_json(path.read_text()).sentences())


def test_files_that_say_the_same_leave_the_article_byte_for_byte(folder: Path) -> None:
    (folder / "dam.txt").write_text("News.\n\n" + DAM)
    code, output = refresh()
    assert code == 0
    assert "0 sentences with a passage that changed or vanished, 0 fail" in output
    assert (folder / "new" / "article.json").read_bytes() == (folder / "run" / "article.json").read_bytes()


def test_a_file_that_changed_marks_the_sentences_that_rest_on_the_changed_words(folder: Path) -> None:
    (folder / "dam.txt").write_text(LATER)
    before = (folder / "run" / "article.json").read_bytes()
    code, output = refresh()
    assert code == 3
    assert "1 sentence with a passage that changed or vanished, 1 fail" in output
    assert [text for text in SENTENCES if text in output] == [SENTENCES[0]]
    old, new = sentences(folder / "run" / "article.json"), sentences(folder / "new" / "article.json")
    assert [one == other for one, other in zip(old, new, strict=True)] == [False, True, True]
    assert LATER in (folder / "new" / "article.json").read_text()
    assert (folder / "run" / "article.json").read_bytes() == before


def test_a_file_that_is_gone_is_named_and_its_sentence_stays(folder: Path) -> None:
    (folder / "falk.txt").unlink()
    code, output = refresh()
    assert code == 0
    assert "the file is gone or unreadable" in output
    assert sentences(folder / "new" / "article.json") == sentences(folder / "run" / "article.json")


def test_an_article_from_elsewhere_is_refreshed_with_its_folder(folder: Path) -> None:
    (folder / "mine.md").write_text(f"{SENTENCES[0]}[^1] It is old.[^2]\n\n[^1]: dam.txt\n[^2]: A lost book.\n")
    done = run_storm("refresh", "mine.md", "--to", "new")
    assert done.exit_code == 0
    assert "1 sentence with a passage that changed or vanished, 0 fail" in done.output
    assert "the article gives no address of it" in done.output
    assert DAM in (folder / "new" / "article.json").read_text()


def test_an_article_that_cannot_be_written_is_said_after_the_changes(folder: Path) -> None:
    (folder / "new" / "article.json").mkdir(parents=True)
    code, output = refresh()
    assert code == 1
    assert "with a passage that changed or vanished" in output
    assert "error: cannot write new: Is a directory" in output


def test_what_is_no_run_is_told(folder: Path) -> None:
    (folder / "run" / "article.json").unlink()
    assert refresh()[0] == 1
    assert not (folder / "new").exists()


def rests_on(url: str, folder: Path) -> None:
    """Write a run's article whose only source is at an address."""
    snippet = Snippet(url, "dam", DAM, engine="corpus")
    dam = Source(snippet.source_id, snippet.url, "dam", (snippet,))
    written = with_spans(article(section("Dam", sentence(SENTENCES[0], dam)), sources=(dam,)))
    (folder / "run" / "article.json").write_text(written.to_json())


@pytest.mark.parametrize(
    ("source", "files", "why"),
    [
        ("{}/dam.txt", "elsewhere", "folder that you name: --pages PATH"),
        ("{}/elsewhere/link.txt", "elsewhere", "folder that you name: --pages PATH"),
        ("{}/elsewhere", ".", "the file is gone or unreadable"),
        ("file://[", ".", "the file is gone or unreadable"),
    ],
)
def test_files_are_read_only_in_folders_that_the_user_names(folder: Path, source: str, files: str, why: str) -> None:
    """An article from elsewhere may name any file or folder of the machine as its source."""
    (folder / "dam.txt").write_text(LATER)
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "link.txt").symlink_to(folder / "dam.txt")
    rests_on(source.format(folder.as_uri()), folder)
    code, output = refresh(files=files)
    assert code == 0
    assert why in output
    assert not any(LATER in path.read_text() for path in (folder / "new").iterdir())
