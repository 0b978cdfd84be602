"""A local Wikimedia: the Analytics API, MediaWiki's Action API, Lift Wing and Wikidata's query service, on one server.

Shapes of requests, answers and errors are those of the real services; all pages are invented.
"""

import re
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from servers import Reply, Request, ScriptedServer

from storm_bench.datasets.wikimedia import Wikimedia
from storm_pipeline.run.retrying import Patience

QUICK = Patience(connect=2, read=5, total=10, attempts=3, first_pause=0.01, longest_pause=0.05)


@dataclass
class WikiPageStub:
    """An invented page: its place in the wiki, its HTML, and what the services say of it."""

    title: str
    number: int
    html: str = "<p>Nothing.</p>"
    grade: str = "B"
    namespace: int = 0
    properties: dict[str, str] = field(default_factory=dict)
    is_event: bool = True
    created: str = "2024-03-01T00:00:00Z"
    redirect_from: str = ""

    @property
    def revision(self) -> int:
        return self.number * 1000 + 1

    @property
    def item(self) -> str:
        return f"Q{self.number}"


class FakeWikimedia:
    """Use as a context manager; ``services`` are to be asked, ``asked`` counts what was."""

    def __init__(self, pages: list[WikiPageStub], months: dict[str, list[tuple[str, int]]] | None = None) -> None:
        self.pages = pages
        self.months = months or {}
        self.asked: Counter[str] = Counter()
        self.faults: dict[str, list[Reply]] = {}
        self._lock = threading.Lock()
        self._server = ScriptedServer(self._answer)

    def __enter__(self) -> "FakeWikimedia":
        self._server.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.__exit__()

    @property
    def requests(self) -> list[Request]:
        return self._server.requests

    @property
    def services(self) -> Wikimedia:
        url = self._server.url
        return Wikimedia(
            metrics=f"{url}/metrics",
            lift_wing=f"{url}/models",
            wikidata=f"{url}/sparql",
            api=f"{url}/w/api.php",
            rate=10_000,
            patience=QUICK,
        )

    def _answer(self, request: Request) -> Reply:
        kind, answer = self._routed(request)
        with self._lock:
            self.asked[kind] += 1
            faults = self.faults.get(kind) or self.faults.get(kind.partition(" ")[0])
            fault = faults.pop(0) if faults else None
        return fault or answer()

    def _routed(self, request: Request) -> tuple[str, Callable[[], Reply]]:
        if request.path.startswith("/metrics"):
            return "metrics", lambda: self._most_edited(request)
        if request.path.startswith("/models"):
            return f"lift-wing {request.json['rev_id']}", lambda: self._graded(request)
        if request.path.startswith("/sparql"):
            return "wikidata", lambda: self._events(request)
        form = request.form
        assert form["format"] == "json" and form["formatversion"] == "2" and form["maxlag"] == "5"
        if form["action"] == "parse":
            return f"parse {form['oldid']}", lambda: self._parsed(form)
        return "query " + form["prop"], lambda: self._queried(form)

    def _most_edited(self, request: Request) -> Reply:
        found = re.fullmatch(
            r"/metrics/edited-pages/top-by-edits/en\.wikipedia\.org/all-editor-types/content/(\d+)/(\d+)/all-days",
            request.path,
        )
        assert found
        month = f"{found[1]}-{found[2]}"
        if month not in self.months:
            return Reply(
                404, {"detail": "we either do not have data for those date(s)", "status": 404, "title": "Not Found"}
            )
        top = [
            {"page_title": title.replace(" ", "_"), "edits": edits, "rank": rank}
            for rank, (title, edits) in enumerate(self.months[month], 1)
        ]
        item = {"project": "en.wikipedia", "page-type": "content", "granularity": "monthly"}
        return Reply(body={"items": [item | {"results": [{"timestamp": f"{month}-01T00:00:00.000Z", "top": top}]}]})

    def _graded(self, request: Request) -> Reply:
        assert request.path == "/models/enwiki-articlequality:predict"
        revision = request.json["rev_id"]
        page = next(page for page in self.pages if page.revision == revision)
        score = {"prediction": page.grade, "probability": {page.grade: 0.9}}
        scores = {str(revision): {"articlequality": {"score": score}}}
        return Reply(body={"enwiki": {"models": {"articlequality": {"version": "0.9.2"}}, "scores": scores}})

    def _events(self, request: Request) -> Reply:
        query = request.query["query"]
        assert request.query["format"] == "json" and "wdt:P31/wdt:P279*" in query
        wanted = re.findall(r"wd:(Q\d+)", query.partition("}")[0])
        rows = [
            {"item": {"type": "uri", "value": f"http://www.wikidata.org/entity/{page.item}"}}
            for page in self.pages
            if page.item in wanted and page.is_event
        ]
        return Reply(body={"head": {"vars": ["item"]}, "results": {"bindings": rows}})

    def _parsed(self, form: dict[str, str]) -> Reply:
        revision = int(form["oldid"])
        page = next(page for page in self.pages if revision == page.revision)
        said = {"title": page.title, "pageid": page.number, "revid": revision}
        return Reply(body={"parse": said | {"text": page.html}})

    def _queried(self, form: dict[str, str]) -> Reply:
        if "titles" in form:
            return self._states(form["titles"].split("|"))
        page = next(page for page in self.pages if str(page.number) == form["pageids"])
        assert form["rvlimit"] == "1"
        said = {"pageid": page.number, "ns": 0, "title": page.title, "revisions": [{"timestamp": page.created}]}
        return Reply(body={"batchcomplete": True, "query": {"pages": [said]}})

    def _states(self, titles: list[str]) -> Reply:
        assert len(titles) <= 50
        normalized, redirects, found = [], [], []
        for title in titles:
            name = title[:1].upper() + title[1:]
            if name != title:
                normalized.append({"fromencoded": False, "from": title, "to": name})
            page = next((page for page in self.pages if name in {page.title, page.redirect_from}), None)
            if page is None:
                found.append({"ns": 0, "title": name, "missing": True})
                continue
            if name == page.redirect_from:
                redirects.append({"from": name, "to": page.title})
            found.append(
                {
                    "pageid": page.number,
                    "ns": page.namespace,
                    "title": page.title,
                    "lastrevid": page.revision,
                    "canonicalurl": "https://en.wikipedia.org/wiki/" + page.title.replace(" ", "_"),
                    "pageprops": {"wikibase_item": page.item} | page.properties,
                }
            )
        query: dict[str, Any] = {"pages": found}
        query |= {"normalized": normalized} if normalized else {}
        query |= {"redirects": redirects} if redirects else {}
        return Reply(body={"batchcomplete": True, "query": query})


def lagged(seconds: float = 5.2) -> Reply:
    """The answer of a wiki whose replicas lag."""
    said = {"code": "maxlag", "info": f"Waiting for a server: {seconds} seconds lagged.", "lag": seconds}
    return Reply(body={"error": said}, headers={"Retry-After": "0"})


def prose(seed: str, sentences: int, marks: str = "") -> str:
    """A paragraph of invented sentences of twelve words, the first of which bears citation marks."""
    said = [
        f"The {seed} clerks number {n} counted grey barrels beside the northern harbour wall." for n in range(sentences)
    ]
    return "<p>" + said[0] + marks + " " + " ".join(said[1:]) + "</p>"


def mark(number: int) -> str:
    return (
        f'<sup id="cite_ref-{number}" class="reference"><a href="#cite_note-{number}">'
        f'<span class="cite-bracket">[</span>{number}<span class="cite-bracket">]</span></a></sup>'
    )


def listed(number: int, url: str) -> str:
    link = f'<a rel="nofollow" class="external text" href="{url}">"Report {number}"</a>'
    cite = f'<cite class="citation web cs1">{link}.</cite>'
    back = f'<span class="mw-cite-backlink"><b><a href="#cite_ref-{number}">^</a></b></span>'
    return f'<li id="cite_note-{number}">{back} <span class="reference-text">{cite}</span></li>'


def article_html(urls: list[str], sentences: int = 10, seed: str = "harbour") -> str:
    """An article: infobox, lead, two sections of which the first has a subsection, references, external links."""
    marks = [mark(number) for number in range(1, len(urls) + 1)]
    items = "".join(listed(number, url) for number, url in enumerate(urls, 1))
    return f"""<div class="mw-content-ltr mw-parser-output" lang="en" dir="ltr">
<div class="shortdescription nomobile noexcerpt noprint">Flood in a town</div>
<div role="note" class="hatnote">For the ship, see elsewhere.</div>
<table class="infobox vevent"><tbody><tr><th colspan="2">Big flood</th></tr>
<tr><th scope="row">Date</th><td>3 March 2024{marks[0] if marks else ""}</td></tr>
<tr><th scope="row">Deaths</th><td>None<br>(two injured)</td></tr></tbody></table>
<style>.x {{ color: red }}</style>
{prose(seed + " lead", sentences, "".join(marks[:1]))}
<div class="mw-heading mw-heading2"><h2 id="Course">Course</h2></div>
{prose(seed + " course", sentences, "".join(marks[1:3]))}
<ul><li>A list entry that is no prose.</li></ul>
<div class="mw-heading mw-heading3"><h3 id="Rescue">Rescue<sup class="reference"><a href="#n">[a]</a></sup></h3></div>
{prose(seed + " rescue", sentences, "".join(marks[3:]))}
<h2><span class="mw-headline" id="Aftermath">Aftermath</span><span class="mw-editsection">[edit]</span></h2>
{prose(seed + " aftermath", sentences)}
<div class="mw-heading mw-heading2"><h2 id="References">References</h2></div>
<div class="reflist"><div class="mw-references-wrap"><ol class="references">{items}</ol></div></div>
<div class="mw-heading mw-heading2"><h2 id="External_links">External links</h2></div>
<ul><li><a class="external text" href="https://official.example/">Official site</a></li></ul></div>"""
