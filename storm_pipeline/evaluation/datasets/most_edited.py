"""The pages that were edited most in a month (Wikimedia Analytics API, ``edited-pages/top-by-edits``)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from storm_pipeline.documents.plain import objects, plain_text
from storm_pipeline.errors import DatasetError
from storm_pipeline.evaluation.datasets.answers import Answers
from storm_pipeline.evaluation.datasets.wikimedia import Wikimedia, building
from storm_pipeline.net.http import ApiClient

_MONTH = re.compile(r"(20\d\d)-(0[1-9]|1[0-2])")


@dataclass(frozen=True)
class EditedPage:
    """A page that was edited much.

    Attributes:
        title: with spaces.
        edits: in all the months asked for, as far as it was among their 100.
        months: those months, in order.
    """

    title: str
    edits: int
    months: tuple[str, ...]


def most_edited(services: Wikimedia, answers: Answers, months: Iterable[str]) -> tuple[EditedPage, ...]:
    """The up to 100 most edited content pages of each month (what the service gives), each once, by title.

    Args:
        services: where to ask.
        answers: of this build.
        months: each as ``2024-01``.

    Raises:
        DatasetError: a month is none, the service has no data for it, or could not be asked.
    """
    client = services.client(
        "the Wikimedia Analytics API",
        services.metrics,
        {404: "it has no data for this month (yet): a month is there some days after its end; leave it out"},
    )
    pages: dict[str, EditedPage] = {}
    for month in dict.fromkeys(months):
        if not (parts := _MONTH.fullmatch(month)):
            raise DatasetError(f"{month!r} is no month; write it as 2024-01")
        path = f"/edited-pages/top-by-edits/{services.project}/all-editor-types/content/{parts[1]}/{parts[2]}/all-days"
        with building():
            top = answers.get(["metrics", path], partial(_asked, client, path, month))
        for title, edits in top:
            known = pages.get(title, EditedPage(title, 0, ()))
            pages[title] = replace(known, edits=known.edits + edits, months=(*known.months, month))
    return tuple(sorted(pages.values(), key=lambda page: page.title))


def _asked(client: ApiClient, path: str, month: str) -> list[tuple[str, int]]:
    answer = client.get_json({}, path)
    try:
        top = objects(answer["items"][0]["results"][0]["top"])
        return [(plain_text(page["page_title"].replace("_", " ")), int(page["edits"])) for page in top]
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise DatasetError(
            f"the Wikimedia Analytics API answered for {month} in an unknown form; check its address or upgrade"
        ) from error
