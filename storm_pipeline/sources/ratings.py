"""Ratings of sources."""

from enum import StrEnum


class Rating(StrEnum):
    """Rating of a source. The first six are the list's, from the least to the most cautious."""

    RELIABLE = "generally reliable"
    MIXED = "mixed"
    NO_CONSENSUS = "no consensus"
    UNRELIABLE = "generally unreliable"
    DEPRECATED = "deprecated"
    BLACKLISTED = "blacklisted"

    SCHOLARLY = "scholarly"
    PREPRINT = "preprint"
    OFFICIAL = "official"
    EDUCATION = "education"
    USER_GENERATED = "user-generated"
    SELF_PUBLISHED = "self-published"
    SOCIAL = "social media"
    OPEN_WIKI = "open wiki"
    MIRROR = "mirror of Wikipedia"
    CONTENT_FARM = "content farm"
    PREDATORY = "predatory publisher"

    ALLOWED = "allowed by your list"
    DENIED = "denied by your list"
    OWN = "no web page"
    UNKNOWN = "unknown"


CAUTION = (
    Rating.RELIABLE,
    Rating.MIXED,
    Rating.NO_CONSENSUS,
    Rating.UNRELIABLE,
    Rating.DEPRECATED,
    Rating.BLACKLISTED,
)
"""The list's statuses, most cautious last."""
