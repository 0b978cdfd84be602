"""Assigns measures to tables: the papers' tables first, then descriptive measures and cost."""

from collections.abc import Sequence
from dataclasses import dataclass

from storm_bench.metrics.base import Measure


@dataclass(frozen=True)
class Group:
    """The layout of a table."""

    key: str  # short, for file names and anchors
    title: str  # of the table
    origin: str  # the paper's table it corresponds to; may be empty
    measures: tuple[str, ...]  # names of its columns, in order
    judged: tuple[str, ...] = ()  # measures that depend on a judge
    plotted: tuple[str, ...] = ()  # measures whose differences are plotted; the first is also plotted against cost


_RUBRIC = ("interest", "organisation", "relevance", "coverage")
_ALCE = ("citation_recall_alce", "citation_precision_alce")
_ERRORS = (
    "unsupported",
    *(f"error_{kind}" for kind in ("uncited", "inference", "paraphrase", "irrelevant", "split", "supported")),
)
_GRADES = tuple(
    f"{name}_0_5" for name in ("fluency", "informativeness", "outline", "focus", "organisation", "coverage")
)
_WIKIGEN = ("citation_recall_wikigenbench", "citation_precision_wikigenbench", "citation_rate_wikigenbench")
_WIKI_LIVE = tuple(f"citation_{name}_wiki_live" for name in ("support", "pair_support", "pairs", "pages_held"))
_STATEMENTS = ("statement_coverage", "statement_ceiling")
_GOOD_ARTICLE = (
    "good_article_lm",
    *(
        f"good_article_{part}_lm"
        for part in (
            *("wins", "ties", "losses", "bias", "shown"),
            *("prose", "wording", "lead", "layout", "breadth", "verifiability", "neutrality"),
        )
    ),
)
_STATEMENTS_LM = tuple(f"statement_{name}_lm" for name in ("coverage", "conflict", "ceiling"))
_OWN_STATEMENTS = ("own_statement_support_lm", "own_statement_conflict_lm")

GROUPS = (
    Group(
        "article",
        "Article quality",
        "STORM, Table 2",
        (*_RUBRIC, "rouge_1", "rouge_l", "article_entity_recall"),
        judged=_RUBRIC,
        plotted=("rouge_1", "article_entity_recall", "organisation", "coverage"),
    ),
    Group(
        "statements",
        "Statements of the human article",
        "Wiki Live Challenge",
        (*_STATEMENTS, *_STATEMENTS_LM),
        judged=(*_STATEMENTS, *_STATEMENTS_LM),
        plotted=("statement_coverage", "statement_coverage_lm"),
    ),
    Group(
        "own-statements",
        "Statements of the article, against the human article",
        "Wiki Live Challenge",
        _OWN_STATEMENTS,
        judged=_OWN_STATEMENTS,
        plotted=_OWN_STATEMENTS[:1],
    ),
    Group(
        "good-article",
        "Good Article criteria, against the human article",
        "Wiki Live Challenge",
        _GOOD_ARTICLE,
        judged=_GOOD_ARTICLE,
        plotted=("good_article_lm",),
    ),
    Group(
        "outline",
        "Outline quality",
        "STORM, Table 3",
        ("heading_soft_recall", "heading_entity_recall"),
        plotted=("heading_soft_recall", "heading_entity_recall"),
    ),
    Group("citations", "Citation quality (ALCE)", "STORM, Table 4", _ALCE, judged=_ALCE, plotted=_ALCE),
    Group("unsupported", "Unsupported sentences", "STORM, Table 9 and Figure 6", _ERRORS, judged=_ERRORS),
    Group(
        "wikigenbench",
        "Writing, informativeness and overlap",
        "WikiGenBench",
        (*_GRADES, "ib_score", "bleu_1", "bleu_4", "meteor", "rouge_l_wikigenbench"),
        judged=(*_GRADES, "ib_score"),
        plotted=("meteor", "ib_score", "fluency_0_5", "informativeness_0_5"),
    ),
    Group(
        "citations-wikigenbench",
        "Citation quality (WikiGenBench)",
        "WikiGenBench",
        _WIKIGEN,
        judged=_WIKIGEN,
        plotted=_WIKIGEN[:2],
    ),
    Group(
        "citations-wiki-live",
        "Citation support (Wiki Live Challenge)",
        "Wiki Live Challenge",
        _WIKI_LIVE,
        judged=_WIKI_LIVE[:2],
        plotted=_WIKI_LIVE[:1],
    ),
    Group(
        "density",
        "Knowledge density",
        "OmniThink",
        ("knowledge_density", "cited_density", "distinct_facts"),
        plotted=("knowledge_density",),
    ),
    Group(
        "conner",
        "CONNER: intrinsic quality of sections and answers",
        "Chen et al. 2023, section 3.3",
        tuple(
            f"conner_{part}_{score}"
            for part in ("section", "answer")
            for score in (
                "fact_consistent",
                "relevance",
                "coherence_sentence",
                "coherence_paragraph",
                "informativeness",
            )
        ),
    ),
    Group(
        "overlap",
        "ROUGE precision and recall",
        "",
        (
            "rouge_1_precision",
            "rouge_1_recall",
            "rouge_2",
            "rouge_2_precision",
            "rouge_2_recall",
            "rouge_l_precision",
            "rouge_l_recall",
            *(
                f"{kind}_body{part}"
                for kind in ("rouge_1", "rouge_2", "rouge_l")
                for part in ("", "_precision", "_recall")
            ),
        ),
    ),
    Group(
        "research",
        "Questions and sources of the interviews",
        "STORM, Table 5",
        ("questions", "references_researched"),
        plotted=("references_researched",),
    ),
    Group(
        "shape",
        "Shape",
        "STORM, Table 7",
        (
            "words",
            "length_ratio",
            "sentences",
            "sections",
            "headings",
            "references",
            "references_collected",
            "bibliography_cited",
            "repeated_4grams",
        ),
    ),
    Group("truth", "Named entities of the human articles", "", ("article_entities", "heading_entities")),
    Group("cost", "Cost", "", ("dollars", "calls", "tokens_in", "tokens_cached", "tokens_out", "seconds")),
)
"""All tables, in report order."""

OTHER = Group("other", "Further measures", "", ())
"""Table of measures that belong to no other."""


def grouped(measures: Sequence[Measure]) -> list[tuple[Group, tuple[Measure, ...]]]:
    """Each non-empty table with its measures, in column order."""
    known = {measure.name: measure for measure in measures}
    found = [(group, tuple(known[name] for name in group.measures if name in known)) for group in GROUPS]
    placed = {name for group in GROUPS for name in group.measures}
    rest = tuple(measure for measure in measures if measure.name not in placed)
    return [(group, own) for group, own in [*found, (OTHER, rest)] if own]
