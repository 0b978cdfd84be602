"""Progress of a run, told to an assistant that waits for it."""

import asyncio
from typing import Any

from mcp.server.mcpserver import Context
from starlette.concurrency import iterate_in_threadpool

from storm_pipeline.server.run_service import POLL, RunService


async def report_until_ended(service: RunService, name: str, ctx: Context[Any, Any]) -> None:
    """Report progress until a run ends: steps that are done, of those of all stages begun so far, and the end."""
    done = total = 0
    if (position := service.view(name).position) is not None:
        await ctx.report_progress(0, 1, f"waits for its turn, {position} in the queue")
    async for found in iterate_in_threadpool(service.events(name)):
        if found is None:
            await asyncio.sleep(POLL)
            continue
        kind, stage = found[1].get("event"), str(found[1].get("stage", ""))
        if kind in {"StageStarted", "StageAdvanced"}:
            done += 1
            total = max(done, total + (1 + (found[1].get("total") or 0) if kind == "StageStarted" else 0))
            await ctx.report_progress(done, total + 1, f"{stage}: {found[1].get('label') or 'started'}")
    await ctx.report_progress(done + 1, done + 1, "ended")
