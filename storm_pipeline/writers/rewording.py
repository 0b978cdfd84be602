"""Sentences that follow a source word for word are said again in other words."""

from collections.abc import Sequence

from storm_pipeline.concurrency import parallel_map
from storm_pipeline.errors import ModelError
from storm_pipeline.references.citations import parse_cited
from storm_pipeline.references.facts import Fact
from storm_pipeline.references.support import check_support, has_names, numbers
from storm_pipeline.run.context import RunContext
from storm_pipeline.text.sentences import is_complete
from storm_pipeline.text.words import foreign_script_share, longest_common_run, word_count
from storm_pipeline.types import Sentence
from storm_pipeline.writers.paraphrase_checks import adds_little, can_be_cut, names_the_subject, says_the_same
from storm_pipeline.writers.self_contained import points_back, stands_alone

LONGEST_RUN = 10
"""Words in a row that a sentence may share with a source: about a clause."""
TRIES = 4
"""How often other words for a sentence are asked for."""


def in_own_words(
    ctx: RunContext,
    sentences: Sequence[Sentence],
    facts: Sequence[Fact],
    known: str,
    *,
    alone: bool = False,
    tries: int = TRIES,
) -> tuple[Sentence, ...]:
    """Reword each sentence that shares a longer run of words with a fact; what stays a copy is dropped and counted.

    Where the sentences stand ``alone``, those are reworded too that lean on one before them.
    """
    due = (s for s in sentences if _run(s.text, facts) > LONGEST_RUN or (alone and points_back(s.text)))
    copied = list(dict.fromkeys(due))
    new = parallel_map(lambda s: _reword(ctx, s, facts, known, tries), copied, workers=len(copied))
    reworded = dict(zip(copied, new, strict=True))
    done = sum(sentence is not None for sentence in reworded.values())
    ctx.events.count(reworded=done, dropped_faulty=len(copied) - done)
    told = (reworded.get(s, s) for s in sentences)
    return tuple(s for s in told if s is not None)


def _reword(ctx: RunContext, sentence: Sentence, facts: Sequence[Fact], known: str, tries: int) -> Sentence | None:
    """The sentence in other words with the same citations, or None where no try is both new and still supported."""
    cited = [fact for fact in facts if fact.citation in sentence.citations]
    own = [fact for fact in cited if fact.text == sentence.text] or cited
    about = "; ".join(dict.fromkeys(fact.title for fact in own))
    for _ in range(tries):
        try:
            reply = ctx.ask("writer", ctx.programs.reword, about=about, sentence=sentence.text).reworded
        except ModelError as error:
            ctx.events.failed("rewording", error)
            return None
        told = [one.text for one in parse_cited(reply, ()).sentences]
        if (
            told
            and names_the_subject(told[0], sentence.text, topic=ctx.run.topic, title=about)
            and _is_better(told, sentence.text, facts)
            and _is_so(told[0], sentence.text, own, known)
        ):
            new = Sentence(told[0], sentence.citations)
            if not check_support([new], own, known=known, embed=ctx.store.embed).unsupported:
                return new
    return None


def _is_better(told: Sequence[str], sentence: str, facts: Sequence[Fact]) -> bool:
    """Whether a reply opens with a whole sentence that stands alone and is no copy of anything shown.

    Of a reply of several sentences the first is taken, though it says less: the others lean on it.
    """
    text = told[0]
    if len(told) == 1:
        enough = 2 * word_count(text) >= word_count(sentence) and numbers(text) >= numbers(sentence)
    else:
        enough = word_count(text) >= LONGEST_RUN and can_be_cut(sentence)
    return (
        enough
        and is_complete(text)
        and stands_alone(text)
        and not points_back(text)
        and foreign_script_share(text, sentence) == 0
        and _run(text, facts) <= LONGEST_RUN
    )


def _is_so(text: str, sentence: str, own: Sequence[Fact], known: str) -> bool:
    """Whether no word of a sentence's other form tells that it says something else, or of somebody else.

    The names of a page's title may stand in for "it"; its numbers, for nothing but that.
    """
    titles = " ".join(fact.title for fact in own)
    shown = " ".join([titles, known, sentence, *(fact.text for fact in own)])
    meant = f"{known} {titles}" if points_back(sentence) else known
    return (
        has_names(text, shown)
        and says_the_same(text, sentence, known=meant)
        and adds_little(text, sentence, shown=shown)
    )


def _run(text: str, facts: Sequence[Fact]) -> int:
    return max((len(longest_common_run(text, fact.text)) for fact in facts), default=0)
