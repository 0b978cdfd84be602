"""Expert answers written from passages."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from storm_pipeline.evidence.citations import Claim, cited_snippet_ids
from storm_pipeline.evidence.cleaning import has_sentences
from storm_pipeline.evidence.passages import Passage, distinct, numbered_passages, passages, with_neighbours
from storm_pipeline.evidence.retrieval.ranking import EMBEDDED_A_QUERY, cached_terms
from storm_pipeline.evidence.screen import Screen
from storm_pipeline.evidence.store import SnippetIndex
from storm_pipeline.evidence.subject import keep_relevant
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.writers.draft_checks import NO_MARKERS
from storm_pipeline.method.writers.drafts import read_draft, without_prompt_lines
from storm_pipeline.text.languages import count_words
from storm_pipeline.text.lexical import LexicalIndex, rank_scores
from storm_pipeline.text.sentences import is_complete
from storm_pipeline.text.words import folded_words
from storm_pipeline.types import Sentence, Snippet, Turn

_NOTHING = "the sources do not say"  # the reply that the prompts ask for if nothing helps
_FEW = 3  # best results shown if none is related to topic or question
_SHARE = 2 / 3  # an answer's evidence budget as a share of a section's
_PASSAGES = 10  # distinct passages that an answer is shown, besides their neighbours


def answer_from_passages(
    ctx: RunContext,
    question: str,
    results: Sequence[Snippet],
    page_passages: Sequence[Snippet] = (),
    *,
    earlier: Sequence[Sentence] = (),
) -> Turn:
    """Return the expert's supported sentences and their passages; none if no search result is related to the topic.

    Answers are research material, not article text: unsupported sentences are dropped and counted, not returned to the
    model for revision. If the settings say ``unchecked``, only sentences without any citation are dropped. Raises
    ModelError: the model fails.

    Args:
        page_passages: all passages of the pages that were read, in the order of each page.
        earlier: sentences of earlier answers; the expert is asked not to repeat those that cite the passages shown.
    """
    shown = passages_for(ctx, question, results, words_for_answer(ctx), page_passages=page_passages)
    if not shown:
        return Turn(question)
    snippets = tuple(snippet for passage in shown for snippet in passage.snippets)
    inputs = {
        **ctx.brief.inputs,
        "question": question,
        "known": sentences_citing(earlier, snippets),
        "passages": numbered_passages(shown),
    }
    reply = without_prompt_lines(ctx.ask("expert", ctx.programs.passage_answer, **inputs).answer, inputs)
    sentences = keep_supported(ctx, question, reply, shown)
    ctx.store.prepare([*(sentence.text for sentence in sentences), *(snippet.title for snippet in snippets)])
    return Turn(question, (), sentences, snippets)


def sentences_citing(earlier: Iterable[Sentence], snippets: Iterable[Snippet]) -> str:
    """Return the sentences that cite any of the snippets, as ``- sentence`` lines."""
    ids = {snippet.id for snippet in snippets}
    texts = (sentence.text for sentence in earlier if not ids.isdisjoint(cited_snippet_ids([sentence])))
    return "\n".join(f"- {text}" for text in dict.fromkeys(texts))


def words_for_answer(ctx: RunContext) -> int:
    """Return the maximum words of passages that an answer is written from."""
    return round(ctx.settings.evidence_words * _SHARE)


def keep_supported(ctx: RunContext, question: str, reply: str, shown: Sequence[Passage]) -> tuple[Sentence, ...]:
    """Return an answer's sentences that the passages support, each with those passages; others are counted."""
    if " ".join(folded_words(reply)) == _NOTHING:
        return ()
    draft = read_draft(reply, len(shown), ctx.brief.language, (ctx.brief.topic,))
    if draft.is_unmarked and draft.claims():
        ctx.events.degraded(f"the answer to {question!r}: {NO_MARKERS}; it keeps what the check finds sources for")
    screen = Screen(shown, known=f"{ctx.brief.topic} {question}", embed=ctx.store.embed, language=ctx.brief.language)
    claims = draft.claims()
    if ctx.settings.uncited == "unchecked":
        answered = list(map(screen.as_written, claims))
    else:
        answered = [verdict.sentence for verdict in screen.judge(claims)]
    findings = [_with_given_citations(sentence, claim, shown) for sentence, claim in zip(answered, claims, strict=True)]
    # a finding must be self-contained, unlike items of lists and tables
    whole = (finding for finding in findings if is_complete(finding.text))
    sentences = tuple(sentence for sentence in whole if sentence.citations)
    ctx.events.count(invented_citations=draft.invented, dropped_unsupported=len(answered) - len(sentences))
    return sentences


def passages_for(
    ctx: RunContext,
    question: str,
    results: Sequence[Snippet],
    words: int,
    *,
    page_passages: Sequence[Snippet] = (),
    number: int = _PASSAGES,
) -> tuple[Passage, ...]:
    """Return up to ``number`` passages and their neighbours, up to ``words`` words, related to topic or question.

    They come from the results and ``page_passages``, the other passages of their pages, in the order of the search.
    Their snippets are added to the store.
    """
    if not results:
        return ()
    language, pages = ctx.brief.language, SnippetIndex()
    pages.keep((*results, *page_passages))
    every = {snippet.id: snippet for snippet in (*results, *_by_words(question, page_passages))}
    candidates = pages.editions().one_per_text(every.values())
    relevant = keep_relevant(ctx.brief, candidates, ctx.store.embed, question)
    relevant = relevant or candidates[:_FEW]
    ctx.events.count(off_topic=len(candidates) - len(relevant))
    ranked = _rank(ctx, question, relevant, frozenset(snippet.id for snippet in results))
    shown = passages(select_within(ranked[:number], (*candidates, *page_passages), words), language=language)
    ctx.store.add(snippet for passage in shown for snippet in passage.snippets)
    return shown


def _by_words(question: str, page_passages: Sequence[Snippet]) -> list[Snippet]:
    """Return the passages that share most of the question's words, whether or not the search returned them."""
    texts = [[(snippet.text, 1), (snippet.heading, 1), (snippet.title, 1)] for snippet in page_passages]
    index = LexicalIndex(texts, floor=0.0, tokenize=cached_terms)
    return [page_passages[match.position] for match in islice(index.search(question), EMBEDDED_A_QUERY)]


def _with_given_citations(sentence: Sentence, claim: Claim, shown: Sequence[Passage]) -> Sentence:
    """Return the sentence with the citations that its answer gave it; with all found for it if the answer gave none."""
    given = frozenset[str]().union(*(shown[position].snippet_ids for position in claim.cited))
    cited = tuple(citation for citation in sentence.citations if citation.snippet_id in given)
    return replace(sentence, citations=cited) if given else sentence


def _rank(ctx: RunContext, question: str, snippets: Sequence[Snippet], returned: frozenset[str]) -> tuple[Passage, ...]:
    """Return a passage for each text, best first, by rank in the search, embedding similarity and shared words.

    Words that are not in the question count as length only. Menus and lists come last, whatever words they share.
    ``returned``: ids of the search results; ``snippets`` has these in the order of the search.
    """
    asked = set(cached_terms(question))
    texts = [[(snippet.text, 1), (snippet.heading, 1), (snippet.title, 1)] for snippet in snippets]
    index = LexicalIndex(texts, floor=0.0, tokenize=lambda text: [t if t in asked else "" for t in cached_terms(text)])
    asked_vector, *others = ctx.store.embed([question, *(snippet.text for snippet in snippets)])
    near = np.argsort(-(np.stack(others) @ asked_vector), kind="stable").tolist()
    by_words = [match.position for match in index.search(question)]
    by_search = [i for i, snippet in enumerate(snippets) if snippet.id in returned]
    scores = rank_scores((by_search, by_words, near))
    by_score = [snippets[i] for i in sorted(scores, key=lambda i: (-scores[i], i))]
    return distinct(sorted(by_score, key=lambda snippet: not has_sentences(snippet.text)))


def select_within(ranked: Sequence[Passage], snippets: Sequence[Snippet], words: int, first: int = 1) -> list[Snippet]:
    """Return the snippets of the best passages, their neighbours that fit into ``words``, and their copies.

    Each of ``ranked`` has one text. The ``first`` ones come with their neighbours, which may continue an answer; those
    of the others fill the room that is left. The order is that of the pages in ``snippets``, and within a page its own.
    """
    pages: dict[str, dict[str, Snippet]] = {}
    for candidate in snippets:
        pages.setdefault(candidate.source_id, {})[candidate.id] = candidate

    def near(snippet: Snippet) -> tuple[Snippet, ...]:
        return with_neighbours([snippet], tuple(pages[snippet.source_id].values()))[1:]

    best = [passage.snippets[0] for passage in ranked]
    beside = [other for snippet in best for other in near(snippet)]
    chosen: dict[str, Snippet] = {}
    for candidate in (*best[:first], *(other for snippet in best[:first] for other in near(snippet)), *best, *beside):
        length = count_words(candidate.text)
        if candidate.id not in chosen and (length <= words or not chosen):
            chosen[candidate.id] = candidate
            words -= length
    copies = (s for p in ranked if p.snippets[0].id in chosen for s in (*p.snippets[1:], *p.copies))
    chosen |= {copy.id: copy for copy in copies}
    order = {page: i for i, page in enumerate(pages)}
    return sorted(chosen.values(), key=lambda snippet: (order[snippet.source_id], snippet.place or 0))
