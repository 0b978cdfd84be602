"""Values as people read them on a terminal."""


def printable(text: str) -> str:
    """One line that cannot steer a terminal: runs of whitespace and control characters become one space."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def clock(seconds: float) -> str:
    """Seconds as ``m:ss`` or ``h:mm:ss``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def amount(number: int) -> str:
    """A number of tokens: ``950``, ``12.3k``, ``4.56M``."""
    if number < 1000:
        return str(number)
    return f"{number / 1000:.1f}k" if number < 999_950 else f"{number / 1e6:.2f}M"


def dollars(cost: float | None) -> str:
    """US dollars, ``$0.12``; unknown is ``?``, never nothing."""
    return "?" if cost is None else f"${cost:.2f}"
