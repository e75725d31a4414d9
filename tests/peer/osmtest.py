# SPDX-License-Identifier: Apache-2.0
"""osmtest's flows, each in its own process, against whoever is master."""
import os
import time

from ibsim import Failure, check, wait_for

# Flows that pass on ibsim, which cuts answers at 256 bytes and keeps no time-outs: of opensm 3.3.23, and of smd. The
# others (v, m -M 1, s, a) cannot pass there with any subnet manager. Each row has a manager of its own: m -M 3 passes
# after m -M 2 only, and leaves no multicast LID free for m -M 4, as a cut table hides from it what it has made.
IBSIM = (("c", "q", "m -M 2", "m -M 3", "f -s 1", "f -s 2", "f -s 3", "f -s 4", "e", "t"), ("c", "m -M 4"))

# These compare the fabric with what flow c has written down. A sweep in between may have asked a switch by another of
# its ports, which PortInfo's LocalPortNum shows.
OF_INVENTORY = ("v", "a")


def run(sim, host, flow, seconds=300):
    """("PASS", "FAIL" or "still running", seconds that it took, what it said)."""
    inventory = str(sim.folder / "inventory")
    command = ("osmtest", "-l", "log", "-d2", "-i", inventory, "-f", *flow.split())
    began = time.monotonic()
    client = sim.start(host, *command)
    try:
        sim.finish(client, command, seconds=seconds, ok=range(256))
        verdict = "PASS" if client.process.returncode == 0 else "FAIL"
    except Failure:
        verdict = "still running"
    log = client.folder / "log"
    said = client.log()[-1500:] + (log.read_text(errors="replace")[-3000:] if log.exists() else "")
    return verdict, time.monotonic() - began, said


def flows(sim, host, expected, seconds=300):
    """Runs each flow to its end and prints what came of it. Returns what is other than expected (None: either)."""
    wrong = []
    for flow, wanted in expected.items():
        verdict, took, said = run(sim, host, flow, seconds)
        print(f"   osmtest -f {flow:8} {verdict} {took:6.2f} s", flush=True)
        if verdict == "FAIL" and wanted == "PASS" and flow in OF_INVENTORY:
            run(sim, host, "c", seconds)
            verdict, took, said = run(sim, host, flow, seconds)
            print(f"   osmtest -f {flow:8} {verdict} {took:6.2f} s, with a new inventory", flush=True)
        if verdict == "still running" or (wanted and verdict != wanted):
            wrong.append(f"osmtest -f {flow}: {verdict}\n{said}")
    return wrong


def osmtest(smd, sim, text, hosts):
    """On ibsim, with smd as master; SMD_PEER_OPENSM=1: with opensm."""
    for row in IBSIM:
        if os.environ.get("SMD_PEER_OPENSM"):
            client = sim.opensm(hosts[0])
        else:
            client = smd.start(sim, hosts[0])
            wait_for(lambda: "state=up" in client.log(), 60, "smd's state=up")
            run(sim, hosts[1], "c")
            # Flow q asks for tables that are read last.
            wait_for(lambda: run(sim, hosts[1], "q")[0] == "PASS", 20, "osmtest -f q")
        wrong = flows(sim, hosts[1], dict.fromkeys(row, "PASS"), seconds=120)
        check(not wrong, "\n".join(wrong))
        client.stop()
