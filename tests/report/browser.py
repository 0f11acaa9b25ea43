"""Drives a headless Chromium over the WebDriver protocol, with nothing but the
standard library.

    with Browser(width=1400, height=900) as page:
        page.open("file:///.../index.html")
        page.script("return document.title")
        page.click("#theme")
        page.keys("body", "j")
        page.screenshot("shot.png")
        page.console()     # messages since the last call
"""
import base64
import json
import os
import re
import shutil
import subprocess
import threading
import time
import urllib.error
import urllib.request

PATIENCE = 1800  # seconds: for what is stuck, not for what is slow
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class BrowserError(Exception):
    pass


def available():
    """None, or what is missing."""
    for name in ("chromium", "chromedriver"):
        if not shutil.which(name):
            return "%s is not installed (Debian: chromium, chromium-driver)" % name
    return None


class Browser:
    def __init__(self, width=1440, height=900, dark=False, mobile=False):
        self.size, self.dark, self.mobile = (width, height), dark, mobile

    def __enter__(self):
        self.start()
        args = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                "--force-color-profile=srgb", "--window-size=%d,%d" % self.size]
        if self.dark:
            args.append("--blink-settings=preferredColorScheme=0")
        options = {"args": args, "binary": shutil.which("chromium")}
        if self.mobile:
            options["mobileEmulation"] = {"deviceMetrics": {"width": self.size[0], "height": self.size[1], "pixelRatio": 2}}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        try:
            self.session = self.begin({"capabilities": {"alwaysMatch": wanted}})["sessionId"]
        except BaseException:
            self.end()
            raise
        self.call("POST", "/timeouts", {"script": 1000 * PATIENCE, "pageLoad": 1000 * PATIENCE})
        return self

    def start(self):
        """The driver takes a port that is free and names it: one that we look for may be another's by then."""
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said = ""
        for line in self.driver.stdout:
            said += line
            found = re.search("started successfully on port ([1-9][0-9]*)", line)
            if found:
                self.port = int(found[1])
                break
        else:
            raise BrowserError("chromedriver has ended: %d %s" % (self.driver.wait(), said))
        # what else it says, so that it never waits for us
        threading.Thread(target=self.driver.stdout.read, daemon=True).start()

    def begin(self, wanted):
        """The driver waits a minute for the browser, which a busy machine may not have started by then."""
        failures = 0
        while True:
            try:
                return self.call("POST", "/session", wanted, session=False)
            except (urllib.error.URLError, ConnectionError):
                if self.driver.poll() is not None:
                    raise BrowserError("chromedriver has ended: %d" % self.driver.returncode)
            except BrowserError:
                failures += 1
                if failures == 5:
                    raise
            time.sleep(0.1)

    def __exit__(self, *_):
        try:
            self.call("DELETE", "")
        except Exception:
            pass
        self.end()

    def end(self):
        self.driver.terminate()
        self.driver.wait()

    def call(self, method, path, body=None, session=True):
        url = "http://127.0.0.1:%d" % self.port + ("/session/" + self.session if session else "") + path
        data = json.dumps(body or {}).encode() if method == "POST" else None
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error).get("value", {})
            raise BrowserError("%s: %s" % (value.get("error"), str(value.get("message")).split("\n")[0]))

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def script(self, text, *args):
        return self.call("POST", "/execute/sync", {"script": text, "args": list(args)})

    def script_async(self, text, *args):
        return self.call("POST", "/execute/async", {"script": text, "args": list(args)})

    def find(self, selector):
        return self.call("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        for attempt in range(5):  # the page may have drawn itself anew in between
            try:
                self.call("POST", "/element/%s/click" % self.find(selector))
                return
            except BrowserError as error:
                if attempt == 4 or not str(error).startswith("stale"):
                    raise

    def keys(self, selector, text):
        self.call("POST", "/element/%s/value" % self.find(selector), {"text": text})

    def drag(self, selector, dx, dy):
        """By the mouse, from the middle of an element."""
        middle = {"type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": {ELEMENT: self.find(selector)}}
        steps = [middle, {"type": "pointerDown", "button": 0},
                 {"type": "pointerMove", "duration": 50, "x": dx, "y": dy, "origin": "pointer"}, {"type": "pointerUp", "button": 0}]
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps}]})

    def wait(self, condition):
        """Until a script's expression is true; gives its value. What the expression looks
        at may not be there yet: an error is not true either."""
        end = time.time() + PATIENCE
        while time.time() < end:
            value = self.script("try { return %s } catch (error) { return null }" % condition)
            if value:
                return value
            time.sleep(0.05)
        raise BrowserError("waited %d s for: %s" % (PATIENCE, condition))

    def settled(self):
        """Until the page is drawn and no transition goes on."""
        self.script_async("const done = arguments[arguments.length - 1]; requestAnimationFrame(() => requestAnimationFrame(() => done(true)))")
        self.wait("document.getAnimations().every((one) => one.playState === 'finished')")

    def console(self):
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})
                if entry["level"] in ("SEVERE", "WARNING")]

    def screenshot(self, path):
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("GET", "/screenshot")))
