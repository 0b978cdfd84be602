"""Lines of a reference list: text in runs, some of them italic, some of them links."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from storm_pipeline.export.reference import Reference


@dataclass(frozen=True)
class Run:
    """A piece of a line; ``href`` is the address that it links to, empty for none."""

    text: str
    italic: bool = False
    href: str = ""


Line = tuple[Run, ...]
"""A line of a reference list, or a note."""


def plain_entry(reference: Reference) -> Line:
    """A reference in a form of our own: authors, title, site, publisher, date, pages, DOI or address, day of access.

    The pages are those of the work in its journal or book, if they are known, and the cited ones.
    """
    authors = ", ".join(name.natural for name in reference.authors)
    site = [text for text in dict.fromkeys((reference.site, reference.publisher)) if text]
    work = reference.work
    editors = f"Ed. {', '.join(name.natural for name in reference.editors)}" if reference.editors else ""
    number = " ".join(filter(None, (work.volume, f"({work.issue})" if work.issue else "")))
    extent = f"pp. {work.extent.replace('-', '–')}" if work.extent else ""
    cited = f"cited: {reference.locator}" if extent and reference.pages else reference.locator
    cited = "" if reference.locator == extent else cited
    about = [*site[:1], editors, number, *site[1:], work.place, reference.published, extent, cited]
    runs = [
        *([Run(f"{_ended(authors)} ")] if authors else []),
        Run(reference.title, italic=True),
        Run("".join([_stop(reference.title), *(f" {_ended(part)}" for part in about if part)])),
    ]
    return with_address(tuple(runs), reference)


def with_address(runs: Line, reference: Reference) -> Line:
    """The line with its address as a link, put behind it where the line has neither address nor DOI."""
    file = "" if reference.authors and reference.published else reference.address  # a known work needs no file's name
    known = [text for text in (reference.link, (reference.link and reference.address) or file, reference.doi) if text]
    whole = "".join(run.text for run in runs)
    if known and not any(text in whole for text in known):
        shown = f"https://doi.org/{reference.doi}" if reference.doi else reference.address
        accessed = f" (accessed {reference.accessed})" if reference.accessed else ""
        runs = (*runs, Run(" "), Run(shown), Run(f"{accessed}."))
    return (*(piece for run in runs for piece in linked(run, reference)), *also_at(reference))


def also_at(reference: Reference) -> Line:
    """What goes behind a reference: the other addresses of the same text; empty where there is none."""
    if not reference.also:
        return ()
    links = [run for url in reference.also for run in (Run(", "), Run(url, href=url))]
    return (Run(" Also at "), *links[1:], Run("."))


def _ended(text: str) -> str:
    return text + _stop(text)


def _stop(text: str) -> str:
    return "" if text.endswith((".", "!", "?")) else "."


def linked(run: Run, reference: Reference) -> Iterator[Run]:
    """The run, cut where the address or the DOI stands in it."""
    target = f"https://doi.org/{reference.doi}" if reference.doi else ""
    places = (target, target), (reference.address, reference.link), (reference.link, reference.link)
    for shown, href in (*places, (reference.doi, target)):
        if shown and href and shown in run.text:
            before, _, after = run.text.partition(shown)
            yield from (replace(run, text=text, href=link) for text, link in ((before, ""), (shown, href)) if text)
            if after:
                yield replace(run, text=after)
            return
    if run.text:
        yield run
