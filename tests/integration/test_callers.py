"""Callers with named tokens on one server: their runs, documents and budgets; and figures for its owner."""

import errno
import http.client
import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import httpx
import pytest
from llm import FakeModel
from test_http_api import served, started, watched
from test_resume import answers
from test_server_queue import ended, holding, order, service

from storm_pipeline.errors import BudgetSpentError, ContradictionError, SettingsError
from storm_pipeline.interfaces.server import documents as sets
from storm_pipeline.interfaces.server import run_folders
from storm_pipeline.interfaces.server.callers import OWNER, Caller, Tokens
from storm_pipeline.interfaces.server.documents import DocumentSets
from storm_pipeline.interfaces.server.errors import (
    BusyError,
    ConflictError,
    FullError,
    TooLargeError,
    UnknownDocumentsError,
)
from storm_pipeline.interfaces.server.records import records_folder

pytest.importorskip("fastapi")

TOKEN = "correct-horse-battery"
TEXT = (
    b"Silk Road history. Silk was sold in Samarkand. Caravans carried goods along the Silk Road for centuries.\n" * 20
)
ANNA, BERT = Caller("anna"), Caller("bert")


@contextmanager
def as_caller(owner: httpx.Client, token: str) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=owner.base_url, headers=headers, timeout=60, trust_env=False) as client:
        yield client


def test_each_caller_has_his_own_runs_and_documents(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "runs")
    first, second = tokens.add("anna"), tokens.add("bert")
    with (
        FakeModel(answers()) as model,
        served(model.lm, tmp_path, token=TOKEN) as owner,
        as_caller(owner, first) as anna,
        as_caller(owner, second) as bert,
    ):
        made = anna.post("/documents").json()["documents"]
        put = anna.put(f"/documents/{made}/Silk%20notes.txt", content=TEXT)
        assert put.json()["files"] == [{"name": "Silk notes.txt", "bytes": len(TEXT)}]
        assert bert.post("/runs", json={"topic": "Silk Road", "documents": made}).status_code == 404
        run = started(anna, documents=made)
        assert watched(anna, run)[1] == "finished"
        assert "Silk notes.txt" in anna.get(f"/runs/{run}/article").text
        for method, path in [
            ("GET", f"/runs/{run}"),
            ("DELETE", f"/runs/{run}"),
            ("POST", f"/runs/{run}/stop"),
            ("POST", f"/runs/{run}/resume"),
            ("GET", f"/runs/{run}/events"),
            ("GET", f"/runs/{run}/article"),
            ("GET", f"/runs/{run}/outline"),
            ("GET", f"/documents/{made}"),
            ("PUT", f"/documents/{made}/a.txt"),
            ("DELETE", f"/documents/{made}"),
        ]:
            answer = bert.request(method, path)
            assert (answer.status_code, "no " in answer.json()["error"]) == (404, True), path
        assert (bert.get("/runs").json(), bert.get("/documents").json()) == ([], [])
        (view,) = owner.get("/runs").json()
        assert (view["caller"], view["documents"], anna.get("/runs").json()) == ("anna", made, [view])
        assert anna.put(f"/documents/{made}/b.txt", content=TEXT).status_code == 409  # the run has to find the same
        assert anna.delete(f"/runs/{run}").status_code == 204
        assert anna.get(f"/documents/{made}").status_code == 404
        tokens.revoke("anna")
        assert (anna.get("/runs").status_code, bert.get("/runs").status_code) == (401, 200)
    assert not [path for path in (tmp_path / "runs").iterdir() if path.name == run]
    assert not list((records_folder(tmp_path / "runs") / "documents").iterdir())
    kept = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert not any(b"Samarkand" in path.read_bytes() for path in kept)


def test_events_end_with_the_run_the_session_or_the_token(tmp_path: Path) -> None:
    tokens, (held, slow) = Tokens(tmp_path / "runs"), holding()
    anna = tokens.add("anna")
    with (
        FakeModel(answers() | {"DraftOutline": slow}) as model,
        served(model.lm, tmp_path, token=TOKEN) as owner,
        as_caller(owner, anna) as program,
        httpx.Client(base_url=owner.base_url, headers={"Sec-Fetch-Site": "same-origin"}, trust_env=False) as browser,
    ):
        _, waiting, deleted = (started(program, recipe="direct") for _ in range(3))
        assert browser.post("/login", data={"token": anna}).status_code == 303
        for reader, run, end, state in (
            (program, deleted, lambda: program.delete(f"/runs/{deleted}").status_code == 204, "deleted"),
            (browser, waiting, lambda: browser.post("/logout").status_code == 303, "refused"),
            (program, waiting, lambda: tokens.revoke("anna") is None, "refused"),
        ):
            with reader.stream("GET", f"/runs/{run}/events") as events:
                assert end()
                lines = [line for line in events.iter_lines() if line]
            assert lines[-2] == "event: end"
            assert json.loads(lines[-1].removeprefix("data: "))["state"] == state
        held.set()
    assert "Traceback" not in (tmp_path / "server.log").read_text()


def test_runs_are_counted_by_budget(tmp_path: Path) -> None:
    owner = {"prices": ("openai/fake=10/10",), "max_tokens": None}
    with FakeModel(answers()) as model, service(model, tmp_path, owner) as runs:
        anna = Caller("anna", 0.2)
        runs.tokens.add("anna", 0.2)
        name = runs.start(order("Silk Road"), anna)  # the budget alone caps it
        assert ended(runs, name) == "finished"
        assert 0 < (runs.view(name).cost or 0) <= 0.2
        assert runs.folders.settings(name)["max_cost"] == 0.2
        with pytest.raises(BudgetSpentError, match="the runs of anna"):
            runs.start(order("Amber Road"), Caller("anna", runs.view(name).cost))
        other = runs.start(order("Amber Road"), BERT)
        assert ended(runs, other) == "finished"


def test_a_run_that_waits_for_its_callers_budget_keeps_nobody_waiting(tmp_path: Path) -> None:
    held, slow = holding()
    owner = {"max_cost": 1, "prices": ("openai/fake=1/1",), "max_tokens": None}
    with FakeModel(answers() | {"DraftOutline": slow}) as model, service(model, tmp_path, owner, at_once=2) as runs:
        anna = Caller("anna", 1.5)
        first, second = runs.start(order("Silk Road"), anna), runs.start(order("Amber Road"), anna)
        third = runs.start(order("Salt Road"), BERT)
        assert [runs.view(name).position for name in (first, second, third)] == [None, 1, None]
        held.set()
        assert [ended(runs, name) for name in (first, second, third)] == ["finished"] * 3


def test_a_run_without_a_cap_is_resumed_within_its_callers_budget(tmp_path: Path) -> None:
    held, slow = holding()
    owner = {"prices": ("openai/fake=10/10",), "max_tokens": None}
    with FakeModel(answers() | {"DraftOutline": slow}) as model, service(model, tmp_path, owner) as runs:
        name = runs.start(order("Silk Road"), Caller("carl"))
        runs.stop(name)
        held.set()
        assert ended(runs, name) == "stopped"
        before = runs.view(name).cost or 0.0
        runs.tokens.add("carl", before + 0.002)
        runs.resume(name)
        assert ended(runs, name) != "finished"
        assert (runs.view(name).cost or 0.0) <= 2 * before + 0.002


def test_a_caller_takes_a_quarter_of_the_queue_and_his_turn(tmp_path: Path) -> None:
    held, tea = threading.Event(), threading.Event()

    def outline(user: str) -> str:
        if "Tea" in user:
            tea.set()
        # a run that ends while another begins would let two waiting runs race
        (tea if "Amber" in user else held).wait(30)
        return str(answers()["DraftOutline"])

    with (
        FakeModel(answers() | {"DraftOutline": outline}) as model,
        service(model, tmp_path, at_once=2, most_waiting=8) as runs,
    ):
        names = [runs.start(order(topic), ANNA) for topic in ("Silk Road", "Amber Road", "Salt Road", "Tin Road")]
        with pytest.raises(BusyError, match="2 runs of yours wait"):
            runs.start(order("Jade Road"), ANNA)
        names.append(runs.start(order("Tea Road"), BERT))
        runs.stop(names[0])
        held.set()
        assert [ended(runs, name) for name in names] == ["stopped", *["finished"] * 4]
        # of those who wait, whoever has fewest under way comes first
        first = {
            topic: next(n for n, one in enumerate(model.asked) if topic in one.prompt) for topic in ("Tea", "Salt")
        }
        assert first["Tea"] < first["Salt"]


def test_a_caller_may_have_so_many_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_folders, "RUNS", 2)
    with FakeModel(answers()) as model, service(model, tmp_path) as runs:
        names = [runs.start(order(topic), ANNA) for topic in ("Silk Road", "Amber Road")]
        assert [ended(runs, name) for name in names] == ["finished"] * 2
        with pytest.raises(ConflictError, match=r"a caller may have 2 runs, .* you have 2: delete some"):
            runs.start(order("Salt Road"), ANNA)
        others = [runs.start(order("Salt Road"), whose) for whose in (BERT, OWNER, OWNER, OWNER)]
        assert [ended(runs, name) for name in others] == ["finished"] * 4
        runs.delete(names[0])
        third = runs.start(order("Salt Road"), ANNA)
        assert ended(runs, third) == "finished"
        (runs.folders.path(third) / "questions" / "1").mkdir(parents=True)
        (runs.folders.path(third) / "questions" / "1" / "answer.json").write_bytes(bytes(1 << 20))
        monkeypatch.setattr(run_folders, "RUN_BYTES", 1 << 20)
        for more in (lambda: runs.resume(third, {"length": "short"}), lambda: runs.ask(third, "Who used the road?")):
            with pytest.raises(ConflictError, match="bytes together"):
                more()


def test_runs_of_a_caller_whose_token_was_revoked_do_not_go_on_by_themselves(tmp_path: Path) -> None:
    held, slow = holding()
    with FakeModel(answers() | {"DraftOutline": slow}) as model:
        with service(model, tmp_path) as runs:
            runs.tokens.add("anna")
            runs.start(order("Silk Road"))
            waiting = runs.start(order("Amber Road"), ANNA)
            held.set()
            runs.queue.halt()
        runs.tokens.revoke("anna")
        with service(model, tmp_path) as runs:
            assert waiting not in runs.resume_unfinished()
            runs.resume(waiting)  # as its owner decides
            assert ended(runs, waiting) == "finished"


def test_runs_of_a_caller_whose_token_is_revoked_stop(tmp_path: Path) -> None:
    held, slow = holding()
    with FakeModel(answers() | {"DraftOutline": slow}) as model, service(model, tmp_path) as runs:
        runs.tokens.add("anna")
        begun, waiting = (runs.start(order("Silk Road"), ANNA) for _ in range(2))
        runs.tokens.revoke("anna")
        held.set()
        assert [ended(runs, name) for name in (begun, waiting)] == ["stopped"] * 2
        assert runs.view(waiting).cost in (None, 0)
        runs.resume(waiting)  # as its owner decides
        assert ended(runs, waiting) == "finished"


@pytest.mark.parametrize(("trusted", "status"), [("", 429), ("127.0.0.0/8", 200)])
def test_clients_behind_a_proxy_are_told_apart(tmp_path: Path, trusted: str, status: int) -> None:
    held = threading.Event()

    def slow(user: str) -> str:
        held.wait(60)
        return str(answers()["DraftOutline"])

    with (
        FakeModel(answers() | {"DraftOutline": slow}) as model,
        served(model.lm, tmp_path, TRUST_PROXY=trusted) as client,
        ExitStack() as stack,
    ):
        run = started(client, recipe="direct")
        for number in range(32):
            forwarded = {"X-Forwarded-For": f"9.9.9.9, 10.0.0.{number}"}
            stream = stack.enter_context(client.stream("GET", f"/runs/{run}/events", headers=forwarded))
            assert stream.status_code == 200
        other = {"X-Forwarded-For": "9.9.9.9, 10.0.1.1"}
        stream = stack.enter_context(client.stream("GET", f"/runs/{run}/events", headers=other))
        assert stream.status_code == status
        assert ("retry-after" in stream.headers) == (status == 429)
        assert client.post(f"/runs/{run}/stop", headers=other).status_code == 202  # streams leave room for it
        held.set()


def upload(
    stored: DocumentSets, caller: Caller, name: str, file: str, *pieces: bytes, announced: int | None = None
) -> None:
    with stored.upload(caller, name, file, announced) as arriving:
        for piece in pieces:
            arriving.write(piece)
        arriving.commit()


def kept(stored: DocumentSets) -> list[str]:
    return sorted(path.name for path in stored.root.rglob("*") if path.is_file() and path.name != ".set.json")


def test_a_set_of_documents_is_its_callers_and_fixed_once_used(tmp_path: Path) -> None:
    stored = DocumentSets(tmp_path / "d")
    name = stored.create(ANNA).documents
    with pytest.raises(ConflictError, match="empty"):
        stored.path(ANNA, name)
    upload(stored, ANNA, name, "a.txt", b"one")
    upload(stored, ANNA, name, "a.txt", b"t", b"wo")
    assert (stored.path(ANNA, name) / "a.txt").read_bytes() == b"two"
    assert stored.view(OWNER, name) == stored.view(ANNA, name)
    for other in (name, "0" * 32, "..", "../d"):
        with pytest.raises(UnknownDocumentsError):
            stored.view(BERT, other)
    stored.use(ANNA, name, "silk")
    stored.use(ANNA, name, "amber")
    with pytest.raises(ConflictError, match="make another set"):
        upload(stored, ANNA, name, "b.txt", b"x")
    with pytest.raises(ConflictError, match="stop it first"):
        stored.delete(ANNA, name, lambda run: run == "amber")
    stored.forget("silk")
    assert stored.view(ANNA, name).runs == ("amber",)
    stored.forget("amber")
    assert stored.views(OWNER) == ()


@pytest.mark.parametrize(
    "name",
    [
        *("", ".txt", "..", "a", "a.exe", "../a.txt", "a/b.txt", "a\\b.txt", ".set.json", "~$a.docx", "a\n.txt"),
        "x" * 121 + ".txt",
    ],
)
def test_names_of_files_that_are_refused(tmp_path: Path, name: str) -> None:
    stored = DocumentSets(tmp_path)
    made = stored.create(ANNA).documents
    with pytest.raises(SettingsError, match="a file is named by"):
        upload(stored, ANNA, made, name, b"x")
    assert kept(stored) == []


def test_quotas_of_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for quota, most in {"FILE_BYTES": 10, "SET_BYTES": 15, "SET_FILES": 3, "SETS": 2}.items():
        monkeypatch.setattr(sets, quota, most)
    stored = DocumentSets(tmp_path)
    name = stored.create(ANNA).documents
    for pieces, announced in (((b"x" * 11,), None), ((b"x" * 6, b"x" * 5), None), ((b"x",), 11)):
        with pytest.raises(TooLargeError):
            upload(stored, ANNA, name, "a.txt", *pieces, announced=announced)
    upload(stored, ANNA, name, "a.txt", b"x" * 10)
    with stored.upload(ANNA, name, "b.txt", 4), pytest.raises(TooLargeError):  # what arrives is reserved
        upload(stored, ANNA, name, "c.txt", b"xx")
    upload(stored, ANNA, name, "b.txt", b"xx")
    upload(stored, ANNA, name, "c.txt", b"xx")
    with pytest.raises(TooLargeError, match="at most 3 files"):
        upload(stored, ANNA, name, "d.txt", b"x")
    upload(stored, ANNA, name, "a.txt", b"x")  # in place of another
    assert kept(stored) == ["a.txt", "b.txt", "c.txt"]
    stored.create(ANNA)
    with pytest.raises(ConflictError, match="delete one"):
        stored.create(ANNA)
    stored.create(BERT)


def test_nothing_stays_of_what_does_not_arrive_whole(tmp_path: Path) -> None:
    stored = DocumentSets(tmp_path)
    name = stored.create(ANNA).documents
    with pytest.raises(ValueError, match="gone"), stored.upload(ANNA, name, "a.txt", None) as arriving:
        arriving.write(b"half")
        raise ValueError("gone")
    with pytest.raises(ContradictionError, match=r"^a\.pdf was not added: it is not .pdf"):
        upload(stored, ANNA, name, "a.pdf", b"MZ")
    assert kept(stored) == []
    for broken in ("a.pdf", "b.docx"):
        with pytest.raises(
            ContradictionError, match=f"^{broken} was not added: it cannot be read as .*; open and re-save it"
        ):
            upload(stored, ANNA, name, broken, b"%PDF-1.7 PK\x03\x04")
    assert kept(stored) == []
    upload(stored, ANNA, name, "a.bib", b"@misc{a, title = {A}}")
    assert kept(stored) == ["a.bib"]


def test_a_full_disk_is_told_and_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def __init__(self, file: BinaryIO) -> None:
            self.file = file

        def write(self, _: bytes) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

    stored = DocumentSets(tmp_path)
    name = stored.create(ANNA).documents
    with pytest.raises(FullError, match="disk is full"), stored.upload(ANNA, name, "a.txt", None) as arriving:
        arriving._file = Full(arriving._file)  # type: ignore[assignment]
        arriving.write(b"x")
    assert kept(stored) == []

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.EDQUOT, "Quota exceeded")

    monkeypatch.setattr(sets, "write_atomically", refuse)
    with pytest.raises(FullError):
        stored.create(ANNA)
    assert len(list(tmp_path.iterdir())) == 1


def test_uploads_over_http_are_refused_as_declared(tmp_path: Path) -> None:
    with FakeModel(answers()) as model, served(model.lm, tmp_path) as client:
        place = f"/documents/{client.post('/documents').json()['documents']}"
        assert client.put(f"{place}/a.exe", content=b"x").status_code == 422
        assert client.put(f"{place}/a.pdf", content=b"x").status_code == 409
        raw = http.client.HTTPConnection(client.base_url.host, client.base_url.port, timeout=20)
        raw.putrequest("PUT", f"{place}/a.txt")
        raw.putheader("Content-Length", "50000001")
        raw.endheaders()
        assert raw.getresponse().status == 413
        raw.close()
        # a body without its length
        assert client.put(f"{place}/a.txt", content=iter([b"x"])).status_code == 400

        def broken() -> Iterator[bytes]:
            yield b"x" * 1000
            raise ConnectionAbortedError

        with pytest.raises(ConnectionAbortedError):
            client.put(f"{place}/a.txt", content=broken())
        assert client.get(place).json()["files"] == []
        assert client.post("/runs", json={"topic": "x", "documents": place[11:]}).status_code == 409
        client.put(f"{place}/a.txt", content=b"x")
        by_hand = client.post("/runs", json={"topic": "x", "documents": place[11:]}).json()["run"]
        watched(client, by_hand)
        shutil.rmtree(tmp_path / "runs" / by_hand)
        assert client.delete(place).status_code == 204
        assert client.delete(place).status_code == 404
    assert list((records_folder(tmp_path / "runs") / "documents").iterdir()) == []
    assert "Traceback" not in (tmp_path / "server.log").read_text()
