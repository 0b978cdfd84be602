"""The stand-ins beside the scores that the paper's own models gave the same reference knowledge."""

from collections.abc import Sequence

from storm_bench.conner.correlation import Correlation, somers_d
from storm_bench.conner.paragraph_coherence import DiscourseModel
from storm_bench.conner.scoring import Record
from storm_bench.datasets.conner import KnowledgeItem
from storm_pipeline.api import split_sentences


def beside_published(
    items: Sequence[KnowledgeItem],
    coherence: Sequence[float | None],
    perplexity: Sequence[float | None],
    discourse: DiscourseModel,
    records: Sequence[Record],
) -> str:
    """Two sentences of Markdown: Somers' D of our scores given the published ones.

    Args:
        items: all rows of Natural Questions; their whole references are scored for coherence.
        coherence: published scores of Coherence-Momentum, one a row.
        perplexity: published perplexities, one a row; their inverses are compared with eq. 3.
        discourse: the model of eq. 4.
        records: of a study; only references that were scored whole are compared.
    """
    own = discourse.coherences([split_sentences(item.reference) for item in items])
    pairs = [(known, score) for known, score in zip(coherence, own, strict=True) if known is not None]
    found = somers_d([x for x, _ in pairs], [y for _, y in pairs])
    whole = {one.item: one for one in records if one.kind == "reference"}
    sentence = [
        (1 / known, value)
        for item, known in zip(items, perplexity, strict=True)
        if known and (one := whole.get(item.id)) and one.knowledge == item.reference
        if (value := one.scores.get("coherence_sentence")) is not None
    ]
    other = somers_d([x for x, _ in sentence], [y for _, y in sentence]) if sentence else None
    return (
        "## The stand-ins beside the paper's own scores\n\n"
        f"Somers' D of `{discourse.name}` given Coherence-Momentum's published scores of the reference knowledge of "
        f"Natural Questions: {_told(found)}. Of eq. 3 given the inverse of GPT-neo's published perplexity: "
        f"{_told(other)}."
    )


def _told(found: Correlation | None) -> str:
    return f"{found} (n = {found.items})" if found else "not enough items"
