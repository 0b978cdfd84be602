"""What a section is shown of the passages that another section is given whole: what its findings rest on."""

from collections.abc import Sequence
from dataclasses import replace

from storm_pipeline.languages import detect, split_sentences, stem_set
from storm_pipeline.references.citations import cited_snippet_ids
from storm_pipeline.references.evidence import PassageEvidence
from storm_pipeline.references.facts import covering
from storm_pipeline.references.passages import Passage
from storm_pipeline.types import Sentence

_FIRST_WORDS = 15  # words of a passage that no finding of the section rests on


def with_excerpts(shares: Sequence[PassageEvidence], language: str) -> list[PassageEvidence]:
    """The sections' evidence, each passage whole in one of them, in part in the others.

    It is whole where most own findings cite it, in the first such section. Where a finding is in another language than
    the passage, it is whole there too: nobody can tell what it rests on. A section that no finding is assigned to has
    all whole: excerpts would make it repeat what the others tell. ``language``: of the article.
    """
    ids = [[_ids(passage) for passage in share.passages] for share in shares]
    has = [frozenset[str]().union(*own) for own in ids]
    cited = [[cited_snippet_ids([finding]) for finding in share.own_findings] for share in shares]

    def claim(section: int, passage: frozenset[str]) -> tuple[int, int]:
        return sum(not passage.isdisjoint(own) for own in cited[section]), -section

    excerpts: list[dict[str, str]] = [{} for _ in shares]
    for section, share in enumerate(shares):
        for passage, own in zip(share.passages, ids[section], strict=True):
            others = (claim(other, own) for other in range(len(shares)) if other != section and own <= has[other])
            if share.own and any(other > claim(section, own) for other in others):
                part = _part(
                    passage, [f for f in share.own_findings if not own.isdisjoint(cited_snippet_ids([f]))], language
                )
                excerpts[section] |= {passage.snippets[0].id: part} if part else {}
    return [replace(share, excerpts=own) for share, own in zip(shares, excerpts, strict=True)]


def _ids(passage: Passage) -> frozenset[str]:
    return frozenset(snippet.id for snippet in passage.snippets)


def _part(passage: Passage, findings: Sequence[Sentence], language: str) -> str:
    """The sentences of a passage that findings rest on, or its first words; empty where it has to stand whole."""
    if not findings:
        words = passage.text.split()
        return " ".join(words[:_FIRST_WORDS]) + " …" if len(words) > 2 * _FIRST_WORDS else ""
    if detect(passage.text) not in {"", language}:
        return ""
    sentences = split_sentences(passage.text, language)
    stems = [stem_set(sentence, language) for sentence in sentences]
    chosen = {i for finding in findings for i in covering(stem_set(finding.text, language), stems)}
    return " … ".join(sentences[i] for i in sorted(chosen)) if len(chosen) < len(sentences) else ""
