"""Where an article's images stand: at most one at the top of the lead and of each section."""

from collections import Counter
from collections.abc import Iterable, Mapping

from storm_pipeline.types import IMAGE_HOSTS, Article, Image, Sentence

LEAD = 0
COMMONS = "Wikimedia Commons"
"""Where every image is from, as its credit says."""
IMAGE_POLICY = "img-src " + " ".join(f"https://{host}" for host in IMAGE_HOSTS)
"""What a Content-Security-Policy allows so that images can be shown."""


def placed_images(article: Article) -> Mapping[int, Image]:
    """Place → the image that stands there; a place is :data:`LEAD`, or the number of a first-level section from 1.

    An image belongs where most sentences cite its source, the first of several such places. Of several images that
    belong to one place, the one whose source is cited most there is shown. Nothing is shown twice.
    """
    lead = [sentence for paragraph in article.lead for sentence in paragraph.sentences]
    places = [_cited(lead), *(_cited(section.sentences()) for section in article.sections)]
    placed: dict[int, Image] = {}
    # Backwards, so that of equal ones the first stays.
    for image in {image.url: image for image in reversed(article.images)}.values():
        place = max(range(len(places)), key=lambda number: places[number][image.source_id])
        times, before = places[place][image.source_id], placed.get(place)
        if times and (before is None or times >= places[place][before.source_id]):
            placed[place] = image
    return placed


def _cited(sentences: Iterable[Sentence]) -> Counter[str]:
    """Source → how many of the sentences cite it."""
    return Counter(name for sentence in sentences for name in {c.source_id for c in sentence.citations})
