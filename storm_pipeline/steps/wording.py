"""Sentences that follow a source word for word are said again in other words."""

from collections.abc import Sequence

from storm_pipeline.concurrency import parallel_map
from storm_pipeline.context import RunContext
from storm_pipeline.errors import ModelAuthError, ModelError
from storm_pipeline.references.citations import parse_cited
from storm_pipeline.references.facts import Fact
from storm_pipeline.references.support import check_support
from storm_pipeline.text import is_complete, longest_common_run
from storm_pipeline.types import Sentence

LONGEST_RUN = 9
"""Words in a row that a sentence may share with a source: about a clause."""


def in_own_words(
    ctx: RunContext, sentences: Sequence[Sentence], facts: Sequence[Fact], known: str
) -> tuple[Sentence, ...]:
    """Reword each sentence that shares a longer run of words with a fact; what stays a copy is dropped and counted."""
    copied = [s for s in sentences if _run(s.text, facts) > LONGEST_RUN]
    reworded = dict(
        zip(copied, parallel_map(lambda s: _reword(ctx, s, facts, known), copied, workers=len(copied)), strict=True)
    )
    done = sum(new is not None for new in reworded.values())
    ctx.events.count(reworded=done, dropped_faulty=len(copied) - done)
    new = (reworded.get(s, s) for s in sentences)
    return tuple(s for s in new if s is not None)


def _reword(ctx: RunContext, sentence: Sentence, facts: Sequence[Fact], known: str) -> Sentence | None:
    """The sentence in other words with the same citations, or None where no try is both new and still supported."""
    own = [fact for fact in facts if fact.citation in sentence.citations]
    about = "; ".join(dict.fromkeys(fact.title for fact in own))
    for _ in range(2):
        try:
            reply = ctx.ask("writer", ctx.programs.reword, about=about, sentence=sentence.text).reworded
        except ModelAuthError:
            raise
        except ModelError as error:
            ctx.events.failed(f"rewording: {error}")
            return None
        candidates = parse_cited(reply, ()).sentences
        texts = [c.text for c in candidates if is_complete(c.text)]
        if len(texts) != 1 or _run(texts[0], facts) > LONGEST_RUN:
            continue
        checked = check_support([Sentence(texts[0], sentence.citations)], own, known=known, embed=ctx.store.embed)
        if not checked.unsupported:
            return Sentence(texts[0], sentence.citations)
    return None


def _run(text: str, facts: Sequence[Fact]) -> int:
    return max((longest_common_run(text, fact.text) for fact in facts), default=0)
