#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A pair of smd is upgraded as docs/high-availability.md says, under two clients that ask every 10 ms: lab_upgrade.py
--smd PROGRAM [--old PROGRAM]. Both begin as the old program, where that is given. The longest time without an answer is printed,
and must be below 300 ms."""
import os
import re
import signal
import time

import failover_pair
from ibsim import Failure, check, wait_for
from lab import Lab
from runner import run_scenario

FABRIC = "ft3:8"
LONGEST_MS = 300


def restart(sm):
    """As the new version."""
    sm.program = sm.lab.smd
    check(sm.client.stop(signal.SIGTERM) == 0, f"{sm.host}: exit status {sm.client.process.returncode}")
    sm.start()
    wait_for(lambda: sm.ask("wait", "replica", "--timeout", "30", ok=None).returncode == 0, 40, f"{sm.host} current")


def state_of(sm):
    """Partitions, and the LIDs of hosts that ask."""
    return (sm.ask("partitions", "list").stdout,
            [re.search(r"Base lid:\s+(\d+)", sm.lab.output(host, "ibstat"))[1] for host in failover_pair.hosts_in(FABRIC)])


def upgrade(lab, old):
    hosts = failover_pair.hosts_in(FABRIC)
    pair = failover_pair.Smd(lab, hosts, program=old)
    master, standby = pair.sms
    clients = [failover_pair.Client(lab, hosts[2], failover_pair.CLIENT),
               failover_pair.Client(lab, hosts[3], failover_pair.CLIENT, "keep")]
    for client in clients:
        wait_for(lambda: len(client.answers()) > 20, 20, "answers to the client")
    check(standby.ask("wait", "restart", "--timeout", "0").returncode == 0, "the standby may not be restarted")
    master.ask("partitions", "create", "tenant", "--pkey", "0x0123")
    master.ask("partitions", "add", "tenant", hosts[2], hosts[3])
    master.ask("partitions", "wait", "tenant")
    before = state_of(master)
    began = time.monotonic_ns()
    restart(standby)
    master.ask("wait", "replica", "--timeout", "30")
    master.ask("handover")
    wait_for(lambda: (standby.status() or {}).get("state") == "up", 10, "the upgraded standby as master")
    restart(master)
    standby.ask("wait", "replica", "--timeout", "30")
    time.sleep(1)
    check(standby.status()["sm"]["state"] == "master", "the SM that was restarted has taken the fabric back")
    check(state_of(standby) == before, f"{state_of(standby)} instead of {before}")
    for client, how in zip(clients, ("reads the LID anew", "keeps the LID")):
        gap = client.longest_gap(began)
        print(f"   client that {how}: {len(client.answers())} answers, {gap:.0f} ms without one at most", flush=True)
        slow = 4 if "SMD_SLOW" in os.environ else 1
        check(gap < LONGEST_MS * slow, f"a client that {how} was {gap:.0f} ms without an answer")
    # Without a standby the master may not be restarted.
    master.client.stop(signal.SIGKILL)
    wait_for(lambda: standby.ask("wait", "restart", "--timeout", "0", ok=(0, 3)).returncode == 3, 30, "no restart any more")


def scenario(given):
    with Lab(given.smd, FABRIC) as lab:
        try:
            upgrade(lab, given.old)
        except Failure:
            print(*(client.log()[-3000:] for client in lab.clients if "run" in map(str, client.process.args)), sep="\n----\n")
            raise


if __name__ == "__main__":
    run_scenario(scenario, __doc__, lambda parser: parser.add_argument("--old"))
