"""What Wikipedia's API says of articles' lead images, as a script for a local server."""

from collections.abc import Callable, Mapping
from typing import Any

from servers import Reply, Request

from storm_pipeline.types import Image

FACTS = {
    "LicenseShortName": "CC BY-SA 4.0",
    "Artist": '<a href="//x.example">Ada <b>Low</b></a><span style="display: none;">Ada Low</span>',
    "ImageDescription": "<style>b {}</style>A <i>tower</i>",
}


def file_info(name: str = "Tower.jpg", **facts: Any) -> dict[str, Any]:
    """What the API says of a file on Commons."""
    path = name.replace(" ", "_")
    given_facts = {key: value for key, value in (FACTS | facts).items() if value is not None}
    return {
        "url": f"https://upload.wikimedia.org/wikipedia/commons/a/ab/{path}",
        "thumburl": f"https://thumb.wikimedia.org/wikipedia/commons/thumb/a/ab/{path}/960px-{path}?utm_source=en&utm_content=x",
        "descriptionurl": f"https://commons.wikimedia.org/wiki/File:{path}",
        "extmetadata": {key: {"value": value, "source": "commons-desc-page"} for key, value in given_facts.items()},
    }


def wiki(files: Mapping[str, Any], redirects: Mapping[str, str] | None = None) -> Callable[[Request], Reply]:
    """A MediaWiki whose articles have lead images, by title: what is said of each file, named after its article."""

    def reply(request: Request) -> Reply:
        form = request.form
        titles = form["titles"].split("|")
        if form["prop"] == "pageimages":
            moved = [{"from": a, "to": b} for a, b in (redirects or {}).items() if a in titles]
            final = [(redirects or {}).get(title, title) for title in titles]
            pages: list[dict[str, Any]] = [
                {"ns": 0, "title": t}
                | ({"pageimage": f"{t.replace(' ', '_')}.jpg"} if t in files else {"missing": True})
                for t in final
            ]
            return Reply(body={"batchcomplete": True, "query": {"redirects": moved, "pages": pages}})
        plain = {title: title.replace("_", " ").replace("File:", "Datei:") for title in titles}
        pages = [{"ns": 6, "title": t, "imageinfo": [files[t[6:-4]]]} for t in plain.values()]
        normal = [{"from": a, "to": b} for a, b in plain.items()]
        return Reply(body={"batchcomplete": True, "query": {"normalized": normal, "pages": pages}})

    return reply


def image(own: str = "s1", **changes: str) -> Image:
    fields = {
        "url": "https://upload.wikimedia.org/wikipedia/commons/thumb/a/ab/Tower.jpg/640px-Tower.jpg",
        "file_page": "https://commons.wikimedia.org/wiki/File:Tower.jpg",
        "licence": "CC BY-SA 4.0",
        "licence_url": "https://creativecommons.org/licenses/by-sa/4.0/",
        "author": "Ada Low",
        "alt": "A tower",
        "source_id": own,
    }
    return Image(**fields | changes)
