"""Halves of surrogate pairs, which no file can hold, in replies, hits and files: runs end well and can be resumed."""

import json
from pathlib import Path

import pytest
from found_pages import world
from llm import FakeModel, completion
from servers import Reply
from test_pipeline import folder
from test_resume import answers, storm, text

from storm_pipeline import Snippet
from storm_pipeline.sources.search.fake import FakeSearch

HALF = "\ud83d"


def replies() -> dict[str, str]:
    """What each signature is replied with once, with half a pair in each."""
    outline = {
        "sections": [
            {"title": f"Goods {HALF}", "subsections": [f"Silk {HALF}"]},
            {"title": "Routes", "subsections": []},
        ]
    }
    return {
        "FindRelatedTopics": json.dumps({"related_topics": [f"Caravan {HALF}"]}),
        "FindPerspectives": json.dumps({"editors": [{"name": f"Trader {HALF}", "focus": f"Goods {HALF}"}]}),
        "AskQuestion": f"What was traded {HALF} on it?",
        "WriteQueries": json.dumps({"queries": [f"silk {HALF} trade"]}),
        "DraftOutline": json.dumps(outline),
        "RefineOutline": json.dumps(outline),
        "WriteSection": f"Of Silk Road goods {HALF} such as silk tolls were paid near the desert [1].",
        "WriteLead": f"The Silk Road {HALF} had goods [1].",
    }


@pytest.mark.parametrize("signature", replies())
def test_half_a_pair_in_a_reply_ends_no_run(tmp_path: Path, signature: str) -> None:
    faults = {signature: [Reply(body=completion(replies()[signature]))]}
    with FakeModel(answers(), faults=faults) as server:
        article = storm(server, tmp_path, max_failures=2).write("Silk Road")
        asked = len(server.asked)
        (folder(tmp_path) / "article.md").unlink()
        assert text(storm(server, tmp_path, max_failures=2).resume(folder(tmp_path))) == text(article)
        assert len(server.asked) == asked
    text(article).encode("utf-8")
    article.to_html().encode("utf-8")
    article.to_json().encode("utf-8")


def test_half_a_pair_in_a_hit_ends_no_run(steady: FakeModel, tmp_path: Path) -> None:
    hits = [Snippet(s.url + HALF, s.title + HALF, f"{HALF}{s.text}", author=HALF, site=HALF) for s in world("silk")]
    article = storm(steady, tmp_path, search=FakeSearch(lambda _: hits)).write("Silk Road")
    text(article).encode("utf-8")
    article.to_html().encode("utf-8")
