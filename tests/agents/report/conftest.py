"""A headless Chromium that is driven over a pipe with the DevTools protocol."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 120  # seconds, on a busy machine
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--remote-debugging-pipe",
)


def find_chromium() -> str | None:
    return next((path for path in map(shutil.which, NAMES) if path is not None), None)


class Chromium:
    """One tab. `events` are those of the console, the log and the network."""

    def __init__(self) -> None:
        path = find_chromium()
        assert path is not None
        self._profile = tempfile.TemporaryDirectory()
        commands, self._out = os.pipe()
        self._in, events = os.pipe()
        self._process = subprocess.Popen(
            [
                "bash",
                "-c",
                f'exec "$@" 3<&{commands} 4>&{events}',
                "-",
                path,
                *FLAGS,
                f"--user-data-dir={self._profile.name}",
            ],
            pass_fds=(commands, events),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(events)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        os.close(self._out)
        self._process.wait(timeout=30)
        os.close(self._in)
        self._profile.cleanup()

    def call(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def open(self, path: Path, width: int, dark: bool = False) -> None:
        """Load a file and wait for it."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500
        )
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)
        self.events.clear()
        self.call("Page.navigate", url=path.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._receive())

    def evaluate(self, expression: str) -> Any:
        result: Mapping[str, Any] = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def screenshot(self, path: Path) -> None:
        image = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(image["data"]))

    def requests(self) -> list[str]:
        sent = [event for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def complaints(self) -> list[Any]:
        """What the console and the log have got: errors, warnings, refusals."""
        methods = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [event for event in self.events if event.get("method") in methods]

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            assert select.select([self._in], [], [], PATIENCE)[0], f"Chromium has said nothing for {PATIENCE} s"
            read = os.read(self._in, 1 << 20)
            assert read, "Chromium has gone"
            self._buffer += read
        message, self._buffer = self._buffer.split(b"\0", 1)
        decoded: dict[str, Any] = json.loads(message)
        return decoded


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    if find_chromium() is None:
        pytest.skip(f"no Chromium: none of {', '.join(NAMES)} is on the path (apt-get install chromium)")
    browser = Chromium()
    yield browser
    browser.close()
