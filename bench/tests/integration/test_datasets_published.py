"""Data sets as their authors publish them: fetched from a local server as archives, and read in their own layouts."""

import io
import json
import os
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from servers import Reply, Request, ScriptedServer
from wiki_live_files import ARTICLE, PAGES, PRESS, STATEMENTS, SYSTEMS

from storm_bench.datasets.dataset import PUBLISHED
from storm_bench.datasets.fetching import fetch_published
from storm_bench.datasets.freshwiki import read_freshwiki
from storm_bench.datasets.wiki_live import read_wiki_live
from storm_bench.datasets.wikigenbench import read_wikigenbench
from storm_pipeline.errors import DatasetError
from storm_pipeline.run.retrying import Patience

AT_ONCE = Patience(connect=5, read=5, total=20, attempts=3, first_pause=0.01, longest_pause=0.02)
LEAD = "Title: Lake Orrin\nURL Source: https://en.wikipedia.org/wiki/Lake_Orrin\nMarkdown Content:\n"


def archive(files: Mapping[str, str], *, links: Mapping[str, str] | None = None) -> bytes:
    """A repository's archive: all files are in one folder that is named after it."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as members:
        for name, text in files.items():
            member = tarfile.TarInfo(f"repository-main/{name}")
            member.size = len(text.encode())
            members.addfile(member, io.BytesIO(text.encode()))
        for name, target in (links or {}).items():
            member = tarfile.TarInfo(f"repository-main/{name}")
            member.type, member.linkname = tarfile.SYMTYPE, target
            members.addfile(member)
    return packed.getvalue()


def system_file(system: str) -> str:
    held = SYSTEMS[system]
    cited = {
        str(number): {"url": page["url"], "title": page["title"], "content": page["text"]}
        for number, page in enumerate(PAGES, 1)
    }
    page = {"title": "Lake_Orrin", "extract": held["article"], "statements": held["statements"]}
    return json.dumps({"query": {"pages": {"7": page | {"citation_contents": cited | {"9": None}}}}})


def wiki_live_files() -> dict[str, str]:
    root = "data/2025_Mar_Nov"
    return {
        "README.md": "# not data",
        f"{root}/wiki_data/cleaned_data/article/Lake_Orrin.md": LEAD + ARTICLE,
        f"{root}/wiki_data/cleaned_data/statement/Lake_Orrin_statements.json": json.dumps(
            [{"statement": statement} for statement in STATEMENTS]
        ),
        f"{root}/test_data/agencies.json": "{}",
        f"{root}/test_data/alpha/json_data/Lake_Orrin.json": system_file("alpha"),
        f"{root}/test_data/beta/json_data/Lake_Orrin.json": system_file("beta"),
    }


def fetched(name: str, to: Path, *replies: Reply) -> tuple[int, list[Request]]:
    with ScriptedServer(*replies) as server:
        return fetch_published(name, to, host=server.url, patience=AT_ONCE), server.requests


def test_wiki_live_is_read_as_published(tmp_path: Path) -> None:
    number, (asked,) = fetched("wiki_live", tmp_path, Reply(body=archive(wiki_live_files())))
    published = PUBLISHED["wiki_live"]
    assert asked.path == f"/{published.repository}/archive/{published.revision}.tar.gz"
    assert number == 5
    assert not (tmp_path / "README.md").exists()
    (topic,) = read_wiki_live(tmp_path).topics
    assert (topic.id, topic.title) == ("Lake_Orrin", "Lake Orrin")
    assert topic.human.lead == "Lake Orrin is a reservoir in Valmere. It was filled in 1931."
    assert topic.human.headings() == ("History", "Villages")
    assert topic.human.statements == tuple(STATEMENTS)
    assert [article.system for article in topic.system_articles] == ["alpha", "beta"]
    assert topic.documents[0].url == PRESS
    assert topic.system_articles[0].statements[1].urls == (PRESS,)


def test_a_damaged_file_of_a_system_is_named(tmp_path: Path) -> None:
    broken = wiki_live_files()
    (name,) = [name for name in broken if "beta" in name]
    fetched("wiki_live", tmp_path, Reply(body=archive(broken | {name: '{"query": 3}'})))
    with pytest.raises(DatasetError, match=r"beta.*Lake_Orrin\.json is damaged at query"):
        read_wiki_live(tmp_path)


def test_wikigenbench_is_read_as_published(tmp_path: Path) -> None:
    text = " ".join(f"The observer wrote line {number} of a long report about the storm." for number in range(12))
    headings = ["Course", "Damage", "Aid"]
    page: dict[str, Any] = {
        "key": "Storm Ada",
        "url": "https://en.wikipedia.org/wiki/Storm_Ada",
        "text": "It blew.\n\nCourse\nIt came from the west.\n\nDamage\nRoofs were lost.\n\nAid\nMoney was sent.",
        "outlines": headings,
        "contents": ["It came from the west.", "Roofs were lost.", "Money was sent."],
        "reference": [[f"Paper {n}", f"https://paper.example/{n}", f"{n} {text}"] for n in range(4)],
    }
    found = [{"title": "Ada", "link": "https://found.example/ada", "text": text}]
    files = {
        "data/7.json": json.dumps(page),
        "data/8.json": json.dumps(page | {"key": "List of storms"}),
        "data/9.json": json.dumps(page | {"key": "Storm Bo"}),
        "data/google/7.json": json.dumps(found),
        "data/google/8.json": json.dumps(found),
        "generation/run.py": "1",
    }
    fetched("wikigenbench", tmp_path, Reply(body=archive(files)))
    every = read_wikigenbench(tmp_path)
    assert [(topic.title, len(topic.documents)) for topic in every.topics] == [
        *(("Storm Ada", 5), ("List of storms", 5), ("Storm Bo", 4))
    ]
    assert [topic.title for topic in read_wikigenbench(tmp_path, core_only=True).topics] == ["Storm Ada"]
    assert every.topics[0].documents[-1].origin == "search"
    assert not (tmp_path / "generation").exists()


def test_nothing_is_written_outside_the_folder_and_no_link(tmp_path: Path) -> None:
    files = wiki_live_files() | {"data/../../escaped.json": "1", "data/run.sh": "rm"}
    packed = archive(files, links={"data/link.json": "/etc/passwd"})
    fetched("wiki_live", tmp_path / "to", Reply(body=packed))
    written = {path.name for path in tmp_path.rglob("*") if not path.is_dir()}
    assert written == {Path(name).name for name in wiki_live_files() if name != "README.md"}


@pytest.mark.parametrize("link", ["to", "to/data", "to/data/2025_Mar_Nov/wiki_data/cleaned_data/article/Lake_Orrin.md"])
def test_nothing_is_written_through_a_link_of_the_folder(tmp_path: Path, link: str) -> None:
    own = tmp_path / "own"
    (own / "thesis").mkdir(parents=True)
    (own / "thesis" / "Lake_Orrin.md").write_text("mine", "utf-8")
    (tmp_path / link).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / link).symlink_to(own / "thesis" / "Lake_Orrin.md" if link.endswith(".md") else own)
    with pytest.raises(DatasetError, match="is a link"):
        fetched("wiki_live", tmp_path / "to", Reply(body=archive(wiki_live_files())))
    assert [one.read_text("utf-8") for one in own.rglob("*.md")] == ["mine"]


def test_a_folder_with_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "topics.csv")
    with pytest.raises(DatasetError, match="is a pipe"):
        fetched("wiki_live", tmp_path, Reply(body=b""))


def test_a_download_that_breaks_off_is_tried_again(tmp_path: Path) -> None:
    whole = Reply(body=archive(wiki_live_files()))
    number, asked = fetched("wiki_live", tmp_path, Reply(503), Reply(body=whole.body, cut=True), whole)
    assert (number, len(asked)) == (5, 3)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(404), "answered 404: the repository or its revision is gone"),
        (Reply(502), "it answered 502"),
        (Reply(reset=True), "it broke off"),
        (Reply(body=b"<html>"), "is no archive of the data"),
        (Reply(body=archive(wiki_live_files())[:500]), "is no archive of the data"),
        (Reply(body=archive({"notes.md": "x"})), "has no data in data: its layout has changed"),
    ],
)
def test_what_goes_wrong_is_one_error(tmp_path: Path, reply: Reply, said: str) -> None:
    with pytest.raises(DatasetError, match=said):
        fetched("wiki_live", tmp_path, reply)


def test_a_folder_that_is_no_data_set_names_the_published_one(tmp_path: Path) -> None:
    readers = {"freshwiki": read_freshwiki, "wikigenbench": read_wikigenbench, "wiki_live": read_wiki_live}
    for name, read in readers.items():
        with pytest.raises(DatasetError, match=f"storm experiment data fetch {name}.*{PUBLISHED[name].repository}"):
            read(tmp_path)
