"""The names for other distributions; each is imported when it is first used."""

from storm_pipeline.evidence.citations import escape as escape, parse_cited as parse_cited
from storm_pipeline.evidence.page_reading import WebPages as WebPages
from storm_pipeline.evidence.retrieval.model_files import (
    loading as loading, local_folder as local_folder, options_without_code as options_without_code,
)  # fmt: skip
from storm_pipeline.evidence.run_search import open_engine as open_engine
from storm_pipeline.interfaces.batch.executors import job_halt as job_halt, workplace as workplace
from storm_pipeline.interfaces.cli.guard import Guard as Guard, stop_on_interrupt as stop_on_interrupt
from storm_pipeline.interfaces.cli.options import SettingsCommand as SettingsCommand
from storm_pipeline.interfaces.cli.output import say as say, tell as tell
from storm_pipeline.interfaces.configuration.layers import load_settings as load_settings
from storm_pipeline.interfaces.server.links import behind_links as behind_links
from storm_pipeline.interfaces.server.places import caller_name as caller_name
from storm_pipeline.interfaces.server.reach import Reach as Reach
from storm_pipeline.interfaces.server.serving import server_config as server_config
from storm_pipeline.interfaces.web.page import Pages as Pages
from storm_pipeline.method.saved_settings import pinned_engine as pinned_engine
from storm_pipeline.models.asking import LanguageModels as LanguageModels
from storm_pipeline.models.open_models import open_models as open_models
from storm_pipeline.models.programs import Program as Program, Programs as Programs
from storm_pipeline.models.prompt_adapter import PromptAdapter as PromptAdapter
from storm_pipeline.models.request import likely_tokens as likely_tokens
from storm_pipeline.optimize.metrics import soft_recall as soft_recall
from storm_pipeline.output.render.html import page_values as page_values
from storm_pipeline.run.article_json import from_json as from_json
from storm_pipeline.run.assets import EMBEDDED_MODELS as EMBEDDED_MODELS, catalogue as catalogue, fetch as fetch
from storm_pipeline.run.concurrency import parallel_map as parallel_map, torch_threads as torch_threads
from storm_pipeline.run.journal import Journal as Journal, fingerprint as fingerprint
from storm_pipeline.run.locking import lock_folder as lock_folder, read_state as read_state
from storm_pipeline.run.replica import current_disk as current_disk
from storm_pipeline.sources.documents.isolated import (
    NotReadError as NotReadError, reading as reading, size_of as size_of,
)  # fmt: skip
from storm_pipeline.sources.pages.extract import is_interstitial as is_interstitial
from storm_pipeline.sources.reliable.ground_truth import (
    GroundTruth as GroundTruth, wikipedia_article as wikipedia_article,
)  # fmt: skip
from storm_pipeline.sources.search.edge import with_checks as with_checks
from storm_pipeline.sources.search.paging import best_passages as best_passages
from storm_pipeline.sources.search.registry import choose as choose
from storm_pipeline.sources.sqlite_cache import SqliteCache as SqliteCache
from storm_pipeline.text.chunks import chunks as chunks, count_words as count_words
from storm_pipeline.text.configuration.addresses import redact as redact, without_secrets as without_secrets
from storm_pipeline.text.databases import LARGEST_DATABASE as LARGEST_DATABASE, open_database as open_database
from storm_pipeline.text.files import (
    cannot_write as cannot_write, read_bounded as read_bounded, read_plain as read_plain, read_toml as read_toml,
    write_atomically as write_atomically,
)  # fmt: skip
from storm_pipeline.text.identity import source_id as source_id
from storm_pipeline.text.languages import (
    detect as detect, is_back_matter as is_back_matter, opening_of as opening_of, stem_set as stem_set,
    windows as windows,
)  # fmt: skip
from storm_pipeline.text.lexical import LexicalIndex as LexicalIndex, terms as terms
from storm_pipeline.text.markers import without_markers as without_markers
from storm_pipeline.text.plain import (
    objects as objects, plain_text as plain_text, readable_title as readable_title, web_address as web_address,
)  # fmt: skip
from storm_pipeline.text.sentences import is_complete as is_complete, split_sentences as split_sentences
from storm_pipeline.text.words import (
    folded_words as folded_words, numbers as numbers, overlap as overlap, tidy as tidy, words as words,
)  # fmt: skip

__all__: list[str]
