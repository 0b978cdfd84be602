"""A dry run of FSDP: weights that are sharded by torch are tuned by the same loop, to the same losses."""

import pytest
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from training_helpers import assert_rows_match, examples, writer

from storm_training.fine_tuning import fine_tune
from storm_training.loop import Steps

FEW = Steps(steps=6, batch=8, warmup=2, rate=1e-2)


@pytest.fixture
def mesh(tmp_path):
    """A group of this process alone, over gloo."""
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/meeting", rank=0, world_size=1)
    yield init_device_mesh("cpu", (1,))
    dist.destroy_process_group()


def test_a_sharded_writer_is_tuned_to_the_same_losses(mesh):
    plain, sharded = writer(), writer()
    for layer in sharded.model.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(sharded, mesh=mesh)
    assert all(isinstance(weight, DTensor) for weight in sharded.parameters())
    assert_rows_match(fine_tune(sharded, examples(), FEW, padding=0), fine_tune(plain, examples(), FEW, padding=0))
