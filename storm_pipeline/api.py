"""What other distributions build on beyond the public names and the modules of the reference (``docs/reference``).

All else may change without notice.

Importing the module is cheap: a name's module is imported when the name is first used. ``__all__`` lists the names; a
test holds their number, so that the surface grows by decision only.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from storm_pipeline.assets import EMBEDDED_MODELS, catalogue, fetch
    from storm_pipeline.cli.consent import require_consent, settings_known
    from storm_pipeline.cli.guard import Guard
    from storm_pipeline.cli.options import SettingsCommand
    from storm_pipeline.cli.output import say, table_text
    from storm_pipeline.cli.signals import stopping
    from storm_pipeline.concurrency import Tasks, parallel_map, torch_threads, tune_process
    from storm_pipeline.configuration import renamed
    from storm_pipeline.configuration.addresses import redacted, without_secrets
    from storm_pipeline.documents.articles.reference_list import is_back_matter
    from storm_pipeline.documents.chunks import chunks, count_words
    from storm_pipeline.documents.plain import objects, plain_text, readable_title, web_address
    from storm_pipeline.files import cannot_write, read_bounded, write_atomically
    from storm_pipeline.identity import source_id
    from storm_pipeline.models.asking import LanguageModels
    from storm_pipeline.models.llama_server import shared_server
    from storm_pipeline.models.open_models import open_models
    from storm_pipeline.models.programs import Program, Programs
    from storm_pipeline.models.prompt_adapter import PromptAdapter
    from storm_pipeline.optimize.soft_recall import soft_recall
    from storm_pipeline.pages.extract import is_interstitial
    from storm_pipeline.pages.reading import WebPages
    from storm_pipeline.references.citations import parse_cited
    from storm_pipeline.render.json import from_json
    from storm_pipeline.render.markdown import escape
    from storm_pipeline.render.page import page_environment
    from storm_pipeline.retrieval.lexical import LexicalIndex
    from storm_pipeline.retrieval.model_files import loading, options_without_code
    from storm_pipeline.run.journal import Journal, fingerprint
    from storm_pipeline.run.locking import locked, read_state
    from storm_pipeline.run.search import open_engine
    from storm_pipeline.search.edge import checked
    from storm_pipeline.search.paging import best_passages
    from storm_pipeline.search.registry import choose
    from storm_pipeline.sources.ground_truth import GroundTruth, repeats_wikipedia, wikipedia_article
    from storm_pipeline.sqlite_cache import SqliteCache
    from storm_pipeline.text.fitting import most_tokens
    from storm_pipeline.text.index_terms import terms
    from storm_pipeline.text.prose import statements_in
    from storm_pipeline.text.sentences import is_complete, opening_of, split_sentences
    from storm_pipeline.text.words import MARKER, folded_words, numbers, overlap, tidy, words
    from storm_pipeline.writers.small.self_contained import in_context

__all__ = [
    "EMBEDDED_MODELS",
    "MARKER",
    "GroundTruth",
    "Guard",
    "Journal",
    "LanguageModels",
    "LexicalIndex",
    "Program",
    "Programs",
    "PromptAdapter",
    "SettingsCommand",
    "SqliteCache",
    "Tasks",
    "WebPages",
    "best_passages",
    "cannot_write",
    "catalogue",
    "checked",
    "choose",
    "chunks",
    "count_words",
    "escape",
    "fetch",
    "fingerprint",
    "folded_words",
    "from_json",
    "in_context",
    "is_back_matter",
    "is_complete",
    "is_interstitial",
    "loading",
    "locked",
    "most_tokens",
    "numbers",
    "objects",
    "open_engine",
    "open_models",
    "opening_of",
    "options_without_code",
    "overlap",
    "page_environment",
    "parallel_map",
    "parse_cited",
    "plain_text",
    "read_bounded",
    "read_state",
    "readable_title",
    "redacted",
    "renamed",
    "repeats_wikipedia",
    "require_consent",
    "say",
    "settings_known",
    "shared_server",
    "soft_recall",
    "source_id",
    "split_sentences",
    "statements_in",
    "stopping",
    "table_text",
    "terms",
    "tidy",
    "torch_threads",
    "tune_process",
    "web_address",
    "wikipedia_article",
    "without_secrets",
    "words",
    "write_atomically",
]

_NAMES = {
    "assets": "EMBEDDED_MODELS catalogue fetch",
    "cli.consent": "require_consent settings_known",
    "cli.guard": "Guard",
    "cli.options": "SettingsCommand",
    "cli.output": "say table_text",
    "cli.signals": "stopping",
    "concurrency": "Tasks parallel_map torch_threads tune_process",
    "configuration": "renamed",
    "configuration.addresses": "redacted without_secrets",
    "documents.articles.reference_list": "is_back_matter",
    "documents.chunks": "chunks count_words",
    "documents.plain": "objects plain_text readable_title web_address",
    "files": "cannot_write read_bounded write_atomically",
    "identity": "source_id",
    "models.asking": "LanguageModels",
    "models.llama_server": "shared_server",
    "models.open_models": "open_models",
    "models.programs": "Program Programs",
    "models.prompt_adapter": "PromptAdapter",
    "pages.extract": "is_interstitial",
    "pages.reading": "WebPages",
    "references.citations": "parse_cited",
    "optimize.soft_recall": "soft_recall",
    "render.json": "from_json",
    "render.markdown": "escape",
    "render.page": "page_environment",
    "retrieval.lexical": "LexicalIndex",
    "retrieval.model_files": "loading options_without_code",
    "run.journal": "Journal fingerprint",
    "run.locking": "locked read_state",
    "run.search": "open_engine",
    "search.registry": "choose",
    "search.edge": "checked",
    "search.paging": "best_passages",
    "sources.ground_truth": "GroundTruth repeats_wikipedia wikipedia_article",
    "sqlite_cache": "SqliteCache",
    "text.fitting": "most_tokens",
    "text.index_terms": "terms",
    "text.prose": "statements_in",
    "text.sentences": "is_complete opening_of split_sentences",
    "text.words": "MARKER folded_words numbers overlap tidy words",
    "writers.small.self_contained": "in_context",
}
"""Module → the names that it defines."""
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"storm_pipeline.{_MODULES[name]}".rstrip(".")), name)
