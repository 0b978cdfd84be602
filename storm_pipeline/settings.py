"""Every setting of a run, in one frozen value."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from storm_pipeline.errors import SettingsError
from storm_pipeline.languages import language_name

_LENGTHS = {"short": 800, "standard": 2400, "long": 4800}
_DEPTHS: dict[str, dict[str, int]] = {
    "1": {"perspectives": 3, "turns": 3, "top_k": 3, "rounds": 1},
    "2": {"perspectives": 5, "turns": 5, "top_k": 5, "rounds": 2},
    "3": {"perspectives": 7, "turns": 6, "top_k": 8, "rounds": 3, "evidence": 6000},
}
_EVIDENCE = 3000
_INTERVIEWS, _INTERVIEWS_BY_SENTENCE = 4000, 1500
Role = Literal["asker", "expert", "outliner", "writer", "reviewer"]
ROLES: tuple[Role, ...] = ("asker", "expert", "outliner", "writer", "reviewer")


class Settings(BaseModel):
    """Settings of a run. Defaults are the paper's (section 4.4) where it names a value.

    A language model is named as LiteLLM does (``openai/gpt-4o``, ``ollama_chat/qwen2.5:7b``), optionally followed
    by ``@URL`` of its endpoint; ``embedded`` is the pinned model that runs in this process, ``embedded:0.5b`` its
    smaller sister (for tests of the plumbing), and ``gguf:PATH`` any other GGUF file.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    lm: str = Field(
        default="embedded", min_length=1, description="Language model of every role that has none of its own."
    )
    asker_lm: str | None = Field(default=None, description="Model that finds perspectives and asks; default: lm.")
    expert_lm: str | None = Field(default=None, description="Model that writes queries and answers; default: lm.")
    outliner_lm: str | None = Field(default=None, description="Model that drafts and refines the outline; default: lm.")
    writer_lm: str | None = Field(default=None, description="Model that writes sections and lead; default: lm.")
    reviewer_lm: str | None = Field(default=None, description="Model that finds repetition; default: lm.")
    api_base: str | None = Field(default=None, description="Endpoint of lm, e.g. http://localhost:8000/v1.")
    api_key_env: str | None = Field(default=None, description="Name of the environment variable that holds the key.")
    temperature: float | None = Field(
        default=None,
        ge=0,
        le=2,
        description="Sampling temperature; default: the paper's 1.0, for the embedded model its own 0.7.",
    )
    top_p: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="Nucleus of sampling; default: the paper's 0.9, for the embedded model its own 0.8.",
    )
    seed: int | None = Field(
        default=None, ge=0, description="Makes a run with the embedded model repeatable, at one call at a time."
    )
    reply_tokens: int | None = Field(
        default=None, ge=16, description="Longest reply in tokens; default: the model's own limit."
    )
    context: int | None = Field(
        default=None,
        ge=2048,
        description="Tokens that a model's context window holds, prompt and reply together; default: what LiteLLM's "
        "table says of the model, the embedded server's own, else 16384 are assumed.",
    )
    structured: Literal["auto", "always", "never"] = Field(
        default="auto",
        description="Whether a JSON schema constrains typed replies; auto: where the model is known for it.",
    )
    lm_timeout: float = Field(
        default=300.0, gt=0, le=3600, description="Seconds that one model call may wait for bytes."
    )
    attempts: int = Field(default=5, ge=1, le=20, description="Attempts per call on transient errors.")
    samples: int = Field(default=3, ge=1, le=10, description="Fresh samples asked for when a reply does not parse.")
    workers: int = Field(default=8, ge=1, le=256, description="Model calls of a run in flight at once.")
    process_workers: int = Field(
        default=32,
        ge=1,
        le=1024,
        description="Model calls in flight at once at one endpoint, over all runs of this process.",
    )
    prices: tuple[str, ...] = Field(
        default=(), description="What a model costs: MODEL=IN/OUT or MODEL=IN/CACHED/OUT, in dollars a million tokens."
    )
    max_cost: float | None = Field(
        default=None, gt=0, description="Dollars that a run may cost; then it is written up."
    )
    max_tokens: int | None = Field(
        default=None, ge=1, description="Tokens that a run may read and write; then as above."
    )
    max_minutes: float | None = Field(default=None, gt=0, description="Minutes that a run may take; then as above.")
    max_failures: int = Field(default=20, ge=0, description="Pieces of a run that may fail before it is given up.")

    perspectives: int = Field(default=5, ge=0, le=20, description="N: editors beside the basic-fact writer.")
    turns: int = Field(default=5, ge=1, le=20, description="M: rounds of a conversation at most.")
    queries: int = Field(default=3, ge=1, le=5, description="Search queries a question at most.")
    depth: Literal[1, 2, 3] | None = Field(
        default=None,
        description="How deep to dig, instead of setting perspectives, turns, top_k and rounds one by one: 1 is 3, 3, "
        "3, 1; 2 is 5, 5, 5, 2; 3 is 7, 6, 8, 3, with 6000 words of evidence.",
    )
    rounds: int = Field(
        default=1,
        ge=1,
        le=5,
        description="Rounds of research: after each but the last what the draft leaves open is looked up, and the "
        "sections concerned are written again.",
    )
    related_topics: int = Field(default=5, ge=0, le=20, description="Related articles whose contents are looked up.")

    search: str = Field(
        default="auto",
        min_length=1,
        description="Search engine, see `storm search engines`; auto: the first whose key is set, else one without a "
        "key where the network can be reached, else the embedded corpus.",
    )
    top_k: int = Field(
        default=3, ge=1, le=50, description="Results a query; twice as many for a section that lacks facts."
    )
    search_rate: float | None = Field(
        default=None, gt=0, le=1000, description="Searches a second at most; default: the engine's own rate."
    )
    language: str | None = Field(default=None, pattern="^[a-z]{2}$", description="Language of the sources, e.g. de.")
    region: str | None = Field(default=None, pattern="^[a-zA-Z]{2}$", description="Country to search from, e.g. ch.")
    since: date | None = Field(default=None, description="Earliest day of publication, e.g. 2020-01-31.")
    until: date | None = Field(default=None, description="Latest day of publication.")
    domains: tuple[str, ...] = Field(default=(), description="Only sources on this domain or below it.")
    without_domains: tuple[str, ...] = Field(default=(), description="No sources on this domain or below it.")
    read_pages: Literal["auto", "always", "never"] = Field(
        default="auto",
        description="Whether the pages that an engine finds are fetched and read, or its snippets alone; auto: "
        "for engines of the web.",
    )
    sources: Literal["auto", "strict", "standard", "any"] = Field(
        default="auto",
        description="Which sources may be used: any; standard: none that Wikipedia's editors hold unreliable, nor "
        "social media and the like; strict: only those known to be good; auto: standard for engines of the web.",
    )
    allow_sources: tuple[str, ...] = Field(default=(), description="A domain, or domain with path, always allowed.")
    deny_sources: tuple[str, ...] = Field(default=(), description="A domain, or domain with path, never allowed.")
    exclude_urls: tuple[str, ...] = Field(
        default=(), description="Pages never used, nor their mirrors: e.g. ground truth."
    )
    exclude_titles: tuple[str, ...] = Field(
        default=(), description="Wikipedia articles never used, nor copies of them."
    )
    search_cache: Literal["use", "off", "refresh", "replay"] = Field(
        default="use",
        description="Searches and pages remembered on disk; refresh: asked anew; replay: never asked, so that what "
        "is not remembered is an error.",
    )
    search_cache_days: float = Field(default=30.0, gt=0, description="Age in days at which they are asked again.")

    embedder: str = Field(
        default="all-MiniLM-L6-v2", min_length=1, description="Sentence-transformers model: name or folder."
    )
    answer_facts: int = Field(
        default=10, ge=1, le=100, description="Sentences of sources shown to the expert a question."
    )
    section_snippets: int = Field(default=16, ge=1, le=100, description="Snippets retrieved for a section.")
    section_facts: int = Field(
        default=16, ge=1, le=200, description="Sentences of sources shown to the writer a section."
    )
    section_words: int = Field(default=200, ge=30, le=5000, description="Target length of a section in words.")
    max_sections: int = Field(default=8, ge=1, le=50, description="First-level sections of an article at most.")
    outline_depth: int = Field(
        default=2, ge=1, le=6, description="Levels of headings (editors dislike many subsections)."
    )
    outline_words: int | None = Field(
        default=None, ge=100, description="Words of conversation shown when refining the outline."
    )
    writing: Literal["auto", "whole", "sentences"] = Field(
        default="auto",
        description="How sections and lead are written: whole, as in the paper, or sentence by sentence from one "
        "fact each, which small models do truthfully; auto: sentences where the writer is the embedded model.",
    )
    length: str = Field(
        default="standard",
        pattern=r"^(short|standard|long|[1-9]\d{2,4})$",
        coerce_numbers_to_str=True,
        description="Words of an article that is written whole, as far as its sources reach: short (800), standard "
        "(2400), long (4800), or a number from 100 on.",
    )
    evidence: int | None = Field(
        default=None,
        ge=200,
        description="Words of passages shown to the writer of a section, an answer gets two thirds; as far as the "
        "models' context windows have room: 1536 at 8192 tokens. Default 3000, at depth 3 6000.",
    )
    article_language: str = Field(
        default="en",
        pattern="^[a-z]{2}$",
        description="Language that the article is written in, e.g. de; sources may be in any.",
    )
    style: str | None = Field(default=None, max_length=500, description="How to write, such as 'for a general reader'.")
    uncited: Literal["drop", "keep"] = Field(
        default="drop", description="What happens to a sentence that no source supports."
    )

    out: Path = Field(default=Path("runs"), description="Folder in which a run's folder is made.")
    cache: Path = Field(default=Path("cache"), description="Folder of downloads; safe to delete.")

    @model_validator(mode="before")
    @classmethod
    def _deepen(cls, values: Any) -> Any:
        """What a depth stands for, where it was not set."""
        depth = str(values.get("depth") or "") if isinstance(values, dict) else ""
        return {**_DEPTHS[depth], **values, "depth": int(depth)} if depth in _DEPTHS else values

    @field_validator("out", "cache")
    @classmethod
    def _expand(cls, path: Path) -> Path:
        return path.expanduser()

    @classmethod
    def build(cls, values: Mapping[str, Any]) -> "Settings":
        """Validate keyword settings.

        Raises:
            SettingsError: one sentence that names the setting, what was given, and what is allowed.
        """
        try:
            return cls(**values)
        except ValidationError as error:
            raise SettingsError(_explain(error)) from None

    @property
    def calls_in_flight(self) -> int:
        """``workers``; one where a seed is to make the embedded model repeatable: batched calls round differently."""
        embedded = any(is_embedded(self.lm_of(role)) for role in ROLES)
        return 1 if self.seed is not None and embedded else self.workers

    @property
    def article_words(self) -> int:
        """Words that an article written whole should have, where its sources hold enough."""
        return _LENGTHS.get(self.length) or int(self.length)

    @property
    def evidence_words(self) -> int:
        """Words of passages that the writer of a section is shown at most, where the context window has room."""
        return self.evidence or _EVIDENCE

    @property
    def interview_words(self) -> int:
        """Words of the interviews that are shown to whoever refines the outline, where the window has room."""
        return self.outline_words or (_INTERVIEWS_BY_SENTENCE if self.writes_by_sentence else _INTERVIEWS)

    @property
    def language_name(self) -> str:
        """The article's language as a prompt names it; empty for English, which the prompts are in."""
        return "" if self.article_language == "en" else language_name(self.article_language)

    @property
    def writes_by_sentence(self) -> bool:
        """Whether sections are written sentence by sentence."""
        return self.writing == "sentences" or (self.writing == "auto" and is_embedded(self.lm_of("writer")))

    def lm_of(self, role: Role) -> str:
        """Name of the model that plays ``role``."""
        own: str | None = getattr(self, f"{role}_lm")
        return own or self.lm


def is_embedded(lm: str) -> bool:
    """Whether a model of this name runs in this process."""
    return lm.startswith(("embedded", "gguf:"))


def _explain(error: ValidationError) -> str:
    """The first complaint of pydantic, in the words of a user."""
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"there is no setting {name!r}; see `storm write --help` for those that exist"
    return f"setting {name!r} cannot be {first['input']!r}: {first['msg'].lower()}"
