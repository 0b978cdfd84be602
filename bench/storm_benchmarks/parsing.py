"""Share of a model's structured replies that parse: on the first attempt, and after one retry.

    python -m storm_benchmarks.parsing [--lm embedded] [--calls 200] [--structured auto|never]

Calls the signatures with JSON output (related topics, perspectives, queries, repetition, draft and refined outline) on
many topics, with the package's own prompts, retries and schema.
"""

import argparse
import itertools
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from storm_benchmarks.shared import options
from storm_pipeline.concurrency import parallel_map
from storm_pipeline.errors import ReplyError
from storm_pipeline.models.asking import LanguageModels
from storm_pipeline.models.open_models import open_models
from storm_pipeline.models.programs import Program, Programs
from storm_pipeline.run.events import CallbackSink, Events, Retried
from storm_pipeline.settings import Role, Settings

TOPICS = (
    """
Renaissance, Photosynthesis, Tuberculosis, Silk Road, Roman Empire, Jazz, Buddhism, Black Death, Coffee, Cold War,
Impressionism, Ottoman Empire, Industrial Revolution, C++, COVID-19 pandemic, 2022 Winter Olympics, Taylor Swift,
Quantum mechanics, São Paulo, 東京
""".replace("\n", " ")
    .strip()
    .split(", ")
)
QUESTIONS = (
    "What led to the rise of {}, and who was most affected by it?",
    "How has {} changed over time?",
    'What do historians mean when they speak of the "golden age" of {}?',
    "Which places are most closely linked with {}?",
)


def main() -> None:
    """Make the calls and print a Markdown table."""
    parser = options(__doc__, "cache")
    parser.add_argument("--lm", default="embedded")
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--structured", default="auto")
    args = parser.parse_args()
    failures: Counter[str] = Counter()
    events = Events(CallbackSink(lambda event: failures.update([event.stage] if isinstance(event, Retried) else [])))
    given = {"lm": args.lm, "structured": args.structured, "cache": args.cache}
    settings = Settings.build(given | {"workers": 4, "parse_attempts": 2})
    models = LanguageModels.outside_a_run(open_models(settings), settings, events)

    def parses(call: tuple[Role, Program, dict[str, Any]]) -> bool:
        role, program, inputs = call
        with events.in_stage(program.name):
            try:
                models.ask(role, program, **inputs)
            except ReplyError:
                return False
        return True

    chosen = list(itertools.islice(calls(Programs()), args.calls))
    start = time.monotonic()
    parsed = parallel_map(parses, chosen, workers=4)
    asked = Counter(program.name for _, program, _ in chosen)
    unparsed = Counter(program.name for (_, program, _), ok in zip(chosen, parsed, strict=True) if not ok)
    report(args, asked, failures, unparsed, time.monotonic() - start)


def calls(programs: Programs) -> Iterator[tuple[Role, Program, dict[str, Any]]]:
    """An endless cycle of structured calls about the topics."""
    typed: list[tuple[Role, Program]] = [
        ("asker", programs.related),
        ("expert", programs.queries),
        ("asker", programs.perspectives),
        ("expert", programs.queries),
        ("outliner", programs.draft),
        ("outliner", programs.refine),
    ]
    rounds = ((topic, *asked) for topic in itertools.cycle(TOPICS) for asked in typed)
    for turn, (topic, role, program) in enumerate(rounds):
        yield role, program, inputs_of(program.name, topic, turn)


WANTED = "five to seven sections"


def inputs_of(name: str, topic: str, turn: int) -> dict[str, Any]:
    """Inputs of one call; they differ by turn."""
    question = QUESTIONS[turn % len(QUESTIONS)].format(topic)
    answer = f'Expert: {topic} changed in {1200 + turn}, when "old" ways gave way to new ones.'
    inputs: dict[str, dict[str, Any]] = {
        "FindRelatedTopics": {"topic": topic},
        "FindPerspectives": {
            "topic": topic,
            "related_contents": "History: Origins; Course; Legacy",
            "number": 2 + turn % 4,
        },
        "WriteQueries": {"topic": topic, "question": question, "number": 3},
        "DraftOutline": {"topic": topic, "wanted": WANTED},
        "RefineOutline": {
            "topic": topic,
            "wanted": WANTED,
            "sources": f"{topic}; History of {topic}; Economy; Art; Religion; Map of the world",
            "interviews": "\n".join(f"Writer: {asked.format(topic)}\n{answer}" for asked in QUESTIONS),
            "draft": "# Origins\n## First traces\n# Course\n# Legacy\n## In art\n## In law",
        },
    }
    return inputs[name]


def report(
    args: argparse.Namespace, asked: Counter[str], failures: Counter[str], unparsed: Counter[str], seconds: float
) -> None:
    """Print the shares by signature and overall."""
    print(f"{sum(asked.values())} calls of {args.lm}, structured={args.structured}, {seconds:.0f} s\n")
    print("| signature | calls | parsed on the first attempt | after one retry |")
    print("|---|---|---|---|")
    for name in [*asked, "all"]:
        n, bad, gone = (sum(c.values()) if name == "all" else c[name] for c in (asked, failures, unparsed))
        first = n - (bad - gone)  # an unparsed call has failed twice
        print(f"| {name} | {n} | {first / n:.1%} | {(n - gone) / n:.1%} |")


if __name__ == "__main__":
    main()
