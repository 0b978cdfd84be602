"""Halves of surrogate pairs, which no file can hold, in replies, hits and files: runs end well and can be resumed."""

import json
from pathlib import Path

from llm import FakeModel, completion
from servers import Reply
from test_pipeline import folder
from test_resume import answers, storm, text

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


def test_half_a_pair_in_a_reply_ends_no_run(tmp_path: Path) -> None:
    faults = {signature: [Reply(body=completion(reply))] for signature, reply in replies().items()}
    with FakeModel(answers(), faults=faults) as server:
        article = storm(server, tmp_path, max_failures=2).write("Silk Road")
        assert not any(server._faults.values())
        asked = len(server.asked)
        (folder(tmp_path) / "article.md").unlink()
        assert text(storm(server, tmp_path, max_failures=2).resume(folder(tmp_path))) == text(article)
        assert len(server.asked) == asked
    text(article).encode("utf-8")
    article.to_html().encode("utf-8")
    article.to_json().encode("utf-8")
