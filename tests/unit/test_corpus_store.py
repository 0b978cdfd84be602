"""The index of a user's documents on disk: what changed is read and encoded, and no fault makes it wrong."""

import errno
import os
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storm_pipeline.errors import CorpusError
from storm_pipeline.evidence.retrieval import Vectors
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.sources.documents import passage_change, reader
from storm_pipeline.sources.engines.corpus import CorpusSearch, path_and_embedder
from storm_pipeline.text.files import write_atomically
from storm_pipeline.text.lexical import rank_scores

WORDS = "amber silk jade horse camel oasis well tax road paper tea salt wool iron glass spice".split()
QUERIES = ("amber and silk", "camels at the oasis", "tax on salt", "paper")


class Counting(HashingEmbedder):
    """An embedder that counts texts, and is killed after some."""

    def __init__(self, most: int = 10**9) -> None:
        super().__init__(64)
        self.embedded, self._most = list[str](), most

    def embed(self, texts: Sequence[str]) -> Vectors:
        if len(self.embedded) + len(texts) > self._most:
            raise KeyboardInterrupt
        self.embedded += texts
        return super().embed(texts)


def text(seed: int) -> str:
    return " ".join(f"The {' and '.join(np.random.default_rng(seed + i).choice(WORDS, 4))} came." for i in range(60))


def write(folder: Path, documents: dict[str, int]) -> Path:
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        if path.name not in documents:
            path.unlink()
    for name, seed in documents.items():
        if not (folder / name).exists() or (folder / name).read_text() != text(seed):
            (folder / name).write_text(text(seed))
    return folder


def answers(engine: CorpusSearch) -> list[Any]:
    return [engine.search(query, 5) for query in QUERIES]


def folder_of(cache: Path) -> Path:
    (folder,) = (cache / "corpora").iterdir()
    return folder


@settings(max_examples=15)
@given(
    steps=st.lists(
        st.dictionaries(st.sampled_from(["a.txt", "b.txt", "c.txt", "d.txt"]), st.integers(0, 5), min_size=1),
        min_size=2,
        max_size=4,
    ),
    codes=st.booleans(),
)
def test_a_changed_store_answers_as_one_built_at_once(
    steps: list[dict[str, int]], codes: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("corpus")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passage_change, "_EXACT", 10 if codes else 10**9)
        for documents in steps:
            folder = write(place / "papers", documents)
            for embedder in (None, Counting()):
                changed = CorpusSearch(folder, limit=30, cache=place / "cache", embedder=embedder)
                assert answers(changed) == answers(CorpusSearch(folder, limit=30, embedder=embedder))
    shutil.rmtree(place)


def test_only_what_changed_is_read_and_encoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, read_there = list[str](), reader._read_there

    def read(file: Path) -> list[reader.Item]:
        files.append(file.name)
        return read_there(file)

    monkeypatch.setattr(reader, "_read_there", read)
    monkeypatch.setattr(passage_change, "_BLOCK", 2)
    embedder = Counting()
    folder = write(tmp_path / "papers", {"a.txt": 1, "b.txt": 1000, "c.txt": 2000})
    first = CorpusSearch(folder, limit=30, cache=tmp_path, embedder=embedder)
    assert files == ["a.txt", "b.txt", "c.txt"]
    assert len(embedder.embedded) == len(set(embedder.embedded)) == len(first._store)
    before = answers(first)
    embedder.embedded.clear()
    monkeypatch.setattr(reader.KeptDocuments, "read", lambda *_: pytest.fail("looked up"))
    again = CorpusSearch(folder, limit=30, cache=tmp_path, embedder=embedder)
    assert embedder.embedded == []
    assert answers(again) == before
    monkeypatch.undo()
    embedder.embedded.clear()
    (folder / "b.txt").write_text(text(1000) + " A cog sailed to Novgorod.")
    (folder / "c.txt").unlink()
    changed = CorpusSearch(folder, limit=30, cache=tmp_path, embedder=embedder)
    assert 1 <= len(embedder.embedded) <= 3
    assert "Novgorod" in changed.search("cog Novgorod", 1)[0].text
    urls = {snippet.url for snippet in changed.search("amber silk", 9)}
    assert urls == {(folder / name).as_uri() for name in ("a.txt", "b.txt")}
    assert answers(first) == before, "what is open does not change"


@pytest.mark.parametrize("cut", [0, 1, 500])
def test_a_killed_build_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cut: int) -> None:
    monkeypatch.setattr(passage_change, "_BLOCK", 4)
    folder = write(tmp_path / "papers", {"a.txt": 1, "b.txt": 1000})
    whole = answers(CorpusSearch(folder, limit=30, embedder=(counted := Counting())))
    with pytest.raises(KeyboardInterrupt):
        CorpusSearch(folder, limit=30, cache=tmp_path, embedder=Counting(12))
    encoded = folder_of(tmp_path) / "encoded"
    encoded.write_bytes(encoded.read_bytes()[: encoded.stat().st_size - cut])
    embedder = Counting()
    assert answers(CorpusSearch(folder, limit=30, cache=tmp_path, embedder=embedder)) == whole
    assert len(counted.embedded) - len(embedder.embedded) == 12 - -(-cut // 280)


def test_a_damaged_file_is_noticed_and_the_index_built_anew(tmp_path: Path) -> None:
    folder = write(tmp_path / "papers", {"a.txt": 1, "b.txt": 1000})
    whole = answers(CorpusSearch(folder, limit=30, cache=tmp_path, embedder=Counting()))
    for name in sorted(path.name.partition("-")[0] for path in folder_of(tmp_path).iterdir()):
        for damage in (bytes(0), b"\x80\x04]q.", None):
            (path,) = (path for path in folder_of(tmp_path).iterdir() if path.name.partition("-")[0] == name)
            if name == "lock" and damage != bytes(0):
                continue
            path.write_bytes(bytes(~byte & 255 for byte in path.read_bytes()) if damage is None else damage)
            try:
                found = answers(CorpusSearch(folder, limit=30, cache=tmp_path, embedder=Counting()))
            except CorpusError as error:
                assert "damaged: run again" in str(error)
                found = answers(CorpusSearch(folder, limit=30, cache=tmp_path, embedder=Counting()))
            assert found == whole, (name, damage)


def test_two_at_once_build_one_index(tmp_path: Path) -> None:
    folder = write(tmp_path / "papers", {"a.txt": 1, "b.txt": 1000})
    embedder = Counting()
    with ThreadPoolExecutor(4) as pool:
        opened = [pool.submit(CorpusSearch, folder, limit=30, cache=tmp_path, embedder=embedder) for _ in range(4)]
        stores = [one.result()._store for one in opened]
    assert len(embedder.embedded) == len(set(embedder.embedded)) == len(stores[0])


def test_a_full_disk_is_named_and_keeps_nobody_from_searching(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path / "papers", {"a.txt": 1})
    before = answers(CorpusSearch(folder, cache=tmp_path))
    index = (folder_of(tmp_path) / "index-1.json").read_bytes()
    (folder / "a.txt").write_text(text(1) + " ")

    def full(path: Path, content: str) -> None:
        if path.is_relative_to(tmp_path):
            raise OSError(errno.ENOSPC, "No space left on device")
        write_atomically(path, content)

    monkeypatch.setattr(f"{passage_change.__name__}.write_atomically", full)
    engine = CorpusSearch(folder, cache=tmp_path)
    assert answers(engine) == before
    assert "No space left on device; free some space" in engine.problems[0]
    assert (folder_of(tmp_path) / "index-1.json").read_bytes() == index


def test_an_index_among_the_documents_is_not_one(tmp_path: Path) -> None:
    folder = write(tmp_path / "papers", {"a.txt": 1})
    CorpusSearch(write(tmp_path / "other", {"x.txt": 1000}), cache=tmp_path / "strange")
    shutil.copytree(folder_of(tmp_path / "strange"), folder / "corpora" / "index")
    found = CorpusSearch(folder, cache=tmp_path).search("amber silk", 9)
    assert {snippet.url for snippet in found} == {(folder / "a.txt").as_uri()}


def test_small_corpora_are_compared_exactly(tmp_path: Path) -> None:
    folder, embedder = write(tmp_path / "papers", {"a.txt": 1, "b.txt": 1000}), Counting()
    store = CorpusSearch(folder, limit=30, embedder=embedder)._store
    vectors = embedder.embed([snippet.text for snippet in store])
    plain = CorpusSearch(folder, limit=30)._store
    for query in QUERIES:
        near = np.argsort(-(vectors @ embedder.embed([query])[0]), kind="stable")[:100].tolist()
        scores = rank_scores([list(plain.search(query))[:100], near])
        assert list(store.search(query))[: len(scores)] == sorted(scores, key=lambda place: (-scores[place], place))


def test_the_embedder_is_named_after_the_path(tmp_path: Path) -> None:
    assert path_and_embedder("papers") == (Path("papers"), "")
    assert path_and_embedder("papers?embedder") == (Path("papers"), "all-MiniLM-L6-v2")
    assert path_and_embedder("papers?embedder=./own") == (Path("papers"), "./own")
    (tmp_path / "a?embedder").mkdir()
    assert path_and_embedder(f"{tmp_path}/a?embedder") == (tmp_path / "a?embedder", "")


def test_files_whose_names_print_alike_keep_their_passages(tmp_path: Path) -> None:
    names = {os.fsdecode(b"M\xfcller.txt"): 1, os.fsdecode(b"M\xf6ller.txt"): 2, "z.txt": 3}
    folder = write(tmp_path / "documents", names)
    before = answers(CorpusSearch(folder, cache=tmp_path))
    assert answers(CorpusSearch(folder, cache=tmp_path)) == before
    (folder / "z.txt").write_text(text(4))
    assert answers(CorpusSearch(folder, cache=tmp_path)) == answers(CorpusSearch(folder, cache=tmp_path / "new"))
