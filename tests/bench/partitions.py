#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Partitions of a large fabric: P_Key Sets of the bring-up and of a second sweep, how long a change by the API takes to be answered and
to be in the ports' tables, and what a reload costs. Fabric, SM and client share this machine's processors.

partitions.py [FABRIC PARTITIONS MEMBERS CHANGES]…, or ./dev bench partitions [-- …]; ft3:24 100 100 1000 and ft3:24 1000 100 20 unless told
"""
import http.client
import json
import os
import pathlib
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
BIN = pathlib.Path(os.environ.get("SMD_BIN", HERE / "../../build/release/bin")).resolve()
sys.path.insert(0, str(HERE / "../daemon"))
from subject import Daemon, until  # noqa: E402


class Api:
    """Calls over one connection to the Unix socket."""

    def __init__(self, path):
        self.connection = http.client.HTTPConnection("localhost", timeout=60)
        self.connection.sock = socket.socket(socket.AF_UNIX)
        self.connection.sock.connect(str(path))

    def call(self, method, target, body=None):
        self.connection.request(method, target, body=json.dumps(body) if body is not None else None)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status not in (200, 201):
            sys.exit(f"{method} {target}: {answer.status} {text[:300]}")
        return json.loads(text) if text else None


def ends_of(fabric, folder):
    """Names and port GUIDs of its hosts."""
    subprocess.run([BIN / "smd", "route", "--topology", fabric, "--dump-dir", folder, "--dump", "topology.net"], check=True,
                   stdout=subprocess.DEVNULL)
    text = (folder / "topology.net").read_text()
    return [(name, "0x" + guid.zfill(16)) for name, guid in re.findall(r'^Ca\t.*# "([^"]+)"\n\[1\]\(([0-9a-f]+)\)', text, re.M)]


def config_text(chance, names, partitions, members):
    return "".join(f'[[partition]]\nname = "p{i}"\npkey = 0x{0x100 + i:x}\nfull = {json.dumps(chance.sample(names, members))}\n'
                   for i in range(partitions))


def last_sweep(smd):
    lines = [line for line in smd.log().splitlines() if " sweep=" in line]
    return dict(word.split("=", 1) for word in lines[-1].split() if "=" in word)


def reload(smd, config, text):
    """Seconds from SIGHUP until the configuration is in force."""
    config.write_text(text)
    before, began = smd.log().count(" config.reloaded "), time.monotonic()
    smd.hang_up()
    until(lambda: smd.log().count(" config.reloaded ") > before, "config.reloaded", 600)
    return time.monotonic() - began


def quantiles(times):
    ordered = sorted(times)
    return (f"median {statistics.median(ordered):.1f}, p99 {ordered[int(len(ordered) * 0.99) - 1]:.1f}, "
            f"longest {ordered[-1]:.1f} ms")


def changes(api, base, guids, chance, number):
    """A member more or less of a partition of the API: until the answer, and until the tables are acknowledged."""
    answered, programmed = [], []
    api.call("PUT", f"{base}/bench", {"pkey": "0x7001", "members": []})
    members = []
    for _ in range(number):
        less = len(members) > 50 or (members and chance.random() < 0.3)
        guid = members.pop(chance.randrange(len(members))) if less else chance.choice([one for one in guids if one not in members])
        began = time.monotonic()
        if less:
            api.call("DELETE", f"{base}/bench/members/{guid}")
        else:
            api.call("POST", f"{base}/bench/members", {"members": [{"guid": guid, "membership": "full"}]})
            members.append(guid)
        answered.append(1000 * (time.monotonic() - began))
        while True:
            time.sleep(0.002)  # of other clients' time
            shown = api.call("GET", f"{base}/bench")
            if shown["in_force"] and shown["programmed"] == shown["member_count"] == len(members):
                break
        programmed.append(1000 * (time.monotonic() - began))
    return answered, programmed


def check_time(config):
    """Seconds of `smd check`: read and merged in a process of its own."""
    began = time.monotonic()
    subprocess.run([BIN / "smd", "check", "--config", config], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def measure(fabric, partitions, members, number):
    chance, place = random.Random(1), f"partitions/{fabric}/{partitions} of {members}"
    with tempfile.TemporaryDirectory(prefix="smd-bench-") as name:
        folder = pathlib.Path(name)
        ends = ends_of(fabric, folder)
        config = folder / "smd.toml"
        text = config_text(chance, [name for name, _ in ends], partitions, members)
        config.write_text(text)
        print(f"{place}: smd check {check_time(config):.3f} s", flush=True)
        with Daemon(BIN / "smd", "--sim", fabric, "--config", config, "--set", "sweep.interval=0s") as smd:
            until(lambda: " sweep=heavy" in smd.log() or smd.process.poll() is not None, "the fabric up", 900)
            cold = last_sweep(smd)
            smd.tell("resweep", "heavy")
            until(lambda: smd.log().count("sweep=heavy") > 1, "a second sweep", 600)
            warm = last_sweep(smd)
            print(f"{place}: cold {cold['smps_set']} Sets, {cold['total_ms']} ms; second heavy sweep {warm['smps_set']} Sets, "
                  f"{warm['total_ms']} ms", flush=True)
            wait_until_idle(smd.process.pid)  # VL tables are read once in the background
            base = f"/v1/subnets/{urllib.parse.quote(smd.subnet()['subnet'], safe='')}/partitions"
            answered, programmed = changes(Api(smd.socket), base, [guid for _, guid in ends], chance, number)
            print(f"{place}: {number} changes by the API: answered {quantiles(answered)}; in the tables {quantiles(programmed)}", flush=True)
            times = [reload(smd, config, text + f"# {i}\n") for i in range(3)]
            text = text.replace('full = ["', f'full = ["{ends[0][0]}", "{ends[-1][0]}", "', 1)
            one_more = reload(smd, config, text)
            print(f"{place}: reload of the same {1000 * statistics.median(times):.0f} ms, of two members more {1000 * one_more:.0f} ms; "
                  f"memory of the process {resident(smd.process.pid)} MiB", flush=True)


def wait_until_idle(pid):
    """It takes less than a tenth of a processor in a second."""
    def used():
        return sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")
    before = used()
    for _ in range(300):
        time.sleep(1)
        now = used()
        if now - before < 0.1:
            return
        before = now


def resident(pid):
    return next(int(line.split()[1]) // 1024 for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
                if line.startswith("VmRSS"))


def main():
    given = sys.argv[1:] or "ft3:24 100 100 1000 ft3:24 1000 100 20".split()
    for at in range(0, len(given), 4):
        fabric, partitions, members, number = given[at:at + 4]
        measure(fabric, int(partitions), int(members), int(number))


if __name__ == "__main__":
    main()
