"""FLAIR's own loading call over a small tagger, which need not be trained."""

from pathlib import Path

import pytest

from storm_bench.errors import MetricError
from storm_bench.metrics.base import import_optional
from storm_bench.metrics.taggers import FlairTagger, open_tagger

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
