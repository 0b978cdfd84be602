"""Time against length of what reads untrusted text: replies, sentences, outlines, drafts.

    python -m storm_benchmarks.lengths [--longest 100000] [--seconds 2]

Each reader gets one pattern repeated to a quarter, half and all of the longest length. Prints the slowest of them as a
Markdown table, with the exponent by which time grows from half to all of it. The exit code is 1 if a text of the
longest length took more than ``--seconds``; a reader that raises anything but a refusal ends the benchmark.
"""

import gc
import math
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from dspy.utils.exceptions import AdapterParseError

from storm_benchmarks.shared import options
from storm_pipeline.documents.articles.markdown import markdown_article
from storm_pipeline.documents.articles.wikitext import wikitext_article
from storm_pipeline.errors import DatasetError
from storm_pipeline.languages import split_sentences
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.models.reply_frames import strip_thinking
from storm_pipeline.signatures.research import AskQuestion, WriteQueries
from storm_pipeline.text.markers import without_markers
from storm_pipeline.text.outlines import parse_outline
from storm_pipeline.text.sentences import is_complete
from storm_pipeline.text.words import tidy
from storm_pipeline.writers.drafts import read_draft

PATTERNS = (
    *("A. B. ", "{", "[", '{"a":', "*a", "The king had it. He went ", ".", "'a b. C ", "(a. B ", '"a. B ', "你好。"),
    *("<think>", "</think>", "# ", "a\n", "< ", "_a", "[1", "[1]", "1,", "__", "\\[", "[a](", "`", "\\", "1 and "),
    *(" ", "Dr. ", "| a ", "- a\n", "lower case words go\n", "[1] \n", "**a**", "\u0301", "1.1 ", "?!", "\n"),
)
_SHOWN = 15
_MEASURABLE = 0.02  # Seconds; the growth of shorter times says nothing


@dataclass(frozen=True)
class Timing:
    """Processor seconds that a reader took for a pattern at a quarter, half and all of the longest length."""

    reader: str
    pattern: str
    seconds: tuple[float, float, float]

    @property
    def exponent(self) -> float:
        """1.0 where time grows with length, 2.0 where it grows with its square."""
        _, half, whole = self.seconds
        return math.log2(whole / half) if half > _MEASURABLE else math.nan


def readers() -> dict[str, Callable[[str], object]]:
    """What reads untrusted text, by name."""
    adapter = PromptAdapter()
    return {
        "sentences, English": partial(split_sentences, language="en"),
        "sentences, German": partial(split_sentences, language="de"),
        "reply, text": partial(adapter.parse, AskQuestion),
        "reply, object": partial(adapter.parse, WriteQueries),
        "reply, within an object": lambda text: adapter.parse(WriteQueries, f'{{"queries": ["{text}'),
        "outline": lambda text: parse_outline(text, "Topic"),
        "draft": lambda text: read_draft(text, 3),
        "thinking": strip_thinking,
        "imported Markdown": lambda text: markdown_article("A topic", f"{text}\n## References\n1. https://example.org"),
        "imported wikitext": lambda text: wikitext_article("A topic", text),
        "markers": without_markers,
        "one line": tidy,
        "completeness": is_complete,
    }


def measure(longest: int) -> list[Timing]:
    """Every reader with every pattern."""
    split_sentences("Load the rules. Now.", "en")
    return [
        Timing(name, pattern, (took(longest // 4), took(longest // 2), took(longest)))
        for name, read in readers().items()
        for pattern in PATTERNS
        for took in [partial(seconds_for, read, pattern)]
    ]


def seconds_for(read: Callable[[str], object], pattern: str, length: int) -> float:
    """Processor time that a reader takes for a pattern, repeated to a length in characters.

    That of this thread, without collections of garbage: what else a process holds and does is not the reader's.
    """
    text = (pattern * (length // len(pattern) + 1))[:length]
    gc.disable()
    start = time.thread_time()
    try:
        with suppress(AdapterParseError, DatasetError):
            read(text)
        return time.thread_time() - start
    finally:
        gc.enable()


def main() -> None:
    """Measure, and print the slowest."""
    parser = options(__doc__)
    parser.add_argument("--longest", type=int, default=100_000, help="characters")
    parser.add_argument("--seconds", type=float, default=2.0, help="that the longest text may take")
    args = parser.parse_args()
    timings = sorted(measure(args.longest), key=lambda timing: -timing.seconds[-1])
    quarter, half = args.longest // 4, args.longest // 2
    print(f"| reader | pattern | {quarter:,} | {half:,} | {args.longest:,} | exponent |\n|---|---|---|---|---|---|")
    for timing in timings[:_SHOWN]:
        seconds = " | ".join(f"{one:.2f} s" for one in timing.seconds)
        print(f"| {timing.reader} | `{timing.pattern!r}` | {seconds} | {timing.exponent:.1f} |")
    slow = [timing for timing in timings if timing.seconds[-1] > args.seconds]
    print(f"\n{len(timings)} readers and patterns, {len(slow)} over {args.seconds:g} s")
    sys.exit(bool(slow))


if __name__ == "__main__":
    main()
