"""What an article is about, as the sources say it, and whether a text speaks of it.

A small model cannot tell a namesake from the subject, so plain rules do: a text speaks of the subject if it names it in
full. "Basil" or "II" does not name Basil II.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from storm_pipeline.files import table_beside
from storm_pipeline.languages import stem_set
from storm_pipeline.references.facts import facts_of, recall
from storm_pipeline.references.relevance import bare_name, own_page
from storm_pipeline.text.words import words
from storm_pipeline.types import Snippet, Source
from storm_pipeline.writers.small.kinds import defines

_PATTERNS = table_beside(__file__)
_PERSON = re.compile(r"\b(?:he|she|his|her)\b", re.I)
_MEASURE = re.compile("".join(_PATTERNS["measure"]))
_BESIDE = re.compile("".join(_PATTERNS["beside"]))
"""What makes a name the end of another thing, or an example beside it: Gothic was succeeded by the Renaissance."""
_RANKED = re.compile(r"\b(?:\w+est|most[ -]\w+)\b[^.;]{0,60} after (?:the )?$")  # second-largest country after Brazil
_NEIGHBOUR = re.compile("".join(_PATTERNS["neighbour"]))
_SIDE = re.compile("".join(_PATTERNS["side"]))
"""What makes a place a neighbour of another: bordered to the north by Mexico; with Mexico to its south."""
_PLACE_OF = re.compile(
    r"\b(?:Gulf|Bay|Strait|Sea|Valley|University|State|Battle|Treaty|Bank|Isle|Isthmus) of (?:the )?$"
)
"""What makes a name a part of another's: the Gulf of Mexico."""
_NAME_BEFORE = re.compile(r"(?<=\w )([A-Z][a-z]+)[ -]$")
_PARTS = frozenset(
    "High Low Early Late Northern Southern Eastern Western Central North South East West Upper Lower Old Middle "
    "Great Greater Proto Pre Post European Ancient Modern Classical The A An".split()
)
"""Words before a name that tell a part of what it names."""
_TITLES = frozenset("Emperor Empress King Queen Pope Saint St Lord Lady Sir Prince Princess Caesar Sultan The".split())
_OF_A_LANGUAGE = re.compile("".join(_PATTERNS["of_a_language"]))
_IN_A_LANGUAGE = re.compile(r"\b(?:in|into|from|of|speaks?|spoken|[Mm]odern|Old|Middle|Classical|Standard) $")
"""What makes a name that is an adjective too mean a language: written in Japanese, Japanese verbs, Japanese is."""
_NUMERAL = re.compile(r"[IVXLC]+|\d+")
_SHORTEST_SURNAME = 4
_MOSTLY = 0.9  # share of a name's uses in lower case that makes it a common noun
_OF_A_PHRASE = 2 / 3  # share of a phrase's content words that names it


@dataclass(frozen=True)
class Subject:
    """The subject of an article."""

    topic: str  # as the user gave it
    names: tuple[str, ...]  # its full names, the topic first; never empty
    own: frozenset[str] = frozenset()  # ids of the pages about it alone: those with its name as their title
    definition: str = ""  # the sentence that says what it is; empty if none was found
    text: str = field(default="", repr=False)  # what its own pages say; empty if there are none
    is_person: bool = False  # whether its own page calls it he or she
    # whether its own page's title has brackets, which tell it from other things of its name
    has_namesakes: bool = False

    @property
    def described(self) -> str:
        """The topic with its definition, for prompts and embeddings."""
        return f"{self.topic}: {self.definition}" if self.definition else self.topic

    @property
    def is_noun(self) -> bool:
        """Whether the topic is a common noun, which running text writes in lower case: photon."""
        return self.names[0][:1].islower()

    def named_in(self, text: str) -> bool:
        """Whether a text has a full name of the subject: no longer name such as Sun Yat-sen, no measure, no neighbour.

        A topic that is no name and has no page of its own, such as "Hanseatic trade in Bergen", is named by two thirds
        of its content words, by both of two.
        """
        if any(True for _ in self.mentions(text)):
            return True
        return self._is_phrase and recall(self._stems, stem_set(text)) >= _OF_A_PHRASE

    def mentions(self, text: str) -> Iterator[re.Match[str]]:
        """Where a text has a full name of the subject that means it, in order."""
        for found in self._pattern.finditer(text):
            is_other = _is_other(text, found) or self._is_of_another_kind(text[: found.start()])
            if not is_other and not self._is_of_its_people(text, found):
                yield found

    def _is_of_another_kind(self, before: str) -> bool:
        """Whether the word before a name makes it another's: Harlem Renaissance, but not High Renaissance."""
        found = _NAME_BEFORE.search(before)
        if self.is_person or not self.definition or not found:
            return False
        word = found[1]
        known = {own[:_SHORTEST_SURNAME].casefold() for own in words(self.text)}
        return word in self._neighbours or (word not in _PARTS and word[:_SHORTEST_SURNAME].casefold() not in known)

    @cached_property
    def _neighbours(self) -> frozenset[str]:
        """Words before its name that make it a neighbour's on its own page: the border with Northern Ireland."""
        found = (_NAME_BEFORE.search(self.text[: own.start()]) for own in self._pattern.finditer(self.text))
        return frozenset(word[1] for word in found if word and _NEIGHBOUR.search(word.string[: word.start()]))

    def _is_of_its_people(self, text: str, found: re.Match[str]) -> bool:
        """Whether the name of a language means its people or their country: Japanese literature."""
        if self.names[0] != f"{found[0]} language":
            return False
        before, after = text[: found.start()], text[found.end() :]
        is_said_in_it = _IN_A_LANGUAGE.search(before) and not re.match(r" [a-z]", after)
        return not (is_said_in_it or _OF_A_LANGUAGE.match(after))

    @cached_property
    def _stems(self) -> frozenset[str]:
        return stem_set(self.names[0])

    @cached_property
    def _is_phrase(self) -> bool:
        lower = any(word.islower() for word in self.names[0].split()[1:])
        return lower and not self.own and len(self._stems) > 1

    def has_namesake_in(self, text: str) -> bool:
        """Whether a text has a person's one-word name after another name: Tiberius Claudius Nero."""
        if not self.is_person or " " in self.names[0]:
            return False
        before = re.findall(rf"(?<=\w )([A-Z][a-z]+) {re.escape(self.names[0])}(?!\w)", text)
        return any(word not in _TITLES for word in before)

    def is_part_of(self, title: str) -> bool:
        """Whether a page's title has a full name of the subject and more words: Renaissance art."""
        title = bare_name(title)
        if self.is_person and title.partition(", ")[0] in self.names:
            return False  # another of the same name: Frederick II, Holy Roman Emperor
        plain = title[:1].lower() + title[1:] if self.is_noun else title
        found = next(self.mentions(f"the {plain}"), None)
        return found is not None and stem_set(title) != stem_set(self.names[0])

    def surname_in(self, text: str) -> bool:
        """Whether a text has the last word of a person's name, not after another's first name as in Hulegu Khan.

        On a page that has the full name, it is meant.
        """
        named = self._surname.finditer(text) if self._surname else ()
        before = (_NAME_BEFORE.search(f"a {text[: own.start()]}") for own in named)
        return any(not found or found[1] in {*words(self.names[0]), *_TITLES} for found in before)

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(_spelling(name) for name in sorted(self.names, key=len, reverse=True)))

    @cached_property
    def _surname(self) -> re.Pattern[str] | None:
        *first, last = self.names[0].split()
        is_name = len(last) >= _SHORTEST_SURNAME and last[0].isupper() and not _NUMERAL.fullmatch(last)
        return re.compile(rf"(?<!\w){re.escape(last)}(?!\w)") if self.is_person and first and is_name else None


def subject_of(topic: str, sources: Iterable[Source]) -> Subject:
    """What the sources say the topic is: the page with its name, its other names there, its definition.

    Args:
        topic: as the user gave it; brackets at its end tell namesakes apart, as in ``Mercury (planet)``.
        sources: all that was found, the best first.
    """
    found = list(sources)
    name = bare_name(topic)
    texts = [(source.title, snippet.text) for source in found for snippet in source.snippets]
    page = own_page(topic, sorted(texts, key=lambda one: not bare_name(one[1]).startswith(name)))
    if page is None or (stem_set(page.title) > stem_set(name) and not defines(page.definition)):
        plain = Subject(topic, (name,))
        return replace(plain, definition=_definition(plain, found))
    own = [source for source in found if source.title == page.title]
    opening = next((fact.text for source in own for snippet in source.snippets for fact in facts_of(snippet)), "")
    running = " ".join(text for _, text in texts)
    return Subject(
        topic,
        tuple(dict.fromkeys(_written(known, page.text, running) for known in (name, *page.names))),
        frozenset(source.id for source in own),
        page.definition or opening,
        text := "\n".join(snippet.text for source in own for snippet in source.snippets),
        is_person=bool(_PERSON.search(text)),
        has_namesakes=bare_name(page.title) != page.title,
    )


def sources_of(snippets: Iterable[Snippet]) -> tuple[Source, ...]:
    """The snippets by page, in their order."""
    pages: dict[str, list[Snippet]] = {}
    for snippet in snippets:
        pages.setdefault(snippet.source_id, []).append(snippet)
    return tuple(Source(key, own[0].url, own[0].title, tuple(own)) for key, own in pages.items())


def _written(name: str, own: str, running: str) -> str:
    """The name as running text has it: ``photon`` for ``Photon``, but ``Renaissance`` as it is.

    Its own page says so, or where that has it only at the beginning of sentences, nearly all other pages.
    """
    lower = name[:1].lower() + name[1:]
    pattern = re.compile(rf"(?<=[\w,] )({re.escape(name)}|{re.escape(lower)})(?:s|es)?(?!\w)")
    inside, least = pattern.findall(own), 1.0
    if not inside:
        inside, least = pattern.findall(running), _MOSTLY
    return lower if inside and inside.count(lower) >= least * len(inside) else name


def _definition(subject: Subject, sources: Iterable[Source]) -> str:
    """The first sentence of the form "SUBJECT is …" in any page; empty if there is none."""
    pattern = re.compile(rf"(?:(?:The|An?) )?(?:{_spelling(subject.names[0])})(?:,[^,]*,)? (?:is|are|was|were) ")
    facts = (fact.text for source in sources for snippet in source.snippets for fact in facts_of(snippet))
    return next((text for text in facts if pattern.match(text) and defines(text)), "")


def _spelling(name: str) -> str:
    """A pattern of the name in running text: any space or hyphen, plural and possessive.

    A name in lower case may open a sentence; "Red Army" is no army.
    """
    parts = [re.escape(word) for word in re.split(r"[\s-]+", name) if word]
    if name[:1].islower():
        parts[0] = f"(?:{parts[0]}|(?:^|(?<=[.!?] )){parts[0][0].upper()}{parts[0][1:]})"
    joined = r"[\s-]+".join(parts)
    return rf"(?<!\w)(?:{joined})(?:s|es|['’]s)?(?!\w)"


def _is_other(text: str, found: re.Match[str]) -> bool:
    """Whether the match is part of a longer name, as in Sun Yat-sen, or a mere measure or neighbour: the Sun's mass."""
    after, before = text[found.end() :], text[: found.start()]
    if _PLACE_OF.search(before) or _RANKED.search(before) or _NEIGHBOUR.search(before) or _SIDE.match(after):
        return True
    is_beside = _MEASURE.search(before) or _BESIDE.search(before)
    return bool(re.match(r"[ –-][A-Z]\w|-\w", after) or before.endswith("-") or is_beside)
