"""What other distributions build on beyond the public names, such as the bench: all else may change without notice.

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
    from storm_pipeline.documents.articles import SUFFIXES, AvailablePages, Reference, read_article
    from storm_pipeline.documents.articles.markdown_blocks import HeadingNode, TextBlock, plain_markdown
    from storm_pipeline.documents.articles.pages import with_citations
    from storm_pipeline.documents.articles.reference_list import is_back_matter
    from storm_pipeline.documents.chunks import chunks, count_words
    from storm_pipeline.documents.plain import objects, plain_text, readable_title, web_address
    from storm_pipeline.estimate import Question, Range, estimate, estimate_questions
    from storm_pipeline.files import cannot_write, read_bounded, write_atomically
    from storm_pipeline.identity import canonical_url, page_address, source_id
    from storm_pipeline.models.asking import LanguageModels
    from storm_pipeline.models.llama_server import shared_server
    from storm_pipeline.models.open_models import open_models
    from storm_pipeline.models.programs import Program, Programs
    from storm_pipeline.models.prompt_adapter import PromptAdapter
    from storm_pipeline.net.gates import Rate
    from storm_pipeline.net.http import ApiClient
    from storm_pipeline.net.retrying import Patience, TransientError, with_retries
    from storm_pipeline.optimize.soft_recall import soft_recall
    from storm_pipeline.pages.extract import is_interstitial
    from storm_pipeline.pages.reading import WebPages
    from storm_pipeline.recipes import OUTLINES, RECIPES
    from storm_pipeline.references.citations import parse_cited
    from storm_pipeline.render.json import from_json
    from storm_pipeline.render.markdown import escape, escape_heading
    from storm_pipeline.render.page import page_environment
    from storm_pipeline.retrieval.embedder import CachingEmbedder, Embedder, shared_embedder
    from storm_pipeline.retrieval.lexical import LexicalIndex
    from storm_pipeline.retrieval.model_files import loading, options_without_code
    from storm_pipeline.run.journal import Journal, fingerprint
    from storm_pipeline.run.locking import locked, read_state
    from storm_pipeline.run.search import open_engine
    from storm_pipeline.search.base import Search
    from storm_pipeline.search.edge import checked
    from storm_pipeline.search.paging import best_passages
    from storm_pipeline.search.registry import choose
    from storm_pipeline.sources.ground_truth import GroundTruth, folded_title, repeats_wikipedia, wikipedia_article
    from storm_pipeline.sqlite_cache import SqliteCache
    from storm_pipeline.text.fitting import most_tokens
    from storm_pipeline.text.index_terms import terms
    from storm_pipeline.text.prose import statements_in
    from storm_pipeline.text.sentences import is_complete, opening_of, split_sentences
    from storm_pipeline.text.words import MARKER, folded_words, numbers, overlap, tidy, words
    from storm_pipeline.types import LATER_ROUND, UNTITLED, Citation, Heading, Paragraph, Section, Source
    from storm_pipeline.writers.small.self_contained import points_back, stands_alone

__all__ = [
    "EMBEDDED_MODELS",
    "LATER_ROUND",
    "MARKER",
    "OUTLINES",
    "RECIPES",
    "SUFFIXES",
    "UNTITLED",
    "ApiClient",
    "AvailablePages",
    "CachingEmbedder",
    "Citation",
    "Embedder",
    "GroundTruth",
    "Guard",
    "Heading",
    "HeadingNode",
    "Journal",
    "LanguageModels",
    "LexicalIndex",
    "Paragraph",
    "Patience",
    "Program",
    "Programs",
    "PromptAdapter",
    "Question",
    "Range",
    "Rate",
    "Reference",
    "Search",
    "Section",
    "SettingsCommand",
    "Source",
    "SqliteCache",
    "Tasks",
    "TextBlock",
    "TransientError",
    "WebPages",
    "best_passages",
    "cannot_write",
    "canonical_url",
    "catalogue",
    "checked",
    "choose",
    "chunks",
    "count_words",
    "escape",
    "escape_heading",
    "estimate",
    "estimate_questions",
    "fetch",
    "fingerprint",
    "folded_title",
    "folded_words",
    "from_json",
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
    "page_address",
    "page_environment",
    "parallel_map",
    "parse_cited",
    "plain_markdown",
    "plain_text",
    "points_back",
    "read_article",
    "read_bounded",
    "read_state",
    "readable_title",
    "redacted",
    "renamed",
    "repeats_wikipedia",
    "require_consent",
    "say",
    "settings_known",
    "shared_embedder",
    "shared_server",
    "soft_recall",
    "source_id",
    "split_sentences",
    "stands_alone",
    "statements_in",
    "stopping",
    "table_text",
    "terms",
    "tidy",
    "torch_threads",
    "tune_process",
    "web_address",
    "wikipedia_article",
    "with_citations",
    "with_retries",
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
    "documents.articles": "AvailablePages Reference SUFFIXES read_article",
    "documents.articles.reference_list": "is_back_matter",
    "documents.articles.markdown_blocks": "HeadingNode TextBlock plain_markdown",
    "documents.articles.pages": "with_citations",
    "documents.chunks": "chunks count_words",
    "documents.plain": "objects plain_text readable_title web_address",
    "estimate": "Question Range estimate estimate_questions",
    "files": "cannot_write read_bounded write_atomically",
    "identity": "canonical_url page_address source_id",
    "models.asking": "LanguageModels",
    "models.llama_server": "shared_server",
    "models.open_models": "open_models",
    "models.programs": "Program Programs",
    "models.prompt_adapter": "PromptAdapter",
    "net.gates": "Rate",
    "net.http": "ApiClient",
    "net.retrying": "Patience TransientError with_retries",
    "pages.extract": "is_interstitial",
    "pages.reading": "WebPages",
    "recipes": "OUTLINES RECIPES",
    "references.citations": "parse_cited",
    "optimize.soft_recall": "soft_recall",
    "render.json": "from_json",
    "render.markdown": "escape escape_heading",
    "render.page": "page_environment",
    "retrieval.embedder": "CachingEmbedder Embedder shared_embedder",
    "retrieval.lexical": "LexicalIndex",
    "retrieval.model_files": "loading options_without_code",
    "run.journal": "Journal fingerprint",
    "run.locking": "locked read_state",
    "run.search": "open_engine",
    "search.base": "Search",
    "search.registry": "choose",
    "search.edge": "checked",
    "search.paging": "best_passages",
    "sources.ground_truth": "GroundTruth folded_title repeats_wikipedia wikipedia_article",
    "sqlite_cache": "SqliteCache",
    "text.fitting": "most_tokens",
    "text.index_terms": "terms",
    "text.prose": "statements_in",
    "text.sentences": "is_complete opening_of split_sentences",
    "text.words": "MARKER folded_words numbers overlap tidy words",
    "types": "Citation Heading LATER_ROUND Paragraph Section Source UNTITLED",
    "writers.small.self_contained": "points_back stands_alone",
}
"""Module → the names that it defines."""
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"storm_pipeline.{_MODULES[name]}".rstrip(".")), name)
