"""The formula of an estimate: calls and tokens of each program and stage are sums of terms of the settings.

``formula.toml`` has the coefficients, fitted to whole runs by ``python -m storm_benchmarks.estimate_fit``. The constant
part of a program's prompts, instructions and examples, is counted exactly.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from storm_pipeline.evidence.evidence import words_asked
from storm_pipeline.models.programs import Program, Programs
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.settings import Role, Settings
from storm_pipeline.sources.search.registry import is_collection
from storm_pipeline.text.files import table_beside

CHARACTERS_PER_TOKEN = 4.3
"""In this package's English prompts: 4.1 to 4.9 by program with GPT-4's tokenizer, 3.9 to 4.5 with Claude's."""
_PIECE = re.compile(r"\d+|[^\w\s]+")
_MESSAGE_OVERHEAD = 4  # tokens that a chat template adds to each message
FOREIGN = 2  # maximum ratio of tokens of a text in another language to English


def count_tokens(messages: Sequence[str]) -> float:
    """Return the tokens of a prompt with these messages."""
    return sum(map(_tokens_of, messages)) + _MESSAGE_OVERHEAD * len(messages)


def _tokens_of(text: str) -> float:
    """Estimate the tokens of a text by its length; in lists of numbers, each number and sign counts as one."""
    pieces = _PIECE.findall(text)
    letters = len("".join(text.split())) - sum(map(len, pieces))
    return max(len(text), letters + CHARACTERS_PER_TOKEN * len(pieces)) / CHARACTERS_PER_TOKEN


TABLE = table_beside(__file__)
ROWS = {key: dict(zip(("calls", "in", "out"), terms, strict=True)) for key, terms in TABLE["rows"].items()}
"""Stage, role and program → the terms of its calls, tokens in and tokens out."""
ASKED = {recipe: frozenset(programs.split()) for recipe, programs in TABLE["asked"].items()}
"""Recipe → the programs that it asks; compiling others does not change its articles."""
_WORDS = TABLE["words"]
CALLS, TOKENS = tuple(TABLE["range"]["calls"]), tuple(TABLE["range"]["tokens"])
"""Low, likely and high numbers as multiples of the likely one."""
REASONING = tuple(TABLE["range"]["reasoning"])
"""Assumed reasoning tokens per call (low, likely, high) of a model that reasons by default."""
_OUTLINING = frozenset(("related topics", "perspectives", "conversations", "draft outline", "outline"))
"""Stages until the outline."""
_OUTLINERS = ("draft", "refine", "plan")  # programs that make outlines
_UNCHECKED = frozenset(("memory",))  # programs of texts that are not judged
_ANSWERS = frozenset(("answer", "plain_answer"))
_CHUNKS = frozenset(("rr", "rprr"))  # recipes that read single passages
_WHOLE = _ANSWERS | {"article"}  # programs of texts without sections


@dataclass(frozen=True)
class RowUsage:
    """Calls and tokens of a program in a stage, without reasoning."""

    stage: str
    role: Role
    program: str
    calls: float
    tokens_in: float
    tokens_out: float


@dataclass(frozen=True)
class Plan:
    """The inputs of an estimate."""

    settings: Settings
    recipe: str  # name of a built-in method
    outline_only: bool = False  # whether it ends with the outline
    given: int = 0  # number of sections in the user's outline; 0 without one

    @property
    def asked(self) -> frozenset[str]:
        """The programs that the run asks."""
        as_outlined = "orag" if self.outline_only and self.recipe == "rag" else self.recipe
        programs = ASKED[as_outlined] - frozenset(_OUTLINERS if self.given else ())
        if programs & _UNCHECKED:
            return programs
        return programs | {"remarks"} | ({"check"} if self.settings.judge_of_run == "model" else frozenset())

    @property
    def sections(self) -> int:
        """The expected number of sections."""
        wanted = round(self.settings.article_words / _WORDS["section"])
        return self.given or min(self.settings.max_sections, max(_WORDS["sections"], wanted))

    @property
    def result_words(self) -> float:
        """Expected words per search result, of its page if pages are read."""
        reads = self.settings.read_pages
        is_read = reads == "always" or (reads == "auto" and not is_collection(self.settings.search.partition(":")[0]))
        return float(_WORDS["page" if is_read else "snippet"])

    def sizes(self) -> dict[str, float]:
        """Return name → number (of calls, sections or words) for the terms of the formula."""
        settings, asked, sections = self.settings, self.asked, self.sections
        interviews = (settings.perspectives + 1) * bool(asked & {"question", "plain_question", "questions"})
        reads = "page_notes" in asked and settings.reading_tokens > 0
        turns, is_answer = interviews * settings.turns, bool(asked & _ANSWERS)
        findings = turns * _WORDS["findings"] + reads * _WORDS["pages"] * _WORDS["noted"]
        passage = min(self.result_words, _WORDS["passage"])
        searched = settings.top_k * (passage if self.recipe in _CHUNKS else self.result_words)
        answer = settings.evidence_words * (1 if is_answer else _WORDS["answer_share"])
        shown = min(answer, _WORDS["passages"] * passage, settings.queries * settings.top_k * self.result_words)
        section = findings / sections * passage * _WORDS["cited"] if turns else min(settings.evidence_words, searched)
        material = shown if is_answer else sections * section if "section" in asked or turns else searched
        target = settings.answer_words if is_answer else settings.article_words
        words = words_asked(target, math.inf if asked & _UNCHECKED else material)
        return {
            "once": 1,
            "topic": "points" in asked or not (turns or is_answer),
            "contents": bool(settings.related_topics),
            "related": min(settings.related_topics, _WORDS["related"]),
            "group": bool(settings.perspectives),
            "perspectives": settings.perspectives,
            "interviews": interviews,
            "turns": turns,
            "earlier": (settings.turns - 1) / 2,
            "others": settings.perspectives * ("points" in asked),
            "queries": settings.queries,
            "shown": shown,
            "told": min(turns * _WORDS["answer"] if turns else searched, settings.interview_words),
            "talk": turns * _WORDS["answer"],
            "found": 0 if turns else searched,
            "findings": findings,
            "batches": math.ceil(findings / _WORDS["batch"]),
            "read": reads,
            "pages": reads * _WORDS["pages"],
            "reading": reads * settings.reading_tokens,
            "headings": sections,
            "points": sections * ("points" in asked),
            "sections": sections * ("section" in asked),
            "section": section,
            "words": words,
            "opening": min(_WORDS["opening"], words / _WORDS["opening_share"]),
            "whole": bool(asked & _WHOLE),
            "question": is_answer,
            "searched": "plan" in asked,
            "edited": settings.editing == "on" and "edit" in asked,
            "lead": "lead" in asked,
            "judged": "check" in asked,
        }


def usage(plan: Plan, programs: Programs) -> Iterator[RowUsage]:
    """Yield the estimated usage of a run, one row per program and stage."""
    sizes, known = plan.sizes(), programs.for_settings(plan.settings).named()
    longest = plan.settings.reply_tokens or math.inf
    for key, row in ROWS.items():
        stage, role, program = key.split(", ")
        calls = total(row["calls"], sizes)
        if program not in plan.asked or calls <= 0 or (plan.outline_only and stage not in _OUTLINING):
            continue
        number, begins = len(known[program].predictors()), calls * overhead(known[program])
        made, sent, completion = (total(row[what], sizes) * share_of(what, number) for what in ("calls", "in", "out"))
        yield RowUsage(stage, cast("Role", role), program, made, begins + sent, min(completion, made * longest))


def recipes_that_ask(program: str) -> list[str]:
    """Return the recipes that ask a program; all for the judge and the answers to its remarks."""
    if program in {"check", "remarks"}:
        return [f"all with sources{', unless --judge off' if program == 'check' else ''}"]
    return [recipe for recipe, asked in ASKED.items() if program in asked]


def share_of(what: str, predictors: int) -> float:
    """Return the factor for several predictors of a program; an outline is shorter than its text."""
    return 1 + _WORDS["planned"] * (predictors - 1) if what == "out" else predictors


def searches(plan: Plan) -> float:
    """Return the number of queries that a run sends to its engine."""
    return 0.0 if plan.asked & _UNCHECKED else total(TABLE["searches"], plan.sizes())


def overhead(program: Program) -> float:
    """Return the tokens of a call's prompts without inputs: instructions, reply format, examples."""
    adapter = PromptAdapter()
    prompts = (
        adapter.format(predictor.signature, program.shown if predictor is program.predict else predictor.demos, {})
        for predictor in program.predictors()
    )
    return sum(count_tokens([str(message["content"]) for message in prompt]) for prompt in prompts)


def total(terms: Mapping[str, float], sizes: Mapping[str, float]) -> float:
    """Return the sum of terms such as ``turns*earlier``: each coefficient times the named sizes."""
    return sum(factor * math.prod(sizes[name] for name in names.split("*")) for names, factor in terms.items())
