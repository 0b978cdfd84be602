"""Bibliographies with traps: other programs read the same from them as from our exports of the works."""

import json
import re
import subprocess
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import bibliographies
import pytest
from test_bibliography import article

from storm_pipeline.output.export.formats import export
from storm_pipeline.types import Article

Works = dict[str, dict[str, Any]]
PLAIN = ("publisher", "publisher-place", "volume", "issue", "page", "DOI", "URL", "ISBN", "edition", "container-title")
RIS_FIELDS = (
    *("type_of_reference", "authors", "secondary_authors", "title", "secondary_title", "year", "publisher", "number"),
    *("place_published", "volume", "start_page", "end_page", "issn", "doi", "urls", "access_date", "date"),
)
_pandoc = pytest.importorskip("pypandoc").get_pandoc_path


def cited(folder: Path, name: str, text: str, keys: Iterable[str]) -> Article:
    """An article that cites each work of a bibliography."""
    (folder / name).write_text(text, "utf-8")
    for key in keys:
        (folder / f"{key}.txt").write_text("Stockfish and grain of Bergen.")
    return article(folder)


def plain(text: object) -> str:
    """A text without case, braces, and forms of dashes, quotes and accents that programs choose."""
    signs = str.maketrans({"’": "'", "–": "-", "{": "", "}": "", "ı": "i", "\\": ""})
    return unicodedata.normalize("NFC", str(text).replace("--", "-").translate(signs)).casefold()


def by_pandoc(text: bytes, reader: str, keys: Iterable[str] = ()) -> Works:
    command = [_pandoc(), "-f", reader, "-t", "csljson"]
    items = json.loads(subprocess.run(command, input=text, capture_output=True, check=True, timeout=60).stdout)
    wanted = [next(item for item in items if item["id"] == key) for key in keys] if keys else items
    return {plain(item["title"]): normalised(item) for item in wanted}


def normalised(item: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a CSL item in which programs must agree."""
    fields: dict[str, Any] = {name: plain(item[name]) for name in PLAIN if item.get(name)}
    for role in ("author", "editor"):
        fields[role] = [
            plain(
                " ".join(
                    filter(
                        None,
                        map(name.get, ("dropping-particle", "non-dropping-particle", "family", "literal", "given")),
                    )
                )
            )
            for name in item.get(role, ())
        ]
    return fields | {date: item[date]["date-parts"] for date in ("issued", "accessed") if date in item}


@pytest.mark.parametrize("name", bibliographies.BIB)
def test_pandoc_reads_the_same_from_bibtex_before_and_after(tmp_path: Path, name: str) -> None:
    text, keys = bibliographies.BIB[name], bibliographies.KEYS[name]
    own = cited(tmp_path, "library.bib", text, keys)
    before = by_pandoc(text.encode(), "biblatex", keys)
    assert by_pandoc(export(own, "bibtex"), "biblatex") == before
    assert by_pandoc(export(own, "csl"), "csljson") == before


def test_rispy_reads_the_same_from_ris_before_and_after(tmp_path: Path) -> None:
    rispy = pytest.importorskip("rispy")
    own = cited(tmp_path, "library.ris", bibliographies.RIS, ("debt", "kontor"))

    def works(text: str) -> dict[str, Any]:
        return {entry["title"]: {name: entry.get(name) for name in RIS_FIELDS} for entry in rispy.loads(text)}

    after, before = works(export(own, "ris").decode()), works(bibliographies.RIS)
    for title, fields in before.items():
        assert {name: value for name, value in after[title].items() if fields[name]} == {
            name: value for name, value in fields.items() if value
        }


def test_ris_and_csl_of_the_same_works_are_the_same(tmp_path: Path) -> None:
    """And so is CSL-JSON, written by us and read again."""
    made = export(cited(tmp_path, "library.ris", bibliographies.RIS, ("debt", "kontor")), "csl")
    items = json.loads(made)
    for item, key in zip(sorted(items, key=lambda one: str(one["title"])), ("debt", "kontor"), strict=True):
        item["id"] = key
    (tmp_path / "json").mkdir()
    own = cited(tmp_path / "json", "library.json", json.dumps(items), ("debt", "kontor"))
    assert by_pandoc(export(own, "csl"), "csljson") == by_pandoc(made, "csljson")
    assert re.search(r"Past & Present", export(own, "csl").decode())
