"""The settings that a run's folder holds, and which of them count when it is resumed.

What the user's own runs were begun with is on record in his state folder. The settings of another's run say what is
written; models, addresses, names of keys and the like count once the user consents.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from storm_pipeline.configuration.renamed import gone_values
from storm_pipeline.configuration.trust import Claim, decides_alone, decision, remember, untrusted
from storm_pipeline.run.folder import RunStore, SavedSettings
from storm_pipeline.settings import Settings, displaced

_HERE = frozenset({"out", "cache"})
"""Folders of the machine that a run was made on: those of another's run are left out without a question."""


def changed_settings(saved: SavedSettings, override: Settings) -> Settings:
    """The settings of a run's last session, overridden by those explicitly set in ``override``.

    Another ``lm`` drops the saved address and key of the old one; of a value that is gone, the default is used. Raises
    SettingsError: the saved settings are no longer valid.
    """
    now = {name: getattr(override, name) for name in override.model_fields_set}
    dropped = displaced({"lm"} & now.keys()).union(gone_values(saved))
    known = {name: value for name, value in saved.items() if name in Settings.model_fields and name not in dropped}
    return Settings.build({**known, **now})


def usable_settings(run: RunStore, saved: SavedSettings, override: Settings) -> dict[str, Any]:
    """The saved settings that count: all of a run that the user made or trusts, else those that say what is written.

    Raises UntrustedError: the run is not known, and settings that need the user's consent are neither overridden nor
    the default.
    """
    claim = claim_of(run, saved)
    left_out = names_left_out(claim, override.model_fields_set)
    return {name: value for name, value in saved.items() if name not in left_out}


def claim_of(run: RunStore, saved: SavedSettings) -> Claim | None:
    """What a run's settings decide beyond what is written, other than by default."""
    return saved_claim(run.folder, run.state.get("id"), {"": saved})


def saved_claim(folder: Path, identity: object, saved: Mapping[str, Mapping[str, Any]]) -> Claim | None:
    """The claim of a folder's settings, of which there may be several under different headings."""
    default = Settings().model_dump(mode="json")
    needs = {
        f"{heading}{name}": value
        for heading, settings in saved.items()
        for name, value in settings.items()
        if name in default and value != default[name] and not decides_alone(name, value)
    }
    return Claim(folder, needs, str(identity or "")) if needs else None


def names_left_out(claim: Claim | None, given: set[str]) -> set[str]:
    """Settings of a claim that do not count.

    Args:
        claim: that of a run or batch, its values under headings such as ``topic 3: lm``.
        given: settings that the user gives, which come before the saved.

    Raises UntrustedError: the user has to consent first.
    """
    if claim is None or (counts := decision(claim)):
        return set()
    names = {name.rpartition(" ")[2] for name in claim.values}
    if counts is None and names - given - displaced(given) - _HERE:
        raise untrusted([claim])
    return names


def remember_own(claim: Claim | None) -> str:
    """Record that the user made a run himself; what went wrong, as a note for him, else nothing."""
    try:
        if claim and decision(claim) is None:
            remember(claim, own=True)
    except OSError as error:
        return f"that you began this run could not be recorded ({error}): resuming it will need `storm trust`"
    return ""
