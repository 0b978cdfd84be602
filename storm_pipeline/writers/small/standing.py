"""Puts the subject of a page in place of what stands for it in a sentence, so that the sentence makes sense alone."""

import re
from collections.abc import Callable

from storm_pipeline.files import table_beside
from storm_pipeline.languages import stem_set, stop_words
from storm_pipeline.text.words import words
from storm_pipeline.writers.small.self_contained import points_back

_PATTERNS = table_beside(__file__)
_SUBJECT = re.compile("".join(_PATTERNS["subject"]))
_AFTER_CLAUSE = re.compile(r"(?P<clause>[A-Z].{2,160}?, )(?P<one>he|she|it) (?=[a-z])")
_IN_TIME = re.compile("".join(_PATTERNS["in_time"]))
"""Whose time opens a sentence: Under his reign, …"""
_EXPLETIVE = re.compile("".join(_PATTERNS["expletive"]))
"""It stands for nothing: it is common to …"""
"""A pronoun that is the subject after what opens the sentence: Born in Florence, he …"""
_DEFINITE = re.compile(
    r"The (?:[a-z][a-z-]+ )??(?P<noun>[a-z][a-z-]+)(?= (?:is|was|has|had|can|may|[a-z]+(?:s|ed))\b|, |['’]s )"
)
"""A thing that an earlier sentence named: The film examines …"""
_OPENING_CLAUSE = re.compile(r"[A-Z][^,]{2,90}, the (?=[a-z])")
_BARE = re.compile("".join(_PATTERNS["bare"]))
_OPENS_BACK = re.compile("".join(_PATTERNS["opens_back"]), re.I)
_INNER_REFERENCE = re.compile("".join(_PATTERNS["inner_reference"]))
"""A reference inside a sentence: a watershed for its end, the oldest of such paintings."""
_REGION = re.compile("".join(_PATTERNS["region"]))
"""A place that only the sentence before it names: it also occupied part of the region."""
_TERM = re.compile(r"The (?:term|word|name|expression|phrase|title) (?:is|was|has|had|can|may|comes|derives)\b")
"""A word that only the sentence before it says."""
_GENERAL = stem_set(
    "city town village region area country state genus species family group film book novel company river island "
    "planet term language range university organization system"
)
"""Nouns that stand for the subject of a page: the city anchors the metropolitan area."""
_HEAD = re.compile(r",| (?:that|which|who|of|in|by|from|for|with|on|at|to|\w+ed) ")
"""What ends the noun that says what a thing is: a drama film directed by …"""
_HIM = re.compile(r"\b(?:he|she|him|his|her)\b")
_NAME = re.compile(r"[A-Z][^\W\d_]{2,}")
_OF_A_PERSON = re.compile(r"\b(?:he|she|his|her)\b", re.I)
_PARTICIPLE = re.compile(
    r"(?:Nicknamed|Known|Born|Considered|Named|Called|Located|Founded|Situated|Regarded|Recogni[sz]ed)\b"
)
_BRACKETS = re.compile(r"\s*\([^()]*\)")


def with_subject(text: str, title: str, before: str, opening: str) -> str:
    """The sentence with the page's title in place of the pronoun that opens it, where the title is what it means.

    The same for "The film" on the page of a film, in a sentence that does not name it, for the last word of the title,
    as "The system" on the page of the Solar System, and for a person's surname.

    Args:
        before: the sentence before it on the page; it must have the same subject: open with the title or a pronoun.
        opening: the page's first sentence, which shows whether the title wants an article: the Sun.
    """
    name = _named(_BRACKETS.sub("", title).strip(), opening)
    if name and _has_surname(name, text) and _OF_A_PERSON.search(f"{opening} {before} {text}"):
        return f"{name}{text[len(name.split()[-1]) :]}"
    if (thing := _DEFINITE.match(text)) and name:
        rest = text[thing.end() :]
        is_last_word = name.casefold().endswith(f" {thing['noun']}") and thing[0].count(" ") == 1
        is_last_word = is_last_word and opening.startswith(name)
        if is_last_word or (not stem_set(name) & stem_set(text) and _is_kind(thing["noun"], name, opening)):
            return name + rest
        return text
    found = _SUBJECT.match(text) or _IN_TIME.match(text) or _AFTER_CLAUSE.match(text)
    if _EXPLETIVE.match(text):
        return text
    return _with_name_for_pronoun(text, name, before, opening, found) if found and name else text


def _with_name_for_pronoun(text: str, name: str, before: str, opening: str, found: re.Match[str]) -> str:
    begins = " ".join(before.split()[:8])
    if not (_SUBJECT.match(before) or stem_set(name) & stem_set(begins)):
        return text
    said = found.groupdict()
    pronoun, clause = said.get("one") or said.get("whose") or "", said.get("clause", "")
    is_thing = pronoun.casefold() in {"it", "its"}
    if is_thing and (_OF_A_PERSON.search(f"{opening} {before}") or not stem_set(name) <= stem_set(opening)):
        return text  # a title such as "The harbour today" is no name
    possessive = f"{name}'" if name.endswith("s") else f"{name}'s"
    if clause and said.get("whose"):
        return f"{clause}{possessive} {text[found.end() :]}"
    if clause:
        if re.search(rf"\b{re.escape(name.rsplit(maxsplit=1)[-1])}\b", clause):
            return text
        return f"{clause}{name[:1].lower() + name[1:] if name.startswith('The ') else name} {text[found.end() :]}"
    return (possessive if said.get("whose") else name) + text[found.end() :]


def _is_kind(noun: str, name: str, opening: str) -> bool:
    """Whether a page's opening says that its subject is such a thing: Citizen Kane is a film."""
    kind = _HEAD.split(opening.partition(" is ")[2] or opening.partition(" was ")[2])[0]
    return opening.startswith(name) and bool(stem_set(noun) & stem_set(kind))


def _has_surname(name: str, text: str) -> bool:
    """Whether a sentence opens with the last of a name's several words alone."""
    first, *last = name.split()
    return bool(last) and first != "The" and bool(re.match(rf"{re.escape(last[-1])}(?:['’]s)? [a-z]", text))


def leans(text: str) -> bool:
    """Whether a sentence refers to what the one before it says."""
    return points_back(text) or bool(_OPENS_BACK.match(text) or _INNER_REFERENCE.match(text) or _REGION.search(text))


def lacks_subject(text: str, title: str) -> bool:
    """Whether a sentence opens with a participle whose subject it does not name."""
    return bool(_PARTICIPLE.match(text)) and not _names(title, text)


def is_of_nobody(text: str) -> bool:
    """Whether a pronoun means a person whom nothing before it can name: The joule is named after him."""
    pronoun = _HIM.search(text)
    before = text[: pronoun.start()].split() if pronoun else []
    names = (word for i, word in enumerate(before) if i or word.casefold() not in stop_words("en"))
    return pronoun is not None and not any(_NAME.match(word) for word in names)


def names_a_thing_before(text: str, title: str, is_subject: Callable[[str], bool]) -> bool:
    """Whether a sentence opens with a thing that an earlier one introduced: not with the article's subject.

    A sentence that has the whole title of its page says what is meant.
    """
    if _TERM.match(text):
        return True
    if (thing := _DEFINITE.match(text)) and stem_set(thing["noun"]) & _GENERAL and not is_subject(thing[0]):
        return True
    if after := _AFTER_CLAUSE.match(text):
        return not _has_whole(title, after["clause"])
    clause = _OPENING_CLAUSE.match(text)
    opens = _DEFINITE.match(f"The {text[clause.end() :]}" if clause else text) or _BARE.match(text)
    return opens is not None and not _has_whole(title, text) and not is_subject(opens[0])


def _has_whole(title: str, text: str) -> bool:
    return stem_set(_BRACKETS.sub("", title)) <= stem_set(text)


def _names(title: str, text: str) -> bool:
    """Whether a text has a word of the title as the title has it: the university does not name one of Göttingen."""
    own = {word for word in words(title) if word[0].isupper() and word.casefold() not in stop_words("en")}
    return bool(own & set(words(text)))


def _named(title: str, opening: str) -> str:
    """The title as it opens a sentence, with the article that the page's own opening gives it."""
    opening = _BRACKETS.sub("", opening)
    found = re.match(rf"(The|An?) {re.escape(title)}\b", opening, re.I)
    return f"The {title if title.casefold() not in opening else title[:1].lower() + title[1:]}" if found else title
