"""What the citation check does to sentences whose support people have labelled.

    python -m storm_benchmarks.grounding [--sentences 300] [--passages 12]

Data: WiCE (a Wikipedia sentence and the page it cites) and AttributionBench (a sentence of an answer and its sources).
Each sentence is checked as a section's is (references/grounding.py), among passages for other sentences of the same
data set: once citing its own source, once citing another one's while its own is among those shown. Outcomes:

- kept: the writer's citation stays, and nothing is added;
- moved: other passages are cited instead or in addition, and the sentence stays;
- handed back: the writer is told what is missing. The pipeline drops only what comes back without support again.

The last line is about the sentences of AttributionBench that several sources support together: each cites all of them
and another one's source. How many of both does the check leave?
"""

import hashlib
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from storm_benchmarks.shared import json_lines, options
from storm_pipeline.documents.chunks import chunks
from storm_pipeline.references.grounding import Claim, Grounding, Judged
from storm_pipeline.references.passages import Passage
from storm_pipeline.retrieval.embedder import CachingEmbedder, Embedder, open_embedder
from storm_pipeline.text.index_terms import terms
from storm_pipeline.types import Snippet

_PASSAGE = 300  # maximum words of a passage: about two search results side by side
_WICE = {"supported": "supported", "partially_supported": "partly", "not_supported": "not"}
_BENCH = {"attributable": "supported", "not attributable": "not"}


@dataclass(frozen=True)
class Labelled:
    """A sentence with its subject, the source text that it cites, and people's verdict: supported, partly or not."""

    text: str
    topic: str
    source: str
    label: str


def main() -> None:
    """Print a Markdown table."""
    parser = options(__doc__, "data", "cache")
    parser.add_argument("--embedder", default="all-MiniLM-L6-v2")
    parser.add_argument("--sentences", type=int, default=300, help="sentences drawn from each data set")
    parser.add_argument("--passages", type=int, default=12, help="passages shown with each sentence")
    args = parser.parse_args()
    embedder = CachingEmbedder(open_embedder(args.embedder, args.cache), size=1 << 16)
    print("| data | cites | label | sentences | kept | moved | of these to its source | handed back |")
    print("|---|---|---|---|---|---|---|---|")
    for name, read in (("WiCE", _wice), ("AttributionBench", _attribution_bench)):
        drawn = random.Random(1)
        rows = list(read(args.data / "support"))
        rows = drawn.sample(rows, min(args.sentences, len(rows)))
        for cites in ("its source", "another one's"):
            counts: dict[str, Counter[str]] = {}
            for row in rows:
                others = drawn.sample([other for other in rows if other.source != row.source], args.passages - 1)
                shown = [_passage(one, row.text) for one in (row, *others)]
                order = drawn.sample(range(len(shown)), len(shown))
                cited = order.index(0 if cites == "its source" else 1)
                grounding = Grounding([shown[j] for j in order], known=row.topic, embed=embedder.embed)
                verdict = grounding.judge([Claim(row.text, (cited,))])[0]
                own = {citation.snippet_id for citation in shown[0].citations()}
                counts.setdefault(row.label, Counter()).update(_outcomes(verdict, own))
            for label in ("supported", "partly", "not"):
                if label in counts:
                    print(_row(name, cites, label, counts[label]), flush=True)
    own, others = _left_beside_another(args.data / "support", embedder)
    print(f"\nOf several sources: {sum(own) / len(own):.1%} of {len(own)} own ones stay, and of another one's", end=" ")
    print(f"{sum(others) / len(others):.1%} of {len(others)}")


def _left_beside_another(folder: Path, embedder: Embedder) -> tuple[list[bool], list[bool]]:
    """Whether each citation stays: of the sentence's own sources, and of another sentence's."""
    drawn = random.Random(2)
    rows = [row for row in json_lines(folder / "attributionbench_dev.jsonl.gz") if len(set(row["references"])) > 1]
    rows = [row for row in rows if _BENCH[row["attribution_label"]] == "supported"]
    own: list[bool] = []
    others: list[bool] = []
    for row in rows:
        other = drawn.choice([one for one in rows if one["question"] != row["question"]])["references"][0]
        sources = [text for text in dict.fromkeys((*row["references"], other)) if text.strip()]
        shown = [_passage(Labelled(row["claim"], row["question"], text, ""), row["claim"]) for text in sources]
        grounding = Grounding(shown, known=row["question"], embed=embedder.embed)
        verdict = grounding.judge([Claim(row["claim"], tuple(range(len(shown))))])[0]
        cited = {citation.snippet_id for citation in verdict.sentence.citations}
        stays = [bool(cited & {citation.snippet_id for citation in passage.citations()}) for passage in shown]
        own += stays[:-1]
        others.append(stays[-1])
    return own, others


def _outcomes(verdict: Judged, own: set[str]) -> Iterator[str]:
    yield "all"
    if verdict.problem and not verdict.is_only_copied:
        yield "handed back"
    elif not verdict.change:
        yield "kept"
    else:
        yield "moved"
        if own & {citation.snippet_id for citation in verdict.sentence.citations}:
            yield "to its source"


def _row(name: str, cites: str, label: str, counts: Counter[str]) -> str:
    total = counts["all"]
    kept, moved, back = (f"{counts[outcome] / total:.1%}" for outcome in ("kept", "moved", "handed back"))
    to_own = f"{counts['to its source'] / counts['moved']:.0%}" if counts["moved"] else "–"
    return f"| {name} | {cites} | {label} | {total} | {kept} | {moved} | {to_own} | {back} |"


def _passage(row: Labelled, sentence: str) -> Passage:
    """The part of a row's source with most of the sentence's content words: what a search for it would find."""
    wanted = frozenset(terms(sentence))
    text = max(chunks(row.source, _PASSAGE), key=lambda part: len(wanted & frozenset(terms(part))))
    page = hashlib.sha256(row.source.encode()).hexdigest()[:16]
    return Passage(text, (Snippet(f"https://example.org/{page}", "", text),))


def _wice(folder: Path) -> Iterator[Labelled]:
    for row in json_lines(folder / "wice_claim_dev.jsonl.gz"):
        title = row["meta"]["claim_title"]
        yield Labelled(row["claim"], title, "\n".join(row["evidence"]), _WICE[row["label"]])


def _attribution_bench(folder: Path) -> Iterator[Labelled]:
    for row in json_lines(folder / "attributionbench_dev.jsonl.gz"):
        source = "\n".join(row["references"])
        if source.strip():
            yield Labelled(row["claim"], row["question"], source, _BENCH[row["attribution_label"]])


if __name__ == "__main__":
    main()
