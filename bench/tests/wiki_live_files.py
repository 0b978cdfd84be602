"""A small Wiki Live Challenge: two invented topics with what two systems wrote on them."""

import gzip
import json
from pathlib import Path
from typing import Any

ARTICLE = """# Lake Orrin

Lake Orrin is a reservoir in Valmere. It was filled in 1931.

## History
The dam was begun in 1929 by the Orrin Company. It cost 12 million crowns.
### Villages
Four hundred people left the villages of Brae and Tarn.

## References
A book.
"""
STATEMENTS = [
    "Lake Orrin is a reservoir in Valmere.",
    "The dam of Lake Orrin was begun in 1929.",
    "The dam cost 12 million crowns.",
    "Four hundred people left the village of Brae.",
]
PRESS = "https://press.example/orrin"
GUIDE = "https://guide.example/orrin"
WIKIPEDIA = "https://en.wikipedia.org/wiki/Lake_Orrin"
FILLER = " ".join(f"Visitors of day {day} walked along the northern shore and watched the herons." for day in range(12))
PAGES = [
    {
        "url": PRESS,
        "title": "VGhlIGRhbSBvZiBPcnJpbg==",
        "text": f"[![Logo](https://press.example/i.png)](https://press.example)\n\n{FILLER}\n\n"
        "**The dam** of Lake Orrin was begun in 1929, and it cost [12 million crowns](https://press.example/c).\n\n"
        f"{FILLER}",
    },
    {"url": GUIDE, "title": "A guide to the lake", "text": FILLER.replace("northern", "southern")},
    {"url": WIKIPEDIA, "title": "Lake Orrin - Wikipedia", "text": f"{ARTICLE}\n{FILLER}"},
    {"url": "https://walls.example/x", "title": "Just a moment", "text": "Enable JavaScript."},
]
SYSTEMS: dict[str, Any] = {
    "alpha": {
        "article": "# Lake Orrin\n\nLake Orrin is a large reservoir in the land of Valmere [1].\n\n## Building\n"
        "The dam was begun in 1929 and it cost 12 million crowns. Nobody knows why.\n\n## References\n1. Press",
        "citation_urls": {"1": PRESS},
        "statements": [
            {
                "fact": "Lake Orrin is a reservoir in Valmere.",
                "ref_idx": ["1", "9"],
                "url": [WIKIPEDIA, "https://no.example"],
            },
            {"fact": "The dam was begun in 1929.", "ref_idx": "1", "url": PRESS},
            {"fact": "The dam cost 12 million crowns.", "ref_idx": None, "url": [PRESS, GUIDE, None]},
            {"fact": "Herons were watched from boats at midnight.", "ref_idx": "1", "url": PRESS},
        ],
    },
    "beta": {
        "article": "**Overview**\n\nA lake of which little is known.",
        "statements": [{"statement": "It is a lake."}],
    },
    "gamma": {"article": "  ", "statements": []},
}


def topic_file(title: str = "Lake Orrin", **values: Any) -> dict[str, Any]:
    """What a file of the data set holds."""
    plain = {"title": title, "article": ARTICLE, "statements": STATEMENTS, "pages": PAGES, "systems": SYSTEMS}
    return plain | values


def write_wiki_live(folder: Path, **files: dict[str, Any]) -> Path:
    """A folder of the published form, by topic ids."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, held in files.items():
        (folder / f"{name}.json.gz").write_bytes(gzip.compress(json.dumps(held).encode()))
    return folder
