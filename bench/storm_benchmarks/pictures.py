"""Takes the pictures of the pages that docs/web.md shows: ``python -m storm_benchmarks.pictures RUN``.

RUN is the folder of a finished run, alone in its folder, whose texts must be free. Nothing is asked of a model.
"""

import io
import os
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

from PIL import Image, ImageChops
from playwright.sync_api import Page, sync_playwright

_FOLDER = Path(__file__).parents[2] / "docs" / "web"
_SIZES = (("", 1440, 900), ("-phone", 390, 844))
_NAMES = "home login write watch outline read made map library".split()
_PATHS = "/ /login /write?topic=Tea /watch/{} /outline/{} /read/{} /read/{}/made /read/{}/map /library".split()
_FIRST = {"write": "#order .go", "watch": ".interview summary"}  # what is clicked before
_SETTINGS = {"STORM_LM": "openai/gpt-4o", "OPENAI_API_KEY": "sk-none", "STORM_SEARCH": "wiki-leads"}


def _picture(page: Page, name: str) -> bytes:
    """Return the picture of a page without its empty end, as PNG with a palette."""
    if name in _FIRST:
        page.locator(_FIRST[name]).first.click()
    elif name == "read":
        page.locator(".lead .cite").nth(1).hover()
    page.wait_for_load_state("networkidle")
    shot = Image.open(io.BytesIO(page.screenshot(animations="disabled"))).convert("RGB")
    box = ImageChops.difference(shot, Image.new("RGB", shot.size, shot.getpixel((0, shot.height - 1)))).getbbox()
    shown = shot.crop((0, 0, shot.width, min(shot.height, box[3] + 60))) if box else shot
    shown.quantize(160, dither=Image.Dither.NONE).save(made := io.BytesIO(), "PNG", optimize=True)
    return made.getvalue()


if __name__ == "__main__":
    run = Path(sys.argv[1]).absolute()
    command = [sys.executable, "-m", "storm_pipeline", "web", "--no-browser", "--out", str(run.parent)]
    with (
        sync_playwright() as playwright,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | _SETTINGS) as server,
    ):
        address = server.stdout.readline().split()[-1] if server.stdout else ""
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        (window := browser.new_page(reduced_motion="reduce")).goto(address)
        for (name, path), (ending, width, height) in product(zip(_NAMES, _PATHS, strict=True), _SIZES):
            window.set_viewport_size({"width": width, "height": height})
            window.goto(address.partition("/enter")[0] + path.format(run.name))
            print(name, ending, (_FOLDER / f"{name}{ending}.png").write_bytes(_picture(window, name)))
        server.terminate()
