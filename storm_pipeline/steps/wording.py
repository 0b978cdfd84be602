"""Sentences that follow a source word for word are said again in other words."""

import re
from collections.abc import Sequence

from storm_pipeline.concurrency import parallel_map
from storm_pipeline.context import RunContext
from storm_pipeline.errors import ModelError
from storm_pipeline.references.citations import parse_cited
from storm_pipeline.references.facts import Fact
from storm_pipeline.references.support import check_support, has_names, numbers
from storm_pipeline.sentences import is_complete
from storm_pipeline.text import foreign_script_share, longest_common_run, word_count
from storm_pipeline.types import Sentence

LONGEST_RUN = 10
"""Words in a row that a sentence may share with a source: about a clause."""
_TRIES = 3
_POINTS_BACK = re.compile(
    r"(?:it|its|they|their|he|his|she|her|these|those|this|that|such|both|also|additionally|however|moreover|"
    r"furthermore|therefore|thus|instead|consequently|in addition|as a result)\b",
    re.I,
)
"""An opening that leans on a sentence which need not stand before it any more."""
_LEANS = re.compile(
    r"\b(?:that|this|these|those|the same) (?:century|decade|year|time|period|era|day|event)s?\b|"
    r"\bthe (?:latter|former)\b|\brespectively\b|\b(?:figure|fig\.|table|appendix) \d+[a-z]?\b",
    re.I,
)
_SPEAKS = re.compile(
    r"\b(?:[Ww]e|[Oo]urs?|[Yy]ou|[Yy]ours?|[Mm]y|[Mm]yself|[Oo]urselves|I['’](?:m|ve|d|ll))\b|"
    r"(?:^|(?<!\S)(?:[a-z,;]+|After|Although|And|As|Because|Before|But|If|Since|So|Then|Though|When|While) )I(?= [a-z])"
)
"""The first or second person: nobody knows any more who speaks. The I of a king is behind his name."""
_QUOTED = re.compile(r"[\"“][^\"“”]*[\"”]")
_SHORTEST = 6
"""Words below which a sentence taken out of its text says too little."""


def stands_alone(text: str) -> bool:
    """Whether a sentence, but for its opening, makes sense without the text that it is taken from, and its writer."""
    return not _LEANS.search(text) and not _SPEAKS.search(_QUOTED.sub("", text)) and word_count(text) >= _SHORTEST


def serves(ctx: RunContext, text: str) -> bool:
    """Whether a writer can use a text as a fact: who writes sentence by sentence has nothing else to go by."""
    return not ctx.settings.by_sentence or stands_alone(text)


def in_own_words(
    ctx: RunContext, sentences: Sequence[Sentence], facts: Sequence[Fact], known: str, *, alone: bool = False
) -> tuple[Sentence, ...]:
    """Reword each sentence that shares a longer run of words with a fact; what stays a copy is dropped and counted.

    Where the sentences stand ``alone``, those are reworded too that lean on one before them.
    """
    due = (s for s in sentences if _run(s.text, facts) > LONGEST_RUN or (alone and _POINTS_BACK.match(s.text)))
    copied = list(dict.fromkeys(due))
    new = parallel_map(lambda s: _reword(ctx, s, facts, known), copied, workers=len(copied))
    reworded = dict(zip(copied, new, strict=True))
    done = sum(sentence is not None for sentence in reworded.values())
    ctx.events.count(reworded=done, dropped_faulty=len(copied) - done)
    told = (reworded.get(s, s) for s in sentences)
    return tuple(s for s in told if s is not None)


def _reword(ctx: RunContext, sentence: Sentence, facts: Sequence[Fact], known: str) -> Sentence | None:
    """The sentence in other words with the same citations, or None where no try is both new and still supported.

    Of a reply of several sentences the first is taken, though it says less: the others lean on it.
    """
    own = [fact for fact in facts if fact.citation in sentence.citations]
    about = "; ".join(dict.fromkeys(fact.title for fact in own))
    shown = " ".join([about, sentence.text, *(fact.text for fact in own)])
    for _ in range(_TRIES):
        try:
            reply = ctx.ask("writer", ctx.programs.reword, about=about, sentence=sentence.text).reworded
        except ModelError as error:
            ctx.events.failed("rewording", error)
            return None
        told = parse_cited(reply, ()).sentences
        least = word_count(sentence.text) // 2 if len(told) == 1 else LONGEST_RUN
        needed = numbers(sentence.text) if len(told) == 1 else set()
        if (
            told
            and _is_better(told[0].text, sentence, facts, least=least, needed=needed)
            and has_names(told[0].text, f"{shown} {known}")
        ):
            checked = check_support(
                [Sentence(told[0].text, sentence.citations)], own, known=known, embed=ctx.store.embed
            )
            if not checked.unsupported:
                return Sentence(told[0].text, sentence.citations)
    return None


def _is_better(text: str, sentence: Sentence, facts: Sequence[Fact], *, least: int, needed: set[str]) -> bool:
    """Whole, standing alone, in its script, of ``least`` words, with the numbers, and no copy of anything shown."""
    return (
        is_complete(text)
        and not _POINTS_BACK.match(text)
        and foreign_script_share(text, sentence.text) == 0
        and word_count(text) >= least
        and numbers(text) >= needed
        and _run(text, facts) <= LONGEST_RUN
    )


def _run(text: str, facts: Sequence[Fact]) -> int:
    return max((longest_common_run(text, fact.text) for fact in facts), default=0)
