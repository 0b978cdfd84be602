"""What a build left out, and why."""

from collections import Counter


class Exclusions:
    """Pages that a build left out, with the reasons."""

    def __init__(self) -> None:
        self._reasons: list[tuple[str, str]] = []

    def add(self, title: str, reason: str) -> None:
        """Record a page."""
        self._reasons.append((title, reason))

    def summary(self) -> str:
        """The reasons, most frequent first, such as ``3 × list, 1 × deleted``."""
        counts = Counter(reason for _, reason in self._reasons)
        return ", ".join(f"{count} × {reason}" for reason, count in counts.most_common()) or "there were no candidates"

    def entries(self) -> list[dict[str, str]]:
        """``title`` and ``reason`` of each page, ordered by title, for a manifest."""
        return [{"title": title, "reason": reason} for title, reason in sorted(self._reasons)]
