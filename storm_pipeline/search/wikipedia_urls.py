"""URLs of Wikipedia articles."""

from urllib.parse import quote


def page_address(title: str, site: str = "en.wikipedia.org") -> str:
    """URL of an article of a Wikipedia or a sister project, by default the English Wikipedia."""
    return f"https://{site}/wiki/" + quote(title.replace(" ", "_"), safe="/:@!$&'()*+,;=~-._")
