"""Editing of a finished article: a model proposes edits by sentence number, and the program applies them.

The article is never rewritten, so what stays keeps the citations that support it
(:mod:`storm_pipeline.method.writers.edited_article`). The editor then sees what changed, with the edits that could not
be made and why, and edits once more. Before that, a sentence that repeats the words of an earlier one is removed
without a model (paper section 3.4); its citations move to that one.
"""

from collections.abc import Sequence

import numpy as np

from storm_pipeline.errors import ModelError
from storm_pipeline.evidence.editions import keep_citations, sections_with
from storm_pipeline.evidence.judges.language_model import LanguageModelJudge
from storm_pipeline.evidence.judges.spans import ExplainingJudge
from storm_pipeline.evidence.passages import passages
from storm_pipeline.method.context import RunContext
from storm_pipeline.method.steps.searching import search_all
from storm_pipeline.method.writers.draft_checks import cite_supporting
from storm_pipeline.method.writers.edited_article import EditedArticle, Reading
from storm_pipeline.signatures.shapes import Edit, Lookup
from storm_pipeline.text.identity import host_of
from storm_pipeline.text.words import folded_words, tidy
from storm_pipeline.types import Citation, Section, Sentence

_FOR_A_LOOKUP = 2  # snippets, and findings, of the run that are shown for a question of the editor
_FURTHER = "it goes further than what it cites"


def edit_article(
    ctx: RunContext, sections: tuple[Section, ...], findings: Sequence[Sentence] = ()
) -> tuple[Section, ...]:
    """Edit the sections: remove off-topic and repeated sentences; reword, join and move others; change headings.

    At most 15 % of the sentences go. Without ``editing`` in the settings, only sentences of the same words are cut. An
    edit is skipped if it would add a number, a date or a name that neither article nor sources have, or lose a number
    or a date otherwise than by dropping or trimming a sentence. If the model fails, the sections are returned without
    its edits, and that is recorded.

    ``findings``: sentences of the research that may answer the editor's questions.
    """
    with ctx.events.in_stage("editing"):
        sections = _without_repetition(ctx, sections)
        if ctx.settings.editing == "off":
            return sections
        edited, remarks, results = EditedArticle(ctx, sections), "", ""
        for changed in (False, True):
            if changed and not edited.changed and not remarks:
                break
            inputs = {
                "topic": ctx.brief.topic_with_note,
                "article": edited.shown(changed=changed),
                "sources": _sources(ctx, edited, changed=changed),
                "found": results,
                "remarks": remarks,
            }
            try:
                reply = ctx.ask("reviewer", ctx.programs.edit, **inputs)
            except ModelError as error:
                ctx.events.degraded(f"the article was not edited{' again' if changed else ''}: {error}")
                break
            remarks = edited.make(reply.edits, _read(ctx, edited, reply.edits))
            results = "" if changed else _looked_up(ctx, edited, reply.get("lookups", ()), findings)
        return edited.sections()


def _looked_up(ctx: RunContext, edited: EditedArticle, lookups: Sequence[Lookup], findings: Sequence[Sentence]) -> str:
    """Search for the editor's questions; return each with what may answer it, numbered.

    These are the passages of its sentence, the best of all passages, and the findings nearest to it.
    """
    questions = [lookup.question for lookup in lookups]
    if not questions:
        return ""
    search_all(ctx, questions)
    gone = ctx.search.excluded_ids()  # keep cited snippets
    left = [kept for finding in findings if (kept := keep_citations(finding, lambda c: c.source_id not in gone))]
    ranked = ctx.store.search(questions, _FOR_A_LOOKUP)
    lines = []
    for lookup, snippets, near in zip(lookups, ranked, _nearest(ctx, questions, left), strict=True):
        usable = [snippet for snippet in snippets if snippet.source_id not in gone]
        ctx.store.add(usable)
        shown = edited.add_passages(lookup.sentence, passages(usable, language=ctx.brief.language))
        more = edited.add_findings(near)
        lines.append("\n".join(filter(None, (f"{tidy(lookup.question)} ([{lookup.sentence}])", shown, more))))
    return "\n".join(lines)


def _nearest(ctx: RunContext, questions: Sequence[str], findings: Sequence[Sentence]) -> list[list[Sentence]]:
    """Return for each question the findings with the highest cosine to it, best first."""
    if not findings:
        return [[] for _ in questions]
    similarity = ctx.store.embed(questions) @ ctx.store.embed([finding.text for finding in findings]).T
    best = np.argsort(-similarity, axis=1, kind="stable")[:, :_FOR_A_LOOKUP]
    return [[findings[i] for i in row] for row in best.tolist()]


def _sources(ctx: RunContext, edited: EditedArticle, *, changed: bool) -> str:
    """Return ``Title (site, date): 3, 7`` lines: each cited source with the numbers of shown sentences citing it."""
    known = {source.id: source for source in ctx.store.sources()}
    lines = []
    for source_id, numbers in edited.numbers_of_sources(changed=changed).items():
        if source_id in known and (source := known[source_id]).snippets:
            first = source.snippets[0]
            date = next((snippet.published for snippet in source.snippets if snippet.published), "")
            about = ", ".join(filter(None, (first.site or host_of(source.url).removeprefix("www."), date)))
            title = tidy(source.title).replace(":", " –")
            lines.append(f"{title} ({about}): {', '.join(map(str, numbers))}")
    return "\n".join(lines)


def _read(ctx: RunContext, edited: EditedArticle, edits: Sequence[Edit]) -> dict[Edit, Reading]:
    """Return what the judge finds of edits whose text it doubts; a language model's verdicts on all that it reads."""
    if ctx.judge is None:
        return {}
    asked = [(edit, *new) for edit in dict.fromkeys(edits) for new in edited.questions(edit, edits)]
    try:
        verdicts = ExplainingJudge(ctx.judge).judge([question for *_, question in asked])
    except ModelError as error:
        ctx.events.failed("judging the edits", error)
        return {}
    reads = isinstance(ctx.judge, LanguageModelJudge)
    read: dict[Edit, Reading] = {}
    for (edit, sentence, _), verdict in zip(asked, verdicts, strict=True):
        problem, before = read.get(edit, ("", ()))
        reason = "" if verdict.label == "supported" else verdict.reason or _FURTHER
        read[edit] = problem or reason, (*before, cite_supporting(sentence, verdict))
        ctx.verdicts.update({sentence.text: verdict} if reads else {})
    return {edit: reading for edit, reading in read.items() if reads or reading[0]}


def _without_repetition(ctx: RunContext, sections: tuple[Section, ...]) -> tuple[Section, ...]:
    """Remove sentences with the same words, moving their citations to the first one; no model is called."""
    sentences = [sentence for section in sections for sentence in section.sentences()]
    cited: dict[str, dict[Citation, None]] = {}
    for sentence in sentences:
        cited.setdefault(_words(sentence), {}).update(dict.fromkeys(sentence.citations))

    def edited(sentence: Sentence) -> Sentence | None:
        citations = cited.pop(_words(sentence), None)
        return None if citations is None else Sentence(sentence.text, tuple(citations))

    left = sections_with(sections, edited)
    ctx.events.count(repeated=len(sentences) - sum(1 for section in left for _ in section.sentences()))
    return left


def _words(sentence: Sentence) -> str:
    return " ".join(folded_words(sentence.text)) or sentence.text
