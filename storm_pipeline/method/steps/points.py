"""Points: questions that readers expect answered and the interviews leave open are looked up before the writing.

Not in the paper; a part of the recipe ``storm-iterative``.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest

import dspy

from storm_pipeline.errors import ModelError
from storm_pipeline.evidence.citations import cited_snippet_ids
from storm_pipeline.evidence.cleaning import has_sentences
from storm_pipeline.evidence.evidence import NO_NOTES, FindingNotes, words_asked
from storm_pipeline.evidence.passages import Passage, distinct, numbered_passages, passages
from storm_pipeline.evidence.subject import keep_relevant
from storm_pipeline.method.context import RunContext, piece_of
from storm_pipeline.method.outlines import outline_from_headings
from storm_pipeline.method.steps.outline import keep_outline
from storm_pipeline.method.steps.reading import beginning, best_passages_by_page, first_passage, read_whole
from storm_pipeline.method.steps.searching import distinct_queries, search_all, usable, without_excluded_pages
from storm_pipeline.method.writers.drafts import without_prompt_lines
from storm_pipeline.method.writers.findings import (
    accept_left_out,
    distinct_findings,
    map_to_first,
    numbered_sections,
    with_sources,
)
from storm_pipeline.method.writers.passage_answers import keep_supported, select_within, words_for_answer
from storm_pipeline.run.concurrency import parallel_map
from storm_pipeline.run.journal import call_scope
from storm_pipeline.signatures.shapes import PointAnswer, SectionPoints
from storm_pipeline.text.languages import count_words
from storm_pipeline.text.words import tidy
from storm_pipeline.types import (
    LATER_ROUND,
    Conversation,
    Conversations,
    Heading,
    Outline,
    Perspective,
    Sentence,
    Snippet,
    Source,
    Turn,
)

_MAX_POINTS = 6  # maximum points of a section
_LEAST_CHOSEN = 0.5  # share of the article's room below which a model's choice of findings is not believed

READER = Perspective("Reader", LATER_ROUND)
Researched = tuple[Outline, Conversations, FindingNotes]
_PASSAGES = 6  # snippets for a question, without their neighbours
_SEARCHED = 12  # maximum points of a run that are searched for on the web
SnippetsByQuestion = Mapping[str, Sequence[Snippet]]
"""A question → the snippets that may answer it, best first."""
Sections = Sequence[tuple[str, Sequence[str]]]
"""Titles of sections with their open questions, most important first."""


@dataclass(frozen=True)
class PlannedSection:
    """A section with its open questions and its findings."""

    heading: Heading
    points: tuple[str, ...] = ()
    findings: tuple[int, ...] = ()  # their numbers from 1, in the order of the text
    share: float = 0  # percent of the article's words
    is_thin: bool = False


def look_up_points(ctx: RunContext, outline: Outline, conversations: Conversations) -> Researched:
    """Ask which points findings and outline lack, look them up, and note the findings' quality and sections.

    The answers form one more conversation, and belong to the sections of their questions. Missing headings are added,
    and a section that the model calls too thin and for which nothing is found becomes a subheading of its neighbour,
    unless the user gave the outline. If the model fails, which is recorded, everything stays as it is.
    """
    with call_scope("points"), ctx.events.in_stage("points"):
        findings = distinct_findings(ctx, conversations)
        try:
            vain = [turn.question for conversation in conversations for turn in conversation.turns if not turn.answer]
            room = _room(ctx, findings)
            reply = _ask(ctx, outline, findings, vain, room)
        except ModelError as error:
            ctx.events.degraded(f"nobody looked for what the findings lack: {error}")
            return outline, conversations, NO_NOTES
        planned = _plan_sections(ctx, outline, reply.sections)
        notes = _read_notes(ctx, findings, reply, planned, room)
        ctx.run.save_json("points.json", {"sections": planned, "notes": notes})
    with call_scope("points"), ctx.events.in_stage("look-ups"):
        wanted = [(section.heading.title, section.points) for section in planned]
        turns = answer_all_points(ctx, wanted, read_whole(conversations))
        answered = tuple(turn for turn in turns.values() if turn.answer)
        if answered:
            conversations = (*conversations, Conversation(READER, answered))
            ctx.run.save_json(piece_of(READER), conversations[-1])
            notes = _with_answers(notes, planned, turns)
        conversations = without_excluded_pages(ctx, conversations)
        if not ctx.user_pieces.outline:
            answered_questions = {turn.question for turn in answered}
            outline = keep_outline(ctx, Outline(ctx.brief.topic, _without_thin(planned, answered_questions)))
    return outline, conversations, notes


def _ask(
    ctx: RunContext, outline: Outline, findings: Sequence[Sentence], vain: Sequence[str], room: int
) -> dspy.Prediction:
    pages = dict(_pages(ctx, findings))
    numbers = {page: number for number, page in enumerate(pages, 1)}
    return ctx.ask(
        "outliner",
        ctx.programs.points,
        **ctx.brief.inputs,
        outline=numbered_sections(outline),
        findings=with_sources(ctx, findings, range(1, len(findings) + 1), numbers),
        room=room,
        unanswered="\n".join(f"- {question}" for question in vain),
        pages="\n".join(f"{numbers[page]}. {line}" for page, line in pages.items()),
    )


def _room(ctx: RunContext, findings: Sequence[Sentence]) -> int:
    """Return how many findings of this length have as many words as the article is asked to have."""
    words = sum(count_words(finding.text) for finding in findings)
    return round(words_asked(ctx.brief.length) * len(findings) / words) if words else 0


def _pages(ctx: RunContext, findings: Sequence[Sentence]) -> Iterator[tuple[str, str]]:
    """Yield id and ``Title (date): beginning`` of the texts found: uncited ones first, then by fit to the topic."""
    cited = cited_snippet_ids(findings)
    rank = {page: place for place, page in enumerate(best_passages_by_page(ctx))}

    def place(page: Source) -> tuple[bool, int]:
        is_cited = not cited.isdisjoint(snippet.id for snippet in page.snippets)
        return is_cited, min(rank.get(snippet.source_id, len(rank)) for snippet in page.snippets)

    room = ctx.settings.interview_words
    for page in sorted(ctx.store.editions().sources(), key=place):
        first = first_passage(ctx.store.source(page.id))
        about = f"{tidy(page.title) or page.url}{f' ({first.published})' if first.published else ''}"
        line = f"{about}: {beginning(first)}"
        room -= len(line.split())
        if room < 0:
            return
        yield page.id, line


def _read_notes(
    ctx: RunContext, findings: Sequence[Sentence], reply: dspy.Prediction, planned: Sequence[PlannedSection], room: int
) -> FindingNotes:
    """Return a reply's notes on the findings; unknown numbers are ignored, and of several places the first counts.

    If there are more findings than the article has ``room`` for, those without a place are left out, unless the model
    places fewer than half of what there is room for.
    """

    def texts(numbers: Iterable[int]) -> tuple[str, ...]:
        return tuple(findings[number - 1].text for number in dict.fromkeys(numbers) if 0 < number <= len(findings))

    pairs = [texts(numbers) for numbers in reply.contradicting]
    placed = {text: section.heading.title for section in reversed(planned) for text in texts(section.findings)}
    # one that is not merged is placed with the first of its group, and so is one that contradicts another
    for group in (*map(texts, reply.same), *pairs):
        home = next((placed[text] for text in group if text in placed), None)
        placed |= {text: home for text in group if home and text not in placed}
    off = accept_left_out(texts([*reply.off_topic, *reply.about_sources]), findings)
    unplaced = () if len(findings) <= room else [f.text for f in findings if f.text not in placed]
    notes = FindingNotes(
        contradicting=tuple((pair[0], other) for pair in pairs for other in pair[1:])[: len(findings)],
        doubtful=texts(reply.doubtful),
        left_out=(*off, *(unplaced if len(placed) >= _LEAST_CHOSEN * room else ())),
        sections=placed,
        order=texts(number for section in planned for number in section.findings),
        shares={section.heading.title: round(section.share, 2) for section in planned},
    )
    return notes.after_merge(map_to_first(ctx, findings, reply.same))


def _with_answers(notes: FindingNotes, planned: Sequence[PlannedSection], turns: Mapping[str, Turn]) -> FindingNotes:
    """Add the answers to a section's questions to that section in the notes, if the notes place any finding."""
    if not notes.sections:
        return notes
    answers = ((section.heading.title, turns[question].answer) for section in planned for question in section.points)
    placed = {sentence.text: title for title, answer in answers for sentence in answer}
    order = dict.fromkeys((*notes.order, *placed))
    return replace(notes, sections=placed | dict(notes.sections), order=tuple(order))


def _plan_sections(ctx: RunContext, outline: Outline, reply: Sequence[SectionPoints]) -> list[PlannedSection]:
    """Return the sections of outline and reply with their points; no question occurs twice."""
    keeps_outline = ctx.user_pieces.outline is not None
    room = 0 if keeps_outline else max(0, ctx.settings.max_sections - len(outline.sections))
    known = {title.casefold() for title in outline.titles()}
    asked: dict[str, None] = {}
    planned = []

    def plan(heading: Heading, replies: Sequence[SectionPoints]) -> None:
        points = (tidy(question) for section in replies for question in section.points)
        new = [point for point in dict.fromkeys(points) if point and point not in asked][:_MAX_POINTS]
        asked.update(dict.fromkeys(new))
        known.update(title.casefold() for title in heading.titles())
        findings = tuple(number for section in replies for number in section.findings)
        is_thin, share = any(section.is_thin for section in replies), sum(section.share for section in replies)
        planned.append(PlannedSection(heading, tuple(new), findings, share, is_thin))

    for number, heading in enumerate((Heading(""), *outline.sections)):
        if number:
            replies = [section for section in reply if section.section == number]
            below = [] if keeps_outline else [title for section in replies for title in section.subheadings]
            plan(_with_subheadings(ctx, heading, below, known), replies)
        missing = [new for new in reply if new.section == 0 and min(max(new.after, 0), len(outline.sections)) == number]
        for new in missing:
            made = _with_subheadings(ctx, Heading(new.heading), new.subheadings, known)
            if room and made.title and made.title.casefold() not in known:
                room -= 1
                plan(made, [new])
    return planned


def _with_subheadings(ctx: RunContext, heading: Heading, below: Sequence[str], known: set[str]) -> Heading:
    """Add cleaned subheadings to a heading; its title becomes empty if it cannot be a heading."""
    pairs = [(1, heading.title), *((2, title) for title in below)]
    made = outline_from_headings(pairs, ctx.brief.topic, max_depth=ctx.settings.outline_depth).sections
    if not made:
        return replace(heading, title=heading.title if heading.title.casefold() in known else "")
    new = (child for child in made[0].children if child.title.casefold() not in known)
    title = heading.title if heading.title.casefold() in known else made[0].title
    return Heading(title, (*heading.children, *new))


def _without_thin(planned: Sequence[PlannedSection], answered: set[str]) -> tuple[Heading, ...]:
    """Return the headings; a thin section none of whose points is answered becomes a subheading of the one before."""
    kept: list[Heading] = []
    for section in planned:
        if kept and section.is_thin and answered.isdisjoint(section.points):
            kept[-1] = replace(kept[-1], children=(*kept[-1].children, Heading(section.heading.title)))
        else:
            kept.append(section.heading)
    return tuple(kept)


def answer_all_points(ctx: RunContext, wanted: Sections, read: Collection[str] = frozenset()) -> dict[str, Turn]:
    """Return each question with its answer, in order; questions that stay open have an empty one.

    One call answers all of a section's questions from the run's passages. Questions that stay open, as a whole before
    those in part, are searched for with the model's queries, at most twelve questions, the first of each section first,
    and answered in another call. A failing call is recorded and leaves its questions open.

    ``read``: ids of the snippets that were read completely and cannot answer open questions.
    """
    questions = [question for _, section in wanted for question in section]
    # Searched before the answers add to the store, so that results do not depend on their order.
    ranked = ([s for s in ranking if s.id not in read] for ranking in ctx.store.search(questions, 2 * _PASSAGES))
    candidates = {question: ranking[:_PASSAGES] for question, ranking in zip(questions, ranked, strict=True)}
    turns = _answer_sections(ctx, wanted, candidates)
    ranks = zip_longest(*(section for _, section in wanted))
    still_open = [q for rank in ranks for q in rank if q and (turns[q].queries or not turns[q].answer)]
    searched = sorted(still_open, key=lambda question: bool(turns[question].answer))[:_SEARCHED]
    queries = {question: distinct_queries(ctx, turns[question].queries) or (question,) for question in searched}
    further = _search_web(ctx, queries, wanted, turns)
    again = [("", [question for question in searched if further[question]])]
    second = _answer_sections(ctx, again, further)
    joined = turns | {question: _join_turns(turns[question], turn) for question, turn in second.items()}
    return {question: replace(turn, queries=queries.get(question, ())) for question, turn in joined.items()}


def _join_turns(first: Turn, other: Turn) -> Turn:
    """Return one turn with what two turns of one question say."""
    answer = tuple(dict.fromkeys((*first.answer, *other.answer)))
    return replace(first, answer=answer, snippets=tuple(dict.fromkeys((*first.snippets, *other.snippets))))


def _answer_sections(ctx: RunContext, wanted: Sections, candidates: SnippetsByQuestion) -> dict[str, Turn]:
    asked = [(title, section) for title, section in wanted if section]

    def answer(section: tuple[str, Sequence[str]]) -> list[Turn]:
        title, questions = section
        try:
            with call_scope(title or "again"):
                return answer_points(ctx, title, questions, candidates)
        except ModelError as error:
            ctx.events.failed(f"points of section {title!r}" if title else "points that were searched for", error)
            return [Turn(question) for question in questions]
        finally:
            ctx.events.advance(title or "again")

    held = parallel_map(answer, asked, workers=len(asked))
    return {turn.question: turn for turns in held for turn in turns}


def _search_web(
    ctx: RunContext, queries: Mapping[str, Sequence[str]], wanted: Sections, turns: dict[str, Turn]
) -> dict[str, tuple[Snippet, ...]]:
    """Return for each question new web results alternating with passages not shown for its section."""
    questions = list(queries)
    results = parallel_map(
        lambda texts: usable(ctx, search_all(ctx, texts)), list(queries.values()), workers=len(queries)
    )
    shown_for = ((section, [s for question in section for s in turns[question].snippets]) for _, section in wanted)
    before = {question: snippets for section, snippets in shown_for for question in section}
    editions = ctx.store.editions()
    further = {}
    held = (ctx.store.search_fused(texts, _PASSAGES) for texts in queries.values())
    for question, new, old in zip(questions, results, held, strict=True):
        shown = dict.fromkeys(before[question])
        ranked = dict.fromkeys(snippet for rank in zip_longest(new, old) for snippet in rank if snippet is not None)
        distinct = editions.one_per_text((*shown, *ranked))
        further[question] = tuple(islice((snippet for snippet in distinct if snippet not in shown), _PASSAGES))
    return further


def answer_points(
    ctx: RunContext, section: str, questions: Sequence[str], candidates: SnippetsByQuestion
) -> list[Turn]:
    """Return a turn for each question, with queries for a web search where the passages leave something open.

    ``section``: title of the section that the questions belong to; empty for several.

    Raises ModelError: the model fails.
    """
    shown = _choose_passages(ctx, questions, candidates)
    if not shown:
        return [Turn(question) for question in questions]
    inputs: dict[str, object] = {
        **ctx.brief.inputs,
        "section": section,
        "passages": numbered_passages(shown),
        "questions": "\n".join(f"{number}. {question}" for number, question in enumerate(questions, 1)),
    }
    reply = ctx.ask("expert", ctx.programs.point_answers, **inputs).answers
    replies = {answer.point: answer for answer in reversed(reply)}
    snippets = [snippet for passage in shown for snippet in passage.snippets]
    turns = []
    for number, question in enumerate(questions, 1):
        own_reply = replies.get(number, PointAnswer(point=number))
        text = without_prompt_lines(own_reply.answer, inputs)
        answer = keep_supported(ctx, question, text, shown) if text.strip() else ()
        ids = {*(s.id for s in candidates[question]), *(c.snippet_id for s in answer for c in s.citations)}
        shown_for_it = tuple(snippet for snippet in snippets if snippet.id in ids)
        turns.append(Turn(question, tuple(own_reply.queries), answer, shown_for_it))
    return turns


def _choose_passages(ctx: RunContext, questions: Sequence[str], candidates: SnippetsByQuestion) -> tuple[Passage, ...]:
    """Return the best passages for each question in turn, with their neighbours, as many as an answer may be shown.

    The best one for each question comes with its neighbours; those of the others fill the room that is left. Pages
    related neither to the topic nor to a question are left out; menus and lists come last.
    """
    ranks = zip_longest(*(candidates[question] for question in questions))
    hits = tuple(dict.fromkeys(snippet for rank in ranks for snippet in rank if snippet is not None))
    if not hits:
        return ()
    relevant = keep_relevant(ctx.brief, hits, ctx.store.embed, *questions) or hits
    ctx.events.count(off_topic=len(hits) - len(relevant))
    ranked = distinct(sorted(relevant, key=lambda snippet: not has_sentences(snippet.text)))
    every = (*hits, *(beside for hit in hits for beside in ctx.store.source(hit.source_id).snippets))
    shown = passages(select_within(ranked, every, words_for_answer(ctx), len(questions)), language=ctx.brief.language)
    ctx.store.add(snippet for passage in shown for snippet in passage.snippets)
    return shown
