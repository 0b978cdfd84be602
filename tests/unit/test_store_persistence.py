"""A saved store: read back whole, refused when damaged or foreign, never half replaced."""

import hashlib
import json
import pathlib
from collections.abc import Callable, Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_store import QUERIES, numbered, several, snippets

from storm_pipeline.errors import StoreError
from storm_pipeline.references.embedder import HashingEmbedder
from storm_pipeline.references.store import ReferenceStore
from storm_pipeline.types import Snippet


def saved(folder: Path, found: list[Snippet]) -> None:
    with ReferenceStore(HashingEmbedder()) as store:
        store.add(found)
        store.save(folder)


def loaded(folder: Path) -> list[Snippet]:
    with ReferenceStore.load(folder, HashingEmbedder()) as store:
        return in_order(s for source in store.sources() for s in source.snippets)


def in_order(snippets: Iterable[Snippet]) -> list[Snippet]:
    return sorted(snippets, key=lambda snippet: snippet.id)


@settings(max_examples=25, deadline=None)
@given(
    several,
    st.lists(
        st.builds(
            Snippet,
            st.just("u"),
            st.text(),
            st.text(min_size=1),
            st.none() | st.text(),
            st.none() | st.integers(1, 9),
            origin=st.sampled_from(["snippet", "page"]),
            author=st.none() | st.text(),
            site=st.none() | st.text(),
            language=st.none() | st.text(),
        )
    ),
)
def test_a_saved_store_comes_back_the_same(found: list[Snippet], more: list[Snippet]) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name) / "store"
        with ReferenceStore(HashingEmbedder()) as store:
            store.add(found + more)
            store.save(folder)
            with ReferenceStore.load(folder, HashingEmbedder()) as again:
                assert again.sources() == store.sources()
                assert len(again) == len(store)
                assert again.search(QUERIES, 5) == store.search(QUERIES, 5)
                assert again.add(found) == ()
                new = Snippet("https://new.org", "", "something not seen before")
                assert again.add([new]) == (new,)
                assert new in again.search(["not seen before"], 50)[0]


@settings(max_examples=20, deadline=None)
@given(snippets)
def test_saving_is_repeatable(snippet: Snippet) -> None:
    with TemporaryDirectory() as name:
        first, second = Path(name) / "a", Path(name) / "b"
        saved(first, [snippet])
        saved(second, [snippet])
        assert {p.name: p.read_bytes() for p in first.iterdir()} == {p.name: p.read_bytes() for p in second.iterdir()}


def test_the_vectors_are_a_plain_faiss_index(tmp_path: Path) -> None:
    import faiss

    saved(tmp_path, numbered(5))
    index = faiss.read_index(str(next(tmp_path.glob("*.faiss"))))
    assert (index.ntotal, index.d) == (5, 128)


def test_saving_again_leaves_no_old_files(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    saved(tmp_path, numbered(5))
    saved(tmp_path, numbered(6))
    assert len(loaded(tmp_path)) == 6
    assert len(list(tmp_path.iterdir())) == 4
    assert (tmp_path / "notes.txt").read_text() == "mine"


class KilledError(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("error", [KilledError, OSError])
@pytest.mark.parametrize("step", range(6))
def test_an_interruption_leaves_the_old_store_or_the_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int, error: type[BaseException]
) -> None:
    old, new = in_order(numbered(5)), in_order(numbered(7, "https://b.org")[5:])
    saved(tmp_path, old)
    with ReferenceStore(HashingEmbedder()) as store:
        store.add(new)
        steps = iter(range(100))
        replace, unlink = pathlib.Path.replace, pathlib.Path.unlink

        def counted(real: Callable[..., object]) -> Callable[..., object]:
            def act(self: Path, *args: object, **kwargs: object) -> object:
                if next(steps) >= step:
                    raise error("stopped here")
                return real(self, *args, **kwargs)

            return act

        with monkeypatch.context() as patch:
            patch.setattr(pathlib.Path, "replace", counted(replace))
            patch.setattr(pathlib.Path, "unlink", counted(unlink))
            with pytest.raises(KilledError if error is KilledError else StoreError, match="stopped here"):
                store.save(tmp_path)
        assert loaded(tmp_path) in (old, new)
        store.save(tmp_path)
    assert loaded(tmp_path) == new
    assert len(list(tmp_path.iterdir())) == 3


def test_a_missing_store_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="nowhere"):
        ReferenceStore.load(tmp_path / "nowhere", HashingEmbedder())


@pytest.mark.parametrize("pattern", ["*.jsonl", "*.faiss"])
@pytest.mark.parametrize("damage", ["cut", "flip", "gone"])
def test_damaged_files_are_refused(tmp_path: Path, pattern: str, damage: str) -> None:
    saved(tmp_path, numbered(5))
    path = next(tmp_path.glob(pattern))
    data = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(data[:-5] if damage == "cut" else data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(StoreError, match=r"damaged|no reference store"):
        loaded(tmp_path)


def test_another_embedder_is_refused_with_what_was_found_and_expected(tmp_path: Path) -> None:
    saved(tmp_path, numbered(5))
    with pytest.raises(StoreError, match="'hashing-128' where 'hashing-64' was expected: open the embedder"):
        ReferenceStore.load(tmp_path, HashingEmbedder(64))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("format", 3),
        ("embedder", "other"),
        ("dimension", 64),
        ("snippets", 4),
        ("snippets", "5"),
        ("snippets_sha256", "../../etc/passwd"),
        ("vectors_sha256", "0" * 64),
        ("extra", 1),
    ],
)
def test_a_manifest_that_disagrees_is_refused(tmp_path: Path, field: str, value: object) -> None:
    saved(tmp_path, numbered(5))
    path = tmp_path / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {field: value}))
    with pytest.raises(StoreError):
        loaded(tmp_path)


@given(st.binary(max_size=200))
@settings(max_examples=20, deadline=None)
def test_any_other_manifest_is_refused(data: bytes) -> None:
    with TemporaryDirectory() as name:
        (Path(name) / "manifest.json").write_bytes(data)
        with pytest.raises(StoreError):
            loaded(Path(name))


def test_lines_that_hold_no_snippet_are_refused_though_their_hash_agrees(tmp_path: Path) -> None:
    good = {"url": "u", "title": "", "text": "t", "published": None, "page": None, "engine": ""}
    wrong = ({"page": "1"}, {"text": 1}, {"published": 3}, {"origin": None}, {"author": 1}, {"more": 1})
    for bad in ([], {}, *(good | field for field in wrong), {"url": "u", "text": "t"}, "{"):
        saved(tmp_path, numbered(1))
        replace_snippets(tmp_path, (bad if isinstance(bad, str) else json.dumps(bad)).encode())
        with pytest.raises(StoreError, match="damaged"):
            loaded(tmp_path)


def replace_snippets(folder: Path, data: bytes) -> None:
    """Put other lines into a saved store, under the hash that vouches for them."""
    digest = hashlib.sha256(data).hexdigest()
    (folder / f"snippets-{digest[:16]}.jsonl").write_bytes(data)
    manifest = json.loads((folder / "manifest.json").read_text()) | {"snippets_sha256": digest}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be saved"):
        saved(tmp_path / "file" / "store", numbered(1))
