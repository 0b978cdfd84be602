"""Every setting of a run, in one frozen value."""

from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Literal, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from storm_pipeline.errors import ContradictionError, InvalidSettingError, SettingsError
from storm_pipeline.text.configuration.addresses import redact
from storm_pipeline.text.configuration.setting_types import (
    IS_CONTENT,
    Content,
    Domains,
    Endpoint,
    EngineName,
    Folder,
    JudgeName,
    Length,
    ModelName,
    NumberOrNone,
    Pages,
    RoleModel,
    Temperature,
    Texts,
    TopP,
    Variable,
)
from storm_pipeline.text.configuration.variables import default_cache
from storm_pipeline.text.formatting import did_you_mean
from storm_pipeline.text.languages import language_name

_LENGTHS = {"short": 800, "standard": 2400, "long": 4800}
_ANSWER_LENGTHS = {"short": 150, "standard": 400, "long": 900}
_DEPTHS: dict[str, dict[str, int]] = {
    "1": {"perspectives": 3, "turns": 3, "top_k": 3},
    "2": {"perspectives": 5, "turns": 5, "top_k": 5},
    "3": {"perspectives": 7, "turns": 6, "top_k": 8, "evidence": 6000},
}
_PRESET = frozenset(name for preset in _DEPTHS.values() for name in preset)
"""Settings that ``depth`` sets unless they are given."""
_OF_THE_MODEL = frozenset({"api_base", "api_key_env"})
"""Settings that belong to ``lm``: a source that names another model discards those of less important sources."""
_SETS = Path(__file__).parent / "models" / "sets"  # folders of the package's compiled sets
_EVIDENCE = 3000
_INTERVIEWS = 4000
EXTRACTING = "embedded"
"""Name of the default model: instead of writing with it, an extract is made, unless ``writing`` says otherwise."""
_MOST = 10**12  # upper bound of integer settings without another bound: arithmetic with floats stays exact
MAX_TOPIC_LENGTH = 300
"""Maximum characters of a topic."""
Role = Literal["asker", "expert", "reader", "outliner", "writer", "reviewer", "judge"]
ROLES: tuple[Role, ...] = ("asker", "expert", "reader", "outliner", "writer", "reviewer", "judge")
_INSTEAD: dict[Role, str] = {"judge": "reviewer_lm", "reader": "expert_lm"}
"""Role → the role whose model it uses unless it has its own."""
CAPS = ("max_cost", "max_tokens", "max_minutes")
"""Caps on spending."""
_SHOWN = 300  # characters shown of an invalid name or value


class Settings(BaseModel):
    """Settings of a run. Defaults are the paper's (section 4.4) where it names a value.

    A language model is named as LiteLLM does (``openai/gpt-4o``, ``ollama_chat/qwen2.5:7b``), optionally followed
    by ``@URL`` of its endpoint; the provider may be left out where the name says it (``gpt-4o``). ``embedded`` is the
    pinned model that runs in this process, ``embedded:0.5b`` a smaller one (for tests), and ``gguf:PATH`` any other
    GGUF file. With ``embedded``, the default, an article is an extract, made without a model (``writing``);
    ``embedded:1.5b`` is the same model and writes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False)

    lm: ModelName = Field(
        default=EXTRACTING, min_length=1, description="Language model of all roles without a model of their own."
    )
    asker_lm: RoleModel = Field(
        default=None, description="Model that finds perspectives and asks questions; default: lm."
    )
    expert_lm: RoleModel = Field(default=None, description="Model that writes queries and answers; default: lm.")
    reader_lm: RoleModel = Field(
        default=None, description="Model that reads pages from end to end; default: expert_lm, else lm."
    )
    outliner_lm: RoleModel = Field(default=None, description="Model that drafts and refines the outline; default: lm.")
    writer_lm: RoleModel = Field(default=None, description="Model that writes sections and lead; default: lm.")
    reviewer_lm: RoleModel = Field(
        default=None, description="Model that edits the sections (writing: whole); default: lm."
    )
    judge_lm: RoleModel = Field(
        default=None, description="Model that judges the sentences; default: reviewer_lm, else lm."
    )
    api_base: Endpoint = Field(
        default=None,
        description="Base URL of lm's endpoint, e.g. http://localhost:8000/v1; ${NAME} in it is read from the "
        "environment.",
    )
    api_key_env: Variable = Field(default=None, description="Name of the environment variable that holds the API key.")
    temperature: Content[Temperature] = Field(
        default=None,
        description="Sampling temperature, 0 to 2; none: not sent. Default: 1.0 as in the paper, 0.7 for the embedded "
        "model.",
    )
    top_p: Content[TopP] = Field(
        default=None,
        description="Nucleus sampling (top-p), above 0 to 1; none: not sent. Default: 0.9 as in the paper, 0.8 for the "
        "embedded model.",
    )
    seed: Content[NumberOrNone] = Field(
        default=None,
        ge=0,
        le=2**63 - 1,
        description="Makes runs with the embedded model repeatable; its calls then run one by one. none: not sent.",
    )
    reply_tokens: NumberOrNone = Field(
        default=None, ge=16, le=_MOST, description="Maximum tokens per reply; default, or none: the model's own."
    )
    context: int | None = Field(
        default=None,
        ge=2048,
        le=_MOST,
        description="Tokens that a model's context window holds, prompt and reply together; default: from LiteLLM's "
        "table or the embedded server, else 16384.",
    )
    structured: Literal["auto", "always", "never"] = Field(
        default="auto",
        description="Whether a JSON schema constrains typed replies; auto: if the model is known to support it.",
    )
    lm_timeout: float = Field(default=300.0, gt=0, le=3600, description="Time limit of a reply in seconds.")
    call_attempts: int = Field(default=5, ge=1, le=20, description="Attempts per call on transient errors.")
    parse_attempts: int = Field(
        default=3, ge=1, le=10, description="Replies drawn per call until one has the requested form."
    )
    workers: int = Field(default=8, ge=1, le=256, description="Concurrent model calls per run.")
    process_workers: int = Field(
        default=32, ge=1, le=1024, description="Concurrent model calls per endpoint, over all runs of this process."
    )
    tokens_per_minute: int | None = Field(
        default=None,
        ge=1,
        le=_MOST,
        description="Maximum tokens per minute and endpoint, prompts and expected replies together, over all runs of "
        "this process or batch.",
    )
    prices: Texts = Field(
        default=(), description="Price of a model: MODEL=IN/OUT or MODEL=IN/CACHED/OUT, in dollars per million tokens."
    )
    max_cost: float | None = Field(
        default=None,
        gt=0,
        description="Cap on a run's cost in dollars; research may use only a part, which leaves enough for writing.",
    )
    max_tokens: int | None = Field(
        default=None,
        ge=1,
        le=_MOST,
        description="Cap on a run's prompt and completion tokens; shared out like --max-cost.",
    )
    max_minutes: float | None = Field(
        default=None, gt=0, description="Cap on a run's minutes; shared out like --max-cost."
    )
    programs: Path | None = Field(
        default=None,
        description="Folder of a compiled set: programs that `storm compile` improved for a model; off: none. Default: "
        "the package's own set for the embedded model.",
    )
    max_failures: int = Field(
        default=20, ge=0, le=_MOST, description="Failed pieces that a run tolerates before it is aborted."
    )

    perspectives: Content[int] = Field(
        default=5, ge=0, le=20, description="N: perspectives beside the basic fact writer."
    )
    turns: Content[int] = Field(default=5, ge=1, le=20, description="M: maximum turns per conversation.")
    queries: Content[int] = Field(default=3, ge=1, le=5, description="Maximum search queries per question.")
    depth: Content[Literal[1, 2, 3] | None] = Field(
        default=None,
        description="Preset of perspectives, turns and top_k: 1 is 3, 3, 3; 2 is 5, 5, 5; 3 is 7, 6, 8, with 6000 "
        "words of evidence.",
    )
    related_topics: Content[int] = Field(
        default=5, ge=0, le=20, description="Related articles whose tables of contents are read."
    )
    wikipedia_contents: Literal["auto", "always", "never"] = Field(
        default="auto",
        description="Whether those tables of contents are looked up in Wikipedia; auto: unless only your own documents "
        "are searched; then only model requests and DOIs (`dois`) leave the machine.",
    )

    search: EngineName = Field(
        default="auto",
        min_length=1,
        description="Search engine, see `storm search engines`; auto: the first whose key is set, else one that needs "
        "no key if the network is up, else the embedded corpus.",
    )
    dois: Literal["ask", "never"] = Field(
        default="ask",
        description="Whether Crossref is asked for author, year and journal of your own documents with a DOI but "
        "without these; only the DOIs are sent.",
    )
    top_k: Content[int] = Field(
        default=5, ge=1, le=50, description="Results per query; twice as many for a section that lacks facts."
    )
    search_rate: float | None = Field(
        default=None, ge=0.001, le=1000, description="Maximum searches per second; default: the engine's own rate."
    )
    source_language: Content[str | None] = Field(
        default=None, pattern="^[a-z]{2}$", description="Language of the sources, e.g. de."
    )
    region: Content[str | None] = Field(
        default=None, pattern="^[a-zA-Z]{2}$", description="Country to search from, e.g. ch."
    )
    since: Content[date | None] = Field(default=None, description="Earliest publication date, e.g. 2020-01-31.")
    until: Content[date | None] = Field(default=None, description="Latest publication date.")
    domains: Content[Domains] = Field(default=(), description="Use only sources on this domain and its subdomains.")
    read_pages: Literal["auto", "always", "never"] = Field(
        default="auto",
        description="Whether to read the full pages that an engine finds instead of its snippets only; auto: "
        "for web engines.",
    )
    source_policy: Content[Literal["auto", "strict", "standard", "any"]] = Field(
        default="auto",
        description="Which sources may be used: any; standard: none that Wikipedia's editors rate unreliable, nor "
        "social media and the like, but preprints; strict: only those known to be reliable; auto: standard for web "
        "engines.",
    )
    allow_sources: Content[Texts] = Field(default=(), description="A domain, or domain/path, that is always allowed.")
    deny_sources: Content[Texts] = Field(default=(), description="A domain, or domain/path, that is never allowed.")
    exclude_urls: Content[Pages] = Field(
        default=(), description="Pages to exclude, mirrors included, e.g. ground truth."
    )
    exclude_titles: Content[Texts] = Field(default=(), description="Wikipedia articles to exclude, copies included.")
    search_cache: Literal["use", "off", "refresh", "replay"] = Field(
        default="use",
        description="Cache of searches and pages on disk, for 30 days; refresh: fetch again and replace; replay: read "
        "the cache only, where a miss is an error.",
    )

    embedder: str = Field(
        default="all-MiniLM-L6-v2",
        min_length=1,
        description="Sentence-transformers model: hub name, or folder as /…, ./… or ~/….",
    )
    answer_facts: Content[int] = Field(
        default=10, ge=1, le=100, description="Source sentences shown to the expert per question."
    )
    section_facts: Content[int] = Field(
        default=5,
        ge=1,
        le=200,
        description="Source sentences that an extract tells, per section of an article of five; more each if there "
        "are fewer sections (writing: sentences).",
    )
    max_sections: Content[int] = Field(
        default=8, ge=1, le=50, description="Maximum first-level sections of an article."
    )
    outline_depth: Content[int] = Field(default=2, ge=1, le=6, description="Maximum heading levels of the outline.")
    outline_words: Content[int | None] = Field(
        default=None, ge=100, le=_MOST, description="Words of conversation shown when refining the outline."
    )
    writing: Content[Literal["auto", "whole", "sentences"]] = Field(
        default="auto",
        description="How an article or answer is written: whole, by a language model, as in the paper; sentences: an "
        "extract of the sources' own, for which no model is asked; auto: sentences if the writer is the "
        "default, embedded (not embedded:1.5b).",
    )
    answers: Content[Literal["plain", "outlined"]] = Field(
        default="plain",
        description="How interviews' answers and new sections are written (writing: whole): plain, in one call; "
        "outlined: with a call before it that outlines the text, each point with its passages (FoRAG). Answers of "
        "`storm answer` always are.",
    )
    length: Content[Length] = Field(
        default="standard",
        json_schema_extra={"type": ["string", "integer"], "minimum": 100, "maximum": 99999},
        description="Target words of an article (not of an extract), if its sources suffice: short (800), standard "
        "(2400), long (4800), or a number of at least 100; for answers, short is 150, standard 400, long 900.",
    )
    evidence: Content[int | None] = Field(
        default=None,
        ge=200,
        le=_MOST,
        description="Words of passages shown to the writer per section; two thirds of it per answer; less where a "
        "model's context window is too small (1536 at 8192 tokens). Default: 3000, at depth 3 6000.",
    )
    reading_tokens: Content[int] = Field(
        default=32_000,
        ge=0,
        le=_MOST,
        description="Tokens of the pages that a model chooses to read from end to end (recipe storm-iterative), "
        "at most eight; 0: none is.",
    )
    article_language: Content[str] = Field(
        default="en", pattern="^[a-z]{2}$", description="Language of the article, e.g. de; sources may be in any."
    )
    about: Content[str | None] = Field(
        default=None,
        max_length=4000,
        description="More on the topic for research, outline and writers: which of several things is meant, or the "
        "abstract of a paper whose related work is written.",
    )
    style: Content[str | None] = Field(
        default=None, max_length=500, description="Writing style, e.g. 'for a general reader'."
    )
    editing: Content[Literal["on", "off"]] = Field(
        default="on", description="Whether a copy editor goes over the sections (writing: whole)."
    )
    uncited: Content[Literal["drop", "keep", "unchecked"]] = Field(
        default="drop",
        description="What to do with a sentence that no source supports: drop it, or keep it without a citation; "
        "unchecked: texts stay as their writer cited them, as in the paper (writing: whole).",
    )
    judge: JudgeName = Field(
        default="auto",
        description="What judges, beside a check of similarity and numbers, whether passages support the sentences "
        "(writing: whole): auto, the language model unless it is embedded; off, or screen, nothing; model; or the "
        "hub name, or folder (/…, ./…, ~/…), of a cross-encoder, of "
        "one score or with a label for entailment. What the judge doubts "
        "goes back to the writer.",
    )

    out: Folder = Field(default=Path("runs"), description="Folder that run folders are created in.")
    cache: Folder = Field(
        default_factory=default_cache,
        description="Folder for downloads, searches and pages; safe to delete. Default: $STORM_HOME/cache, else the "
        "user's cache folder.",
    )

    @model_validator(mode="before")
    @classmethod
    def _apply_depth(cls, values: Any) -> Any:
        """Fill in the preset of a depth for the settings that were not given."""
        given = values.get("depth") if isinstance(values, dict) else None
        depth = str(given) if isinstance(given, int | str) else ""
        return {**_DEPTHS[depth], **values, "depth": int(depth)} if depth in _DEPTHS else values

    @model_validator(mode="after")
    def _check_period(self) -> "Settings":
        if self.since and self.until and self.since > self.until:
            raise ValueError(f"since ({self.since}) is later than until ({self.until}): exchange them")
        return self

    @classmethod
    def build(cls, values: Mapping[str, Any]) -> "Settings":
        """Validate keyword settings.

        Raises SettingsError: a value is invalid; the message names the setting, the value, and what is allowed.
        """
        try:
            return cls(**values)
        except ValidationError as error:
            raise first_error(error) from None

    @property
    def calls_in_flight(self) -> int:
        """``workers``, or 1 if the embedded model has a seed: batched calls round differently."""
        embedded = any(map(is_embedded, self.models))
        return 1 if self.seed is not None and embedded else self.workers

    @property
    def article_words(self) -> int:
        """Target words of an article."""
        return _LENGTHS.get(self.length) or int(self.length)

    @property
    def answer_words(self) -> int:
        """Target words of the answer to a question."""
        return _ANSWER_LENGTHS.get(self.length) or int(self.length)

    @property
    def evidence_words(self) -> int:
        """Maximum words of passages shown to the writer of a section, if they fit its context window."""
        return self.evidence or _EVIDENCE

    @property
    def interview_words(self) -> int:
        """Maximum words of the interviews shown when the outline is refined, if they fit the context window."""
        return self.outline_words or _INTERVIEWS

    @property
    def language_name(self) -> str:
        """The article's language as prompts name it; empty for English, the language of the prompts."""
        return "" if self.article_language == "en" else language_name(self.article_language)

    @property
    def compiled_set(self) -> Path | None:
        """Folder of the compiled set: ``programs``, else the package's set for the outliner's model, if any."""
        if self.programs:
            return None if self.programs == Path("off") else self.programs
        return _SETS / "embedded" if self.lm_of("outliner") == "embedded" else None

    @property
    def is_extract(self) -> bool:
        """Whether an article is an extract of the sources' sentences, made without a language model."""
        return self.writing == "sentences" or (self.writing == "auto" and self.lm_of("writer") == EXTRACTING)

    @property
    def judge_of_run(self) -> str:
        """``judge`` with ``auto`` resolved: ``model`` if it costs no time of this process.

        ``screen`` for extracts, which ask no language model.
        """
        return "screen" if self.is_extract and self.judge in {"auto", "model"} else self.judge_of_articles

    @property
    def judge_of_articles(self) -> str:
        """``judge`` of ``storm check`` with ``auto`` resolved: ``model`` if one is configured that is not embedded."""
        if self.judge != "auto":
            return self.judge
        return "screen" if is_embedded(self.lm_of("judge")) else "model"

    @property
    def models(self) -> tuple[str, ...]:
        """Distinct names of the models that a run asks."""
        return () if self.is_extract else tuple(dict.fromkeys(map(self.lm_of, ROLES)))

    def lm_of(self, role: Role) -> str:
        """Return the name of the model that plays ``role``."""
        lm: str = getattr(self, self.names_model_of(role))
        return lm

    def names_model_of(self, role: Role) -> str:
        """Return the setting that names a role's model: its own, that of the role whose model it uses, or ``lm``."""
        role_settings = (f"{role}_lm", *filter(None, [_INSTEAD.get(role)]))
        return next((name for name in role_settings if getattr(self, name)), "lm")


CONTENT = frozenset(name for name, field in Settings.model_fields.items() if IS_CONTENT in field.metadata)
"""Settings of content: the only ones that a folder's files, a list of topics or another user's run may set."""


def is_embedded(lm: str) -> bool:
    """Return whether a model of this name runs in this process."""
    return lm.startswith(("embedded", "gguf:"))


def discarded_settings(given: Iterable[str]) -> frozenset[str]:
    """Return the settings of less important sources that the given ones discard without naming them."""
    return (_PRESET if "depth" in given else frozenset()) | (_OF_THE_MODEL if "lm" in given else frozenset())


def option_name(setting: str) -> str:
    """Return a setting's command-line option: ``max_sections`` → ``--max-sections``; singular if repeatable."""
    many = get_origin(Settings.model_fields[setting].annotation) is tuple
    return "--" + (setting.removesuffix("s") if many else setting).replace("_", "-")


def no_such_setting(name: str, others: Iterable[str] = ()) -> str:
    """Return the message for an unknown setting; ``others``: names other than settings that the user may mean."""
    name = name[:_SHOWN]
    hint = did_you_mean(name, [*Settings.model_fields, *others], "see `storm write --help-all` for those that exist")
    return f"there is no setting {name!r}; {hint}"


def first_error(error: ValidationError) -> SettingsError:
    """Return the first validation error, naming the setting and its option."""
    first = error.errors()[0]
    name = str(first["loc"][0]) if first["loc"] else ""
    cause = first.get("ctx", {}).get("error")
    why = str(cause) if isinstance(cause, ValueError) else first["msg"].lower()
    if first["type"] == "extra_forbidden":
        return SettingsError(no_such_setting(name))
    if first["type"] == "json_invalid":
        return SettingsError(f"the settings are not JSON: {why}")
    if not name:
        return ContradictionError(why)
    if name == "api_key_env":  # the value may be the key itself, which no message repeats
        return InvalidSettingError(f"setting 'api_key_env' ({option_name(name)}) cannot be that: {why}", name)
    places = [part for part in first["loc"][1:] if isinstance(part, int)]  # further errors are alternatives of a union
    try:
        value = redact(repr(first["input"]))[:_SHOWN]
    except (ValueError, RecursionError):  # a number of thousands of digits, or too many lists in each other
        value = "so much"
    where = ".".join([name, *map(str, places)])
    return InvalidSettingError(f"setting {where!r} cannot be {value} ({option_name(name)}): {why}", name)
