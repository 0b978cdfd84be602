"""Files of models that try to run code: no loader of weights lets them."""

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiny_models
from pydantic import ValidationError

from storm_bench.experiments.config_tables import DataTable, SearchTable
from storm_bench.experiments.data import engine_of
from storm_bench.judges.pretrained import CausalModel
from storm_bench.metrics.resources import Resources
from storm_bench.metrics.taggers import open_tagger
from storm_bench.types import HumanArticle, Topic, TopicDocument
from storm_pipeline.errors import SettingsError, StormError
from storm_pipeline.evidence.judges.base import Question
from storm_pipeline.evidence.judges.cross_encoder import CrossEncoderJudge
from storm_pipeline.evidence.retrieval.embedder import SentenceTransformerEmbedder

LABELS = ["contradiction", "neutral", "entailment"]
MODULES = ["Transformer", "Pooling"]


class Payload:
    """Creates a file when it is unpickled."""

    def __init__(self, sentinel: Path) -> None:
        self._sentinel = sentinel

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Path.touch, (self._sentinel,)


@pytest.fixture
def sentinel(tmp_path: Path) -> Path:
    """The file that exists once code of a model has run."""
    return tmp_path / "code-has-run"


def encoder(folder: Path, *types: str) -> Path:
    """A sentence-transformers folder whose modules have these classes."""
    tiny_models.write_classifier(folder, LABELS)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(
        '{"word_embedding_dimension": 16, "pooling_mode_mean_tokens": true}'
    )
    types = types or tuple(f"sentence_transformers.models.{name}" for name in MODULES)
    modules = [{"idx": i, "name": str(i), "path": "1_Pooling" if i else "", "type": t} for i, t in enumerate(types)]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 32}')
    return folder


def with_pickle(folder: Path, sentinel: Path) -> Path:
    """The folder with a pickle that runs code instead of its weights."""
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Payload(sentinel), protocol=2))
    return folder


def write_code(folder: Path, sentinel: Path) -> None:
    """A module of the folder's own, which creates the sentinel when it is imported."""
    lines = f"from pathlib import Path\nPath({str(sentinel)!r}).touch()\n"
    (folder / "evil.py").write_text(lines + "class Evil:\n    pass\n")


def name_code(folder: Path) -> None:
    """Configurations that name the folder's module as the model's and the tokenizer's."""
    kinds = ["AutoConfig", "AutoModel", "AutoModelForCausalLM", "AutoModelForSequenceClassification"]
    named = {
        "config.json": {"model_type": "evil", "architectures": ["Evil"], "auto_map": dict.fromkeys(kinds, "evil.Evil")},
        "tokenizer_config.json": {"tokenizer_class": "Evil", "auto_map": {"AutoTokenizer": ["evil.Evil", "evil.Evil"]}},
    }
    for file, entries in named.items():
        (folder / file).write_text(json.dumps(json.loads((folder / file).read_text()) | entries))


def test_an_encoder_of_the_librarys_own_modules_is_loaded(tmp_path: Path) -> None:
    assert SentenceTransformerEmbedder(encoder(tmp_path / "own")).dimension == 16


def test_dense_rankers_are_any_encoder_or_one_for_queries_and_one_for_chunks(tmp_path: Path) -> None:
    texts = " ".join(f"The observer wrote line {number} about the silk of the road." for number in range(12))
    documents = tuple(TopicDocument(f"https://a.example/{n}", f"Page {n}", f"{n} {texts}") for n in range(2))
    topic = Topic("t", "Silk", HumanArticle("Silk", lead="Silk is a fibre."), documents)
    one, other = (str(encoder(tmp_path / name)) for name in ("one", "other"))
    for ranker in (f"dense:{one}", f"dense:{one}+{other}"):
        table = SearchTable(corpus="topic", ranker=ranker)
        engine = engine_of(table, topic, DataTable(set="wikigenbench", path=tmp_path), Resources(tmp_path))
        assert engine is not None
        assert len(engine.search("silk", 5)) == 2
    for unknown in ("dense:", "dpr", "dense:a+b+c", "dense:a b"):
        with pytest.raises(ValidationError, match="ranker"):
            SearchTable(corpus="topic", ranker=unknown)


@pytest.mark.parametrize(
    "type_",
    [
        "evil.Evil",
        "subprocess.Popen",
        "sentence_transformers.base.model.torch",
        "sentence_transformers.util.misc.importlib",
        "sentence_transformers.models.Router",
        "sentence_transformers.models.Transformer.x",
        7,
    ],
)
def test_an_encoder_that_names_another_class_is_refused(
    tmp_path: Path, sentinel: Path, monkeypatch: pytest.MonkeyPatch, type_: str
) -> None:
    folder = encoder(tmp_path / "named", "sentence_transformers.models.Transformer", type_)
    write_code(folder, sentinel)
    monkeypatch.syspath_prepend(folder)  # the class can be imported: the current folder may be on Python's path
    with pytest.raises(SettingsError, match="run code") as caught:
        SentenceTransformerEmbedder(folder).embed(["silk"])
    assert "modules.json" in str(caught.value)
    assert not sentinel.exists()


@pytest.mark.parametrize(
    "modules", ["[", "{}", "[[]]", '[{"path": ""}]', '[{"type": "sentence_transformers.models.Pooling", "path": 3}]']
)
def test_modules_of_another_form_are_refused(tmp_path: Path, modules: str) -> None:
    folder = encoder(tmp_path / "odd")
    (folder / "modules.json").write_text(modules)
    with pytest.raises(SettingsError, match=r"cannot be loaded|run code"):
        SentenceTransformerEmbedder(folder).embed(["silk"])


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("sentence_bert_config.json", {"model_args": {"weights_only": False}}),
        ("sentence_bert_config.json", {"model_kwargs": {"weights_only": False, "use_safetensors": False}}),
        ("sentence_bert_config.json", {"model_args": {"attn_implementation": "someone/kernel"}}),
        ("sentence_bert_config.json", {"model_args": {"use_kernels": True}}),
        ("config.json", {"attn_implementation": {"text": "someone/kernel:f"}}),
        ("1_Pooling/config.json", {"activation_function": "torch.utils.collect_env.main"}),
    ],
)
def test_a_configuration_that_asks_for_code_is_refused(
    tmp_path: Path, sentinel: Path, file: str, content: dict[str, object]
) -> None:
    folder = with_pickle(encoder(tmp_path / "configured"), sentinel)
    path = folder / file
    path.write_text(json.dumps(json.loads(path.read_text()) | content))
    with pytest.raises(SettingsError, match="run code") as caught:
        SentenceTransformerEmbedder(folder).embed(["silk"])
    assert file in str(caught.value)
    assert not sentinel.exists()


def _embed(folder: Path) -> object:
    return SentenceTransformerEmbedder(folder).embed(["silk"])


def _judge(folder: Path) -> object:
    return CrossEncoderJudge(folder).judge([Question("rome fell", ("rome fell",))])


def _causal(folder: Path) -> object:
    return CausalModel(folder).log_probabilities("", "rome fell")


LOADERS = [_embed, _judge, _causal]


@pytest.mark.parametrize("load", LOADERS)
def test_no_pickle_is_loaded(tmp_path: Path, sentinel: Path, load: Callable[[Path], object]) -> None:
    folder = with_pickle(encoder(tmp_path / "pickled"), sentinel)
    with pytest.raises(StormError, match=r"cannot be loaded|run code"):
        load(folder)
    assert not sentinel.exists()


@pytest.mark.parametrize("load", LOADERS)
def test_no_code_of_the_folder_is_run(
    tmp_path: Path, sentinel: Path, load: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.input", lambda _: pytest.fail("asked whether to run code"))
    folder = encoder(tmp_path / "own-code")
    write_code(folder, sentinel)
    name_code(folder)
    with pytest.raises(StormError):
        load(folder)
    assert not sentinel.exists()


@pytest.mark.parametrize("key", ["activation_fn", "sbert_ce_default_activation_function"])
def test_a_cross_encoder_names_no_call(tmp_path: Path, key: str) -> None:
    folder = tiny_models.write_classifier(tmp_path / "calls", LABELS)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"sentence_transformers": {key: "torch.utils.x.main"}}))
    with pytest.raises(SettingsError, match="run code"):
        _judge(folder)
    (folder / "config.json").write_text(json.dumps(config | {key: "torch.nn.modules.linear.Identity"}))
    _judge(folder)


def test_a_tagger_that_is_a_pickle_needs_the_users_word(
    tmp_path: Path, sentinel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "tagger.pt"
    file.write_bytes(pickle.dumps(Payload(sentinel), protocol=2))
    for word in (None, "flair:another.pt", "1"):
        if word:
            monkeypatch.setenv("STORM_PICKLED_MODELS", word)
        with pytest.raises(SettingsError, match=r"STORM_PICKLED_MODELS='?flair:"):
            open_tagger(f"flair:{file}")
    assert not sentinel.exists()
