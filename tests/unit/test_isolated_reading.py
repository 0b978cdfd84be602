"""Foreign files are read in a process of their own, which a file may slow down, fill or crash; the run goes on."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path

import pytest
from books import paragraph, word
from hypothesis import given, settings
from hypothesis import strategies as st
from read_apart import FOUND, crash, echo, forge, hold, lay_out, number, pid, pid_with, prints, refuse, seen, spin

from storm_pipeline.errors import DatasetError, MissingExtraError, PageError
from storm_pipeline.output.articles import AvailablePages, read_article, reading
from storm_pipeline.sources.documents import isolated, reader
from storm_pipeline.sources.documents.document import Document, Record, Unreadable
from storm_pipeline.sources.documents.isolated import NotReadError, ReadingProcess
from storm_pipeline.sources.documents.reader import KeptDocuments
from storm_pipeline.sources.pages.extract import extract_isolated
from storm_pipeline.sources.pages.fetch import FetchedPage
from storm_pipeline.types import Work

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system limits less")
MEGABYTES = 330  # a language's detector takes 200


@pytest.fixture
def process() -> Iterator[ReadingProcess]:
    made = ReadingProcess(seconds=1.0, megabytes=MEGABYTES)
    yield made
    made.end()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[ReadingProcess]:
    """All files are read within a small budget; to load what reads the first one takes a second of it."""
    made = ReadingProcess(seconds=4.0, megabytes=MEGABYTES)
    for module in (isolated, reader, reading):
        monkeypatch.setattr(module, "reading", made)
    yield made
    made.end()


def word_of(paragraphs: int) -> bytes:
    return word("<w:p/>" * paragraphs, paragraph("<w:r><w:t>End.</w:t></w:r>"))


def doubled(times: int) -> str:
    lines = (f"@string{{s{i + 1} = s{i} # s{i}}}" for i in range(times))
    return f'@string{{s0 = "aaaaaaaaaaaa"}}{"".join(lines)}@book{{a, title=s{times}}}'


TIME, LONGER, MEMORY = (f"takes more than {most} to read" for most in ("1 s", "4 s", f"{MEGABYTES} MB of memory"))
HOSTILE = {
    "strings.bib": (lambda: doubled(40).encode(), MEMORY),
    "80 kB.docx": (lambda: word_of(800_000), "takes more than"),
    "430 kB.docx": (lambda: word_of(3_000_000), MEMORY),
    "40 kB.docx": (lambda: word(*[paragraph(f"<w:r><w:t>{'Silk. ' * 100_000}</w:t></w:r>")] * 6), LONGER),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_named_and_the_others_are_read(tmp_path: Path, small: ReadingProcess, name: str) -> None:
    make, why = HOSTILE[name]
    (tmp_path / name).write_bytes(make())
    for good in ("a.txt", "z.txt"):
        (tmp_path / good).write_text("Silk was traded.")
    found = list(reader.read_documents(tmp_path))
    assert [one.title for one in found if isinstance(one, Document)] == ["a", "z"]
    (problem,) = (one for one in found if isinstance(one, Unreadable))
    assert problem.reason.startswith(f"{tmp_path / name} {why}") and problem.file == str(tmp_path / name)
    assert "\n" not in problem.reason
    assert small.read(pid, size=0)


def test_a_file_of_too_many_lines_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"url": "a", "text": "b"}\n' * 300_001)
    (found,) = reader.read_documents(tmp_path / "a.jsonl")
    assert isinstance(found, Unreadable)
    assert "has 300,001 lines, of which a file may have 300,000; split it" in found.reason


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text"), [("a.json", json.dumps({"markdown": "[" * 400_000})), ("a.wiki", "{{a|" * 20_000)]
)
def test_a_hostile_article_is_refused(tmp_path: Path, small: ReadingProcess, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DatasetError, match=rf"{name} cannot be read: it {LONGER}"):
        read_article(tmp_path / name, "A", AvailablePages())
    assert small.read(pid, size=0)


def test_a_page_that_takes_too_long_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    html = b"<html><body><p>" + b"Silk was traded. " * 100 + b"</body></html>"
    page = FetchedPage("https://a.org", "https://a.org/b", "text/html", html)
    assert extract_isolated(page).url == "https://a.org/b"
    short = ReadingProcess(seconds=0.01)
    monkeypatch.setattr(isolated, "reading", short)
    with pytest.raises(PageError, match=r"https://a\.org/b takes more than 0 s to read"):
        extract_isolated(page)
    short.end()


def test_what_was_not_read_is_tried_again_once_changed_or_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.txt").write_text("Silk was traded.")
    kept, short = KeptDocuments(tmp_path / "cache"), ReadingProcess(seconds=0.01)
    with monkeypatch.context() as patched:
        patched.setattr(reader, "reading", short)
        (found,) = reader.read_documents(tmp_path / "a.txt", kept=kept)
        assert isinstance(found, Unreadable) and "takes more than 0 s" in found.reason
    short.end()
    assert list(reader.read_documents(tmp_path / "a.txt", kept=kept)) == [found]
    later = time.time() + 90_000
    with monkeypatch.context() as patched:
        patched.setattr(time, "time", lambda: later)
        assert [type(one) for one in reader.read_documents(tmp_path / "a.txt", kept=kept)] == [Document]
    with monkeypatch.context() as patched:
        patched.setattr(reader, "reading", short)
        os.utime(tmp_path / "a.txt", (1, 1))
        assert [type(one) for one in reader.read_documents(tmp_path / "a.txt", kept=kept)] == [Unreadable]
    short.end()
    os.utime(tmp_path / "a.txt", (2, 2))
    assert [type(one) for one in reader.read_documents(tmp_path / "a.txt", kept=kept)] == [Document]


@pytest.mark.slow
def test_one_process_is_kept_and_replaced_where_a_file_ends_it(process: ReadingProcess) -> None:
    first = process.read(pid, size=0)
    assert process.read(pid, size=0) == first
    for end, why in ((spin, TIME), (crash, "ends what reads it")):
        with pytest.raises(NotReadError, match=why):
            process.read(end, size=0)
        next_one = process.read(pid, size=0)
        assert next_one != first
        with pytest.raises(ProcessLookupError):
            os.kill(first[0], 0)
        first = next_one


def test_memory_that_other_files_left_used_is_given_back(process: ReadingProcess) -> None:
    (first,) = process.read(pid, size=0)
    assert [process.read(hold, 200, size=0) for _ in range(3)] == [[1]] * 3
    assert process.read(pid, size=0) != [first]
    with pytest.raises(NotReadError, match=MEMORY):
        process.read(hold, MEGABYTES, size=0)


@pytest.mark.slow
def test_large_files_and_pages_have_more_time(process: ReadingProcess) -> None:
    assert process.read(spin, 1.5, size=1_000_000) == ["done"]
    assert len(process.read(lay_out, 10, 0.15, 10_000, size=10_000, is_pdf=True)) == 10
    for seconds, size in ((0.6, 400_000), (0.15, 5_000)):  # pages that take longer, or share what they show
        with pytest.raises(NotReadError, match=TIME):
            process.read(lay_out, 1000, seconds, size, size=size, is_pdf=True)


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [("page", PageError, "of page"), ("extra", MissingExtraError, "of extra"), ("value", NotReadError, "is damaged")],
)
def test_errors_come_back(process: ReadingProcess, name: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        process.read(refuse, name, f"of {name}", size=0)
    assert process.read(pid, size=0)


def test_what_a_library_prints_is_no_answer(process: ReadingProcess, capfd: pytest.CaptureFixture[str]) -> None:
    assert process.read(prints, "noise", size=0) == ["noise"]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("start", "repeated", "times"),
    [
        ("", "[" * 10_000, 100),
        ("", "x" * 1_000_000, 40),  # a line without end
        ("", f'[{{"url": "a", "title": "{"b" * 100_000}", "pages": []}}]\n', 400),  # values without end
        ("[" + "{}," * 10_000, "1]", 1),
        ('[{"url": "a", "title": "b", "pages": 1}]\n[]\n', "", 0),
        ("cos\nsystem\n(S'touch was_run'\ntR.\n", "", 0),
    ],
)
def test_what_a_process_forges_is_refused(process: ReadingProcess, start: str, repeated: str, times: int) -> None:
    with pytest.raises(NotReadError):
        process.read(forge, start, repeated, times, size=0)
    assert process.read(pid, size=0)


@pytest.mark.parametrize("error", ["SystemExit", "Path", "StormError", "__class__"])
def test_a_forged_error_is_that_of_a_damaged_file(process: ReadingProcess, error: str) -> None:
    with pytest.raises(NotReadError, match="is damaged \\(1\\)"):
        process.read(forge, f'["{error}", "1"]\n', "", 0, size=0)
    assert process.read(pid, size=0)


def test_what_follows_a_forged_end_reaches_no_other_file(process: ReadingProcess) -> None:
    assert process.read(forge, "[]\n[1]\n[]\n", "", 0, size=0) == []
    assert process.read(pid, size=0) != [1]


def test_the_process_has_no_keys_and_is_light(process: ReadingProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    assert process.read(seen, "OPENAI_API_KEY", size=0) == [False, False]
    assert process.read(seen, "torch", size=0) == process.read(seen, "dspy", size=0) == [False, False]


TEXTS = st.text(max_size=20)
PAGES = st.lists(st.tuples(st.none() | st.integers(1), TEXTS), max_size=3).map(tuple)
RECORDS = st.builds(Record, TEXTS, work=st.builds(Work, kind=TEXTS, volume=TEXTS))
LABELS = st.dictionaries(st.integers(), TEXTS)
DOCUMENTS = st.builds(Document, TEXTS, TEXTS, PAGES, st.none() | TEXTS, RECORDS, LABELS)


@settings(max_examples=50)
@given(values=st.lists(DOCUMENTS | st.builds(Unreadable, TEXTS, TEXTS, st.booleans()), max_size=4))
def test_values_come_back_as_they_are(values: list[Document | Unreadable]) -> None:
    assert isolated.reading.read(echo, FOUND.dump_json(values).decode(), size=0) == values


def test_lone_surrogates_become_question_marks(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"url": "https://a.org", "title": "A", "text": "Silk \ud800"}))
    (found,) = reader.read_documents(tmp_path)
    assert isinstance(found, Document) and found.pages == ((None, "Silk ?"),)


def test_threads_get_their_own_answers(process: ReadingProcess) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda value: process.read(number, value, size=0), range(200)))
    assert found == [[value] * 3 for value in range(200)]


@pytest.mark.slow
def test_one_reader_holds_one_process_however_many_files_he_has(tmp_path: Path) -> None:
    made = ReadingProcess(seconds=60.0)

    def read(whose: str, file: Path) -> list[int]:
        isolated.read_for.set(whose)
        return made.read(pid_with, str(file), size=0)

    with ThreadPoolExecutor(10) as pool:
        try:
            slow = [pool.submit(copy_context().run, read, "anna", tmp_path / "late") for _ in range(6)]
            others = [pool.submit(copy_context().run, read, whose, tmp_path).result(20) for whose in ("bert", "carl")]
        finally:
            (tmp_path / "late").touch()
        assert len({*map(tuple, others), *(tuple(one.result(60)) for one in slow)}) <= 3
    made.end()


CHILD = f"""
import os, sys
sys.path.append({str(Path(__file__).parents[1])!r})
from read_apart import pid, spin
from storm_pipeline.sources.documents.isolated import reading
"""


def test_a_forked_process_has_its_own() -> None:
    code = f"""{CHILD}
first = reading.read(pid, size=0)
if child := os.fork():
    os.waitpid(child, 0)
print(reading.read(pid, size=0) == first)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["False", "True"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL, None])
def test_the_process_ends_with_its_parent(how: signal.Signals | None) -> None:
    busy = "reading.read(spin, size=60_000_000)" if how else ""
    command = [sys.executable, "-c", f"{CHILD}print(*reading.read(pid, size=0), flush=True); {busy}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as parent:
        assert parent.stdout is not None
        reads = int(parent.stdout.readline())
        if how:
            parent.send_signal(how)
        parent.wait(20)
    status = Path(f"/proc/{reads}/stat")
    for _ in range(400):
        if not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.05)
    pytest.fail("it goes on")
