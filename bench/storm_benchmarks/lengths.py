"""Readers of untrusted text (replies, sentences, outlines, drafts), and patterns that once took excessive time.

A test measures each reader with each pattern, repeated to a length; :mod:`.fuzz` mixes the patterns.
"""

import gc
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from dspy.utils.exceptions import AdapterParseError

from storm_bench.datasets.deepscholar import sections_of_latex
from storm_bench.datasets.storm_runs import recorded_outline
from storm_pipeline.errors import DatasetError
from storm_pipeline.method.outlines import parse_outline
from storm_pipeline.method.writers.drafts import read_draft
from storm_pipeline.models.prompt_adapter import PromptAdapter
from storm_pipeline.models.replies import strip_thinking
from storm_pipeline.output.articles.markdown import markdown_article
from storm_pipeline.output.articles.wikitext import wikitext_article
from storm_pipeline.signatures.research import AskQuestion, WriteQueries
from storm_pipeline.text.languages import split_sentences
from storm_pipeline.text.markers import without_markers
from storm_pipeline.text.sentences import is_complete
from storm_pipeline.text.words import tidy

PATTERNS = (
    *("A. B. ", "{", "[", '{"a":', "*a", "The king had it. He went ", ".", "'a b. C ", "(a. B ", '"a. B ', "你好。"),
    *("<think>", "</think>", "# ", "a\n", "< ", "_a", "[1", "[1]", "1,", "__", "\\[", "[a](", "`", "\\", "1 and "),
    *(" ", "Dr. ", "| a ", "- a\n", "lower case words go\n", "[1] \n", "**a**", "\u0301", "1.1 ", "?!", "\n", "#"),
    *("\\emph{", "\\cite", "\\cite[", "\\section{"),
)


def readers() -> dict[str, Callable[[str], object]]:
    """Return the readers of untrusted text, by name."""
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
        "LaTeX": lambda text: sections_of_latex(3 * text + "}" * len(text)),
        "heading of knowledge-storm": lambda text: recorded_outline("Topic", f"# a{3 * text}b"),
        "one line": tidy,
        "completeness": is_complete,
    }


def seconds_for(read: Callable[[str], object], pattern: str, length: int) -> float:
    """Return the processor time that a reader takes for a pattern, repeated to a length in characters.

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
