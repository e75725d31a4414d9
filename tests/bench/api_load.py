#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The API under load, beside heavy sweeps and without: 1,000 GET/s of one node over 50 connections on the Unix socket and over TLS;
how long 200 readers wait for an event; what PathRecords cost with and without that load. Fabric, SM, clients and API share
this machine's processors.

api_load.py [FABRIC] (ft3:24), or ./dev bench api_load
SMD_BENCH_SECONDS: of each row (10)
"""
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
BIN = pathlib.Path(os.environ.get("SMD_BIN", HERE / "../../build/release/bin")).resolve()
sys.path.insert(0, str(HERE / "../daemon"))
from subject import Daemon, until  # noqa: E402

SECONDS = float(os.environ.get("SMD_BENCH_SECONDS", "10"))
CLIENT = BIN / "api_load_client"


class Sweeps:
    """Heavy sweeps, one after the other, as long as it is open."""

    def __init__(self, smd, on):
        self.smd, self.on, self.ended, self.count = smd, on, threading.Event(), 0

    def __enter__(self):
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def run(self):
        while self.on and not self.ended.is_set():
            before = self.smd.log().count("kind=heavy") + self.smd.log().count("sweep=heavy")
            self.smd.tell("resweep", "heavy")
            self.count += 1
            end = time.monotonic() + 60
            while time.monotonic() < end and not self.ended.is_set():
                if self.smd.log().count("kind=heavy") + self.smd.log().count("sweep=heavy") > before:
                    break
                time.sleep(0.2)

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


def run(*words, token=None):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=300,
                          env={**os.environ, **({"SMD_TOKEN": token} if token else {})})
    if done.returncode:
        raise SystemExit(f"{words}: {done.returncode} {done.stdout}{done.stderr}")
    return done.stdout.strip().splitlines()[-1]


def readers(smd, place, target, token):
    """200 readers, and an event every 100 ms."""
    client = subprocess.Popen([CLIENT, "events", place, target, "200", str(SECONDS)], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "SMD_TOKEN": token})
    client.stdout.readline()
    time.sleep(0.5)
    end = time.monotonic() + SECONDS - 2
    while time.monotonic() < end:
        smd.tell("log", "info")
        time.sleep(0.1)
    return client.communicate(timeout=60)[0].strip()


def clients(smd, fabric, sim, host, api):
    """PathRecords, one under way, beside 1,000 GET/s or without."""
    word = "with API load" if api else "alone"
    load = subprocess.Popen([str(one) for one in api], stdout=subprocess.DEVNULL) if api else None
    line = run(smd.smd, "attach", "--socket", sim, "--node", host, "--", BIN / "sa_load", SECONDS - 2, 1, 1000)
    if load:
        load.wait(60)
    print(f"api_load/{fabric}/sa {word}: {line}", flush=True)


def main():
    fabric = sys.argv[1] if len(sys.argv) > 1 else "ft3:24"
    with tempfile.TemporaryDirectory(prefix="smd-bench-") as name:
        folder = pathlib.Path(name)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        config = folder / "smd.toml"
        config.write_text(f'[api]\nlisten = "127.0.0.1:{port}"\ncert = "api.pem"\nkey = "api.key"\n')
        smd_program = BIN / "smd"
        run(smd_program, "api", "cert", "--self-signed", "127.0.0.1", "--cert", folder / "api.pem", "--key", folder / "api.key")
        with Daemon(smd_program, "--sim", fabric, "--config", config, "--state-dir", folder / "state", "--sim-socket",
                    folder / "sim.sock") as smd:
            until(lambda: "state=up" in smd.log(), "the fabric up", 300)
            token = re.search(r"smd_\w+", smd.tell("token", "add", "bench", "--role", "viewer"))[0]
            subnet = smd.subnet()["subnet"]
            hosts = [one["name"] for one in json.loads(smd.tell("nodes", "--type", "ca", "--json"))["nodes"]]
            target = f"/v1/subnets/{subnet.replace(':', '%3A')}/nodes/{hosts[1]}"
            for sweeps in (False, True):
                for place in (smd.socket, f"127.0.0.1:{port}"):
                    with Sweeps(smd, sweeps) as work:
                        line = run(CLIENT, "get", place, target, 50, 1000, SECONDS, token=token)
                    kind = "unix" if place == smd.socket else "tls"
                    print(f"api_load/{fabric}/{kind}/{'heavy' if sweeps else 'idle'}: {line}; {work.count} sweeps", flush=True)
            for api in (None, (CLIENT, "get", smd.socket, target, 50, 1000, SECONDS)):
                clients(smd, fabric, folder / "sim.sock", hosts[2], api)
            print(f"api_load/{fabric}/events: {readers(smd, f'127.0.0.1:{port}', '/v1/events', token)}", flush=True)


if __name__ == "__main__":
    main()
