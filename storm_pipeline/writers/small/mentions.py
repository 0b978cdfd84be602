"""Whether a sentence that names the subject tells of it, or only mentions it beside other things."""

import re
from itertools import takewhile

from storm_pipeline.files import table_beside
from storm_pipeline.languages import stem_set, stop_words
from storm_pipeline.references.relevance import bare_name
from storm_pipeline.writers.small.subject import Subject

_PATTERNS = table_beside(__file__)
_THE = re.compile(r"\b[Tt]he $")
_OPENING = 10  # words at the opening of a sentence among which stands what it is about
_BREAK = re.compile(r"[,;:()—]| (?:and|or|as well as) ")
_JOINT = re.compile("".join(_PATTERNS["joint"]))
"""What may stand before the name in its part of the sentence, if that is an item of a list."""
_ITEM = re.compile(r"(?:(?:and|or|in|to|from|of|the|between) )*[A-Z][\w'’-]*(?: [\w'’-]+){0,4}")
"""A short part of a sentence that is a name: an item of a list."""
_FIRST_ITEM = re.compile("".join(_PATTERNS["first_item"]))
"""The first item of a list, at the end of its part of the sentence: spoken in Eastern Europe, …"""
_AFTER_ITEM = 3  # words that may follow the name in its item: West Asia to the west
_BEFORE_SUBJECT = re.compile("".join(_PATTERNS["before_subject"]))
_IS_SAID = re.compile(r"\b(?:be|been|is|are|was|were)(?: \w+ly| also| often)? $")
"""What makes the name of a thing a verb: it is thought to be so."""
_NO_NOUN = re.compile(r"\w+(?:ed|ly)|often|always|never|sometimes|alone|today")
"""Words after a name that make no compound with it."""
_LIST = re.compile(r"(?:[\w'’-]+(?: [\w'’-]+)?, ){3,}(?:(?:and|or) )?[\w'’-]+")
"""Four items or more of one or two words: text, images, sound, and film."""
_SEVERAL = 2  # other items of a list in which a name tells little
_QUOTED = re.compile(r"[\"“][^\"“”]*[\"”]")
_FIELDS = re.compile(r"In (?:[a-z ]+, )+(?:(?:and|or) )?")  # in medicine, health, or fitness, weight loss is
_MARKS = tuple("\"“”'‘’")
_DENIED = re.compile("".join(_PATTERNS["denied"]), re.I)
"""What denies the noun after it: mosses do not have seeds, pteridophytes have neither flowers nor seeds."""
_OF_A_WORD = re.compile("".join(_PATTERNS["of_a_word"]))
"""Around a language's name (NUL): a word comes from the Latin metallum, is Latin for a cross, or is a Latin term."""


def tells_of(subject: Subject, title: str, text: str) -> bool:
    """Whether a sentence names the subject in full, other than as one of several names, or as another thing's kind.

    "It is spoken in Eastern Europe, Siberia and West Asia" tells nothing of West Asia, nor "a cult film" of cults; nor
    does the title of the page itself, such as Death of a Salesman, nor a long list such as "text, image, audio, video".
    """
    text = re.sub(rf"(?<!\w){re.escape(title)}(?!\w)", "it", text, flags=re.I) if title else text
    found = list(subject.mentions(text))
    if not found:
        return subject.named_in(text)
    asides = (
        _is_one_of_several,
        _is_in_a_list,
        _is_quoted,
        _is_of_a_word,
        _is_denied,
        _is_a_word,
        _is_of_its_page,
        _is_a_field,
    )
    return not all(
        _is_kind_of_another(subject, text, one) or any(is_so(text, one) for is_so in asides) for one in found
    )


def _is_quoted(text: str, name: re.Match[str]) -> bool:
    """Whether a name stands inside a quotation, in somebody's words: "one of the last Renaissance scholars"."""
    return any(one.start() < name.start() and name.end() < one.end() - 1 for one in _QUOTED.finditer(text))


def _is_denied(text: str, name: re.Match[str]) -> bool:
    """Whether a sentence says that something has none of what a common noun means, or is none."""
    return name[0][0].islower() and bool(_DENIED.search(text[: name.start()]))


def _is_of_its_page(text: str, name: re.Match[str]) -> bool:
    """Whether a common noun stands right behind its page's title, as one of that: a neptunium atom."""
    return name[0][0].islower() and text[: name.start()].endswith("it ")


def _is_a_field(text: str, name: re.Match[str]) -> bool:
    """Whether a common noun is in a list of fields that opens a sentence, or right behind it: In medicine, or law."""
    return name[0][0].islower() and bool(_FIELDS.fullmatch(text[: name.start()]))


def _is_a_word(text: str, name: re.Match[str]) -> bool:
    """Whether a common noun stands alone in quotation marks, as a word: what looks like a 'seed'."""
    before, after = text[: name.start()], text[name.end() :]
    return name[0][0].islower() and before.endswith(_MARKS) and after.startswith(_MARKS)


def _is_of_a_word(text: str, name: re.Match[str]) -> bool:
    """Whether a name is that of the language of a word, of which alone is told."""
    is_language = name.start() > 0 and name[0][0].isupper()
    return is_language and bool(_OF_A_WORD.search(f"{text[: name.start()]}\0{text[name.end() :]}"))


def _is_in_a_list(text: str, name: re.Match[str]) -> bool:
    """Whether a common noun is an item of a long list, but not the first word of the sentence."""
    lists = _LIST.finditer(text) if name.start() and name[0].islower() else ()
    return any(one.start() <= name.start() and name.end() <= one.end() for one in lists)


def opens_with(subject: Subject, title: str, text: str) -> bool:
    """Whether the opening of a sentence names the subject or has a word of its page's title, or it has the whole title.

    A common noun needs the title: on the page of Venus, "The atmosphere is hot" is of one atmosphere; and "the sea" on
    that of the North Sea is one sea.
    """
    opening, own = " ".join(text.split()[:_OPENING]), stem_set(title)
    if subject.is_noun:
        further = own - stem_set(subject.names[0])
        means_one = [bool(_THE.search(text[: one.start()])) for one in subject.mentions(text)]
        is_named = bare_name(title).casefold() in text.casefold() if means_one else further & stem_set(text)
        if not own & stem_set(text) or (further and all(means_one) and not is_named):
            return False
    names = subject.named_in(opening) or subject.surname_in(opening) or bool(own & stem_set(opening))
    return names or bare_name(title) in text


def opens_about(subject: Subject, text: str) -> bool:
    """Whether a sentence opens with the subject, or with a time or place that it is."""
    first = next(iter(subject.mentions(text)), None)
    return first is not None and bool(_BEFORE_SUBJECT.fullmatch(text[: first.start()]))


def _is_one_of_several(text: str, name: re.Match[str]) -> bool:
    """Whether a name is an item of a list of names, and is not the first words of the sentence."""
    cuts = [0, *(cut for one in _BREAK.finditer(text) for cut in one.span()), len(text)]
    parts = [(start, end) for start, end in zip(cuts[::2], cuts[1::2], strict=True) if text[start:end].strip(" .")]
    own = next(i for i, (start, end) in enumerate(parts) if start <= name.start() < end)
    before, after = text[parts[own][0] : name.start()].strip(), text[name.end() : parts[own][1]].strip(" .")
    joint = _JOINT.fullmatch(before)
    if name.start() == 0 or not joint or len(after.split()) > _AFTER_ITEM:
        return False
    others = [text[start:end].strip(" .") for start, end in parts]
    behind = sum(1 for _ in takewhile(_ITEM.fullmatch, others[own + 1 :]))
    if joint["more"]:
        return behind >= _SEVERAL
    ahead = sum(1 for _ in takewhile(_ITEM.fullmatch, reversed(others[:own])))
    first = others[own - ahead - 1] if own > ahead else ""
    return behind + ahead + bool(_FIRST_ITEM.search(first)) >= _SEVERAL


def _is_kind_of_another(subject: Subject, text: str, name: re.Match[str]) -> bool:
    """Whether a common noun only tells the kind of the noun after it: a cult film."""
    if not subject.names[0].islower() or " " in subject.names[0] or name[0].casefold() != subject.names[0]:
        return False
    follows = re.match(r" ([a-z]+)", text[name.end() :])
    if _IS_SAID.search(text[: name.start()]) and follows and follows[1] in ("to", "that", "of"):
        return True
    return follows is not None and follows[1] not in stop_words("en") and not _NO_NOUN.fullmatch(follows[1])
