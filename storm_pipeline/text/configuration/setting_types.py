"""Types of settings that need more than a range, so that invalid values are found before a run begins."""

from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field

from storm_pipeline.text.configuration.addresses import endpoint, is_web_address, without_secrets
from storm_pipeline.text.configuration.variables import model_and_endpoint, qualify

T = TypeVar("T")
IS_CONTENT = "content"
Content = Annotated[T, IS_CONTENT]
"""Type of a content setting, which files of other users may set too.

Never one that names an address, a key, a model, a command, a folder, an engine or a judge, or that spends money, reads
files or reaches the network.
"""
NONE: Literal["none"] = "none"  # value of a sampling setting that is left out of requests


def _model(name: str) -> str:
    model, base = model_and_endpoint(name)
    if not model.strip() or model.endswith("/") or not model.isprintable():
        raise ValueError("write provider/model, such as openai/gpt-4o, or 'embedded'")
    if base:
        endpoint(base)
    return qualify(name)


def _variable(name: str) -> str:
    if not (name.isascii() and name.isidentifier()):
        raise ValueError("write the name of an environment variable, such as OPENAI_API_KEY")
    return name


def _domain(text: str) -> str:
    text = text.strip()
    if not all(part and all(char.isalnum() or char in "_-" for char in part) for part in text.strip(".").split(".")):
        raise ValueError("write a domain without scheme and path, such as example.org")
    return text


def _page(text: str) -> str:
    text = text.strip(" \t\n\r\v\f")
    if not is_web_address(text):
        raise ValueError("write the address of a page, such as https://example.org/page")
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("it is empty")
    return text


def _named_folder(path: Any) -> Any:
    if isinstance(path, str) and (not path.strip() or "\0" in path):
        raise ValueError("name a folder, such as . for the current one")
    return path


def _expand(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError as error:  # no such user
        raise ValueError("its user is unknown") from error


def _lower_none(value: Any) -> Any:
    return NONE if isinstance(value, str) and value.strip().lower() == NONE else value


Temperature = Annotated[Annotated[float, Field(ge=0, le=2)] | Literal["none"] | None, BeforeValidator(_lower_none)]
TopP = Annotated[Annotated[float, Field(gt=0, le=1)] | Literal["none"] | None, BeforeValidator(_lower_none)]
NumberOrNone = Annotated[int | None, BeforeValidator(lambda value: None if _lower_none(value) == NONE else value)]
ModelName = Annotated[str, AfterValidator(_model)]
RoleModel = ModelName | None
JudgeName = Annotated[str, Field(min_length=1), AfterValidator(lambda name: "screen" if name == "off" else name)]
EngineName = Annotated[str, AfterValidator(without_secrets)]
Endpoint = Annotated[str, AfterValidator(endpoint)] | None
Variable = Annotated[str, AfterValidator(_variable)] | None


# Patterns for clients; the validators give better messages.
_LABEL = r"[\p{L}\p{N}_-]+"
_DOMAIN = rf"^\s*\.*{_LABEL}(\.{_LABEL})*\.*\s*$"
_BLANK = r"\s\x1c-\x1f\x85"  # what Python takes for white space
_PAGE = rf"^\s*https?://{_LABEL}(\.{_LABEL})*(:[1-9]\d{{0,3}})?([/?#][^{_BLANK}\x00]*)?\s*$"
Domains = tuple[Annotated[str, AfterValidator(_domain), Field(json_schema_extra={"pattern": _DOMAIN})], ...]
Pages = tuple[Annotated[str, AfterValidator(_page), Field(json_schema_extra={"pattern": _PAGE})], ...]
Texts = tuple[Annotated[str, AfterValidator(_not_blank), Field(json_schema_extra={"pattern": rf"[^{_BLANK}]"})], ...]
Length = Annotated[
    str,
    Field(pattern=r"^(short|standard|long|[1-9]\d{2,4})$"),
    BeforeValidator(lambda given: str(given) if type(given) is int else given),
]
Folder = Annotated[Path, BeforeValidator(_named_folder), AfterValidator(_expand)]
