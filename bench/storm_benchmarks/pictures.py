"""Takes the pictures of the pages for browsers that docs/web.md shows: ``python -m storm_benchmarks.pictures RUN``.

RUN is the folder of a finished run, whose texts must be free. ``storm web`` serves a copy of it, and Chromium opens
each page on a screen and on a phone. Nothing is asked of a model.
"""

import io
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageChops
from playwright.sync_api import Page, sync_playwright

_FOLDER = Path(__file__).parents[2] / "docs" / "web"
_SIZES = {"": (1440, 900), "-phone": (390, 844)}
_NAMES = "home login write watch outline read made map library".split()
_PATHS = "/ /login /write?topic=Spain /watch/{} /outline/{} /read/{} /read/{}/made /read/{}/map /library".split()
_SETTINGS = {"STORM_LM": "openai/gpt-4o", "OPENAI_API_KEY": "sk-none", "STORM_SEARCH": "wiki-leads"}


def _picture(page: Page, name: str) -> bytes:
    """Return the picture of a page without the empty end, as PNG with a palette, after what makes it worth a look."""
    if name == "write":
        page.get_by_role("button", name="See what it will take").click()
    elif name == "watch":
        page.locator(".interview summary").first.click()
    elif name == "read":
        page.locator(".lead .cite").nth(1).hover()
    page.wait_for_load_state("networkidle")
    shot = Image.open(io.BytesIO(page.screenshot(animations="disabled", caret="hide"))).convert("RGB")
    box = ImageChops.difference(shot, Image.new("RGB", shot.size, shot.getpixel((0, shot.height - 1)))).getbbox()
    shown = shot.crop((0, 0, shot.width, min(shot.height, box[3] + 60))) if box else shot
    shown.quantize(160, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(
        made := io.BytesIO(), "PNG", optimize=True
    )
    return made.getvalue()


def main() -> None:
    run = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        shutil.copytree(run, Path(place, run.name))
        command = [sys.executable, "-m", "storm_pipeline", "web", "--no-browser", "--out", place]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | _SETTINGS) as server:
            address = server.stdout.readline().split()[-1] if server.stdout else ""
            page = browser.new_page(reduced_motion="reduce")
            page.goto(address)
            for name, path in zip(_NAMES, _PATHS, strict=True):
                for ending, (width, height) in _SIZES.items():
                    page.set_viewport_size({"width": width, "height": height})
                    page.goto(address.partition("/enter")[0] + path.format(run.name))
                    print(name, ending, (_FOLDER / f"{name}{ending}.png").write_bytes(_picture(page, name)))
            server.terminate()


if __name__ == "__main__":
    main()
