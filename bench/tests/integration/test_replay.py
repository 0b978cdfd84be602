"""What the pipeline makes of a capable writer's replies, without a model: a run that was answered by hand, replayed."""

import json
from pathlib import Path

import pytest
from dspy import lm15

from conftest import ROOT
from storm_benchmarks.recorded_run import RecordedWriter, Recording
from storm_benchmarks.replay import differences, replayed

RUN = ROOT.parent / "shared" / "data" / "capable_morris"
SETTINGS = {"lm": "openai/strong", "source_language": None, "source_policy": "auto"}


@pytest.mark.data
@pytest.mark.assets
@pytest.mark.skipif(not RUN.exists(), reason="the recorded run lies beside the checkout only")
def test_a_capable_writers_article_comes_through_whole() -> None:
    result = replayed(RUN, ROOT / "cache")
    print(json.dumps(result, ensure_ascii=False, indent=1))
    assert not result["problems"]
    assert not result["searches"]
    assert all(result["sentences"].values()), "a sentence cites nothing"
    assert len(result["sentences"]) >= 125  # of 134 at 254f7667
    assert len(result["findings"]) >= 160  # of 171
    assert len(result["lost"]) <= 10  # sentences of answers may rest on passages that are shown no more
    assert not result["refused"]
    assert differences(result, result)[0].endswith(f"{len(result['remarks'])} | {len(result['remarks'])}")


def recording(folder: Path, *asked: tuple[str, str]) -> Recording:
    (folder / "requests").mkdir()
    (folder / "run").mkdir()
    for n, (prompt, reply) in enumerate(asked, 1):
        (folder / "requests" / f"{n:04}.req.txt").write_text(f"{prompt}\n===== parameters: {{}}\n")
        (folder / "requests" / f"{n:04}.rep.txt").write_text(reply)
    (folder / "requests" / "9999.rep.txt").write_text("a reply whose prompt is missing")
    (folder / "run" / "settings.json").write_text(json.dumps(SETTINGS))
    (folder / "run" / "run.json").write_text(json.dumps({"engine": "own", "topic": "Mill", "recipe": "storm"}))
    snippet = {"url": "https://a.example", "title": "Mill", "text": "It burnt down.", "published": None}
    found = {"snippets": [snippet | {"author": None, "site": None}]}
    (folder / "run" / "journal.jsonl").write_text(json.dumps({"kind": "search", "key": "x", "value": found}) + "\n")
    return Recording(folder)


def test_a_number_follows_its_passage_into_another_prompt(tmp_path: Path) -> None:
    system = "You are an expert on the topic and answer an encyclopedia writer."
    mill = "A: the mill by the river burnt down in 1931 and was never built again by its owners."
    user = "Topic: Mill\nQuestion: What of it?\nPassages:\n[1] {}\n[2] {}"
    then = f"===== system =====\n{system}\n===== user =====\n{user.format(mill, 'B: it had a pond.')}"
    known = recording(tmp_path, (then, "It burnt down [1]. It had a pond [2]."))
    writer = RecordedWriter(known)

    def reply(prompt: str) -> str:
        return writer.complete(lm15.Request("m", (lm15.Message.user(prompt),), system=system)).text or ""

    assert reply(user.format("C: nothing of this.", mill)).startswith("It burnt down [2].")
    assert [one[1] for one in writer.seen["lost"]] == ["It had a pond"]
    assert reply(user.format("C: nothing of this.", mill)) == "The passages do not say."
    assert writer.seen["unrecorded"] == ["answer: What of it?"]
    assert known.unasked == ["9999.rep.txt"]
    assert [snippet.text for snippet in known.search("mill", 3)] == ["It burnt down."]
    assert known.unknown == ["mill"]
