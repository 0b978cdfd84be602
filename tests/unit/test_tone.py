"""Words to watch: found where they colour a sentence, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.languages.tone import words_to_watch


@pytest.mark.parametrize(
    ("sentence", "language", "found"),
    [
        ("The legendary city boasts a rich history.", "en", ["puffery", "puffery", "puffery"]),
        ("Today we know that it is widely regarded as the first.", "en", ["time", "person", "attribution"]),
        ("Remarkably, nobody was hurt.", "en", ["editorialising"]),
        ("Das heutige Gebäude ist weltberühmt.", "de", ["time", "puffery"]),
        ("Aujourd’hui, nous savons que la ville est prestigieuse.", "fr", ["time", "person", "puffery"]),
        ("Actualmente es una ciudad emblemática.", "es", ["time", "puffery"]),
        ("It helps drivers under the name Discover Your Drive.", "en", []),
        ("Spectrum Culture and Renowned for Sound reviewed it.", "en", []),
        ("Renowned for its sound, the city boasts a port.", "en", ["puffery", "puffery"]),
        ("It was paid for by pay-as-you-go funding.", "en", []),
        ("The now-legendary dam leaks.", "en", ["puffery"]),
        ("Que savons-nous de la ville ?", "fr", ["person"]),
        ("Your guide is here.", "en", ["person"]),
        ("In 2019 it was recently rebuilt.", "en", []),  # it says which time it means
        ("The Kirk went so far as to condemn it.", "en", []),
        ("Phase one began with a groundbreaking ceremony.", "en", []),
        ("The US Navy sent ours? No: its ship.", "en", ["person"]),
        ("DIY called it “a vibrant, legendary record”, and Burton «iconic».", "en", []),
        ('He said "we are here today" and left.', "en", []),
        ("The timelessness of a recentlyx word.", "en", []),
        ("Legendární město.", "cs", []),
    ],
)
def test_kinds_are_found(sentence: str, language: str, found: list[str]) -> None:
    assert [kind for kind, _ in words_to_watch(sentence, language)] == found


def test_own_words_are_watched_in_every_language() -> None:
    assert words_to_watch("Naš Slavné město.", "cs", ["slavn*"]) == (("own list", "Slavné"),)
    assert words_to_watch("It is a.b here.", "en", ["a.b", "x.*"]) == (("own list", "a.b"),)
    assert not words_to_watch("It is axb here.", "en", ["a.b", "*", " "])


@given(
    st.text(max_size=200), st.sampled_from(["en", "de", "fr", "es", "ja"]), st.lists(st.text(min_size=1, max_size=9))
)
def test_what_is_found_stands_in_the_sentence(sentence: str, language: str, own: list[str]) -> None:
    plain = sentence.replace("’", "'")
    assert all(words and words in plain for _, words in words_to_watch(sentence, language, own))
