"""What the pipeline makes of a capable writer's replies, without a model: a run answered by hand once, answered again.

When a prompt, the evidence or a check is changed, the figures below say what that does to such an article. A reply that
fits nothing any more is lost, so they get worse by and by; then a run is played by hand anew and recorded.
"""

import gzip
import json
import re
from collections.abc import Sequence
from pathlib import Path

import bm25s
import pytest
from recorded_writer import RecordedWriter, hashes, numbered, replied
from test_pipeline import NoContents, markers_resolve

from storm_pipeline import Article, Snippet, Storm

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT.parent / "shared" / "data" / "capable_oder" / "corpus.jsonl.gz"
TOPIC = "2022 Oder environmental disaster"


class Chunks:
    """BM25 over 120 words of a page at a time, each ten words into the next; at most three chunks of a page."""

    name = "chunks"

    def __init__(self, path: Path) -> None:
        self._chunks: list[Snippet] = []
        for line in gzip.decompress(path.read_bytes()).decode("utf-8").splitlines():
            page = json.loads(line)
            words = page["text"].split()
            texts = (" ".join(words[start : start + 120]) for start in range(0, len(words), 110))
            self._chunks += [Snippet(page["url"], page["title"], text) for text in texts]
        self._index = bm25s.BM25()
        texts = [f"{chunk.title} {chunk.text}" for chunk in self._chunks]
        self._index.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)

    def search(self, query: str, k: int) -> Sequence[Snippet]:
        asked = bm25s.tokenize([query], stopwords="en", show_progress=False)
        positions, scores = self._index.retrieve(asked, k=60, show_progress=False)
        pages: dict[str, list[Snippet]] = {}
        for position, score in zip(positions[0], scores[0], strict=True):
            if score > 0:
                chunk = self._chunks[position]
                own = pages.setdefault(chunk.url, [])
                own += [chunk] if len(own) < 3 else []
        return [chunk for own in list(pages.values())[:k] for chunk in own]


@pytest.fixture(scope="module")
def article(tmp_path_factory: pytest.TempPathFactory) -> Article:
    folder = tmp_path_factory.mktemp("recorded")
    record = json.loads((ROOT / "tests" / "recorded" / "oder.json").read_text(encoding="utf-8"))
    with RecordedWriter(record) as writer:
        return Storm(
            lm=writer.lm,
            search=Chunks(PAGES),
            contents=NoContents(),
            perspectives=3,
            turns=3,
            top_k=3,
            related_topics=0,
            source_policy="any",
            read_pages="never",
            out=folder / "runs",
            cache=ROOT / "cache",
        ).write(TOPIC)


@pytest.mark.data
@pytest.mark.assets
@pytest.mark.skipif(not PAGES.exists(), reason="the pages lie beside the checkout only")
def test_a_capable_writers_article_comes_through_whole(article: Article) -> None:
    sentences = [sentence for section in article.sections for sentence in section.sentences()]
    words = sum(len(sentence.text.split()) for sentence in sentences)
    print(f"{words} words, {len(sentences)} sentences, {article.report}")
    for revision in article.revisions:
        print(revision)
    assert markers_resolve(article)
    assert all(sentence.citations for sentence in article.sentences())
    assert article.lead
    assert re.search(r"\b(?:was|is)\b", article.lead[0].sentences[0].text), "the first sentence says what it was"
    assert article.report.offered_to_sections == article.report.cited_in_interviews > 20
    assert words >= 1200
    dropped = [revision for revision in article.revisions if revision.outcome == "dropped"]
    assert len(dropped) <= len(sentences) / 10
    # the answers were written from more passages than they are shown today: some of their sentences are lost
    assert article.report.dropped_unsupported - len(dropped) <= 20
    assert not [problem for problem in article.report.problems if problem.kind == "failure"]


def test_a_number_follows_its_passage_into_another_prompt() -> None:
    mill = "[1] A: the mill by the river burnt down in 1931 and was never built again by its owners."
    old = f"Passages:\n{mill}\n[2] B: nothing."
    new = old.replace("[1]", "[7]").replace("[2]", "[1]")
    record = {"AnswerFromPassages": {"reply": "It burnt down [1].", "numbers": {"1": numbered(old)[1]}}}
    assert replied(record, "AnswerFromPassages", new) == "It burnt down [7]."
    assert len(hashes("a b c")) == 1
