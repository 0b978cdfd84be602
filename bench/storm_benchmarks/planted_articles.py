"""Two articles of a capable writer with errors that were planted by hand, for any judge of ``storm check``.

    python -m storm_benchmarks.planted_articles build DIR
    storm check DIR --to DIR/report [--lm MODEL | --judge NAME]
    python -m storm_benchmarks.planted_articles score DIR/report/check.json

Built is an article of 200 sentences with the passages that they cite: sections of "Morris Park Aerodrome" and "Endorois
case" (``capable_morris`` and ``capable_endorois`` of the data), drawn by seed, in 30 of which, drawn by seed,
``experiments/labels/planted-sentences.csv`` has an error. A wrong citation is what a sentence far from it cites. Caught
is any verdict but ``supported`` and ``on topic``; a sentence that nothing judged is not. The other sentences are taken
to be supported: of 60 of "Morris Park Aerodrome" a reader found 59 so (the other is not drawn).
"""

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from storm_benchmarks.labels import labels
from storm_benchmarks.shared import options, print_table, stating_errors
from storm_pipeline.run.article_json import from_json
from storm_pipeline.types import Article, Outline, Paragraph, Section, Sentence

_ARTICLES = {"morris": "Morris Park Aerodrome", "endorois": "Endorois case"}
_SENTENCES, _FAR, _SEED = 200, 40, 0
FINE = frozenset({"supported", "on topic"})
CLEAN = "none (clean)"


def main() -> None:
    """Build the article, or print the score of a check of it as a Markdown table, and its false alarms."""
    parser = options(__doc__, "data")
    parser.add_argument("what", choices=["build", "score"])
    parser.add_argument("path", type=Path, help="the folder to build, or check.json of a check of it")
    args = parser.parse_args()
    with stating_errors():
        if args.what == "build":
            args.path.mkdir(parents=True, exist_ok=True)
            (args.path / "article.json").write_text(planted_article(args.data)[0].to_json(), encoding="utf-8")
            return
        checked = json.loads(args.path.read_text(encoding="utf-8"))["sentences"]
        kinds = planted_article(args.data)[1]
        verdicts = {row["sentence"] - 1: str(row["verdict"]) for row in checked}
        print_table(("error", "sentences", "caught"), score(kinds, verdicts), marks="<>>")
        for row in checked:
            if row["sentence"] - 1 not in kinds and row["verdict"] not in FINE:
                print(f"\nfalse alarm {row['sentence']}: {row['text']}\n  {row['verdict']}: {row['reason']}")


def planted_article(data: Path) -> tuple[Article, dict[int, str]]:
    """Return the article, and the kind of error of each changed sentence by its place, from 0."""
    written = {
        title: from_json((data / f"capable_{name}" / "run" / "article.json").read_text(encoding="utf-8"))
        for name, title in _ARTICLES.items()
    }
    planted = {(row["article"], int(row["sentence"])): row for row in labels("planted-sentences")}
    parts = [(title, heading, places) for title, own in written.items() for heading, places in _parts(own)]
    random.Random(_SEED).shuffle(parts)
    sections: list[Section] = []
    kinds: dict[int, str] = {}
    place = 0
    for title, heading, places in parts:
        own = list(written[title].sentences())
        sentences: list[Sentence] = []
        for number in places[: _SENTENCES - place]:
            sentence = own[number]
            if row := planted.get((title, number + 1)):
                kinds[place] = row["kind"]
                far = own[(number + _FAR) % len(own)].citations
                sentence = replace(sentence, text=row["text"]) if row["text"] else replace(sentence, citations=far)
            sentences.append(sentence)
            place += 1
        sections += [Section(f"{title}: {heading or 'lead'}", (Paragraph(tuple(sentences)),))] if sentences else []
    first, other = written.values()
    sources = tuple({source.id: source for source in (*first.sources, *other.sources)}.values())
    topic = " and ".join(written)
    built = replace(first, title=topic, lead=(), sections=tuple(sections), sources=sources, outline=Outline(topic, ()))
    return built, kinds


def score(kinds: Mapping[int, str], verdicts: Mapping[int, str]) -> Iterator[tuple[object, ...]]:
    """Yield a row for each kind of error, one for all of them, and one for the other sentences."""
    judged = {place: verdict not in FINE | {"unjudged"} for place, verdict in verdicts.items()}
    groups = {kind: [place for place in kinds if kinds[place] == kind] for kind in sorted({*kinds.values()})}
    groups |= {"all": list(kinds), CLEAN: [place for place in verdicts if place not in kinds]}
    for kind, places in groups.items():
        caught = sum(judged[place] for place in places)
        yield kind, len(places), f"{caught} ({caught / max(1, len(places)):.1%})"


def _parts(article: Article) -> Iterator[tuple[str, range]]:
    """Yield lead and sections, each with the places of its sentences, from 0."""
    lead = sum(len(paragraph.sentences) for paragraph in article.lead)
    yield "", range(lead)
    start = lead
    for section in article.sections:
        length = sum(1 for _ in _sentences(section))
        yield section.heading, range(start, start + length)
        start += length


def _sentences(section: Section) -> Iterator[Sentence]:
    for paragraph in section.paragraphs:
        yield from paragraph.sentences
    for below in section.subsections:
        yield from _sentences(below)


if __name__ == "__main__":
    main()
