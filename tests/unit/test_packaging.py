"""What is published: the wheel, the source distribution, and their description on a package index."""

import email
import re
import subprocess
import tarfile
import tomllib
import zipfile
from email.message import Message
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import storm_pipeline

ROOT = Path(__file__).resolve().parents[2]
PROJECT, BENCH, TRAINING = (
    tomllib.loads((ROOT / folder / "pyproject.toml").read_text("utf-8")) for folder in (".", "bench", "training")
)
hatchling = pytest.importorskip("hatchling.build", reason="the extra 'dev' installs it")
pytest.importorskip("hatch_fancy_pypi_readme", reason="the extra 'dev' installs it")


def build(project: Path, folder: Path) -> tuple[Path, Path]:
    """The wheel and the source distribution of a project of the checkout."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project)
        return folder / hatchling.build_wheel(str(folder)), folder / hatchling.build_sdist(str(folder))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build(ROOT, tmp_path_factory.mktemp("dist"))


@pytest.mark.parametrize(("folder", "package"), [("bench", "storm_bench"), ("training", "storm_training")])
def test_bench_and_training_are_distributions_of_their_own(folder: str, package: str, tmp_path: Path) -> None:
    wheel, sources = build(ROOT / folder, tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        files = {f"{folder}/{name}" for name in archive.namelist() if ".dist-info/" not in name}
        entries = [archive.read(name).decode() for name in archive.namelist() if name.endswith("/entry_points.txt")]
    assert files == tracked(f"{folder}/{package}")
    with tarfile.open(sources) as archive:
        files = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    assert {name.removeprefix(f"{folder}/") for name in tracked(folder)} <= files
    if folder == "bench":
        assert "experiment = storm_bench.commands.experiment:experiment_app" in entries[0]


@pytest.fixture(scope="module")
def metadata(built: tuple[Path, Path]) -> Message:
    with zipfile.ZipFile(built[0]) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_string(wheel.read(name).decode())


def tracked(*folders: str) -> set[str]:
    """Files under version control; all files, where the sources are not a checkout."""
    listed = subprocess.run(["git", "ls-files", "-z", *folders], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("the sources are not under version control")
    return {name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()}


def packaged() -> set[str]:
    inside = {f"storm_pipeline/{name}" for name in tracked("signatures")}
    return tracked("storm_pipeline") | inside


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[0]) as wheel:
        files = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert files == packaged()


def test_the_source_distribution_holds_package_tests_documentation_and_changelog(built: tuple[Path, Path]) -> None:
    with tarfile.open(built[1]) as archive:
        files = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    expected = tracked("tests", "docs", "bench", "training", "examples", "experiments", "signatures") | packaged()
    assert expected <= files
    assert {"CHANGELOG.md", "CITATION.cff", "LICENSE", "README.md", "conftest.py", "constraints.txt"} <= files


def test_the_version_is_the_one_of_the_package_and_of_the_citation(metadata: Message) -> None:
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert [metadata["Version"]] == re.findall(r"^version: (.+)$", citation, re.M) == [storm_pipeline.__version__]


def test_the_description_has_no_relative_link_or_picture(metadata: Message) -> None:
    text = str(metadata.get_payload())
    assert metadata["Description-Content-Type"].startswith("text/markdown")
    targets = re.findall(r"\]\(([^)]+)\)|(?:src|href)=\"([^\"]+)\"", text)
    relative = [a or b for a, b in targets if not (a or b).startswith(("https://", "#"))]
    assert not relative


def test_every_link_of_the_description_to_the_repository_names_a_file_of_this_version(metadata: Message) -> None:
    address = re.escape(PROJECT["project"]["urls"]["Repository"])
    found = re.findall(rf"{address}/(blob|raw)/v([^/]+)/([^)#\"\s]+)", str(metadata.get_payload()))
    assert any(kind == "raw" for kind, _, _ in found)
    for _, version, path in found:
        assert version == metadata["Version"]
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize(
    ("page", "project"), [("docs/install.md", PROJECT), ("bench/README.md", BENCH), ("training/README.md", TRAINING)]
)
def test_the_manual_says_what_every_extra_adds(page: str, project: dict[str, Any]) -> None:
    manual = (ROOT / page).read_text("utf-8")
    table = manual.partition("| extra | what it adds |\n|---|---|\n")[2].partition("\n\n")[0]
    named = [name for row in table.splitlines() for name in re.findall(r"`([a-z0-9]+)`", row.split("|")[1])]
    assert named == list(dict.fromkeys(named))
    assert set(named) == set(project["project"]["optional-dependencies"])


@pytest.mark.parametrize("project", [PROJECT, BENCH, TRAINING], ids=["core", "bench", "training"])
def test_constraints_pin_every_dependency_within_its_bounds(project: dict[str, Any]) -> None:
    lines = [line.partition(" ;")[0] for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()]
    pins = {one.name: one for one in map(Requirement, (line for line in lines if line and not line.startswith("#")))}
    extras = project["project"]["optional-dependencies"]
    wanted = [*project["project"]["dependencies"], *(text for texts in extras.values() for text in texts)]
    for wish in map(Requirement, wanted):
        if wish.name.startswith("storm-"):
            continue
        (pin,) = pins[wish.name].specifier
        assert wish.specifier.contains(pin.version), f"{wish} is pinned to {pin.version}"
