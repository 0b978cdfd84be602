"""What a section is shown of the passages that another section is given whole: what its findings rest on."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from storm_pipeline.languages import detect, split_sentences, stem_set
from storm_pipeline.references.citations import cited_snippet_ids
from storm_pipeline.references.evidence import PassageEvidence
from storm_pipeline.references.facts import covering
from storm_pipeline.references.passages import Passage
from storm_pipeline.types import Sentence


def with_excerpts(shares: Sequence[PassageEvidence], language: str) -> list[PassageEvidence]:
    """The sections' evidence, each passage whole in one of them, in part or not at all in the others.

    It is whole where most own findings cite it, in the first such section; another section is shown the sentences that
    its own findings rest on, and nothing of a passage that none of them cites. Where a finding is in another language
    than the passage, it is whole there too: nobody can tell what it rests on. A section that no finding is assigned to
    has all whole: excerpts would make it repeat what the others tell. ``language``: of the article.
    """
    ids = [[_ids(passage) for passage in share.passages] for share in shares]
    has = [frozenset[str]().union(*own) for own in ids]
    cited = [[cited_snippet_ids([finding]) for finding in share.own_findings] for share in shares]

    def claim(section: int, passage: frozenset[str]) -> tuple[int, int]:
        return sum(not passage.isdisjoint(own) for own in cited[section]), -section

    def is_whole(section: int, own: frozenset[str]) -> bool:
        others = (claim(other, own) for other in range(len(shares)) if other != section and own <= has[other])
        return not shares[section].own or all(other < claim(section, own) for other in others)

    found = []
    for section, share in enumerate(shares):
        whole = [is_whole(section, own) for own in ids[section]]
        kept = [i for i, own in enumerate(ids[section]) if whole[i] or claim(section, own)[0]]
        parts = {}
        for passage, own in ((share.passages[i], ids[section][i]) for i in kept if not whole[i]):
            resting = [f for f, c in zip(share.own_findings, cited[section], strict=True) if not c.isdisjoint(own)]
            parts[passage.snippets[0].id] = _part(passage, resting, language)
        found.append(_showing(share, [share.passages[i] for i in kept], parts))
    return found


def _showing(share: PassageEvidence, kept: Sequence[Passage], parts: Mapping[str, str]) -> PassageEvidence:
    """The evidence with these passages, and of other sections' findings those that rest on them."""
    ids = frozenset[str]().union(*map(_ids, kept))
    others = (f for f in share.findings[share.own :] if not ids.isdisjoint(cited_snippet_ids([f])))
    excerpts = {snippet_id: part for snippet_id, part in parts.items() if part}
    return replace(share, passages=tuple(kept), findings=(*share.own_findings, *others), excerpts=excerpts)


def _ids(passage: Passage) -> frozenset[str]:
    return frozenset(snippet.id for snippet in passage.snippets)


def _part(passage: Passage, findings: Sequence[Sentence], language: str) -> str:
    """The sentences of a passage that findings rest on; empty where it has to stand whole."""
    if detect(passage.text) not in {"", language}:
        return ""
    sentences = split_sentences(passage.text, language)
    stems = [stem_set(sentence, language) for sentence in sentences]
    chosen = {i for finding in findings for i in covering(stem_set(finding.text, language), stems)}
    return " … ".join(sentences[i] for i in sorted(chosen)) if len(chosen) < len(sentences) else ""
