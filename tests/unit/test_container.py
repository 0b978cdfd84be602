"""The container image and the compose file, as far as they can be read: no test builds or starts them."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from servers import Reply, ScriptedServer, closed_port
from test_documentation import parse
from typer.main import get_command

from storm_pipeline.interfaces.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
IMAGE = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
COMMANDS: Any = get_command(app)
PORT = next(option.default for option in COMMANDS.commands["serve"].params if option.name == "port")


def instruction(name: str) -> str:
    """The last instruction of this name."""
    return re.findall(rf"^{name} (.*)$", IMAGE, re.M)[-1]


def test_the_image_has_what_a_server_needs() -> None:
    extras = set(re.findall(r"\'\.\[([a-z,]+)\]\'", IMAGE)[0].split(","))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {"api", "mcp", "pdf", "search", "local"} <= extras <= project["optional-dependencies"].keys()
    assert "libpango" in IMAGE  # without it the extra pdf cannot be imported


def test_what_the_image_copies_is_sent_to_the_builder() -> None:
    sent = {line.removeprefix("!") for line in (ROOT / ".dockerignore").read_text().split() if line.startswith("!")}
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", IMAGE, re.M)
    assert {name for names in copied for name in names.split()} == sent
    assert all((ROOT / name).exists() for name in sent)


def health(port: str) -> int:
    words: list[str] = json.loads(instruction("HEALTHCHECK").partition("CMD ")[2])
    assert words[:2] == ["python", "-c"]
    program = words[2].replace(str(PORT), port)
    return subprocess.run([sys.executable, "-c", program], capture_output=True, check=False).returncode


def test_the_health_check_tells_a_server_that_answers_from_one_that_does_not() -> None:
    with ScriptedServer(lambda request: Reply(200 if request.path == "/health" else 404, {"status": "ok"})) as server:
        assert health(server.url.rpartition(":")[2]) == 0
    with ScriptedServer(lambda _: Reply(500)) as server:
        assert health(server.url.rpartition(":")[2]) != 0
    with closed_port() as address:
        assert health(address.rpartition(":")[2]) != 0


def test_the_composed_server_is_a_command_that_exists() -> None:
    parse(["storm", *shlex.split(COMPOSE["services"]["storm"]["command"])])


def test_only_the_proxy_can_be_reached_and_it_leads_to_the_server() -> None:
    storm, proxy = COMPOSE["services"]["storm"], COMPOSE["services"]["proxy"]
    assert "ports" not in storm
    assert proxy["ports"] == ["80:80", "443:443"]
    assert f"--to storm:{PORT}" in proxy["command"]
    assert ":?" in storm["environment"]["STORM_API_TOKEN"]


def test_the_image_runs_without_privileges_and_says_where_it_listens() -> None:
    assert instruction("USER") == "storm"
    assert instruction("EXPOSE") == str(PORT)
    assert json.loads(instruction("ENTRYPOINT")) == ["storm"]


@pytest.mark.parametrize(
    ("service", "folders"), [("storm", [instruction("WORKDIR"), "/storm/servers"]), ("proxy", ["/data"])]
)
def test_what_must_last_is_on_a_volume(service: str, folders: list[str]) -> None:
    volumes = [volume.partition(":") for volume in COMPOSE["services"][service]["volumes"]]
    assert {name for name, _, _ in volumes} <= COMPOSE["volumes"].keys()
    assert [inside for _, _, inside in volumes] == folders


def test_the_folder_of_the_volume_is_the_users_in_the_image() -> None:
    assert "STORM_HOME=/storm" in instruction("ENV")
    assert '"$STORM_HOME/servers"' in IMAGE  # else the volume would be root's
    assert "COPY --from=build --chown=storm /storm /storm" in IMAGE
