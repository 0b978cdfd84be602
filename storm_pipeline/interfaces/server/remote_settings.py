"""Orders of remote callers: runs, settings from an allow-list that the server's owner can extend, and formats."""

import json
import re
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, create_model, model_validator

from storm_pipeline.errors import InvalidSettingError, SettingsError
from storm_pipeline.interfaces.server.documents import ID
from storm_pipeline.interfaces.server.places import caller_name, make_places
from storm_pipeline.method.context import MOST_SECTIONS
from storm_pipeline.method.saved_settings import changed_settings
from storm_pipeline.output.export.formats import FORMATS, TEXTS, ArticleFormat, as_text, export
from storm_pipeline.run.folder import SavedSettings
from storm_pipeline.settings import (
    CAPS,
    CONTENT,
    MAX_TOPIC_LENGTH,
    ROLES,
    Settings,
    discarded_settings,
    first_error,
    no_such_setting,
)
from storm_pipeline.text.formatting import is_printable
from storm_pipeline.types import Article

FREE = CONTENT - {"editing", "source_policy", "allow_sources"}
"""Settings of a run's size, subject or wording; free for callers unless set by the owner."""
BY_VALUE = frozenset({*(f"{role}_lm" for role in ROLES), "lm", "search", "embedder", "judge", "programs"})
"""Settings that can name files or services: the owner allows single values."""
_LOCKED = frozenset("out cache api_base api_key_env prices".split())  # settings that callers must not choose
STYLE = "[a-z0-9][a-z0-9-]{0,99}"
"""Regular expression for names of citation styles."""
_EXACT = 2.0**53  # above it floats skip integers
_KNOWN = TEXTS | FORMATS
_WITH_RESEARCH = "json"
_CONVERSIONS = make_places("conversions", 4)  # each may use 500 MB for 100 seconds
_VISIBLE, _BLANK = r"\p{L}\p{M}\p{N}\p{P}\p{S}", r"\s\u200c\u200d"
_TOPIC = f"^[{_BLANK}]*[{_VISIBLE}][{_VISIBLE}{_BLANK}]*$"
"""Pattern of a topic for clients: not blank, without control characters."""


class Order(BaseModel, extra="forbid"):
    """An order of a remote caller, from JSON or a form."""

    @model_validator(mode="before")
    @classmethod
    def _require_encodable(cls, values: object) -> object:
        """Refuse halves of surrogate pairs, which JSON may have and no file can."""
        try:
            json.dumps(values, ensure_ascii=False, default=str).encode()
        except UnicodeEncodeError:
            raise ValueError("a text has half of a surrogate pair, which UTF-8 cannot encode") from None
        except RecursionError:
            raise ValueError("it is nested too deep") from None
        return values

    @classmethod
    def of(cls, **values: Any) -> Self:
        """Return the order that a form makes. Raises SettingsError: a value has another form."""
        try:
            return cls(**values)
        except ValidationError as error:
            first = error.errors()[0]
            name = str(first["loc"][0]) if first["loc"] else "order"  # of a text that UTF-8 cannot encode
            raise InvalidSettingError(f"{name}: {first['msg']}", name) from None


def _few_lines(outline: str) -> str:
    if len(outline.splitlines()) > MOST_SECTIONS:
        raise ValueError(f"it has more than {MOST_SECTIONS:,} lines: send fewer")
    return outline


_Outline = Annotated[str, Field(max_length=50_000), AfterValidator(_few_lines)]


class RunOrder(Order):
    """The body of a request for a new run."""

    topic: str = Field(
        description=f"Topic of the article, at most {MAX_TOPIC_LENGTH} characters.",
        json_schema_extra={"minLength": 1, "maxLength": MAX_TOPIC_LENGTH, "pattern": _TOPIC},
        examples=["Silk Road"],
    )
    makes: Literal["article", "outline"] = "article"
    recipe: str | None = Field(
        default=None, description="Name of the method; default: that of `storm write` or `storm outline`."
    )
    outline: _Outline | None = Field(
        default=None,
        description=f"Headings of the article: '#' headings or a list, of at most {MOST_SECTIONS:,} lines.",
        json_schema_extra={"pattern": r"\S"},
        examples=["# Trade\n# Caravans\n"],
    )
    settings: dict[str, Any] = Field(default_factory=dict, description="Settings that callers may choose.")
    documents: str | None = Field(
        default=None, pattern=ID, description="Name of a set of documents, which alone is searched."
    )


class ResumeOrder(Order):
    """The optional body of a request to resume a run."""

    settings: dict[str, Any] = Field(default_factory=dict, description="Settings to change, such as a cap.")


def _line(text: str) -> str:
    if not is_printable(line := " ".join(text.split())):
        raise ValueError("it has control characters")
    return line


_Line = Annotated[str, AfterValidator(_line), Field(json_schema_extra={"pattern": f"^[{_VISIBLE}{_BLANK}]*$"})]


class Interviewer(BaseModel, extra="forbid"):
    """A perspective of an order."""

    name: _Line = Field(examples=["Weaver"])
    focus: _Line = Field(examples=["Looms and dyes."])


class ContinueOrder(Order):
    """The body of a request for an article from edited pieces of a run."""

    outline: _Outline | None = Field(
        default=None, description="Headings as Markdown; default: those of the run, made anew."
    )
    perspectives: list[Interviewer] | None = Field(
        default=None, max_length=50, description="Perspectives of the interviews; default: those of the run."
    )


class QuestionOrder(Order):
    """The body of a question about an article."""

    question: str = Field(
        max_length=MAX_TOPIC_LENGTH,
        json_schema_extra={"minLength": 1, "pattern": _TOPIC},
        examples=["Who travelled the road?"],
    )


@dataclass(frozen=True)
class RemoteSettings:
    """The settings of a server's runs, some of which callers may choose."""

    owner: Settings  # settings of every run; explicit ones are fixed for callers
    # further settings that callers may choose → allowed values as text; None: every value
    allowed: Mapping[str, frozenset[str] | None] = field(default_factory=dict)

    @classmethod
    def build(cls, owner: Settings, allow: Iterable[str] = ()) -> Self:
        """Parse the owner's allow-list: ``NAME`` for every value of a setting, ``NAME=VALUE`` for one.

        Raises SettingsError: an unknown setting, or one that cannot be allowed in this form.
        """
        allowed: dict[str, frozenset[str] | None] = {}
        for rule in allow:
            name, given, value = rule.partition("=")
            name = name.strip().replace("-", "_")
            if name not in Settings.model_fields:
                raise SettingsError(f"--allow: {no_such_setting(name)}")
            if name in _LOCKED:
                raise SettingsError(f"remote callers can never choose {name!r}: it names folders, endpoints or keys")
            if name in BY_VALUE and not given:
                raise SettingsError(
                    f"{name!r} can name files and services: allow single values of it, such as --allow {name}=VALUE"
                )
            before = allowed.get(name, frozenset[str]())
            allowed[name] = before | {value} if given and before is not None else None
        return cls(owner, allowed)

    def for_new_run(self, given: Mapping[str, Any]) -> Settings:
        """Return the settings of a new run with the caller's; None counts as not given.

        Raises SettingsError: a setting is not allowed, or its value is invalid.
        """
        chosen = self._validate(given)
        return Settings.build({**self._owners(chosen.get("lm")), **chosen})

    def for_resuming(self, saved: SavedSettings, given: Mapping[str, Any]) -> Settings:
        """Return the settings of a run's next session from its saved ones and the caller's.

        The owner's settings apply. Saved settings that callers may choose apply unless given, and saved caps below the
        owner's; other saved settings are ignored, since the run may be foreign. Raises SettingsError: as for
        :meth:`for_new_run`, or the saved settings are no longer valid.
        """
        may_stay = (CONTENT | set(CAPS) | set(self.allowed)) & saved.keys()
        kept = {name: saved[name] for name in may_stay if self.is_allowed(name, saved[name])}
        chosen = self._validate(given)
        owners = self._owners(chosen.get("lm", kept.get("lm")))
        owners = {name: value for name, value in owners.items() if name not in self.allowed.keys() & kept}
        for name in CAPS:
            if name in owners and isinstance(saved.get(name), int | float):
                owners[name] = min(owners[name], saved[name])
        merged = changed_settings(kept, Settings.build({**owners, **chosen}))
        return Settings.build(merged.model_dump())

    def choices(self) -> tuple[str, ...]:
        """Return the names of the settings that a caller may choose, sorted."""
        return tuple(sorted((FREE - self.owner.model_fields_set) | set(CAPS) | set(self.allowed)))

    def json_schema(self) -> dict[str, Any]:
        """Return a JSON schema of the settings that a caller may choose and their values; None counts as not given."""
        known = self._chosen.model_json_schema()["properties"]
        return {
            "title": "ChosenSettings",
            "description": "Settings of a run that callers may choose; the others are the server's.",
            "type": "object",
            "properties": {name: self._schema_within_caps(name, known[name]) for name in self.choices()},
            "additionalProperties": False,
        }

    @cached_property
    def _chosen(self) -> type[BaseModel]:
        """Return the pydantic model of a caller's settings, strict on JSON types: no text for a number."""
        fields = {name: Settings.model_fields[name] for name in self.choices()}
        types: dict[str, Any] = {name: (field.annotation, copy(field)) for name, field in fields.items()}
        return create_model("ChosenSettings", __config__=ConfigDict(strict=True, allow_inf_nan=False), **types)

    def _schema_within_caps(self, name: str, schema: dict[str, Any]) -> dict[str, Any]:
        about = {key: schema.pop(key) for key in ("title", "description") if key in schema}
        schema.pop("default", None)
        forms = [s for s in schema.pop("anyOf", None) or [schema] if s.get("type") != "null"]
        if allowed := self.allowed.get(name):
            forms = [{"enum": sorted(allowed)}]
        elif name in CAPS and (cap := getattr(self.owner, name)) is not None:
            forms = [{**schema_form, "maximum": cap} for schema_form in forms]
        return about | {"anyOf": [*forms, {"type": "null"}]}

    def _owners(self, lm: str | None) -> dict[str, Any]:
        """Return the owner's settings; for another model than the owner's, without the address and key of that."""
        dropped = discarded_settings({"lm"}) if lm not in (None, self.owner.lm) else frozenset[str]()
        explicit = {name: getattr(self.owner, name) for name in self.owner.model_fields_set - dropped}
        return {name: value for name, value in explicit.items() if value is not None}

    def _validate(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the validated settings of a caller. Raises SettingsError: one is not allowed or invalid."""
        values = {name: _whole(value) for name, value in given.items() if value is not None}
        choices = ", ".join(self.choices())
        for name, value in values.items():
            if name not in Settings.model_fields:
                raise SettingsError(f"{no_such_setting(name)}; callers may choose {choices}")
            if name not in self.choices():
                raise SettingsError(f"callers of this server may not choose {name!r}; they may choose {choices}")
            if not self.is_allowed(name, value):
                known = ", ".join(sorted(self.allowed[name] or ()))
                raise InvalidSettingError(f"callers of this server may choose {name!r} from: {known}", name)
            cap = getattr(self.owner, name) if name in CAPS and name not in self.allowed else None
            if cap is not None and getattr(Settings.build({name: value}), name) > cap:
                raise InvalidSettingError(f"setting {name!r} may be at most {cap:g} on this server", name)
        try:
            self._chosen.model_validate_json(json.dumps(values))
        except ValidationError as error:
            raise first_error(error) from None
        return values

    def services(self, chosen: Mapping[str, Any]) -> dict[str, Any]:
        """Return the models and engines among settings that a caller chose."""
        names = BY_VALUE & self.allowed.keys() & chosen.keys()
        return {name: chosen[name] for name in names if chosen[name] is not None}

    def is_allowed(self, name: str, value: Any) -> bool:
        """Return whether the owner allows a value, if only single values are allowed."""
        known = self.allowed.get(name)
        return known is None or str(value) in known


def _whole(value: Any) -> Any:
    """Return a whole number (in JSON also 3.0) as an int; other values unchanged."""
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT else value


def article_formats(of_shared: bool = False) -> tuple[ArticleFormat, ...]:  # noqa: FBT001, FBT002
    """Return all formats, Markdown first; ``of_shared``: those of read-only links, which never have the research."""
    return tuple(known for known in _KNOWN.values() if not (of_shared and known.name == _WITH_RESEARCH))


def article_format(name: str, *, of_shared: bool = False) -> ArticleFormat:
    """Return the format with this name, or raise SettingsError, which lists the formats, if there is none."""
    known = {format_.name: format_ for format_ in article_formats(of_shared)}
    if name not in known:
        raise SettingsError(f"no format is called {name!r}; choose from: {', '.join(known)}")
    return known[name]


def article_as(article: Article, name: str, *, citation_style: str | None = None) -> bytes:
    """Return an article as the content of a file.

    ``citation_style``: name of a CSL style for the reference list of an export format; never a file. Raises
    SettingsError, MissingExtraError: no format or style has this name, or it needs a library that is not installed.
    """
    chosen = article_format(name).name
    if citation_style is not None and not re.fullmatch(STYLE, citation_style):
        raise SettingsError("a citation style is given by its name, such as apa, ieee or chicago-author-date")
    if chosen in TEXTS:
        return as_text(article, chosen)
    with _CONVERSIONS.hold(caller_name()):
        return export(article, chosen, citation_style=citation_style)
