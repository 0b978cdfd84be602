"""Code of another, which must never run."""

from pathlib import Path

Path(__file__).with_name("executed").touch()
