"""Starts the binary under test in a folder of its own and ends what it started; knows no test."""

import contextlib
import http.client
import json
import os
import pathlib
import subprocess
import tempfile
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A debug binary on a loaded machine is slow; what takes longer than this hangs.
TIMEOUT_SECONDS = 60


def binary():
    """The binary under test; its absence is a failure, never a reason to skip."""
    path = pathlib.Path(os.environ.get("ONEIRO_BIN", ROOT / "target/debug/oneiro")).resolve()
    if not path.is_file():
        raise SystemExit(f"no binary at {path}: run `cargo build`, or name one in ONEIRO_BIN")
    return str(path)


def environment(home):
    """An environment in which nothing of this machine's owner is found."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return {**kept, "HOME": str(home), "NO_COLOR": "1"}


class Home:
    """A fresh home folder, with the binary run in it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def run(self, *arguments, stdin=None, code=0):
        """Runs a command to its end; any exit code but `code` is a failure."""
        done = subprocess.run(
            [binary(), *arguments],
            env=environment(self.folder),
            cwd=self.folder,
            input=stdin if stdin is not None else "",
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
        )
        assert done.returncode == code, (
            f"oneiro {' '.join(arguments)} ended with {done.returncode}, not {code}\n"
            f"{done.stdout}\n{done.stderr}"
        )
        return done.stdout

    def json(self, *arguments, stdin=None):
        """Runs a command with --json and reads its answer."""
        return json.loads(self.run(*arguments, "--json", stdin=stdin))

    @contextlib.contextmanager
    def serve(self, *arguments):
        """A server on a free port of loopback; told to stop at the end, and it must do so."""
        log = self.folder / "serve.log"
        with open(log, "w") as errors:
            child = subprocess.Popen(
                [binary(), "serve", "--listen", "127.0.0.1:0", "--json", *arguments],
                env=environment(self.folder),
                cwd=self.folder,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        try:
            line = child.stdout.readline()
            assert line, f"oneiro serve did not start:\n{log.read_text()}"
            yield Server(json.loads(line)["url"], child.pid, log)
            assert child.poll() is None, f"the server is gone:\n{log.read_text()}"
        finally:
            child.terminate()
            try:
                status = child.wait(TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
                raise AssertionError(f"the server did not stop:\n{log.read_text()}") from None
        assert status == 0, f"the server ended with {status}:\n{log.read_text()}"


@contextlib.contextmanager
def fresh_home():
    """A home folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="oneiro-rig-") as folder:
        yield Home(folder)


class Server:
    """A running server: where it is, and one request at a time to it."""

    def __init__(self, url, pid, log):
        self.url, self.pid, self.log = url, pid, log
        self.address = urllib.parse.urlsplit(url).netloc

    def connection(self, timeout=TIMEOUT_SECONDS):
        return http.client.HTTPConnection(self.address, timeout=timeout)

    def ask(self, method, path, body=None, headers=None):
        """One request; answers status, headers and bytes."""
        connection = self.connection()
        headers = dict(headers or {})
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        found = answer.status, answer.headers, answer.read()
        connection.close()
        return found

    def get(self, path, headers=None):
        """The JSON at a path; anything but 200 is a failure."""
        return self._json("GET", path, None, headers)

    def post(self, path, body, headers=None):
        """The JSON that a body is answered with; anything but 2xx is a failure."""
        return self._json("POST", path, body, headers)

    def _json(self, method, path, body, headers):
        status, _, text = self.ask(method, path, body, headers)
        assert 200 <= status < 300, f"{method} {path} answered {status}: {text[:2000]!r}"
        return json.loads(text)
