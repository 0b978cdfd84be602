"""Reads whole pages that the model chooses among the results of the interviews.

Not in the paper; a part of the recipe ``storm-iterative``. A search returns only the passages that match its query, so
the other content of a page on the topic would be lost.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate

from storm_pipeline.errors import ModelError
from storm_pipeline.evidence.passages import Passage, numbered_passages, passages
from storm_pipeline.method.context import RunContext, piece_of
from storm_pipeline.method.steps.searching import without_excluded_pages
from storm_pipeline.method.writers.drafts import without_prompt_lines
from storm_pipeline.method.writers.passage_answers import keep_supported, passages_for, sentences_citing
from storm_pipeline.run.concurrency import parallel_map
from storm_pipeline.run.journal import call_scope
from storm_pipeline.text.identity import host_of
from storm_pipeline.text.languages import count_words, detect, opening_of
from storm_pipeline.text.words import tidy
from storm_pipeline.types import READING, Conversation, Conversations, Perspective, Sentence, Snippet, Source, Turn

_PAGES = 8  # maximum pages read in a run
_OPENING = 30  # words of a passage that represent a page
_RANKED = 200  # passages by which pages are ranked
_TOKENS_A_WORD = 4 / 3

PAGE_READER = Perspective("Page reader", READING)


def read_pages(ctx: RunContext, conversations: Conversations) -> Conversations:
    """Read pages chosen by a model in full; return the conversations and another one with the pages' content.

    At most eight pages are read, each up to ``evidence_words``, and all together up to ``reading_tokens``. If a page is
    longer, its passages nearest to the topic are read. A page that cannot be read, and a choice that fails, are
    recorded.
    """
    if not (most := ctx.settings.reading_tokens):
        return conversations
    with call_scope("reading"), ctx.events.in_stage("reading", total=_PAGES):
        seen = {snippet.id for held in conversations for turn in held.turns for snippet in turn.snippets}
        pages = list(_page_lines(ctx, seen))
        lines = "\n".join(f"{number}. {line}" for number, (_, line) in enumerate(pages, 1))
        try:
            chosen = ctx.ask("reader", ctx.programs.choose_pages, topic=ctx.brief.topic_with_note, pages=lines).chosen
        except ModelError as error:
            ctx.events.degraded(f"no page was read from end to end: {error}")
            return conversations
        wanted = [pages[number - 1][0] for number in dict.fromkeys(chosen) if 0 < number <= len(pages)][:_PAGES]
        shown = [_choose_passages(ctx, page) for page in wanted]
        spent = accumulate(sum(passage.words for passage in page) * _TOKENS_A_WORD for page in shown)
        room = [page for page, tokens in zip(shown, spent, strict=True) if page and tokens <= most]
        known = [sentence for held in conversations for turn in held.turns for sentence in turn.answer]
        turns = parallel_map(lambda page: _read(ctx, page, known), room, workers=max(1, len(room)))
        read = tuple(turn for turn in turns if turn is not None)
        if not read:
            return conversations
        notes = Conversation(PAGE_READER, read)
        ctx.run.save_json(piece_of(PAGE_READER), notes)
        return without_excluded_pages(ctx, (*conversations, notes))


def read_whole(conversations: Conversations) -> frozenset[str]:
    """Return the ids of the snippets that the page reader was shown."""
    turns = (turn for held in conversations if held.perspective == PAGE_READER for turn in held.turns)
    return frozenset(snippet.id for turn in turns for snippet in turn.snippets)


def best_passages_by_page(ctx: RunContext) -> dict[str, Snippet]:
    """Search the store for the topic; return each page's id → its best passage, the best page first."""
    (near,) = ctx.store.search([ctx.brief.topic], _RANKED)
    best: dict[str, Snippet] = {}
    for snippet in near:
        best.setdefault(snippet.source_id, snippet)
    return best


def first_passage(page: Source) -> Snippet:
    """Return the first passage of a page."""
    return min(page.snippets, key=lambda snippet: snippet.place or 0)


def beginning(snippet: Snippet) -> str:
    """Return the first words of a passage, on one line."""
    return tidy(opening_of(snippet.text, _OPENING, detect(snippet.text) or "en"))


def _page_lines(ctx: RunContext, seen: Collection[str]) -> Iterator[tuple[Source, str]]:
    """Yield the pages found with their lines in a prompt, the nearest to the topic first, as many as fit."""
    best = best_passages_by_page(ctx)
    place = {page: number for number, page in enumerate(best)}
    room = ctx.settings.interview_words
    for kept in sorted(ctx.store.editions().sources(), key=lambda source: place.get(source.id, len(place))):
        page = ctx.store.source(kept.id)
        line = _describe(page, best.get(page.id) or first_passage(page), seen)
        room -= count_words(line)
        if room < 0:
            return
        yield page, line


def _describe(page: Source, shown: Snippet, seen: Collection[str]) -> str:
    """Return title, site, date, length, share already shown to answers, and the beginning of a passage."""
    words = {snippet.id: count_words(snippet.text) for snippet in page.snippets}
    whole, known = sum(words.values()), sum(number for name, number in words.items() if name in seen)
    length = f"{whole:.0f} words, {known / max(whole, 1):.0%} read"
    about = ", ".join(filter(None, (shown.site or host_of(page.url), shown.published, length)))
    return f"{tidy(page.title) or page.url} ({about}): {beginning(shown)}"


def _choose_passages(ctx: RunContext, page: Source) -> tuple[Passage, ...]:
    """Return the passages of a page in its order; if it is too long, those nearest to the topic."""
    snippets: Sequence[Snippet] = sorted(page.snippets, key=lambda snippet: snippet.place or 0)
    most = ctx.settings.evidence_words
    if sum(count_words(snippet.text) for snippet in snippets) > most:
        return passages_for(ctx, ctx.brief.topic, snippets[:1], most, page_passages=snippets, number=len(snippets))
    ctx.store.add(snippets)
    return passages(snippets, language=ctx.brief.language)


def _read(ctx: RunContext, shown: Sequence[Passage], earlier: Sequence[Sentence]) -> Turn | None:
    """Write a page's notes as a turn; None if nothing is new or supported, or the model fails (recorded)."""
    snippets = tuple(snippet for passage in shown for snippet in passage.snippets)
    title = shown[0].title or snippets[0].url
    inputs = {**ctx.brief.inputs, "known": sentences_citing(earlier, snippets), "passages": numbered_passages(shown)}
    try:
        with call_scope(snippets[0].url):
            reply = ctx.ask("reader", ctx.programs.page_notes, **inputs).notes
    except ModelError as error:
        ctx.events.failed(f"reading {title!r}", error)
        return None
    finally:
        ctx.events.advance(title)
    answer = keep_supported(ctx, title, without_prompt_lines(reply, inputs), shown)
    return Turn(f"What does “{title}” tell?", (), answer, snippets) if answer else None
