"""A headless Chromium, driven over a pipe by its DevTools protocol."""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
from typing import Any, Optional

CHROMIUM = "chromium-headless-shell"


class Browser:
    """One page. Use it in a `with` statement."""

    def __enter__(self) -> "Browser":
        self.home = tempfile.mkdtemp(prefix="hotset-docs-")
        # It reads commands from its descriptor 3 and writes answers to 4.
        from_us, self.to_browser = os.pipe()
        self.from_browser, to_us = os.pipe()

        def connect() -> None:
            # Over others first, for either pipe may have the numbers 3 and 4.
            read, write = os.dup2(from_us, 50), os.dup2(to_us, 51)
            os.dup2(read, 3)
            os.dup2(write, 4)

        flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run"]
        # What it writes besides its profile goes there, too, and away with it.
        environment = {key: value for key, value in os.environ.items() if not key.startswith("XDG_")}
        environment.update(HOME=self.home, TMPDIR=self.home)
        self.process = subprocess.Popen(
            [CHROMIUM, *flags, "--remote-debugging-pipe", f"--user-data-dir={self.home}", "about:blank"],
            preexec_fn=connect, close_fds=False, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(from_us)
        os.close(to_us)
        self.last, self.rest, self.session = 0, b"", ""
        self.events: list[dict[str, Any]] = []
        pages = [target for target in self.call("Target.getTargets")["targetInfos"] if target["type"] == "page"]
        self.session = self.call("Target.attachToTarget", targetId=pages[0]["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.session = ""
            self.call("Browser.close")
            self.process.wait(timeout=20)
        except (RuntimeError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to_browser)
        os.close(self.from_browser)
        # Its children end a little later, and write until then.
        until = time.monotonic() + 10
        while os.path.exists(self.home) and time.monotonic() < until:
            shutil.rmtree(self.home, ignore_errors=True)
            time.sleep(0.05)

    def receive(self) -> dict[str, Any]:
        while b"\0" not in self.rest:
            read = os.read(self.from_browser, 1 << 20)
            if not read:
                raise RuntimeError(f"{CHROMIUM} ended")
            self.rest += read
        message, _, self.rest = self.rest.partition(b"\0")
        answer: dict[str, Any] = json.loads(message)
        return answer

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self.last += 1
        command = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.to_browser, json.dumps(command).encode() + b"\0")
        while True:
            message = self.receive()
            if message.get("id") == self.last:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                result: dict[str, Any] = message["result"]
                return result
            self.events.append(message)

    def size(self, width: int, height: int, dark: bool = False, scale: float = 1) -> None:
        """What the page is told of the window and of the colors that the reader prefers."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=width < 600)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, url: str) -> list[str]:
        """Loads a page; the errors of its scripts."""
        self.events.clear()
        self.call("Page.navigate", url=url)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive())
        thrown = [event["params"]["exceptionDetails"] for event in self.events if event.get("method") == "Runtime.exceptionThrown"]
        return [details.get("exception", {}).get("description", details["text"]) for details in thrown]

    def run(self, script: str) -> Any:
        """The value of a script, or of its promise."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']['text']}")
        return answer["result"].get("value")

    def picture(self, path: pathlib.Path, clip: Optional[dict[str, float]] = None) -> None:
        """What the window shows, or a part of the page, as PNG."""
        options: dict[str, Any] = {"format": "png"}
        if clip:
            options.update(clip={**clip, "scale": 1}, captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", **options)["data"]))
