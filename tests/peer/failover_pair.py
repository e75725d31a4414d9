# SPDX-License-Identifier: Apache-2.0
"""A pair of smd whose state is copied, and clients that ask every 10 ms: what tests/bench/failover.py measures and
lab_upgrade.py goes through."""
import json
import os
import pathlib
import re
import secrets
import socket
import subprocess

from ibsim import check, wait_for

CLIENT = os.environ.get("SMD_FAILOVER_CLIENT")


def hosts_in(fabric):
    """Four hosts that are far from each other: two for SMs, two for clients."""
    if fabric.startswith("ft2"):
        return ["h00000", "h00021", "h00009", "h00030"]
    return ["h00-00-00", "h04-00-00", "h02-01-00", "h06-02-01"]


def patience_of(fabric):
    """Seconds in which an SM has read it on a busy machine: one for a hundred hosts of ft3:N, 60 at least. A standby copies when
    it has read the fabric itself, by as many Gets as the master."""
    tree = re.fullmatch(r"ft3:(\d+)", fabric)
    return max(60, int(tree[1]) ** 3 // 400) if tree else 60


def free_ports(count):
    """Ports of loopback that are not in use."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Sm:
    """An smd on a host, whose state is in one folder whenever it runs; `program` is the laboratory's own unless told.
    `patience` in seconds for its answers."""

    patience = 60

    def __init__(self, lab, host, config, program=None):
        self.lab, self.host, self.program = lab, host, program or lab.smd
        self.config = lab.folder / f"{host}.toml"
        self.config.write_text(config)
        self.start()

    def start(self):
        self.client = self.lab.start(self.host, self.program, "run", "--config", str(self.config), "--state-dir",
                                     str(self.lab.folder / f"{self.host}.state"), "--socket", "api.sock")

    def ask(self, *words, ok=(0,)):
        done = subprocess.run([self.program, *words, "--socket", self.client.folder / "api.sock"], capture_output=True,
                              text=True, timeout=self.patience, check=False)
        check(ok is None or done.returncode in ok, f"smd {words}: {done.returncode} {done.stdout} {done.stderr}")
        return done

    def status(self):
        text = self.ask("status", "--json", ok=None).stdout
        subnets = json.loads(text)["subnets"] if text.startswith("{") else []
        return subnets[0] if subnets else {}  # it has just begun

    def role(self):
        return (self.status().get("replica") or {}).get("role", "")


class Smd:
    """The pair: sms[0] is master, sms[1] has a current copy. Each has `patience` seconds for that."""

    def __init__(self, lab, hosts, profile="normal", master_priority=12, program=None, patience=60):
        key = lab.folder / "ha_key"
        key.touch(0o600)
        key.write_text(secrets.token_hex(32))
        ports = free_ports(2)
        self.sms = []
        for at, host in enumerate(hosts[:2]):
            self.sms.append(Sm(lab, host, f'[sm]\npriority = {10 - at}\nmaster_priority = {master_priority}\n'
                               f'[ha]\nprofile = "{profile}"\nlisten = "127.0.0.1:{ports[at]}"\n'
                               f'peers = ["127.0.0.1:{ports[1 - at]}"]\npsk_file = "{key}"\n', program))
            if at == 0:
                wait_for(lambda: "state=up" in self.sms[0].client.log(), patience, "smd up")
        wait_for(lambda: self.sms[1].role() == "current", patience, "a current copy at the standby")

    def stop(self, how):
        self.sms[0].client.process.send_signal(how)


class Client:
    """One that asks every 10 ms; `how`: its further arguments."""

    def __init__(self, lab, host, program, *how):
        base = re.search(r"Base lid:\s+(\d+)", lab.output(host, "ibstat"))[1]
        self.client = lab.start(host, program, base, *how)

    def answers(self):
        """Of each answer: when the request was sent, and when the answer came, in ns of the monotonic clock."""
        text = (self.client.folder / "stdout").read_text()
        lines = text[:text.rfind("\n") + 1].splitlines()
        return [tuple(map(int, line.split())) for line in lines]

    def first_sent_after(self, began):
        """When the first answered request after `began` was sent; nothing: there is none yet."""
        return min((sent for sent, _ in self.answers() if sent > began), default=None)

    def longest_gap(self, began, end=None):
        """Milliseconds between the sending of two answered requests that follow each other."""
        sent = sorted(one for one, _ in self.answers() if one > began - 10**8 and (end is None or one < end))
        return max((b - a for a, b in zip(sent, sent[1:])), default=0) / 1e6
