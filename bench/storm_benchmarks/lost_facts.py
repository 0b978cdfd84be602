"""The step of a run at which each fact that an article lacks, or states in part, was last available.

    python -m storm_benchmarks.lost_facts RUN FACTS.txt --web TOPIC.json.gz --lm MODEL [--told FACTS.csv:COLUMN]

RUN is a run's folder; ``--web``, the topic's file of the frozen web that it searched. FACTS has a fact a line, after
its name: ``7 Property of 372 acres``; text in square brackets at its end is left out. ``--told``: a table whose first
column names the facts and whose COLUMN has what a reader found of each in the article, ``fully``, ``partly`` or
anything else; without it, the model reads that too.

The model, as a judge, reads how far a step's texts, those nearest to the fact by BM25, state it; the run's records have
the texts. A fact was available at a step if its texts state more of it than the article. Runs from before
``evidence.json`` do not record the sections' evidence: there, "shown" means to an answer, and unused findings are "a
finding, in no section".
"""

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from storm_bench.datasets.dataset import read_text
from storm_bench.judges.model_judge import JudgeModel, open_judge
from storm_bench.metrics.texts import generated_text
from storm_bench.signatures.judging import FindFacts, PlaceFacts
from storm_benchmarks.frozen_web import FrozenWeb, WebPage, read_lines, read_topic
from storm_benchmarks.shared import options, print_table, stating_errors
from storm_pipeline import Settings
from storm_pipeline.api import LexicalIndex, Program, chunks
from storm_pipeline.run.article_json import from_json
from storm_pipeline.text.files import read_plain
from storm_pipeline.text.formatting import printable
from storm_pipeline.text.identity import canonical_url, snippet_id

IN_SECTION = "in the section, not told"
NOWHERE = "on no page of the web"
_FACTS, _TEXTS, _WORDS = 6, 6, 120  # facts of a prompt, texts shown for each, and words of a page's passages
_RANK = {"partly": 1, "fully": 2}
Facts = Mapping[str, str]
"""Name of a fact → what it says."""


def read_facts(file: Path) -> dict[str, str]:
    """Return the facts of a file, by name; a line whose first word has no digit is none."""
    lines = (line.strip().partition(" ") for line in read_text(file).splitlines())
    named = {name: text for name, _, text in lines if any(map(str.isdigit, name))}
    return {name: text.rpartition(" [")[0] if text.endswith("]") else text for name, text in named.items()}


def read_told(file: Path, column: str) -> dict[str, int]:
    """Return name of a fact → how much of it a reader found: 0 nothing, 1 a part, 2 all."""
    lines = read_text(file).splitlines(keepends=True)
    return {next(iter(row.values())): _RANK.get(row[column], 0) for row in csv.DictReader(lines)}


def stated_facts(judge: JudgeModel, facts: Facts, texts: Iterable[str]) -> dict[str, int]:
    """Return name of a fact → how much of it the texts state, as :func:`read_told`."""
    listed = list(dict.fromkeys(" ".join(text.split()) for text in texts))
    index = LexicalIndex(([(text, 1)] for text in listed), floor=0.0)
    groups = [list(facts)[start : start + _FACTS] for start in range(0, len(facts), _FACTS)]
    near = [{own.position for name in group for own in islice(index.search(facts[name]), _TEXTS)} for group in groups]
    asked = [
        {"texts": "\n".join(f"- {listed[at]}" for at in sorted(at_hand)), "facts": _numbered(facts[n] for n in group)}
        for group, at_hand in zip(groups, near, strict=True)
    ]
    found = dict.fromkeys(facts, 0)
    for group, reply in zip(groups, judge.ask(Program(FindFacts), asked), strict=True):
        known = (verdict for verdict in reply.verdicts if 0 < verdict.fact <= len(group))
        found |= {group[own.fact - 1]: _RANK.get(own.told, 0) for own in known}
    return found


def _numbered(texts: Iterable[str]) -> str:
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))


class RecordedRun:
    """Return the texts available at each step of a run, from its records."""

    def __init__(self, folder: Path, web: FrozenWeb) -> None:
        self.article = from_json(read_plain(folder / "article.json").decode("utf-8"))
        self._web = web
        self._results = [line["value"] for line in read_lines(folder / "journal.jsonl") if line["kind"] == "search"]
        file = folder / "evidence.json"
        self.sections = json.loads(read_plain(file)) if file.exists() else []

    def steps(self) -> Iterator[tuple[str, list[str]]]:
        """Yield the steps but the last, from late to early, with their texts."""
        returned = [(one["url"], one["title"], one["text"]) for result in self._results for one in result["snippets"]]
        stored = [(s.url, s.title, s.text) for source in self.article.sources for s in source.snippets]
        given = {name for section in self.sections for name in section["snippets"]}
        in_sections = [one for one in (*returned, *stored) if snippet_id(one[0], one[2]) in given]
        turns = [turn for conversation in self.article.conversations for turn in conversation.turns]
        found = {url for url, *_ in returned}
        excluded = {page["url"] for result in self._results for page in result["excluded"]}
        elsewhere = "another" if self.sections else "no"
        yield f"a finding, in {elsewhere} section", [own.text for turn in turns for own in turn.answer]
        shown = [f"{snippet.title}: {snippet.text}" for turn in turns for snippet in turn.snippets]
        yield "shown, no finding", [*shown, *(f"{title}: {text}" for _, title, text in in_sections)]
        yield "returned, not shown", [f"{title}: {text}" for _, title, text in returned]
        yield "page found, passage never returned", self._passages(found)
        yield "page left out by the source policy", self._passages(excluded)
        yield "page never found", self._passages(self._web.pages)

    def _passages(self, urls: Iterable[str]) -> list[str]:
        keys = dict.fromkeys(map(canonical_url, urls))
        return [text for key in keys if key in self._web.pages for text in _cut(self._web.pages[key])]


def _cut(page: WebPage) -> Iterator[str]:
    return (f"{page.title}: {text}" for text in chunks(" ".join(page.words), _WORDS))


def lost_at(judge: JudgeModel, run: RecordedRun, facts: Facts, known: Mapping[str, int]) -> dict[str, str]:
    """Return name of each fact not fully in the article → the last step that had more of it.

    ``known``: how much of each fact the article states; the model judges the others.
    """
    unread = {name: text for name, text in facts.items() if name not in known}
    in_article = {**stated_facts(judge, unread, chunks(generated_text(run.article), _WORDS)), **known}
    lost = dict.fromkeys((name for name in facts if in_article[name] < _RANK["fully"]), NOWHERE)

    def look(step: str, names: Sequence[str], texts: Iterable[str]) -> None:
        more = stated_facts(judge, {name: facts[name] for name in names if lost[name] == NOWHERE}, texts)
        lost.update({name: step for name, rank in more.items() if rank > in_article[name]})

    for section, names in _by_section(judge, run, {name: facts[name] for name in lost}):
        look(IN_SECTION, names, section["findings"])
    for step, texts in run.steps():
        look(step, list(lost), texts)
    return lost


def _by_section(judge: JudgeModel, run: RecordedRun, facts: Facts) -> list[tuple[dict[str, list[str]], list[str]]]:
    """Return the sections as recorded, with the facts that a reader looks for in each."""
    if not run.sections or not facts:
        return []
    headings, names = _numbered(section["heading"] for section in run.sections), list(facts)
    asked = {"topic": run.article.title, "sections": headings, "facts": _numbered(facts.values())}
    (reply,) = judge.ask(Program(PlaceFacts, token_limit=40 * len(facts)), [asked])
    place = {names[place.fact - 1]: place.section for place in reply.places if 0 < place.fact <= len(names)}
    return [(section, [n for n in names if place.get(n) == at]) for at, section in enumerate(run.sections, 1)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print each fact that is not fully told with the step at which it was lost, and how many were lost at each."""
    parser = options(__doc__, "cache")
    parser.add_argument("run", type=Path, help="folder of a run")
    parser.add_argument("facts", type=Path, help="file of facts, one a line")
    parser.add_argument("--web", type=Path, required=True, help="file of Wiki Live that the run searched")
    parser.add_argument("--lm", required=True, help="the judge")
    parser.add_argument("--api-base", help="address of its endpoint")
    parser.add_argument("--told", help="what a reader found: FILE:COLUMN")
    args = parser.parse_args(arguments)
    settings = Settings.build({"cache": args.cache, "api_base": args.api_base, "lm_timeout": 3600.0})
    table, _, column = (args.told or "").rpartition(":")
    with stating_errors():
        facts, known = read_facts(args.facts), read_told(Path(table), column) if table else {}
        run = RecordedRun(args.run, read_topic(args.web)[1])
    lost = lost_at(open_judge(args.lm, settings), run, facts, known)
    print_table(("fact", "lost at"), ((printable(f"{name} {facts[name]}"), step) for name, step in lost.items()))
    print()
    print_table(("lost at", "facts"), Counter(lost.values()).most_common(), marks="<>")


if __name__ == "__main__":
    main()
