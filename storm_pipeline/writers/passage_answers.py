"""Expert answers written from passages."""

import re
from collections.abc import Sequence
from dataclasses import replace

from storm_pipeline.languages import count_words
from storm_pipeline.references.cleaning import has_sentences
from storm_pipeline.references.passages import Passage, numbered_passages, passages, with_neighbours
from storm_pipeline.references.relevance import keep_relevant
from storm_pipeline.references.screen import Claim, Screen
from storm_pipeline.references.snippet_index import SnippetIndex
from storm_pipeline.retrieval.lexical import LexicalIndex
from storm_pipeline.retrieval.ranking import cached_terms, rank_scores
from storm_pipeline.run.context import RunContext
from storm_pipeline.text.sentences import is_complete
from storm_pipeline.types import Answer, Sentence, Snippet
from storm_pipeline.writers.draft_checks import NO_MARKERS
from storm_pipeline.writers.drafts import read_draft, without_prompt_lines
from storm_pipeline.writers.passage_prompts import language_and_style

_NOTHING = re.compile(r"^\W*the (?:sources|passages) (?:do|does) not (?:say|tell|mention)\b[^.]{0,40}\.?\W*$", re.I)
_FEW = 3  # results shown where none bears on topic or question: the best ones, so that the model may say so
_SHARE = 1 / 3  # an answer's evidence budget as a share of a section's
_SHORTEST = 4  # minimum words of a finding


def answer_from_passages(ctx: RunContext, topic: str, question: str, found: Sequence[Snippet]) -> Answer:
    """The expert's sentences, each with the passages that support it; none if no search result bears on the topic.

    Answers are research material, not article text: unsupported sentences are dropped and counted rather than sent back
    to the model. If the settings say ``unchecked``, only sentences without any citation are dropped. Raises ModelError:
    the model fails.
    """
    shown = passages_for(ctx, topic, question, found, round(ctx.settings.evidence_words * _SHARE))
    if not shown:
        return Answer()
    snippets = tuple(snippet for passage in shown for snippet in passage.snippets)
    inputs = {
        "topic": ctx.about(topic),
        "language": language_and_style(ctx)["language"],
        "question": question,
        "passages": numbered_passages(shown),
    }
    reply = without_prompt_lines(ctx.ask("expert", ctx.programs.passage_answer, **inputs).answer, inputs)
    if _NOTHING.match(reply):
        return Answer((), snippets)
    draft = read_draft(reply, len(shown), ctx.settings.article_language, (topic,))
    if draft.is_unmarked and draft.claims():
        ctx.events.degraded(f"the answer to {question!r}: {NO_MARKERS}; it keeps what the check finds sources for")
    screen = Screen(shown, known=f"{topic} {question}", embed=ctx.store.embed, language=ctx.settings.article_language)
    claims = draft.claims()
    if ctx.settings.uncited == "unchecked":
        answered = list(map(screen.as_written, claims))
    else:
        answered = [verdict.sentence for verdict in screen.judge(claims)]
    findings = [_as_cited(sentence, claim, shown) for sentence, claim in zip(answered, claims, strict=True)]
    # a finding has to stand alone, unlike the rest of a list or of a table
    whole = (one for one in findings if is_complete(one.text) and count_words(one.text) >= _SHORTEST)
    sentences = [one for one in whole if one.citations]
    ctx.events.count(invented_citations=draft.invented, dropped_unsupported=len(answered) - len(sentences))
    ctx.store.prepare([*(sentence.text for sentence in sentences), *(snippet.title for snippet in snippets)])
    return Answer(tuple(sentences), snippets)


def passages_for(
    ctx: RunContext, topic: str, question: str, found: Sequence[Snippet], words: int
) -> tuple[Passage, ...]:
    """Passages of up to ``words`` words, of the results that bear on topic or question; their snippets are kept."""
    if not found:
        return ()
    language, pages = ctx.settings.article_language, SnippetIndex()
    pages.keep(found)
    found = pages.editions().one_per_text(found)
    bearing = keep_relevant(topic, found, ctx.store.embed, question=question, language=language) or tuple(found[:_FEW])
    ctx.events.count(off_topic=len(found) - len(bearing))
    shown = passages(_that_answer(question, bearing, words), language=language)
    ctx.store.add(snippet for passage in shown for snippet in passage.snippets)
    return shown


def _as_cited(sentence: Sentence, claim: Claim, shown: Sequence[Passage]) -> Sentence:
    """A sentence with those citations alone that its own answer gave it, or else those that were found for it."""
    given = frozenset[str]().union(*(shown[position].snippet_ids for position in claim.cited))
    cited = tuple(one for one in sentence.citations if one.snippet_id in given)
    return replace(sentence, citations=cited) if given else sentence


def _that_answer(question: str, found: Sequence[Snippet], words: int) -> tuple[Snippet, ...]:
    """The snippets that fit into ``words``, those first that the search ranks high and that share the question's words.

    All other words count as length alone. Menus and lists come last, whatever words they share. The best one brings
    those of its page that it overlaps: an answer that breaks off in it goes on there. Shown in the order of the search.
    """
    asked, texts = set(cached_terms(question)), [[(one.text, 1), (one.title, 1)] for one in found]
    index = LexicalIndex(texts, floor=0.0, tokenize=lambda text: [t if t in asked else "" for t in cached_terms(text)])
    scores = rank_scores((range(len(found)), (match.position for match in index.search(question))))
    by_score = [found[i] for i in sorted(scores, key=scores.__getitem__, reverse=True)]
    ranked = sorted(by_score, key=lambda snippet: not has_sentences(snippet.text))
    page = [one for one in found if one.source_id == ranked[0].source_id]
    best: set[str] = set()
    for snippet in dict.fromkeys((*with_neighbours(ranked[:1], page), *ranked)):
        length = count_words(snippet.text)
        if length <= words or not best:
            best.add(snippet.id)
            words -= length
    return tuple(snippet for snippet in found if snippet.id in best)
