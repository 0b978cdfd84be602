"""What other distributions build on beyond the public names, such as the bench: all else may change without notice.

Importing the module is cheap: a name's module is imported when the name is first used. ``__all__`` lists the names; a
test holds their number, so that the surface grows by decision only.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from storm_pipeline.assets import EMBEDDED_MODELS, EMBEDDER, LEADS, catalogue, fetch
    from storm_pipeline.cli.consent import settings_known
    from storm_pipeline.cli.folders import configured_cache
    from storm_pipeline.cli.guard import Guard
    from storm_pipeline.cli.options import SettingsCommand
    from storm_pipeline.cli.output import say, table_text
    from storm_pipeline.cli.signals import stopping
    from storm_pipeline.concurrency import (
        Tasks,
        limit_malloc_arenas,
        parallel_map,
        switch_threads_sooner,
        torch_threads,
    )
    from storm_pipeline.configuration.addresses import redacted, without_secrets
    from storm_pipeline.configuration.home import default_cache
    from storm_pipeline.configuration.variables import child_environment
    from storm_pipeline.documents.articles import SUFFIXES, AvailablePages, Reference, read_article
    from storm_pipeline.documents.articles.back_matter import is_back_matter
    from storm_pipeline.documents.articles.heading_tree import (
        HeadingNode,
        TextBlock,
        build_tree,
        paragraphs_of,
        section_of,
    )
    from storm_pipeline.documents.articles.markdown_blocks import markdown_blocks, plain_markdown, without_title
    from storm_pipeline.documents.articles.pages import with_citations
    from storm_pipeline.documents.chunks import chunks, count_words
    from storm_pipeline.documents.damage import first_damage
    from storm_pipeline.documents.plain import objects, plain_text, web_address
    from storm_pipeline.estimate import Estimate, Range, estimate
    from storm_pipeline.estimate.tokens import HIGH, LIKELY, LOW, count_tokens
    from storm_pipeline.files import cannot_write, read_bounded, write_atomically
    from storm_pipeline.identity import canonical_url, normalised_text, source_id
    from storm_pipeline.models.asking import LanguageModels
    from storm_pipeline.models.llama_server import shared_server
    from storm_pipeline.models.open_models import open_models
    from storm_pipeline.models.prices import cost, full_name, parse_prices, price_of
    from storm_pipeline.models.programs import Program, Programs
    from storm_pipeline.models.prompt_adapter import PromptAdapter
    from storm_pipeline.models.windows import window_of
    from storm_pipeline.net.gates import Rate
    from storm_pipeline.net.http import ApiClient, Params, user_agent
    from storm_pipeline.net.retrying import Patience, TransientError, with_retries
    from storm_pipeline.pages.extract import Page
    from storm_pipeline.pages.interstitials import is_interstitial
    from storm_pipeline.pages.web import WebPages
    from storm_pipeline.recipes import OUTLINES, RECIPES, WITHOUT_SOURCES
    from storm_pipeline.references.citations import parse_cited
    from storm_pipeline.references.similarity import Embed
    from storm_pipeline.render.json import from_json
    from storm_pipeline.render.markdown import escape, escape_heading
    from storm_pipeline.render.page import page_environment
    from storm_pipeline.retrieval.embedder import (
        CachingEmbedder,
        Embedder,
        SentenceTransformerEmbedder,
        Vectors,
        encodable,
        open_embedder,
        shared_embedder,
    )
    from storm_pipeline.retrieval.lexical import LexicalIndex
    from storm_pipeline.retrieval.model_files import LOAD_ERRORS, options_without_code, require_trusted_pickle
    from storm_pipeline.run.events import Events
    from storm_pipeline.run.folder import slug
    from storm_pipeline.run.journal import Journal, fingerprint
    from storm_pipeline.run.locking import locked, read_state
    from storm_pipeline.run.search import open_engine
    from storm_pipeline.search.base import Search
    from storm_pipeline.search.choosing import choose
    from storm_pipeline.search.edge import checked
    from storm_pipeline.search.page_passages import best_passages
    from storm_pipeline.search.wikipedia_urls import page_address
    from storm_pipeline.settings import ROLES, Role
    from storm_pipeline.sources.ground_truth import GroundTruth, repeats_wikipedia
    from storm_pipeline.sources.mirrors import folded_title, wikipedia_article
    from storm_pipeline.sqlite_cache import SqliteCache
    from storm_pipeline.text.fitting import most_tokens
    from storm_pipeline.text.formatting import amount, first_line
    from storm_pipeline.text.index_terms import terms
    from storm_pipeline.text.prose import statements_in
    from storm_pipeline.text.sentences import is_complete, opening_of, split_sentences
    from storm_pipeline.text.words import MARKER, folded_words, numbers, overlap, tidy, word_count, words
    from storm_pipeline.types import (
        LATER_ROUND,
        UNTITLED,
        Citation,
        Conversation,
        Heading,
        Paragraph,
        Report,
        Section,
        Sentence,
        Source,
        Usage,
    )
    from storm_pipeline.writers.self_contained import points_back, stands_alone

__all__ = [
    "EMBEDDED_MODELS",
    "EMBEDDER",
    "HIGH",
    "LATER_ROUND",
    "LEADS",
    "LIKELY",
    "LOAD_ERRORS",
    "LOW",
    "MARKER",
    "OUTLINES",
    "RECIPES",
    "ROLES",
    "SUFFIXES",
    "UNTITLED",
    "WITHOUT_SOURCES",
    "ApiClient",
    "AvailablePages",
    "CachingEmbedder",
    "Citation",
    "Conversation",
    "Embed",
    "Embedder",
    "Estimate",
    "Events",
    "GroundTruth",
    "Guard",
    "Heading",
    "HeadingNode",
    "Journal",
    "LanguageModels",
    "LexicalIndex",
    "Page",
    "Paragraph",
    "Params",
    "Patience",
    "Program",
    "Programs",
    "PromptAdapter",
    "Range",
    "Rate",
    "Reference",
    "Report",
    "Role",
    "Search",
    "Section",
    "Sentence",
    "SentenceTransformerEmbedder",
    "SettingsCommand",
    "Source",
    "SqliteCache",
    "Tasks",
    "TextBlock",
    "TransientError",
    "Usage",
    "Vectors",
    "WebPages",
    "amount",
    "best_passages",
    "build_tree",
    "cannot_write",
    "canonical_url",
    "catalogue",
    "checked",
    "child_environment",
    "choose",
    "chunks",
    "configured_cache",
    "cost",
    "count_tokens",
    "count_words",
    "default_cache",
    "encodable",
    "escape",
    "escape_heading",
    "estimate",
    "fetch",
    "fingerprint",
    "first_damage",
    "first_line",
    "folded_title",
    "folded_words",
    "from_json",
    "full_name",
    "is_back_matter",
    "is_complete",
    "is_interstitial",
    "limit_malloc_arenas",
    "locked",
    "markdown_blocks",
    "most_tokens",
    "normalised_text",
    "numbers",
    "objects",
    "open_embedder",
    "open_engine",
    "open_models",
    "opening_of",
    "options_without_code",
    "overlap",
    "page_address",
    "page_environment",
    "paragraphs_of",
    "parallel_map",
    "parse_cited",
    "parse_prices",
    "plain_markdown",
    "plain_text",
    "points_back",
    "price_of",
    "read_article",
    "read_bounded",
    "read_state",
    "redacted",
    "repeats_wikipedia",
    "require_trusted_pickle",
    "say",
    "section_of",
    "settings_known",
    "shared_embedder",
    "shared_server",
    "slug",
    "source_id",
    "split_sentences",
    "stands_alone",
    "statements_in",
    "stopping",
    "switch_threads_sooner",
    "table_text",
    "terms",
    "tidy",
    "torch_threads",
    "user_agent",
    "web_address",
    "wikipedia_article",
    "window_of",
    "with_citations",
    "with_retries",
    "without_secrets",
    "without_title",
    "word_count",
    "words",
    "write_atomically",
]

_NAMES = {
    "assets": "EMBEDDED_MODELS EMBEDDER LEADS catalogue fetch",
    "cli.consent": "settings_known",
    "cli.folders": "configured_cache",
    "cli.guard": "Guard",
    "cli.options": "SettingsCommand",
    "cli.output": "say table_text",
    "cli.signals": "stopping",
    "concurrency": "Tasks limit_malloc_arenas parallel_map switch_threads_sooner torch_threads",
    "configuration.addresses": "redacted without_secrets",
    "configuration.home": "default_cache",
    "configuration.variables": "child_environment",
    "documents.articles": "AvailablePages Reference SUFFIXES read_article",
    "documents.articles.back_matter": "is_back_matter",
    "documents.articles.heading_tree": "HeadingNode TextBlock build_tree paragraphs_of section_of",
    "documents.articles.markdown_blocks": "markdown_blocks plain_markdown without_title",
    "documents.articles.pages": "with_citations",
    "documents.chunks": "chunks count_words",
    "documents.damage": "first_damage",
    "documents.plain": "objects plain_text web_address",
    "estimate": "Estimate Range estimate",
    "estimate.tokens": "HIGH LIKELY LOW count_tokens",
    "files": "cannot_write read_bounded write_atomically",
    "identity": "canonical_url normalised_text source_id",
    "models.asking": "LanguageModels",
    "models.llama_server": "shared_server",
    "models.open_models": "open_models",
    "models.prices": "cost full_name parse_prices price_of",
    "models.programs": "Program Programs",
    "models.prompt_adapter": "PromptAdapter",
    "models.windows": "window_of",
    "net.gates": "Rate",
    "net.http": "ApiClient Params user_agent",
    "net.retrying": "Patience TransientError with_retries",
    "pages.extract": "Page",
    "pages.interstitials": "is_interstitial",
    "pages.web": "WebPages",
    "recipes": "OUTLINES RECIPES WITHOUT_SOURCES",
    "references.citations": "parse_cited",
    "references.similarity": "Embed",
    "render.json": "from_json",
    "render.markdown": "escape escape_heading",
    "render.page": "page_environment",
    "retrieval.embedder": (
        "CachingEmbedder Embedder SentenceTransformerEmbedder Vectors encodable open_embedder shared_embedder"
    ),
    "retrieval.lexical": "LexicalIndex",
    "retrieval.model_files": "LOAD_ERRORS options_without_code require_trusted_pickle",
    "run.events": "Events",
    "run.folder": "slug",
    "run.journal": "Journal fingerprint",
    "run.locking": "locked read_state",
    "run.search": "open_engine",
    "search.base": "Search",
    "search.choosing": "choose",
    "search.edge": "checked",
    "search.page_passages": "best_passages",
    "search.wikipedia_urls": "page_address",
    "settings": "ROLES Role",
    "sources.ground_truth": "GroundTruth repeats_wikipedia",
    "sources.mirrors": "folded_title wikipedia_article",
    "sqlite_cache": "SqliteCache",
    "text.fitting": "most_tokens",
    "text.formatting": "amount first_line",
    "text.index_terms": "terms",
    "text.prose": "statements_in",
    "text.sentences": "is_complete opening_of split_sentences",
    "text.words": "MARKER folded_words numbers overlap tidy word_count words",
    "types": ("Citation Conversation Heading LATER_ROUND Paragraph Report Section Sentence Source UNTITLED Usage"),
    "writers.self_contained": "points_back stands_alone",
}
"""Module → the names that it defines."""
_MODULES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"storm_pipeline.{_MODULES[name]}".rstrip(".")), name)
