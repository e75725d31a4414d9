#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Partitions that opensm has left: lab_partitions.py --smd PROGRAM. opensm gives all ports a limited key and its own port a
full one, and dies; smd on another host takes the fabric, and the SA answers limited members."""
import signal
import subprocess

from ibsim import check, wait_for
from lab import Lab, count
from runner import run_scenario


def takeover(smd, enforcement):
    with Lab(smd, "ft2:8") as lab:
        conf = lab.folder / "partitions.conf"
        conf.write_text("Default=0x7fff, ipoib : ALL=limited, SELF=full ;\n")
        opensm = lab.opensm("h00000", "-P", str(conf), "-Z", enforcement)
        check("0x7fff" in lab.output("h00021", "smpquery", "-D", "pkeys", "0"), "opensm has not made h00021 limited")
        opensm.stop(signal.SIGKILL)
        server = lab.start("h00021", lab.smd, "run", "--state-dir", "state", "--socket", "api.sock")
        wait_for(lambda: "state=up" in server.log() or "state=degraded" in server.log(), 60, "smd's first sweep")
        table = lab.output("h00021", "smpquery", "-D", "pkeys", "0")
        check("0xffff" in table, f"the SM's port is no full member:\n{table}")
        for viewer in ("h00005", "h00030"):  # limited members
            done = subprocess.run(lab.attach(viewer, "saquery", "-t", "2000", "NR"), capture_output=True, text=True, timeout=60,
                                  cwd=lab.folder)
            found = count(done.stdout, "Record dump:")
            check(found == 44, f"-Z {enforcement}: saquery NR of a limited member: {found} records\n{done.stderr}")
        print(f"   -Z {enforcement}: limited members are answered", flush=True)
        keys_of_another_sm(lab, server)
        check(server.stop() == 0, "smd did not end well")


def keys_of_another_sm(lab, server):
    """They are told at the takeover, and a host that loses them by a reboot is named."""
    def say(what):
        done = subprocess.run([lab.smd, "status", *what, "--socket", str(server.folder / "api.sock")], capture_output=True, text=True, timeout=20,
                              cwd=lab.folder)
        return done.stdout + done.stderr
    told = next((line for line in server.log().splitlines() if " partition.foreign_keys " in line), "no line")
    check("pkeys=0x7fff" in told, f"partition.foreign_keys: {told}")
    check("have keys of another SM" in say([]), say([]))
    lab.command("node reboot h00009 1")
    wait_for(lambda: "partition.keys_lost" in server.log(), 60, "partition.keys_lost")
    lost = next(line for line in server.log().splitlines() if "partition.keys_lost" in line)
    check("name=h00009" in lost and "index 0 0x7fff, now 0xffff" in lost, lost)
    wait_for(lambda: "1 tables of ports lost by restarts" in say([]), 30, "degraded")
    print("   " + told.partition(" warn ")[2] + "\n   " + lost.partition(" warn ")[2], flush=True)
    for line in say([]).splitlines():
        if line.strip().startswith(("why", "partitions", "tables")):
            print("   " + line, flush=True)


def scenario(given):
    for enforcement in ("off", "both"):
        takeover(given.smd, enforcement)


if __name__ == "__main__":
    run_scenario(scenario, __doc__)
