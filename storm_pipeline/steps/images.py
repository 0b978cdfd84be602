"""Images for a finished article: those of the Wikipedia articles that it cites."""

from collections.abc import Iterable

from storm_pipeline.errors import SearchError
from storm_pipeline.identity import host_of
from storm_pipeline.run.context import RunContext
from storm_pipeline.sources.ground_truth import wikipedia_article
from storm_pipeline.types import Image, Source

_NAMED = 3  # maximum number of unusable images that the report names


def find_images(ctx: RunContext, cited: Iterable[Source]) -> tuple[Image, ...]:
    """Freely licensed lead images of the cited Wikipedia articles; none if the setting is off.

    The report names the images that cannot be used, and says why a look-up failed.
    """
    titles = _titles(cited) if ctx.settings.images == "wikimedia" else {}
    if not titles:
        return ()
    images: list[Image] = []
    refused: list[str] = []
    with ctx.events.in_stage("images"):
        for language, own in titles.items():
            try:
                found = ctx.images.lead_images(language, own)
            except SearchError as error:
                ctx.events.degraded(f"images could not be looked up: {error}")
                break
            images.extend(found.images)
            refused.extend(found.refused)
        if refused:
            more = len(refused) - _NAMED
            named = ", ".join(refused[:_NAMED]) + (f" and {more} more" if more > 0 else "")
            ctx.events.degraded(f"images left out because their licence is not known to be free: {named}")
    return tuple(images)


def _titles(cited: Iterable[Source]) -> dict[str, dict[str, str]]:
    """Language of a Wikipedia → id of a cited source → title of the article; copies elsewhere are left out."""
    titles: dict[str, dict[str, str]] = {}
    for source in cited:
        article = wikipedia_article(source.url)
        if article and host_of(source.url).endswith(".wikipedia.org") and article[0] != "www":
            titles.setdefault(article[0], {})[source.id] = article[1]
    return titles
