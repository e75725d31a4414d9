#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Three SMs with copied state in real time, and what happens to them by chance: lab_sequences.py --smd PROGRAM [--first SEED].
Each sequence has its own fabric of `smd sim` and eight events: SIGKILL, SIGTERM or SIGSTOP of an SM, `smd handover`, `smd priority`,
the cable of an SM's host, a cut of the fabric between two halves. Whenever they have come to rest one SM of those that run is
master, the others have a current copy, and LIDs, links, forwarding tables, groups and services are what they were. One
sequence; 20 with SMD_LONG."""
import os
import random
import re
import secrets
import signal
import time

import same
from failover_pair import Sm, free_ports
from ibsim import Failure, check, wait_for
from lab import Lab
from lab_replica import answers
from lab_stop import discovered, state_of, tables
from runner import run_scenario

PRIORITIES = {"h00000": 9, "h00013": 6, "h00021": 3}
VIEWER, CLIENT = "h00009", "h00002"
LEAVES, SPINES = 8, 4
EVENTS = 8
PATIENCE = 40  # seconds until all have come to rest


class Sequence:
    def __init__(self, lab, seed):
        self.lab, self.random = lab, random.Random(seed)
        self.down = set()
        key = lab.folder / "ha_key"
        key.touch(0o600)
        key.write_text(secrets.token_hex(32))
        ports = dict(zip(PRIORITIES, free_ports(len(PRIORITIES))))
        self.sms = {}
        for host, priority in PRIORITIES.items():
            peers = ", ".join(f'"127.0.0.1:{port}"' for other, port in ports.items() if other != host)
            self.sms[host] = Sm(lab, host, f'[sm]\npriority = {priority}\n[routing]\nconverge_after = "2s"\n[ha]\nquiet = "4s"\n'
                                f'listen = "127.0.0.1:{ports[host]}"\n'
                                f'peers = [{peers}]\npsk_file = "{key}"\n')
            if len(self.sms) == 1:
                wait_for(lambda: "state=up" in self.sms["h00000"].client.log(), 60, "smd up")
        wait_for(self.at_rest, PATIENCE, "three SMs, one master")
        # Not the SM's own host: a port whose cable was pulled is no member until its client joins again.
        same.register(same.Asker(lab, CLIENT), sorted(same.gids_of(same.Asker(lab, CLIENT).table("NodeRecord")))[1:])
        self.lids = {host: int(re.search(r"Base lid:\s+(\d+)", lab.output(host, "ibstat"))[1]) for host in PRIORITIES}
        self.fabric = discovered(lab, VIEWER)
        self.switches = sorted(int(lid) for lid in re.findall(r"^Switch.* lid (\d+) lmc", "\n".join(self.fabric), re.M))
        self.routes, self.answers = tables(lab, VIEWER, self.switches), self.registered()

    def registered(self):
        """Not subscriptions: the asker takes no Reports, so the SA drops them when nodes come and go. A table that is under way
        while the fabric goes to another SM (a quiet time ends) is not answered, and is asked for again, as clients do."""
        for left in reversed(range(3)):
            try:
                found = answers(same.Asker(self.lab, CLIENT))
                break
            except Failure:
                if not left:
                    raise
                time.sleep(0.5)
        del found["InformInfoRecord"]
        return found

    def roles(self):
        """By SM that runs: `source` of the master, `current` of a standby that has all of it."""
        return {host: sm.role() for host, sm in self.sms.items() if host not in self.down}

    def masters(self):
        return [host for host, lid in self.lids.items() if host not in self.down and state_of(self.lab, VIEWER, lid) == "MASTER"]

    def at_rest(self):
        """One is master, and the others copy it."""
        roles = list(self.roles().values())
        return roles.count("source") == 1 and all(role in ("source", "current") for role in roles)

    def differing(self):
        """Lines of nodes, links, LIDs and forwarding tables that were not there before; empty: all is as it was."""
        try:
            lines = list(set(discovered(self.lab, VIEWER)) ^ set(self.fabric))
            for lid, table in tables(self.lab, VIEWER, self.switches).items():
                lines += (f"switch {lid}: {line}" for line in set(table.splitlines()) ^ set(self.routes[lid].splitlines()))
        except Failure as failure:  # a switch that is not reached yet
            return [str(failure)]
        return lines

    def rest(self, event):
        wait_for(self.at_rest, PATIENCE, f"rest after {event}: {self.roles()}")
        wait_for(lambda: len(self.masters()) == 1, PATIENCE, f"one master after {event}")
        try:
            wait_for(lambda: not self.differing(), PATIENCE, f"the fabric as it was, after {event}")
        except Failure:
            print("differ:", *self.differing(), sep="\n")
            raise
        after = self.registered()
        for kind, records in self.answers.items():
            check(after[kind] == records, f"{kind} after {event}: {len(after[kind])} records, {len(records)} before; differ: "
                  f"{sorted(set(map(str, after[kind])) ^ set(map(str, records)))}")

    def host(self):
        return self.random.choice(sorted(PRIORITIES))

    def restart(self, how):
        host = self.host()
        self.sms[host].client.stop(how)
        self.down.add(host)
        self.rest(f"{how.name} of {host}") if self.random.random() < 0.5 else time.sleep(self.random.random() * 3)
        self.sms[host].start()
        self.down.discard(host)
        return f"{how.name} and start of {host}"

    def stopped(self):
        host = self.host()
        process = self.sms[host].client.process
        process.send_signal(signal.SIGSTOP)
        self.down.add(host)
        time.sleep(self.random.choice((0.5, 3, 6)))
        process.send_signal(signal.SIGCONT)
        self.down.discard(host)
        return f"SIGSTOP and SIGCONT of {host}"

    def handover(self):
        master = self.masters()[0]
        self.sms[master].ask("handover", ok=None)
        return f"handover by {master}"

    def priority(self):
        host, number = self.host(), self.random.randrange(1, 15)
        self.sms[host].ask("priority", str(number), ok=None)
        return f"priority {number} of {host}"

    def cable(self):
        host = self.host()
        self.lab.command(f"link down {host} 1")
        time.sleep(self.random.choice((0.3, 3, 5)))
        self.lab.command(f"link up {host} 1")
        return f"cable of {host}"

    def cut(self):
        """The first four leaves lose the spines that the others keep."""
        for leaf in range(LEAVES):
            for spine in range(SPINES):
                if (leaf < LEAVES // 2) == (spine < SPINES // 2):
                    self.lab.command(f"link down leaf{leaf:03} {5 + spine}")
        time.sleep(self.random.choice((2, 5)))
        for leaf in range(LEAVES):
            for spine in range(SPINES):
                if (leaf < LEAVES // 2) == (spine < SPINES // 2):
                    self.lab.command(f"link up leaf{leaf:03} {5 + spine}")
        return "cut and merge"

    def run(self):
        for number in range(EVENTS):
            event = self.random.choice((lambda: self.restart(signal.SIGKILL), lambda: self.restart(signal.SIGTERM), self.stopped,
                                        self.handover, self.priority, self.cable, self.cut))()
            began = time.monotonic()
            self.rest(event)
            print(f"   {number + 1}. {event}: master is {self.masters()[0]}, at rest after {time.monotonic() - began:.1f} s", flush=True)


def scenario(given):
    count = 20 if "SMD_LONG" in os.environ else 1
    for seed in range(given.first, given.first + count):
        print(f"sequence {seed}", flush=True)
        with Lab(given.smd, "ft2:8") as lab:
            sequence = Sequence(lab, seed)
            try:
                sequence.run()
            except Failure:
                print(*(f"---- {host}\n" + sm.client.log()[-4000:] for host, sm in sequence.sms.items()), sep="\n")
                raise


if __name__ == "__main__":
    run_scenario(scenario, __doc__, lambda parser: parser.add_argument("--first", type=int, default=1))
