"""Whole methods, each a composition of steps. An ablation or a baseline is another recipe, never a flag in a step."""

from collections.abc import Callable, Mapping

from storm_pipeline.concurrency import Tasks
from storm_pipeline.context import RunContext
from storm_pipeline.errors import ModelError, NothingFoundError
from storm_pipeline.outlines import outline_to_markdown
from storm_pipeline.references.facts import Fact
from storm_pipeline.steps.conversations import ask_all_at_once, converse
from storm_pipeline.steps.evidence import SectionEvidence, fill_gaps, gather_evidence
from storm_pipeline.steps.keeping_out import leave_out_copies, usable, without_copies
from storm_pipeline.steps.lead import Taken, take_lead, write_lead
from storm_pipeline.steps.outline import draft_outline, plan_outline, refine_outline
from storm_pipeline.steps.perspectives import BASIC_FACT_WRITER, find_perspectives
from storm_pipeline.steps.polish import remove_repetition
from storm_pipeline.steps.related import related_contents
from storm_pipeline.steps.searching import search_all
from storm_pipeline.steps.sections import write_sections
from storm_pipeline.steps.whole import SECTIONS, Whole, passages, write_article, write_from_memory
from storm_pipeline.steps.wording import serves
from storm_pipeline.types import UNTITLED, Article, Conversation, Outline, Perspective, Section, Snippet

Conversations = tuple[Conversation, ...]
Interview = Callable[[RunContext, str, Perspective], Conversation]


def storm(ctx: RunContext, topic: str) -> Article:
    """STORM: research from many perspectives, outline, sections side by side, polish and lead (paper section 3)."""
    return _written(ctx, topic, *storm_outline(ctx, topic))


def storm_no_perspective(ctx: RunContext, topic: str) -> Article:
    """STORM whose writers have no perspective in their prompts; as many interviews (section 5.2)."""
    return _written(ctx, topic, *no_perspective_outline(ctx, topic))


def storm_no_conversation(ctx: RunContext, topic: str) -> Article:
    """STORM whose writers put all their questions down at once; as many questions (section 5.2)."""
    return _written(ctx, topic, *no_conversation_outline(ctx, topic))


def storm_no_outline(ctx: RunContext, topic: str) -> Article:
    """STORM that writes the whole article from the topic and the interviews (section 5.2)."""
    conversations = without_copies(ctx, _interviews(ctx, topic, converse))
    learnt = [
        Fact(sentence.text, ctx.store.source(citation.source_id).title, citation)
        for conversation in conversations
        for turn in conversation.turns
        for sentence in turn.answer
        for citation in sentence.citations[:1]
        if serves(ctx, sentence.text)
    ]
    return _whole(ctx, topic, Outline(topic), write_article(ctx, topic, Outline(topic), learnt), conversations)


def direct(ctx: RunContext, topic: str) -> Article:
    """Direct Gen: outline and article from what the model knows, without any source (section 4.3)."""
    outline = direct_outline(ctx, topic)
    return _whole(ctx, topic, outline, write_from_memory(ctx, topic, outline))


def rag(ctx: RunContext, topic: str) -> Article:
    """RAG: search with the topic; outline and article from what that finds (section 4.3)."""
    outline, found = rag_outline(ctx, topic)
    return _whole(ctx, topic, outline, write_article(ctx, topic, outline, passages(ctx, found, topic)))


def orag(ctx: RunContext, topic: str) -> Article:
    """Outline-driven RAG: RAG's outline; then a search with each section's title, section by section (section 4.3)."""
    outline, _ = rag_outline(ctx, topic)
    ctx.store.add(search_all(ctx, [f"{topic} {section.title}" for section in outline.sections]))
    leave_out_copies(ctx)
    sections = write_sections(ctx, outline, gather_evidence(ctx, outline))
    return _whole(ctx, topic, outline, Whole((), sections))


def rr(ctx: RunContext, topic: str) -> Article:
    """Retrieve-then-read of WikiGenBen: the ``top_k`` chunks ranked best against the keyword, and one call."""
    found = _search_with_topic(ctx, topic)[: ctx.settings.top_k]
    shown = passages(ctx, found, topic, room=SECTIONS)
    return _whole(ctx, topic, Outline(topic), write_article(ctx, topic, Outline(topic), shown))


def rprr(ctx: RunContext, topic: str) -> Article:
    """Retrieve-plan-retrieve-read of WikiGenBen: plan sections, rank ``top_k`` chunks anew for each, and write."""
    outline, _ = rag_outline(ctx, topic)
    needs = [f"{topic} {section.title}" for section in outline.sections]
    found = [search_all(ctx, [need]) for need in needs]
    evidence = [
        SectionEvidence(section, tuple(passages(ctx, usable(ctx, own)[: ctx.settings.top_k], need)))
        for section, own, need in zip(outline.sections, found, needs, strict=True)
    ]
    return _whole(ctx, topic, outline, Whole((), write_sections(ctx, outline, evidence)))


RECIPES: Mapping[str, Callable[[RunContext, str], Article]] = {
    "storm": storm,
    "storm-no-perspective": storm_no_perspective,
    "storm-no-conversation": storm_no_conversation,
    "storm-no-outline": storm_no_outline,
    "direct": direct,
    "rag": rag,
    "orag": orag,
    "rr": rr,
    "rprr": rprr,
}
"""Every method that writes articles, by the name that settings and reports use."""


def storm_outline(ctx: RunContext, topic: str) -> tuple[Outline, Conversations]:
    """STORM's pre-writing stage (Algorithm 1): the refined outline and the conversations; the sources are in the store.

    The draft outline and the basic-fact writer's conversation need neither related topics nor perspectives, so
    they run beside them. Perspectives or an outline that the user gives are not made.
    """
    return _outlined(ctx, topic, lambda: _interviews(ctx, topic, converse))


def no_conversation_outline(ctx: RunContext, topic: str) -> tuple[Outline, Conversations]:
    """The pre-writing stage of :func:`storm_no_conversation`."""
    return _outlined(ctx, topic, lambda: _interviews(ctx, topic, ask_all_at_once))


def no_perspective_outline(ctx: RunContext, topic: str) -> tuple[Outline, Conversations]:
    """The pre-writing stage of :func:`storm_no_perspective`."""

    def interviews() -> Conversations:
        nobody = [Perspective(f"Interview {number}", "") for number in range(1, ctx.settings.perspectives + 2)]
        with Tasks() as tasks, ctx.events.in_stage("conversations", total=len(nobody) * ctx.settings.turns):
            held = [tasks.start(converse, ctx, topic, perspective) for perspective in nobody]
            return tuple(task.result() for task in held)

    return _outlined(ctx, topic, interviews)


def direct_outline(ctx: RunContext, topic: str) -> Outline:
    """The outline of :func:`direct`."""
    outline = draft_outline(ctx, topic)
    ctx.run.save_text("outline.md", outline_to_markdown(outline))
    return outline


def rag_outline(ctx: RunContext, topic: str) -> tuple[Outline, tuple[Snippet, ...]]:
    """The outline of :func:`rag`, :func:`orag` and :func:`rprr`, and the passages that it was made from."""
    found = _search_with_topic(ctx, topic)
    outline = plan_outline(ctx, topic, found)
    ctx.run.save_text("outline.md", outline_to_markdown(outline))
    return outline, found


OUTLINES: Mapping[str, Callable[[RunContext, str], Outline]] = {
    "storm": lambda ctx, topic: storm_outline(ctx, topic)[0],
    "storm-no-perspective": lambda ctx, topic: no_perspective_outline(ctx, topic)[0],
    "storm-no-conversation": lambda ctx, topic: no_conversation_outline(ctx, topic)[0],
    "direct": direct_outline,
    "rag": lambda ctx, topic: rag_outline(ctx, topic)[0],
}
"""The pre-writing stages alone, by the name of the recipe; those that are missing write no outline or share one."""


def _outlined(ctx: RunContext, topic: str, interviews: Callable[[], Conversations]) -> tuple[Outline, Conversations]:
    """The outline drafted while the interviews are held, then refined with them."""
    with Tasks() as tasks:
        draft = tasks.start(lambda: ctx.given.outline or draft_outline(ctx, topic))
        conversations = without_copies(ctx, interviews())
        _require_sources(ctx, topic, conversations)
        first = draft.result()
        refined = tasks.start(lambda: ctx.given.outline or refine_outline(ctx, topic, first, conversations))
        saved = tasks.start(ctx.run.save_json, "conversations.json", conversations)
        # Most headings stay: what the draft's sections need is indexed and embedded while the model refines.
        tasks.start(gather_evidence, ctx, first)
        saved.result()
        outline = refined.result()
    ctx.run.save_text("outline.md", outline_to_markdown(outline))
    return outline, conversations


def _interviews(ctx: RunContext, topic: str, interview: Interview) -> Conversations:
    """The basic-fact writer's interview and, as soon as they are known, those of the perspectives."""
    total = (ctx.settings.perspectives + 1) * ctx.settings.turns
    with Tasks() as tasks, ctx.events.in_stage("conversations", total=total):
        first = tasks.start(interview, ctx, topic, BASIC_FACT_WRITER)
        perspectives = ctx.given.perspectives
        if perspectives is None:
            perspectives = find_perspectives(ctx, topic, related_contents(ctx, topic))
        ctx.run.save_json("perspectives.json", perspectives)
        others = [tasks.start(interview, ctx, topic, perspective) for perspective in perspectives]
        return tuple(task.result() for task in (first, *others))


def _search_with_topic(ctx: RunContext, topic: str) -> tuple[Snippet, ...]:
    with ctx.events.in_stage("search"):
        found = usable(ctx, search_all(ctx, [topic]))
    if not found:
        raise NothingFoundError(f"{ctx.search.name} found no source for {topic!r}; try another engine with --search")
    ctx.store.add(found)
    return found


def _written(ctx: RunContext, topic: str, outline: Outline, conversations: Conversations) -> Article:
    """STORM's writing stage (section 3.4)."""
    with ctx.events.in_stage("evidence"):
        evidence = fill_gaps(ctx, outline, gather_evidence(ctx, outline))
        conversations = without_copies(ctx, conversations)
        ctx.run.save_json("conversations.json", conversations)
    sections = write_sections(ctx, outline, evidence)
    _require_sections(ctx, topic, sections)
    lead, polished = _finished(ctx, topic, sections)
    ctx.run.save_json("polished.json", polished)
    ctx.run.save_json("lead.json", lead)
    return Article(topic, lead, polished, ctx.store.sources(), outline, conversations)


def _finished(ctx: RunContext, topic: str, sections: tuple[Section, ...]) -> Taken:
    """Lead and polished sections, made side by side where the lead takes nothing from the body."""
    if ctx.settings.by_sentence:
        return take_lead(ctx, topic, remove_repetition(ctx, sections))
    with Tasks() as tasks:
        lead = tasks.start(write_lead, ctx, topic, sections)
        polished = remove_repetition(ctx, sections)
    return lead.result(), polished


def _whole(ctx: RunContext, topic: str, outline: Outline, whole: Whole, conversations: Conversations = ()) -> Article:
    """The article of a recipe that neither polishes nor sums up."""
    sections = whole.sections
    if not sections and whole.lead:
        return _whole(ctx, topic, outline, Whole((), (Section(UNTITLED, whole.lead),)), conversations)
    _require_sections(ctx, topic, sections)
    return Article(topic, whole.lead, sections, ctx.store.sources(), outline, conversations)


def _require_sections(ctx: RunContext, topic: str, sections: tuple[Section, ...]) -> None:
    if not sections:
        raise NothingFoundError(
            f"no section of an article on {topic!r} could be written: {_reasons(ctx) or 'the sources say too little'}"
        )


def _require_sources(ctx: RunContext, topic: str, conversations: Conversations) -> None:
    if len(ctx.store):
        return
    queries = [query for conversation in conversations for turn in conversation.turns for query in turn.queries]
    if not queries:
        raise ModelError(f"no question about {topic!r} could be asked: {_reasons(ctx) or 'the writer asked none'}")
    tried = ", ".join(repr(query) for query in queries[:3])
    raise NothingFoundError(
        f"{ctx.search.name} found no source for {topic!r} ({len(queries)} queries, such as {tried}); "
        f"try another topic, or another engine with --search{'. ' + _reasons(ctx) if _reasons(ctx) else ''}"
    )


def _reasons(ctx: RunContext) -> str:
    return "; ".join(dict.fromkeys(ctx.ledger.failures()[:3]))
