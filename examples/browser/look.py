#!/usr/bin/env python3
"""A browser command for Airlock: it looks at a page with headless Chromium.

It reads a validation request on standard input, opens the application (services.app_url,
and below it the path that a hint begins with), takes a picture for each criterion, and
prints a validation response. What it understands of a hint:

    /path shows "TEXT"          the page's visible text contains it
    /path has no "TEXT"         it does not

Everything else is BLOCKED, so that nobody takes a picture for a proof.

    airlock verify --request request.json --browser 'python3 examples/browser/look.py'
"""

import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

PROGRAMS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
HINT = re.compile(r'^(?:(/\S*)\s+)?(shows|has no)\s+"([^"]+)"\.?$')


class Visible(html.parser.HTMLParser):
    """The text of a page that a reader sees."""

    def __init__(self):
        super().__init__()
        self.hidden, self.words = 0, []

    def handle_starttag(self, tag, attributes):
        self.hidden += tag in ("script", "style", "template")

    def handle_endtag(self, tag):
        self.hidden -= tag in ("script", "style", "template")

    def handle_data(self, data):
        if not self.hidden:
            self.words += data.split()


def browse(program, profile, url, *arguments):
    """Runs the browser on a page. The sandbox is Airlock's: it runs this program as a user
    that owns nothing, who cannot have the browser's own."""
    command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
               "--user-data-dir=" + profile, "--window-size=1280,800", "--virtual-time-budget=5000", *arguments, url]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode(errors="replace").strip()[-300:] or f"exit code {done.returncode}")
    return done.stdout.decode(errors="replace")


def look(program, profile, app, criterion, pictures):
    """Returns the status of a criterion and what shows it."""
    match = HINT.match(criterion["validation_hint"].strip())
    if not match:
        return "BLOCKED", 'The hint is not /path shows "TEXT" or /path has no "TEXT".'
    path, verb, text = match.groups()
    url = urllib.parse.urljoin(app, path or "/")
    if urllib.parse.urlsplit(url).netloc != urllib.parse.urlsplit(app).netloc:
        return "BLOCKED", f"{url} is not the application's."
    try:
        page = Visible()
        page.feed(browse(program, profile, url, "--dump-dom"))
        name = f"{len(pictures) + 1}.png"
        browse(program, profile, url, "--screenshot=" + os.path.join(os.environ["AIRLOCK_EVIDENCE_DIR"], name))
        pictures.append({"path": name, "description": f"{url} for {criterion['id']}", "step": len(pictures) + 1})
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as failure:
        return "BLOCKED", f"The browser could not open {url}: {failure}"
    shown = " ".join(text.split()) in " ".join(page.words)
    said = "shows" if shown else "does not show"
    return ("PASS" if shown == (verb == "shows") else "FAIL"), f'{url} {said} "{text}".'


def main():
    request = json.load(sys.stdin)
    app = request.get("services", {}).get("app_url", "")
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    results, pictures = [], []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for criterion in request["acceptance_criteria"]:
            if not app:
                status, evidence = "BLOCKED", "The request names no services.app_url."
            elif not program:
                status, evidence = "BLOCKED", "None of these is installed: " + ", ".join(PROGRAMS)
            else:
                status, evidence = look(program, profile, app, criterion, pictures)
            results.append({"criterion_id": criterion["id"], "status": status, "evidence": evidence})
    statuses = {result["status"] for result in results}
    if "FAIL" in statuses:
        verdict = "PARTIAL" if "PASS" in statuses else "FAIL"
    else:
        verdict = "BLOCKED" if "BLOCKED" in statuses else "PASS"
    json.dump({
        "task_id": request["task_id"], "verdict": verdict, "criteria_results": results,
        "evidence_collected": {"screenshots": pictures}, "confidence": 0.8,
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }, sys.stdout)


if __name__ == "__main__":
    main()
