"""Rewords sentences that copy a source too closely."""

from collections.abc import Sequence

from storm_pipeline.concurrency import parallel_map
from storm_pipeline.errors import ModelError
from storm_pipeline.references.citations import parse_cited
from storm_pipeline.references.facts import Fact
from storm_pipeline.references.support import check_support, has_names, numbers
from storm_pipeline.run.context import RunContext
from storm_pipeline.run.journal import at_place
from storm_pipeline.text.sentences import is_complete
from storm_pipeline.text.words import foreign_script_share, longest_common_run, word_count
from storm_pipeline.types import Sentence
from storm_pipeline.writers.paraphrase_checks import adds_little, can_be_cut, names_the_subject, says_the_same
from storm_pipeline.writers.self_contained import points_back, stands_alone

LONGEST_RUN = 10
"""Longest run of words that a sentence may share with a source: about a clause."""
TRIES = 4
"""Rewording attempts per sentence."""


def in_own_words(
    ctx: RunContext,
    sentences: Sequence[Sentence],
    facts: Sequence[Fact],
    known: str,
    *,
    alone: bool = False,
    tries: int = TRIES,
) -> tuple[Sentence, ...]:
    """Reword each sentence that copies a fact; sentences without a valid rewording are dropped and counted.

    With ``alone``, sentences that refer back to the one before them are reworded too.
    """
    flagged = (s for s in sentences if _run(s.text, facts) > LONGEST_RUN or (alone and points_back(s.text)))
    to_reword = list(dict.fromkeys(flagged))
    new = parallel_map(lambda s: _reword(ctx, s, facts, known, tries), to_reword, workers=len(to_reword))
    reworded = dict(zip(to_reword, new, strict=True))
    done = sum(sentence is not None for sentence in reworded.values())
    ctx.events.count(reworded=done, dropped_faulty=len(to_reword) - done)
    kept = (reworded.get(s, s) for s in sentences)
    return tuple(s for s in kept if s is not None)


def _reword(ctx: RunContext, sentence: Sentence, facts: Sequence[Fact], known: str, tries: int) -> Sentence | None:
    """The reworded sentence with the same citations; None if no attempt is both original and supported."""
    cited = [fact for fact in facts if fact.citation in sentence.citations]
    sources = [fact for fact in cited if fact.text == sentence.text] or cited
    about = "; ".join(dict.fromkeys(fact.title for fact in sources))
    for tried in range(tries):
        try:
            with at_place(f"try {tried + 1}"):  # otherwise a seed would reproduce the same reply
                reply = ctx.ask("writer", ctx.programs.reword, about=about, sentence=sentence.text).reworded
        except ModelError as error:
            ctx.events.failed("rewording", error)
            return None
        candidates = [one.text for one in parse_cited(reply, ()).sentences]
        if (
            candidates
            and names_the_subject(candidates[0], sentence.text, topic=ctx.run.topic, title=about)
            and _is_better(candidates, sentence.text, facts)
            and _is_faithful(candidates[0], sentence.text, sources, known)
        ):
            new = Sentence(candidates[0], sentence.citations)
            if not check_support([new], sources, known=known, embed=ctx.store.embed).unsupported:
                return new
    return None


def _is_better(candidates: Sequence[str], sentence: str, facts: Sequence[Fact]) -> bool:
    """Whether a reply starts with a complete, self-contained sentence that copies none of the facts.

    Only the first sentence of a reply is used: later ones depend on it.
    """
    text = candidates[0]
    if len(candidates) == 1:
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


def _is_faithful(text: str, sentence: str, sources: Sequence[Fact], known: str) -> bool:
    """Whether nothing indicates that a rewording changes the meaning or the subject of the sentence.

    Names from a page's title are always allowed; its numbers only where the sentence has an unresolved reference.
    """
    titles = " ".join(fact.title for fact in sources)
    shown = " ".join([titles, known, sentence, *(fact.text for fact in sources)])
    context = f"{known} {titles}" if points_back(sentence) else known
    return (
        has_names(text, shown)
        and says_the_same(text, sentence, known=context)
        and adds_little(text, sentence, shown=shown)
    )


def _run(text: str, facts: Sequence[Fact]) -> int:
    return max((len(longest_common_run(text, fact.text)) for fact in facts), default=0)
