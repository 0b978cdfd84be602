"""Expert answers written from single facts."""

import re
from collections.abc import Sequence

from storm_pipeline.references.citations import parse_cited
from storm_pipeline.references.facts import nearest, nearest_facts, numbered
from storm_pipeline.references.support import check_support
from storm_pipeline.run.context import RunContext
from storm_pipeline.text.sentences import is_complete
from storm_pipeline.types import Answer, Snippet

_NOTHING = re.compile(r"^\W*(the )?(sources?|facts?)\b.{0,20}\b(do|does) not (say|mention|contain|provide)", re.I)


def answer_from_facts(ctx: RunContext, topic: str, question: str, snippets: Sequence[Snippet]) -> Answer:
    """The expert's sentences, each supported by the search results; none if there are no results."""
    if not snippets:
        return Answer()
    need = f"{topic} {question}"
    limit = ctx.settings.answer_facts
    facts = nearest_facts(nearest(snippets, need, limit), need, limit)
    # Shown snippets are embedded in the background; the others can still be found by keyword.
    shown = {fact.citation.snippet_id for fact in facts}
    ctx.store.add(snippet for snippet in snippets if snippet.id in shown)
    reply = ctx.ask("expert", ctx.programs.answer, topic=topic, question=question, facts=numbered(facts)).answer
    if _NOTHING.match(reply):
        return Answer((), tuple(snippets))
    cited = parse_cited(reply, [fact.citation for fact in facts])
    whole = [s for s in cited.sentences if is_complete(s.text)]
    checked = check_support(whole, facts, known=need, embed=ctx.store.embed)
    ctx.events.count(
        invented_citations=cited.invented,
        attributed=checked.attributed,
        dropped_unsupported=checked.unsupported,
        dropped_faulty=len(cited.sentences) - len(whole),
    )
    return Answer(tuple(s for s in checked.sentences if s.citations), tuple(snippets))
