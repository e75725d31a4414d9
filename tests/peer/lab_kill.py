#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""smd is killed while partitions are changed by the API: lab_kill.py --smd PROGRAM. Eight clients change a partition each: the
whole, a member more, a member less, none at all. After each kill -9 smd starts anew, and each partition is what the last
answered change has made of it, or the change that was under way. At the end the ports have the keys of their members, as
smpquery reads them. SMD_LONG=1: 100 kills instead of 15."""
import http.client
import json
import os
import random
import re
import signal
import socket
import threading
import time

from failover_pair import Sm
from ibsim import Failure, check, wait_for
from lab import Lab
from runner import run_scenario

ROUNDS = 100 if "SMD_LONG" in os.environ else 15
CLIENTS = 8
HOSTS = ["h00001", "h00005", "h00009", "h00030"]


class Socket(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def call(path, method, target, body=None):
    """Status and body; None where the connection was cut."""
    try:
        connection = Socket(path)
        connection.request(method, target, body=json.dumps(body) if body is not None else None)
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, http.client.HTTPException):
        return None


class Partition:
    """One partition and its client. `known`: members as last answered (None: there is none); `tried`: as the change under way
    would have them."""

    def __init__(self, number, guids, seed):
        self.name, self.pkey = f"p{number}", f"0x{0x20 + number:04x}"
        self.guids, self.chance = guids, random.Random(seed)
        self.known = self.tried = None
        self.answered, self.wrong = 0, ""

    def change(self):
        """Method, the target behind the partition's name, body, and the members afterwards."""
        one, membership = self.chance.choice(self.guids), self.chance.choice(["full", "limited"])
        kind = self.chance.randrange(8)
        if self.known is None or kind == 0:
            members = {guid: membership for guid in self.chance.sample(self.guids, self.chance.randrange(4))}
            listed = [{"guid": guid, "membership": how} for guid, how in members.items()]
            return "PUT", "", {"pkey": self.pkey, "members": listed}, members
        if kind == 1:
            return "DELETE", "", None, None
        if kind < 5 or one not in self.known:
            return "POST", "/members", {"members": [{"guid": one, "membership": membership}]}, {**self.known, one: membership}
        return "DELETE", f"/members/{one}", None, {guid: how for guid, how in self.known.items() if guid != one}

    def run(self, path, base, ended):
        while not ended.is_set():
            method, rest, body, self.tried = self.change()
            done = call(path, method, f"{base}/{self.name}{rest}", body)
            if done is None:
                return  # the change is there or not
            if done[0] not in (200, 201):
                self.wrong = f"{method} {self.name}{rest} {body}: {done}"
                return
            self.known = self.tried
            self.answered += 1

    def held(self, path, base):
        """Members as the API shows them."""
        status, text = call(path, "GET", f"{base}/{self.name}") or (0, b"")
        if status == 404:
            return None
        check(status == 200, f"GET {self.name}: {status} {text}")
        shown = json.loads(text)
        return shown

    def compare(self, path, base, number):
        shown = self.held(path, base)
        found = None if shown is None else members_of(shown)
        check(found in (self.known, self.tried),
              f"kill {number}: {self.name} has {found}; answered {self.known}, under way {self.tried}")
        was_made = found != self.known
        self.known = found
        return was_made


def members_of(shown):
    members = {one["port_guid"]: one["membership"] for one in shown["members"] or []}
    return members | {one["member"]: one["membership"] for one in shown["pending"]}


def kill_under_calls(sm, partitions, base, chance):
    path, ended = sm.client.folder / "api.sock", threading.Event()
    threads = [threading.Thread(target=one.run, args=(path, base, ended), daemon=True) for one in partitions]
    for one in threads:
        one.start()
    time.sleep(chance.uniform(0.05, 0.6))  # when it dies is drawn; nothing is waited for
    sm.client.stop(signal.SIGKILL)
    ended.set()
    for one in threads:
        one.join()
    wrong = [one.wrong for one in partitions if one.wrong]
    check(not wrong, "\n".join(wrong))


def keys_of(lab, host):
    return set(re.findall(r"0x[0-9a-f]{4}\b", lab.output(host, "smpquery", "-D", "pkeys", "0"))) - {"0x0000"}


def wait_up(sm, number):
    try:
        wait_for(lambda: "state=up" in sm.client.log(), 60, f"state=up after kill {number}")
    except Failure as failure:
        raise Failure(f"{failure}\n{sm.client.log()[-3000:]}") from failure
    # The log has it a moment before the API: until then no partition has members there.
    wait_for(lambda: (sm.status() or {}).get("state") == "up", 10, f"state up by the API after kill {number}")


def scenario(given):
    chance = random.Random(int(os.environ.get("SMD_SEED", "21")))
    with Lab(given.smd, "ft2:8+guids=5") as lab:
        ports = {host: re.search(r"PortGuid:\.*(0x[0-9a-f]+)", lab.output(host, "smpquery", "-D", "nodeinfo", "0"))[1]
                 for host in HOSTS}
        guids = sorted(ports.values()) + [f"0x02000000000000{n:02x}" for n in range(4)]
        partitions = [Partition(n, guids, chance.random()) for n in range(CLIENTS)]
        sm = Sm(lab, "h00000", '[[subnet]]\nname = "east"\nport = "mlx5_0:1"\n')
        base, made = "/v1/subnets/east/partitions", 0
        for number in range(ROUNDS):
            wait_up(sm, number)
            kill_under_calls(sm, partitions, base, chance)
            sm.start()
            wait_up(sm, number + 1)
            made += sum(one.compare(sm.client.folder / "api.sock", base, number + 1) for one in partitions)
        answered = sum(one.answered for one in partitions)
        check(answered > ROUNDS * CLIENTS, f"only {answered} changes were answered")
        print(f"   {ROUNDS} times killed: {answered} answered changes, none is lost; {made} of those under way were made", flush=True)
        for host, guid in ports.items():
            due = {f"0x{int(one.pkey, 16) | (0x8000 if one.known[guid] == 'full' else 0):04x}"
                   for one in partitions if one.known and guid in one.known}
            held = keys_of(lab, host)
            check(held - {"0xffff", "0x7fff"} == due, f"{host}: keys {sorted(held)}, members need {sorted(due)}")
        print(f"   keys of {len(ports)} hosts are those of their members, by smpquery", flush=True)
        check(sm.client.stop() == 0, "smd did not end well")


if __name__ == "__main__":
    run_scenario(scenario, __doc__)
