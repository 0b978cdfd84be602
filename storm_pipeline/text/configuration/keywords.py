"""The settings as keywords, for type checkers and editors."""

from datetime import date
from pathlib import Path
from typing import Literal, TypedDict


class SettingsKeywords(TypedDict, total=False):
    """The fields of :class:`storm_pipeline.settings.Settings`, which documents them.

    ``lm``, ``search``, ``embedder`` and ``programs`` are left out: ``Storm`` also takes objects for them.
    """

    asker_lm: str | None
    expert_lm: str | None
    reader_lm: str | None
    outliner_lm: str | None
    writer_lm: str | None
    reviewer_lm: str | None
    judge_lm: str | None
    api_base: str | None
    api_key_env: str | None
    temperature: float | Literal["none"] | None
    top_p: float | Literal["none"] | None
    seed: int | None
    reply_tokens: int | None
    context: int | None
    structured: Literal["auto", "always", "never"]
    lm_timeout: float
    call_attempts: int
    parse_attempts: int
    workers: int
    process_workers: int
    prices: tuple[str, ...]
    max_cost: float | None
    max_tokens: int | None
    max_minutes: float | None
    max_failures: int
    perspectives: int
    turns: int
    queries: int
    depth: Literal[1, 2, 3] | None
    related_topics: int
    dois: Literal["ask", "never"]
    wikipedia_contents: Literal["auto", "always", "never"]
    top_k: int
    search_rate: float | None
    source_language: str | None
    region: str | None
    since: date | None
    until: date | None
    domains: tuple[str, ...]
    read_pages: Literal["auto", "always", "never"]
    source_policy: Literal["auto", "strict", "standard", "any"]
    allow_sources: tuple[str, ...]
    deny_sources: tuple[str, ...]
    exclude_urls: tuple[str, ...]
    exclude_titles: tuple[str, ...]
    search_cache: Literal["use", "off", "refresh", "replay"]
    answer_facts: int
    section_facts: int
    max_sections: int
    outline_depth: int
    outline_words: int | None
    writing: Literal["auto", "whole", "sentences"]
    answers: Literal["plain", "outlined"]
    length: str
    evidence: int | None
    reading_tokens: int
    article_language: str
    about: str | None
    style: str | None
    editing: Literal["on", "off"]
    uncited: Literal["drop", "keep", "unchecked"]
    judge: str
    out: Path
    cache: Path
