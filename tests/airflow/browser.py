"""A headless Chromium, driven through its DevTools protocol over two pipes: no port, no library."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

PATIENCE = 60


class Refused(Exception):
    """The browser's error: a page that goes away while it is asked, for one."""


class Browser:
    """One page. Use it as a context; what fails says what the page shows."""

    def __init__(self, width=1280, height=900):
        found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        assert found, "no Chromium: script/deps check installs it"
        self.profile = tempfile.TemporaryDirectory(prefix="tidegate-browser-", ignore_cleanup_errors=True)
        to_read, self.to = os.pipe()
        self.back, from_write = os.pipe()

        # It reads from 3 and writes to 4, wherever the pipes are here.
        def place():
            high = [os.dup(end) if end > 4 else os.dup2(end, end + 100) for end in (to_read, from_write)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(
            [found, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-extensions",
             "--no-proxy-server", "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}",
             f"--window-size={width},{height}", "about:blank"],
            preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.number, self.rest, self.session = 0, b"", None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.send("Page.enable")
        self.send("Runtime.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.back)
        self.profile.cleanup()

    def send(self, method, **parameters):
        """Asks, and takes the answer; what the browser tells by itself is passed over."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while True:
            while b"\0" not in self.rest:
                ready, _, _ = select.select([self.back], [], [], max(0, end - time.monotonic()))
                read = os.read(self.back, 1 << 16) if ready else b""
                assert read, f"Chromium did not answer {method}"
                self.rest += read
            line, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(line)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Refused(f"{method}: {answer['error']}")
                return answer["result"]

    def run(self, script):
        """The value of a JavaScript expression; a promise is awaited."""
        result = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def open(self, url):
        self.send("Page.navigate", url=url)

    def text(self):
        return self.run("document.body ? document.body.innerText : ''") or ""

    def wait(self, script, what):
        """Until the expression is true."""
        self.until(lambda: self.ask(f"!!({script})"), what)

    def until(self, attempt, what):
        end = time.monotonic() + PATIENCE
        while not attempt():
            assert time.monotonic() < end, f"{what} did not come about. The page shows:\n{self.text()[:3000]}"
            time.sleep(0.1)

    def ask(self, script):
        """The expression's value; None of a page that went away while it was asked."""
        try:
            return self.run(script)
        except Refused:
            return None

    def wait_text(self, words):
        self.wait(f"document.body && document.body.innerText.includes({json.dumps(words)})", f"the text {words!r}")

    def find(self, selector, words=None):
        """JavaScript for the last shown element of a selector that holds these words; dialogs are the last."""
        return (f"[...document.querySelectorAll({json.dumps(selector)})].filter(e => e.getClientRects().length && "
                f"(e.innerText + ' ' + (e.getAttribute('aria-label') || '')).includes({json.dumps(words or '')})).pop()")

    def click(self, selector, words=None):
        """As a person does: by the mouse, on its middle, when it is there and can be used."""
        self.until(lambda: self.press(selector, words), f"{selector} {words or ''} to click on")

    def bring(self, shown, selector, words=None):
        """Clicks until a selector shows: a page that is still being drawn may not have heard the first click."""
        def attempt():
            end = time.monotonic() + 2
            while not self.ask(f"!!({self.find(shown)})"):
                if time.monotonic() > end:
                    self.press(selector, words)
                    return False
                time.sleep(0.1)
            return True

        self.click(selector, words)
        self.until(attempt, f"{shown} after a click on {selector} {words or ''}")

    def press(self, selector, words=None):
        """Clicks if there is something to click on now, that keeps still and that nothing covers: a click beside a dialog
        would close it."""
        middle = self.ask("(async e => { if (!e || e.disabled) return null; e.scrollIntoView({block: 'center'}); "
                          "const at = () => { const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }; "
                          "const before = at(); await new Promise(done => setTimeout(done, 50)); "
                          "const [x, y] = at(); return x === before[0] && y === before[1] && "
                          f"e.contains(document.elementFromPoint(x, y)) ? [x, y] : null; }})({self.find(selector, words)})")
        for kind in ("mouseMoved", "mousePressed", "mouseReleased") if middle else ():
            self.send("Input.dispatchMouseEvent", type=kind, x=middle[0], y=middle[1], button="none" if kind == "mouseMoved" else "left",
                      clickCount=0 if kind == "mouseMoved" else 1)
        return bool(middle)

    def type(self, selector, text, before=lambda: None):
        """Clicks into a field and types over what stands there. Again where the field was still moving or went away,
        after whatever brings it back."""
        self.until(lambda: before() or self.overwrite(selector, text), f"{text!r} in {selector}")

    def overwrite(self, selector, text):
        element = self.find(selector)
        if not self.press(selector) or not self.ask(f"(e => !!e && document.activeElement === e && (e.select(), true))({element})"):
            return False
        self.send("Input.insertText", text=text)
        return self.ask(f"{element}?.value") == text

    def picture(self, path):
        Path(path).write_bytes(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))
