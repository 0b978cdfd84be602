"""Whether a found page is about the topic, and what the topic's own page says the topic is. No model is asked."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from storm_pipeline.files import table_beside
from storm_pipeline.languages import detect, has_spaces, opening_of, split_sentences, stem_set
from storm_pipeline.references.facts import recall
from storm_pipeline.retrieval.embedder import Embed
from storm_pipeline.text.words import caseless, foreign_script_share, unified, words
from storm_pipeline.types import Snippet

_PATTERNS = table_beside(__file__)
_BRACKETS = re.compile(r"\s*[(（\[][^()（）\[\]]*[)）\]]")
_ARTICLE = re.compile(r"(?i:the|an?)\s+(?=\S)")
_DOTTED = re.compile(r"\b(?:[^\W\d_]\.){2,}")  # an abbreviation written with dots, as in U.S
_ACCENTS = re.compile("[\u0300-\u036f]")
_SITE = re.compile(r"\s+[-–—|·•]\s+[^\d()]{1,40}$|\s*\|[^\d()]{1,40}$")  # the name of a site behind a page's title
COPULA = re.compile("".join(_PATTERNS["copula"]), re.I)
_BETWEEN_NAMES = re.compile("".join(_PATTERNS["between_names"]))
"""What stands between the names by which the opening of a page introduces its subject."""
_NEAR = 0.3  # cosine to what the topic is, or to the question, from which a page bears on the topic
_SHARE, _ALIKE = 0.6, 0.1  # share of the topic's words in one snippet with its title at which a lower cosine suffices
_OPENING = 60  # words of a snippet that are embedded with its title
_FIRST = 800  # characters of a page among which to look for its first sentence
_NAME, _LONG = 4, 6  # fewest letters of a name that languages share, and of a word whose beginning they may share
_BEGINNING = 0.7  # share of a long word that is compared
_OTHER_SCRIPT = 0.5  # share of letters in other scripts than the topic's from which a page cannot be compared with it
_SUBJECT = 300  # maximum characters before the verb of a sentence that defines its subject


def names_in_full(text: str, names: Sequence[str], language: str = "en") -> bool:
    """Whether a text contains one of the names whole: all its words in a row, not "Basil" for "Basil II".

    Case, accents, number and genitive of each word may differ, a middle initial may stand between, and the name's
    article and what it has in brackets may be missing.

    Args:
        names: the topic, and other names of it.
        language: ISO 639-1 code of the text, which selects the endings that may differ.
    """
    bare = [name for name in map(bare_name, names) if name]
    if not has_spaces(language):
        plain = caseless(text)
        return any(caseless(name) in plain for name in bare)
    wanted = [_keys(name, language) for name in bare]
    return any(name.strip() and (name in _keys(text, language) or name in _full(text, language)) for name in wanted)


def bare_name(name: str) -> str:
    """A name without brackets at its end and without an English article; unchanged if nothing else is in it."""
    bare = _ARTICLE.sub("", _BRACKETS.sub("", name).strip(), count=1) if _ARTICLE.match(name) else name
    return _BRACKETS.sub("", bare).strip() or name.strip()


@dataclass(frozen=True)
class OwnPage:
    """The page whose subject is the topic."""

    title: str  # of the page
    text: str  # of the page, as given
    # the topic and the other names that the page opens with, e.g. "Thomas Alva Edison"; distinct, without articles and
    # brackets
    names: tuple[str, ...]
    definition: str  # the sentence that says what the topic is; empty if the page has none


def own_page(topic: str, pages: Iterable[tuple[str, str]], language: str = "en") -> OwnPage | None:
    """The topic's own page among pages, or None.

    Its title is the topic, ignoring case, article and inflection; else so is a part of its title before brackets or the
    name of a site; else its first sentence introduces its subject by the topic as another name, as the target of a
    redirect does. Among equals the first one counts. If title and topic differ in brackets, it is another page.
    ``pages``: title and text of each page, best first.
    """
    ranked = [(_match(topic, title, text, language), title, text) for title, text in pages]
    rank, title, text = min(ranked, key=lambda page: page[0], default=(_NO_MATCH, "", ""))
    if rank == _NO_MATCH:
        return None
    sentence, introduced = _opening(text, language)
    near = stem_set(f"{topic} {title}", language)
    other = (name for i, name in enumerate(introduced) if _is_name(name, near, first=i == 0, language=language))
    names = {_keys(name, language): name for name in map(bare_name, (*other, _SITE.sub("", title), topic))}
    return OwnPage(title, text, tuple(reversed(names.values())), sentence if introduced else "")


_NO_MATCH = 9


def _match(topic: str, title: str, text: str, language: str) -> int:
    """How a page's title or opening matches the topic, best -1: Middle Ages are no middle age."""
    if title.casefold() == topic.casefold():
        return -1
    wanted = _keys(bare_name(topic), language)
    if _keys(title, language) == _keys(topic, language):
        return 0
    short = _SITE.sub("", title)
    if _keys(bare_name(short), language) == wanted:
        return _match_of_brackets(_BRACKETS.findall(topic), _BRACKETS.findall(short), text, language)
    names = _opening(text, language)[1] if wanted in _keys(text[:_SUBJECT], language) else ()  # a sentence takes longer
    named = any(_keys(bare_name(name), language) == wanted for name in names)
    return 3 if named and not _BRACKETS.search(topic) else _NO_MATCH


def _match_of_brackets(of_topic: Sequence[str], of_title: Sequence[str], text: str, language: str) -> int:
    if not of_topic:
        return 2 if of_title else 1
    said = stem_set(" ".join(of_title) or text, language)
    wanted = stem_set(" ".join(of_topic), language)
    return 2 if wanted and wanted <= said else _NO_MATCH


@lru_cache(maxsize=1024)
def _opening(text: str, language: str) -> tuple[str, tuple[str, ...]]:
    """The first sentence of a page, and the names by which it introduces its subject; no names if it defines none."""
    first = next(iter(split_sentences(text[:_FIRST], language)), "")
    verb = COPULA.search(first)
    if verb is None or verb.start() > _SUBJECT:
        return first, ()
    parts = (part.strip() for part in _BETWEEN_NAMES.split(first[: verb.start()]))
    return first, tuple(part for part in parts if part and not part.startswith("In "))


def _is_name(part: str, near: frozenset[str], *, first: bool, language: str) -> bool:
    """Whether a part of a sentence's subject is a name of it, rather than a date, a place or a pronunciation."""
    bare = bare_name(part)
    found = words(bare)
    if not found or ":" in bare or any(word.isdigit() for word in found):
        return False
    if first:
        return bool(stem_set(bare, language) & near)
    if len(found) == 1:
        return len(bare) > 2 and bare.isupper()
    return all(word[0].isupper() or len(word) < 4 for word in found) and bare[0].isupper()


@lru_cache(maxsize=8192)
def _keys(text: str, language: str) -> str:
    """The stems of all words of a text in order, function words included, each between spaces."""
    return f" {' '.join(_stems(text, language))} "


@lru_cache(maxsize=2048)
def _full(text: str, language: str) -> str:
    """As :func:`_keys`, without single letters: the initials of names."""
    return f" {' '.join(key for key in _stems(text, language) if len(key) > 1 or key.isdigit())} "


def _stems(text: str, language: str) -> Iterator[str]:
    plain = _DOTTED.sub(lambda found: found[0].replace(".", ""), text.replace("&", " and "))
    for word in words(_unaccented(plain).casefold().replace("’", "'")):
        yield _stem(word, language)


@lru_cache(maxsize=1 << 15)
def _stem(word: str, language: str) -> str:
    bare = word.removesuffix("'s").removesuffix("'")
    stems = stem_set(bare, language)
    return next(iter(stems)) if len(stems) == 1 else bare


def _names_and_numbers(text: str) -> frozenset[str]:
    """The names of a text, with their capitals, and its numbers of three digits or more; no word that asks."""
    found = words(_unaccented(text))
    asks = found[:1] if "?" in text else ()
    names = (word for word in found if len(word) >= _NAME and word[0].isupper() and word not in asks)
    return frozenset((*names, *(word for word in found if len(word) >= _NAME - 1 and word.isdigit())))


def _long_beginnings(text: str) -> Iterator[str]:
    """How the long words of a text begin, in lower case: "protes" of "protests", which is "protestas" elsewhere."""
    return (word[: round(_BEGINNING * len(word))].casefold() for word in words(_unaccented(text)) if len(word) >= _LONG)


def _forms(text: str) -> Iterator[str]:
    """The words of a text as they stand, and in lower case."""
    for word in words(_unaccented(text)):
        yield word
        yield word.casefold()


def _unaccented(text: str) -> str:
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _ACCENTS.sub("", unified(text, "NFKD")))


class Verdict(NamedTuple):
    """Whether a page is about the topic, bears on it (has something that its article could tell), or neither.

    ``score`` is at most 1: 1.0 for a page about the topic, else the greater of cosine and share of the topic's words.
    """

    relevance: Literal["about", "bears", "neither"]
    score: float


class Floor:
    """Judges pages by what is said of the topic on its own page, if that is among them.

    A page is about the topic if its title names it in full. It bears on it if it names it anywhere, if the own page
    names its subject, or if its vector is near that of what the topic is or of the question; nearness may be less if it
    has most of the topic's words. Where the own page says what the topic is, its name is left out of comparisons by
    vector: namesakes have it too. Across languages neither words nor most encoders can tell: a page in another or an
    unknown language bears on the topic if it shares a name, the beginning of a long word or, in a known language, a
    number with it, or a name or number with the question; one in another script always does.

    Args:
        found: snippets among which the topic's own page may be, best first.
        embed: texts to unit vectors, shape (texts, dimension); asked only about pages that words leave in doubt.
    """

    def __init__(self, topic: str, found: Iterable[Snippet], embed: Embed, language: str = "en") -> None:
        self.own = own_page(topic, ((one.title, one.text) for one in found), language)
        self._names = self.own.names if self.own else (topic,)
        self._topic = topic
        self._wanted = stem_set(topic, language)
        self._embed = embed
        self._language = language

    def judge(self, pages: Sequence[Sequence[Snippet]], question: str = "") -> list[Verdict]:
        """The verdict on each page, given by its snippets; none is empty."""
        verdicts = [self._by_words(page, question) for page in pages]
        doubtful = [i for i, verdict in enumerate(verdicts) if verdict.relevance == "neither"]
        for i, cosine in zip(doubtful, self._cosines([pages[i] for i in doubtful], question), strict=True):
            share = verdicts[i].score
            near = cosine >= (_ALIKE if share >= _SHARE else _NEAR)
            verdicts[i] = Verdict("bears" if near else "neither", max(cosine, share))
        return verdicts

    def bearing(self, snippets: Iterable[Snippet], question: str = "") -> tuple[Snippet, ...]:
        """The snippets, in order, without those of pages that are neither about the topic nor bear on anything."""
        given = tuple(snippets)
        pages: dict[str, list[Snippet]] = {}
        for snippet in given:
            pages.setdefault(snippet.source_id, []).append(snippet)
        verdicts = zip(pages, self.judge(list(pages.values()), question), strict=True)
        kept = {page for page, verdict in verdicts if verdict.relevance != "neither"}
        return tuple(snippet for snippet in given if snippet.source_id in kept)

    def _by_words(self, page: Sequence[Snippet], question: str) -> Verdict:
        title, language = page[0].title, self._language
        if names_in_full(title, self._names, language):
            return Verdict("about", 1.0)
        share = max(recall(self._wanted, stem_set(f"{one.title} {one.text}", language)) for one in page)
        named = any(names_in_full(one.text, self._names, language) for one in page)
        bears = named or self._is_known(title) or self._bears_across_languages(page, question)
        return Verdict("bears" if bears else "neither", share)

    def _bears_across_languages(self, page: Sequence[Snippet], question: str) -> bool:
        """Whether a page in another or an unknown language shares with topic or question what languages share."""
        text = " ".join(f"{one.title} {one.text}" for one in page)
        language = detect(text)
        if language == self._language:
            return False
        if foreign_script_share(text, self._topic) > _OTHER_SCRIPT:
            return True
        wanted = {begin for name in self._names for begin in (*_names_and_numbers(name), *_long_beginnings(name))}
        wanted |= _names_and_numbers(question)
        if not language:  # perhaps a table, which has years as well
            wanted = {word for word in wanted if not word.isdigit()}
        if all(one.text.islower() for one in page):
            wanted = set(map(str.casefold, wanted))
        return any(word.startswith(tuple(wanted)) for word in _forms(text))

    def _is_known(self, title: str) -> bool:
        """Whether the own page names the subject of a page; parts of the topic's name ("Basil") do not count."""
        parts = stem_set(" ".join((self._topic, *self._names)), self._language)
        if self.own is None or stem_set(title, self._language) <= parts:
            return False
        return names_in_full(self.own.text, [title], self._language)

    def _cosines(self, pages: Sequence[Sequence[Snippet]], question: str) -> list[float]:
        """For each page the greatest cosine of its best snippet to what the topic is or to the question."""
        if not pages:
            return []
        asked_alone = self._without_name(question)
        needs = [self._said(), *([asked_alone] if asked_alone else [])]
        asked = stem_set(question, self._language) | self._wanted
        best = [max(page, key=lambda one: len(asked & stem_set(one.text, self._language))) for page in pages]
        texts = [f"{one.title}: {opening_of(one.text, _OPENING)}" for one in best]
        vectors = self._embed([*needs, *texts])
        return [float(cosine) for cosine in (vectors[len(needs) :] @ vectors[: len(needs)].T).max(axis=1)]

    def _said(self) -> str:
        """What the topic is: its definition without its name, which namesakes share; the topic if there is none."""
        defined = self._without_name(self.own.definition) if self.own else ""
        return defined if stem_set(defined, self._language) else self._topic

    def _without_name(self, text: str) -> str:
        """A text without the topic's names, if it is known what the topic is."""
        if self.own is None or not self.own.definition:
            return text
        for name in sorted(self._names, key=len, reverse=True):
            text = re.sub(re.escape(name), " ", text, flags=re.I)
        return " ".join(text.split())
