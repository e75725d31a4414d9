# SPDX-License-Identifier: Apache-2.0
"""A running smd in a private folder."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

LIMIT = 60  # seconds until something that must come counts as missing


class Failed(Exception):
    pass


def expect(true, text):
    if not true:
        raise Failed(text)


def until(what, text, limit=LIMIT):
    """Waits for a condition; what it gave."""
    end = time.monotonic() + limit
    while True:
        found = what()
        if found:
            return found
        if time.monotonic() > end:
            raise Failed(f"{text}: not within {limit} s")
        time.sleep(0.02)


class Daemon:
    """`smd run ARGS`, ended with its context."""

    def __init__(self, smd, *args, folder=None, socket=True, env=None, cwd=None):
        self.smd = str(smd)
        self.own_folder = folder is None
        self.folder = pathlib.Path(folder or tempfile.mkdtemp(prefix="smd-daemon-"))
        self.socket = self.folder / "smd.sock"
        self.log_path = self.folder / "log"
        self.out_path = self.folder / "out"
        command = [self.smd, "run", *map(str, args)]
        if socket:
            command += ["--socket", str(self.socket)]
        self.log_file = open(self.log_path, "a")
        self.out_file = open(self.out_path, "a")
        self.process = subprocess.Popen(command, stdout=self.out_file, stderr=self.log_file, cwd=cwd,
                                        env={**os.environ, **(env or {})})

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.log_file.close()
        self.out_file.close()
        if kind is not None:
            print(f"--- log of {self.folder}\n{self.log()[-6000:]}")
        if self.own_folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def log(self):
        return self.log_path.read_text(errors="replace")

    def logged(self, text, times=1):
        """Waits until the log has it so often."""
        until(lambda: self.log().count(text) >= times or self.process.poll() is not None, f"log line {text!r}")
        expect(self.log().count(text) >= times, f"smd ended ({self.process.poll()}) without {text!r}")

    def tell(self, *args, status=0):
        """`smd ARGS --socket`, its exit status checked; stdout and stderr."""
        done = subprocess.run([self.smd, *map(str, args), "--socket", str(self.socket)], capture_output=True,
                              text=True, timeout=LIMIT)
        expect(done.returncode == status, f"smd {' '.join(map(str, args))}: exit {done.returncode}, "
                                          f"{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def status(self):
        return json.loads(self.tell("status", "--json"))

    def subnet(self, name=None):
        subnets = self.status()["subnets"]
        return subnets[0] if name is None else next(s for s in subnets if s["subnet"] == name)

    def answers(self):
        """Whether the API does: a socket's file may be a dead daemon's."""
        command = [self.smd, "status", "--socket", str(self.socket)]
        return subprocess.run(command, capture_output=True, timeout=LIMIT).returncode == 0

    def swept(self, name=None):
        """Waits for the first sweep; the subnet's status."""
        until(self.answers, "an answer")
        return until(lambda: self.subnet(name)["last_sweep"] and self.subnet(name), "the first sweep")

    def hang_up(self):
        self.process.send_signal(signal.SIGHUP)

    def end(self, status=0, limit=LIMIT):
        """SIGTERM; the seconds that it took."""
        begun = time.monotonic()
        self.process.terminate()
        got = self.process.wait(limit)
        took = time.monotonic() - begun
        expect(got == status, f"exit {got}, wanted {status}")
        return took
