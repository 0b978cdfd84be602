"""A pipeline of spaCy that finds entities by rules, in a folder."""

from collections.abc import Mapping
from pathlib import Path

from storm_bench.metrics.base import import_optional


def write_pipeline(folder: Path, patterns: Mapping[str, str] | None = None) -> Path:
    """Write a pipeline named ``en_tiny-1.2.3``; it looks for words (pattern → label), or for nothing at all."""
    nlp = import_optional("spacy").blank("en", meta={"name": "tiny", "version": "1.2.3"})
    if patterns is not None:
        rules = [{"label": label, "pattern": pattern} for pattern, label in patterns.items()]
        nlp.add_pipe("entity_ruler").add_patterns(rules)
    nlp.to_disk(folder)
    return folder
