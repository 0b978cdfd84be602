"""Faults that the judges of ``storm check`` find: in sentences that people labelled, and in planted errors by kind.

    python -m storm_benchmarks.planted [--judge-lm MODEL] [--cross-encoder PATH] [--sentences 300] [--each 60]

Printed is the share of sentences that a judge faults: any verdict but ``supported`` and ``on topic``. Rows:

- WiCE dev and AttributionBench dev by people's label, each sentence beside the three best parts of its source;
- errors planted by rule (``planting.py``) into those labelled supported, and into our own about English pages; a wrong
  citation is the passage of another sentence;
- errors planted by hand into two whole articles, and their other sentences (``planted_articles.py``).
A judge is asked about all rows but the last in a drawn order, so that no call holds one kind alone.
"""

import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from storm_bench.datasets.support import read_attribution_bench, read_wice
from storm_benchmarks.planted_articles import CLEAN, FINE, planted_article
from storm_benchmarks.planting import RULES
from storm_benchmarks.screen import own_sentences
from storm_benchmarks.shared import nearest_parts, options, print_table
from storm_pipeline import Settings
from storm_pipeline.evidence.judges.base import Judge, Question
from storm_pipeline.evidence.judges.opening import open_judge
from storm_pipeline.output.check import check_article

_WORDS, _PARTS = 150, 3  # of a passage; passages of its source that a sentence cites
Flags = Callable[[Sequence[Question]], list[bool]]
"""Whether each sentence is faulted."""


@dataclass(frozen=True)
class Cited:
    """A sentence, the passages that it cites, and one of another source."""

    text: str
    passages: tuple[str, ...]
    other: str

    @property
    def question(self) -> Question:
        """As judges are asked."""
        return Question(self.text, self.passages)


def main() -> None:
    """Print a Markdown table."""
    parser = options(__doc__, "data", "cache")
    parser.add_argument("--judge-lm", help="a language model that judges too")
    parser.add_argument("--cross-encoder", help="folder or hub name of a cross-encoder that judges too")
    parser.add_argument("--sentences", type=int, default=300, help="sentences of a data set, at most")
    parser.add_argument("--each", type=int, default=60, help="errors of a kind planted by rule, at most")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    named: dict[str, dict[str, object]] = {"screen": {"judge": "screen"}}
    if args.judge_lm:
        named["language model"] = {"judge": "model", "judge_lm": args.judge_lm}
    if args.cross_encoder:
        named["cross-encoder"] = {"judge": args.cross_encoder}
    settings = {name: Settings.build({"cache": args.cache, **own}) for name, own in named.items()}
    judges = {name: _opened(own) for name, own in settings.items()}
    flags = {name: _by_judge(judge) for name, judge in judges.items()}
    head = ("sentences", "number", *judges)
    rng = random.Random(args.seed)
    sets = labelled_sets(args.data, args.sentences, args.each, rng)
    rows = [*table(sets, flags, rng), *_articles(args.data, judges)]
    print_table(head, rows, marks="<" + ">" * (len(head) - 1))


def _articles(data: Path, judges: Mapping[str, Judge]) -> Iterator[list[object]]:
    """Yield a row for each kind of error planted by hand, and one for the other sentences of these articles."""
    article, kinds = planted_article(data)
    found = [check_article(article, judge).sentences for judge in judges.values()]
    for kind in (*sorted({*kinds.values()}), CLEAN):
        faulted = [[s.status not in FINE for s in some if kinds.get(s.place, CLEAN) == kind] for some in found]
        yield [f"articles, {kind}", len(faulted[0]), *map(_share, faulted)]


def _opened(settings: Settings) -> Judge:
    return open_judge(settings.judge_of_articles, settings, announce=lambda text: print(text, file=sys.stderr))


def labelled_sets(data: Path, most: int, each: int, rng: random.Random) -> dict[str, list[Question]]:
    """Return what a row says → its sentences, with the best parts of their sources."""
    folder = data / "support"
    people = {"WiCE": read_wice(folder), "AttributionBench": read_attribution_bench(folder)}
    sets: dict[str, list[Question]] = {}
    supported: list[tuple[str, str]] = []
    for name, labelled in people.items():
        for one in rng.sample(labelled, min(most, len(labelled))):
            row = (one.text, "\n".join(one.sources))
            sets.setdefault(f"{name}, {one.label}", []).append(Question(one.text, _best(*row)))
            supported += [row] if one.label == "supported" else []
    for read in own_sentences(data):
        claims = zip(read.claims, read.labels, strict=True) if read.name == "en" else ()
        supported += [(claim.text, read.shown[claim.cited[0]].text) for claim, label in claims if label == "supported"]
    clean = _cited(supported, rng)
    by_rule = {kind: planted(clean, kind, each, rng) for kind in (*RULES, "wrong citation")}
    rows = {f"planted, {kind}": [one.question for one in some] for kind, some in by_rule.items()}
    return dict(sorted(sets.items(), reverse=True)) | rows


def _cited(rows: Sequence[tuple[str, str]], rng: random.Random) -> list[Cited]:
    """Return sentences with the best parts of their sources, and of another's, in a drawn order."""
    rows = rng.sample(rows, len(rows))
    parts = [_best(*row) for row in rows]
    pages = [(page, part[0]) for (_, page), part in zip(rows, parts, strict=True)]
    strangers = [rng.choice([part for page, part in pages if page != source]) for _, source in rows]
    return [Cited(text, part, other) for (text, _), part, other in zip(rows, parts, strangers, strict=True)]


def _best(text: str, source: str) -> tuple[str, ...]:
    """Return the parts of a source that ``storm check`` shows a judge of a sentence."""
    return tuple(nearest_parts(source, text, _WORDS)[:_PARTS])


def planted(clean: Sequence[Cited], kind: str, most: int, rng: random.Random) -> list[Cited]:
    """Return up to so many sentences with an error of a kind."""
    found = []
    for one in clean:
        if kind == "wrong citation":
            found.append(Cited(one.text, (one.other,), one.other))
        else:
            changed = RULES[kind](one.text, one.other, rng)
            if changed and not any(changed in text for text in one.passages):
                found.append(Cited(changed, one.passages, one.other))
    return found[:most]


def table(
    sets: Mapping[str, Sequence[Question]], flags: Mapping[str, Flags], rng: random.Random
) -> Iterator[list[object]]:
    """Yield a row for each set: its name, its number of sentences, and the share that each judge faults."""
    rows = [(name, question) for name, some in sets.items() for question in some]
    rng.shuffle(rows)
    flagged = [flag([question for _, question in rows]) for flag in flags.values()]
    for name, some in sets.items():
        mine = [i for i, (of, _) in enumerate(rows) if of == name]
        yield [name, len(some), *(_share([found[i] for i in mine]) for found in flagged)]


def _share(flagged: Sequence[bool]) -> str:
    return f"{sum(flagged) / max(1, len(flagged)):.1%}"


def _by_judge(judge: Judge) -> Flags:
    return lambda some: [verdict.label not in FINE for verdict in judge.judge(some)]


if __name__ == "__main__":
    main()
