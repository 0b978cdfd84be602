"""The gallery: an article in Markdown, with the passages that its sentences cite, as a page and as files."""

import json
import sys
from pathlib import Path

import pytest

from storm_benchmarks import gallery

ARTICLE = """# Silk Road

It was a road of trade.[1] Silk was carried on it.[1][2]

## History

Caravans of camels went to Kashgar.[2]

## References

1. [Silk Road](https://en.wikipedia.org/wiki/Silk_Road)
2. [Kashgar](https://en.wikipedia.org/wiki/Kashgar)
"""
LEADS = {
    "Silk Road": {"title": "Silk Road", "extract": "The Silk Road was a road of trade, and silk was carried on it."},
    "Kashgar": {"title": "Kashgar", "extract": "Kashgar is a city to which caravans of camels went with silk."},
}


def test_every_citation_leads_to_its_passage(tmp_path: Path) -> None:
    (tmp_path / "leads.json").write_text(json.dumps(LEADS))
    (tmp_path / "road.md").write_text(ARTICLE)
    article = gallery.gallery_article(tmp_path / "road.md", "Silk Road", tmp_path / "leads.json")
    assert [len(sentence.citations) for sentence in article.sentences()] == [1, 2, 1]
    page = article.to_html()
    assert "caravans of camels went with silk" in page
    assert "CC BY-SA 4.0" in page


def test_page_and_files_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "leads.json").write_text(json.dumps(LEADS))
    (tmp_path / "road.md").write_text(ARTICLE)
    monkeypatch.setattr(gallery, "ARTICLES", {"road.md": "Silk Road"})
    monkeypatch.setattr(gallery, "fetch", lambda *_: tmp_path / "leads.json")
    monkeypatch.setattr(
        gallery, "FILES", {suffix: gallery.FILES[suffix] for suffix in gallery.FILES if suffix != ".pdf"}
    )
    monkeypatch.setattr(sys, "argv", ["gallery", "--demos", str(tmp_path), "--to", str(tmp_path / "to")])
    gallery.main()
    assert sorted(path.name for path in (tmp_path / "to").iterdir()) == [
        *("silk-road.bib", "silk-road.docx", "silk-road.epub", "silk-road.html"),
    ]
