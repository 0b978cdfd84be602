"""Fits the formula of ``storm estimate`` to whole runs with a scripted model, and says how far it is from them.

    python -m storm_benchmarks.estimate_fit [--topic TOPIC.json.gz] [--write]

Ten settings of the default recipe are run over made-up pages, or over those of a Wiki Live topic; with ``--write`` each
other recipe once too, and the coefficients are fitted anew, each at least 0, and saved: do so after prompts or steps
change. Printed are calls and tokens of each run by role, what the formula says, and the formula's ratio to the run.
"""

import json
import random
import re
import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

from storm_benchmarks.frozen_web import FrozenWeb, WebPage, read_topic, written
from storm_benchmarks.scripted import REPLIES, mark_of
from storm_benchmarks.scripted_lm import scripted_lm
from storm_benchmarks.shared import ROOT, options, print_table
from storm_pipeline import Settings
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.interfaces import estimate
from storm_pipeline.models.programs import Programs
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.recipes import DEFAULT, PROGRAMS, RECIPES
from storm_pipeline.run.events import CallbackSink, CallFinished, Event, Searched

Plan = tuple[Settings, str]  # and recipe
Key = tuple[str, str, str]  # stage, role, and what is counted: calls, in, out
SETTINGS: Sequence[Mapping[str, Any]] = (
    {},
    {"perspectives": 3, "turns": 3},
    {"perspectives": 3, "turns": 3, "judge": "off"},
    {"perspectives": 2, "turns": 4, "queries": 1, "top_k": 3},
    {"perspectives": 1, "turns": 2, "length": "short"},
    {"perspectives": 0, "turns": 3, "max_sections": 3},
    {"perspectives": 4, "turns": 2, "length": "long"},
    {"perspectives": 3, "turns": 3, "read_pages": "never"},
    {"perspectives": 3, "turns": 3, "evidence": 1200, "editing": "off"},
    {"perspectives": 5, "turns": 3, "evidence": 5000, "length": "long"},
)
OTHERS: Sequence[Mapping[str, Any]] = (
    {"perspectives": 1, "turns": 3},
    {"perspectives": 3, "turns": 2, "top_k": 8, "length": "short"},
    {"perspectives": 2, "turns": 2, "judge": "off"},
)
OUTLINED = {"perspectives": 2, "turns": 2, "answers": "outlined"}


class ScriptedModel:
    """Replies as scripted, and counts the tokens of each stage and role."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = words  # of the pages, for queries that find different ones
        self.usage, self.searches = Counter[Key](), 0
        self._lock = threading.Lock()
        self._signatures = {
            PromptAdapter().format_system_message(predictor.signature): predictor.signature.__name__
            for settings in (Settings(), Settings(answers="outlined"))
            for program in Programs().for_settings(settings).named().values()
            for predictor in program.predictors()
        }

    def reply(self, messages: list[str]) -> str:
        """Return the reply to a request of one of the programs."""
        signature, mark = self._signatures[messages[0]], mark_of("".join(messages))
        reply: str = (self._queries if signature == "WriteQueries" else REPLIES[signature][1])(messages[-1], mark)
        return reply

    def _queries(self, user: str, mark: str) -> str:
        """Return queries of words of the pages, so that they find different ones."""
        chosen, number = random.Random(mark), int(re.findall(r"^Number: (\d+)", user, re.M)[-1])
        return json.dumps({"queries": [" ".join(chosen.sample(self.words, 3)) for _ in range(number)]})

    def note(self, event: Event) -> None:
        """Count calls, their tokens, and searches."""
        with self._lock:
            self.searches += isinstance(event, Searched)
            if isinstance(event, CallFinished):
                counts = {"calls": 1, "in": event.tokens_in, "out": event.tokens_out}
                self.usage.update({(event.stage, event.role, what): number for what, number in counts.items()})


def made_up_web(pages: int = 60, topic: str = "Silk Road") -> FrozenWeb:
    """Return pages that name the topic and a subject of their own, of random words of the documentation."""
    text = " ".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md")))
    words = re.findall(r"\b[a-z]{1,12}\b", text)

    def page(number: int) -> WebPage:
        chosen = random.Random(number)
        subject = " ".join(chosen.sample(sorted({word for word in words if len(word) > 6}), 2))
        sentences = (" ".join(chosen.sample(words, chosen.randint(14, 26))) for _ in range(60))
        lines = [f"The {topic} and {subject}, {sentence}." for sentence in sentences]
        paragraphs = (" ".join(lines[at : at + 5]) for at in range(0, len(lines), 5))
        title = f"{topic}: {subject}"
        return WebPage(f"https://site{number}.example/{number}", title, "\n\n".join([f"# {title}", *paragraphs]))

    return FrozenWeb(list(map(page, range(pages))))


def run(settings: Mapping[str, Any], web: FrozenWeb, topic: str = "Silk Road", recipe: str = DEFAULT) -> ScriptedModel:
    """Run a recipe; return the requests to the model."""
    model = ScriptedModel(sorted({word for page in web.pages.values() for word in page.words if len(word) > 6}))
    objects = {"lm": scripted_lm(model.reply), "embedder": HashingEmbedder(), "sinks": [CallbackSink(model.note)]}
    with tempfile.TemporaryDirectory() as folder:
        written(topic, web, {"out": folder, "cache": folder, **settings}, recipe=recipe, **objects)
    return model


def fitted(runs: Sequence[tuple[Plan, ScriptedModel]]) -> dict[str, dict[str, str]]:
    """Return the formulas with coefficients by which the sum of squared errors, as shares of a run, is least."""
    rows = {}
    for key, formulas in estimate.ROWS.items():
        stage, role, programs = key.split(", ")
        own = [
            (estimate.sizes(*plan), model.usage)
            for plan, model in runs
            if PROGRAMS[plan[1]] & {*programs.split()} and (stage, role) in estimate.usage(*plan)
        ]
        rows[key] = dict(formulas)
        for what in ("calls", "in", "out") if own else ():
            names = [term.partition("*")[2] for term in formulas[what].split(" + ")]
            sizes = np.array([[estimate.total(f"1*{of}".rstrip("*"), known) for of in names] for known, _ in own])
            weights = np.array([1 / sum(n for (*_, of), n in used.items() if of == what) for _, used in own])
            seen = np.array([used[stage, role, what] for _, used in own]) * weights
            scale = sizes.max(axis=0) + 1e-9
            found, _ = nnls(sizes / scale * weights[:, None], seen)
            fitted_terms = zip(found / scale, names, strict=True)
            rows[key][what] = " + ".join(f"{x:.3g}*{of}".rstrip("*") for x, of in fitted_terms)
    return rows


def save(rows: Mapping[str, Mapping[str, str]]) -> None:
    """Write the rows in place of the formula's."""
    file = Path(estimate.__file__).with_suffix(".toml")
    kept = file.read_text(encoding="utf-8").partition('\n"')[0]
    lines = (f"{json.dumps(key)} = {json.dumps([*formulas.values()])}" for key, formulas in rows.items())
    file.write_text("\n".join([kept, *lines, ""]), encoding="utf-8")


def compared(plan: Plan, model: ScriptedModel) -> list[tuple[str, ...]]:
    """A row for each role and all: calls and tokens of the run, by the formula, and the ratio of these to those."""
    numbers: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(lambda: [0.0, 0.0]))
    seen: list[tuple[str, str, int, float]] = [(role, what, 0, n) for (_, role, what), n in model.usage.items()]
    for key, used in estimate.usage(*plan).items():
        seen += [(key[1], what, 1, used[what]) for what in ("calls", "in", "out")]
    for role, what, side, number in seen:
        numbers[role][what][side] += number
        numbers["all"][what][side] += number
    shown = "{:,.0f} / {:,.0f} / {:.2f}"
    return [(role, *(shown.format(a, b, b / max(a, 1)) for a, b in of.values())) for role, of in numbers.items()]


def _searches(plan: Plan) -> float:
    return sum(used["searches"] for used in estimate.usage(*plan).values())


def main() -> None:
    """Run, fit if asked to, and print."""
    parser = options(__doc__)
    parser.add_argument("--topic", type=Path, help="file of Wiki Live, whose pages take the place of the made-up ones")
    parser.add_argument("--write", action="store_true", help="fit the coefficients anew")
    args = parser.parse_args()
    topic, web = read_topic(args.topic) if args.topic else ("Silk Road", made_up_web())
    asked = [(own, DEFAULT) for own in SETTINGS]
    if args.write:
        asked += [(OUTLINED, DEFAULT), *((own, recipe) for recipe in RECIPES if recipe != DEFAULT for own in OTHERS)]
    runs = []
    for own, recipe in asked:
        plan = Settings.build({"lm": "scripted/model", **own}), recipe
        runs.append((plan, model := run(own, web, topic, recipe)))
        print(recipe, own, model.searches, f"{_searches(plan):.0f}", flush=True)
    if args.write:
        estimate.ROWS |= (found := fitted(runs))
        save(found)
    for (own, recipe), (plan, model) in zip(asked, runs, strict=True):
        print(f"\n{recipe} {own}; searches: {model.searches}, by the formula {_searches(plan):.0f}\n")
        head = ("role", *(f"{what}: run / formula / ratio" for what in ("calls", "tokens in", "tokens out")))
        print_table(head, compared(plan, model))


if __name__ == "__main__":
    main()
