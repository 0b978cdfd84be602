"""Settings of a run of the tables, read from a TOML file."""

from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from storm_pipeline.api import read_toml
from storm_training.errors import TrainingError
from storm_training.loop import Steps
from storm_training.ppo import PpoSettings


class WorldSettings(BaseModel):
    """The synthetic world and the model that is trained in it.

    Attributes:
        questions: demonstrations to be tuned on.
        anew: each question has facts of its own, which can only be read from its materials.
        error_rate: chance that a demonstration misstates a value.
        judged: answers of the tuned model that reward models and baselines learn from.
        held_out: further ones on which reward models are measured.
        prompts: questions of PPO.
        tests: questions on which everything is measured.
        hidden: width of the model.
        layers: of the model.
        most_tokens: of an answer.
        taught: a good teacher's outlined answers, which TunedRR learns from.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    questions: int = Field(default=20_000, ge=1)
    anew: bool = False
    error_rate: float = Field(default=0.15, ge=0, le=1)
    judged: int = Field(default=400, ge=2)
    held_out: int = Field(default=100, ge=1)
    prompts: int = Field(default=400, ge=1)
    tests: int = Field(default=200, ge=1)
    hidden: int = Field(default=64, ge=32, multiple_of=32)
    layers: int = Field(default=2, ge=1)
    most_tokens: int = Field(default=48, ge=1)
    taught: int = Field(default=192, ge=1)


class RunSettings(BaseModel):
    """All settings of a run: its seeds, the world, and how each stage is trained.

    The seeds share the tuned models, as the paper's rows do; answers, reward models and PPO are each seed's own.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    seeds: int = Field(default=5, ge=1)
    world: WorldSettings = WorldSettings()
    fine_tuning: Steps = Steps(steps=2000, rate=6e-3, warmup=50, save_every=200)
    reward_model: Steps = Steps(steps=100, rate=2e-3, warmup=10)
    baselines: Steps = Steps(steps=60, rate=1e-3, warmup=10)
    ppo: PpoSettings = PpoSettings()

    @classmethod
    def read(cls, path: Path) -> Self:
        """Return the settings of a file.

        Raises:
            TrainingError: it cannot be read, or a setting is unknown or out of range; the message names it.
        """
        try:
            values = read_toml(path)
        except (OSError, ValueError, RecursionError) as error:
            raise TrainingError(f"{path} cannot be read: {error}") from error
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            first = error.errors()[0]
            raise TrainingError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
