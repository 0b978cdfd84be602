"""Entity recall by a list of names, by spaCy and by FLAIR."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from cases import case, generated, human
from list_tagger import ListTagger
from spacy_pipeline import write_pipeline

from storm_bench.errors import MetricError
from storm_bench.metrics.base import import_optional
from storm_bench.metrics.recall import article_entity_recall, heading_entity_recall
from storm_bench.metrics.taggers import CachingTagger, FlairTagger, SpacyTagger, open_tagger
from storm_pipeline.errors import SettingsError

NAMES = ["Rome", "Silk Road", "Marco Polo", "China"]


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Finds what en_core_web_sm would, with articles, genitives and dates."""
    rules = {"Rome": "GPE", "the Roman Senate": "ORG", "Marco Polo's": "PERSON", "1271": "DATE", "seven": "CARDINAL"}
    return write_pipeline(tmp_path_factory.mktemp("spacy") / "tiny", rules)


def test_headings_by_hand() -> None:
    metric = heading_entity_recall(ListTagger(NAMES))
    people = human({"Rome and the Silk Road": "", "ROME": "China", "Marco Polo": "", "History": ""})
    scores = metric.score(
        [
            case(people, generated({"Fall of Rome": "Marco Polo", "The silk road": ""})),
            case(people, generated()),
            case(human({"History": ""}), generated({"Rome": ""})),
        ]
    )
    assert scores == [
        {"heading_entity_recall": pytest.approx(2 / 3), "heading_entities": 3},
        {"heading_entity_recall": 0.0, "heading_entities": 3},
        {"heading_entity_recall": None, "heading_entities": 0},  # the paper's script: 1
    ]


def test_articles_by_hand() -> None:
    metric = article_entity_recall(ListTagger(NAMES))
    people = human({"Marco Polo": "Silk came from China. It went to Rome."}, lead="Rome.")
    written = generated({"China": ["Rome grew.[1]", "Romeo did not."]}, sources=1)
    assert metric.score([case(people, written)]) == [{"article_entity_recall": 0.5, "article_entities": 2}]
    assert metric.score([case(human(), written)]) == [{"article_entity_recall": None, "article_entities": 0}]


class Counting(ListTagger):
    """Notes how many texts it is given at a time."""

    def __init__(self) -> None:
        super().__init__(NAMES)
        self.calls: list[int] = []

    def entities(self, texts: Sequence[str]) -> list[frozenset[str]]:
        self.calls.append(len(texts))
        return super().entities(texts)


def test_a_text_is_tagged_once() -> None:
    counting = Counting()
    tagger = CachingTagger(counting, size=2)
    rome, china = frozenset({"rome"}), frozenset({"china"})
    assert tagger.entities(["Rome.", "China.", "Rome."]) == [rome, china, rome]
    assert tagger.entities(["China.", "Rome.", "Rome!"]) == [china, rome, rome]
    assert tagger.entities(["Rome."]) == [rome]  # forgotten, being the oldest of three
    assert counting.calls == [2, 1, 1]
    assert tagger.name == "list"


def test_spacy_marks_what_flair_would(pipeline: Path) -> None:
    tagger = SpacyTagger(pipeline)
    assert tagger.name == "spacy:en_tiny-1.2.3"
    found = tagger.entities(["In 1271 the Roman Senate  met in Rome.", "", "Marco Polo's seven maps of Rome, of Rome."])
    assert found == [{"roman senate", "rome"}, frozenset(), {"marco polo", "rome"}]


def test_a_tagger_by_its_specification(pipeline: Path) -> None:
    assert open_tagger(f"spacy:{pipeline}").name == "spacy:en_tiny-1.2.3"
    for spec in ("spacy", "spacy:", "nltk:ner", ""):
        with pytest.raises(SettingsError, match="unknown entity tagger"):
            open_tagger(spec)


def test_what_spacy_cannot_load_is_named(tmp_path: Path, pipeline: Path) -> None:
    with pytest.raises(MetricError, match=r"cannot load the pipeline 'no_such_pipeline'.*spacy download"):
        SpacyTagger("no_such_pipeline")
    (tmp_path / "meta.json").write_text(json.dumps({"lang": "en"}))
    with pytest.raises(MetricError, match="cannot load the pipeline"):
        SpacyTagger(tmp_path)
    with pytest.raises(MetricError, match="has no 'ner' component"):
        SpacyTagger(write_pipeline(tmp_path / "blank"))


TEXTS = ["Zhang Qian went to Kashgar .", " ", "the road to Rome was long ."]


def test_a_tagger_from_a_file_finds_what_the_library_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flair, data = import_optional("flair"), import_optional("flair.data")
    flair.set_seed(3)
    vocabulary, labels = data.Dictionary(add_unk=True), data.Dictionary(add_unk=False)
    for word in " ".join(TEXTS).split():
        vocabulary.add_item(word)
    labels.add_item("LOC")
    labels.span_labels = True
    embeddings = import_optional("flair.embeddings").OneHotEmbeddings(vocabulary, embedding_length=16)
    kind = import_optional("flair.models").SequenceTagger
    kind(embeddings, labels, "ner", hidden_size=16, use_crf=False).save(tmp_path / "tiny-ner.pt")
    tagger = kind.load(str(tmp_path / "tiny-ner.pt"))
    sentences = [data.Sentence(text) for text in TEXTS]
    tagger.predict([sentence for sentence in sentences if len(sentence)])
    expected = [frozenset(span.text.lower() for span in sentence.get_spans("ner")) for sentence in sentences]
    assert any(expected)
    monkeypatch.setenv("STORM_PICKLED_MODELS", f"flair:ner, flair:{tmp_path / 'tiny-ner.pt'}")
    opened = open_tagger(f"flair:{tmp_path / 'tiny-ner.pt'}", cache=tmp_path)
    assert (opened.name, opened.entities(TEXTS)) == ("flair:tiny-ner.pt", expected)


def test_what_flair_cannot_load_is_named(tmp_path: Path) -> None:
    with pytest.raises(MetricError, match=r"FLAIR cannot load the tagger 'ner'.*needs network.*or a model file"):
        FlairTagger("ner", cache=tmp_path)  # the tests have no network
