"""FLAIR's own loading call over a tagger that is trained here in seconds."""

from pathlib import Path
from typing import Any

import pytest
from cases import case, generated, human

from storm_bench.errors import MetricError
from storm_bench.metrics.article_entity_recall import article_entity_recall
from storm_bench.metrics.optional_imports import import_optional
from storm_bench.metrics.taggers import FlairTagger, open_tagger

PLACES = ["Rome", "Venice", "Kashgar", "Antioch", "Samarkand"]
PEOPLE = ["Marco Polo", "Zhang Qian", "Ibn Battuta"]
TEMPLATES = ["{person} went to {place} .", "the road to {place} was long .", "they met {person} there ."]


def labelled(text: str, names: dict[str, str]) -> Any:
    """A sentence of FLAIR with its names marked."""
    tokens, sentence = text.split(), import_optional("flair.data").Sentence(text.split())
    for name, kind in names.items():
        words = name.split()
        for i in range(len(tokens) - len(words) + 1):
            if tokens[i : i + len(words)] == words:
                sentence[i : i + len(words)].add_label("ner", kind)
    return sentence


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tagger of few weights that knows the names above by heart."""
    flair, data = import_optional("flair"), import_optional("flair.data")
    flair.set_seed(3)
    kinds = dict.fromkeys(PLACES, "LOC") | dict.fromkeys(PEOPLE, "PER")
    sentences = [
        labelled(template.format(place=place, person=person), kinds)
        for template in TEMPLATES
        for place in PLACES
        for person in PEOPLE
    ]
    vocabulary, labels = data.Dictionary(add_unk=True), data.Dictionary(add_unk=False)
    for word in sorted({token.text for sentence in sentences for token in sentence}):
        vocabulary.add_item(word)
    for kind in sorted(set(kinds.values())):
        labels.add_item(kind)
    labels.span_labels = True
    tagger = import_optional("flair.models").SequenceTagger(
        import_optional("flair.embeddings").OneHotEmbeddings(vocabulary, embedding_length=16),
        labels,
        "ner",
        hidden_size=16,
        use_crf=False,
        dropout=0.0,
        word_dropout=0.0,
        locked_dropout=0.0,
    )
    optimizer = import_optional("torch").optim.Adam(tagger.parameters(), lr=0.02)
    tagger.train()
    for _ in range(30):
        for sentence in sentences:
            sentence.clear_embeddings()  # they are kept with the graph of the last round
        optimizer.zero_grad()
        loss, count = tagger.forward_loss(sentences)
        (loss / count).backward()
        optimizer.step()
    path = tmp_path_factory.mktemp("flair") / "tiny-ner.pt"
    tagger.save(path)
    return path


def test_a_tagger_from_a_file(weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORM_PICKLED_MODELS", f"flair:ner, flair:{weights}")
    tagger = open_tagger(f"flair:{weights}", cache=tmp_path)
    assert tagger.name == "flair:tiny-ner.pt"
    found = tagger.entities(["Zhang Qian went to Kashgar .", " ", "the road to Rome was long ."] * 2)
    assert found == [{"zhang qian", "kashgar"}, frozenset(), {"rome"}] * 2
    metric = article_entity_recall(tagger)
    people = human(lead="Marco Polo went to Venice. the road to Rome was long.")
    scores = metric.score([case(people, generated(lead="the road to Venice was long."))])
    assert scores == [{"article_entity_recall": pytest.approx(1 / 3), "article_entities": 3}]
    assert metric.parameters["tagger"] == "flair:tiny-ner.pt"


def test_what_flair_cannot_load_is_named(tmp_path: Path) -> None:
    with pytest.raises(MetricError, match=r"FLAIR cannot load the tagger 'ner'.*needs network.*or a model file"):
        FlairTagger("ner", cache=tmp_path)  # the tests have no network
    broken = tmp_path / "broken.pt"
    broken.write_bytes(b"no model")
    with pytest.raises(MetricError, match=r"broken\.pt"):
        FlairTagger(broken)
