#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Partitions that opensm has left: lab_partitions.py --smd PROGRAM. opensm gives all ports a limited key, its own port a full
one and a tenant its keys, and dies; smd on another host takes the fabric, the SA answers limited members, and what reboots
gets its keys back."""
import re
import signal
import subprocess

from ibsim import check, wait_for
from lab import Lab, count
from runner import run_scenario


CONF = """Default=0x7fff, ipoib : ALL=limited, SELF=full ;
Blue=0x12, ipoib : 0x{0:x}=full, 0x{1:x}=limited, 0x{2:x} ;
"""
HOSTS = ("h00005", "h00006", "h00009", "h00030")


def guid_of(lab, host):
    """Port GUID, by smpquery over the fabric."""
    text = lab.output(host, "smpquery", "-D", "nodeinfo", "0")
    return int(re.search(r"PortGuid:\.*(0x[0-9a-f]+)", text)[1], 16)


def ways(lab):
    """What becomes of packets between the hosts with each key: where they end and why, by whatever way."""
    return {(a, b, key): lab.command(f"packet {a} {b} 0 {key}").splitlines()[0].rpartition("]")[2]
            for a in HOSTS for b in HOSTS if a != b for key in ("0x7fff", "0xffff", "0x8012", "0x0012")}


def takeover(smd, enforcement):
    with Lab(smd, "ft2:8") as lab:
        conf = lab.folder / "partitions.conf"
        conf.write_text(CONF.format(*(guid_of(lab, host) for host in HOSTS[:3])))
        opensm = lab.opensm("h00000", "-P", str(conf), "-Z", enforcement)
        check("0x7fff" in lab.output("h00021", "smpquery", "-D", "pkeys", "0"), "opensm has not made h00021 limited")
        opensm.stop(signal.SIGKILL)
        before = ways(lab)
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
        keys_of_another_sm(lab, server, before)
        check(server.stop() == 0, "smd did not end well")


def keys_of_another_sm(lab, server, before):
    """They are told at the takeover, and hosts and switches that lose them by a reboot get them back."""
    def say(what):
        done = subprocess.run([lab.smd, "status", *what, "--socket", str(server.folder / "api.sock")], capture_output=True, text=True, timeout=20,
                              cwd=lab.folder)
        return done.stdout + done.stderr
    told = next((line for line in server.log().splitlines() if " partition.foreign_keys " in line), "no line")
    check("pkeys=0x0012,0x7fff,0x8012" in told, f"partition.foreign_keys: {told}")
    check("have keys of another SM" in say([]), say([]))
    check(ways(lab) == before, "the takeover has changed what passes")
    for number, node in enumerate(("h00009", "h00005", "leaf001", "leaf002")):
        sweeps = server.log().count(" node.rebooted ")
        lab.command(f"node reboot {node} 1")
        wait_for(lambda: server.log().count(" node.rebooted ") > sweeps, 60, f"reboot of {node}")
        wait_for(lambda: subprocess.run([lab.smd, "status", "--check", "--socket", str(server.folder / "api.sock")],
                                        capture_output=True, cwd=lab.folder).returncode == 0, 60, f"up after {node}")
        now = ways(lab)
        other = {what: (way, now[what]) for what, way in before.items() if now[what] != way}
        check(not other, f"after the reboot of {node}: {other}")
    check(server.log().count(" partition.restored ") >= 2, "partition.restored")
    restored = next(line for line in server.log().splitlines() if " partition.restored " in line)
    check("name=h00009" in restored and "pkeys=0x7fff,0x0012" in restored, restored)
    print("   " + told.partition(" warn ")[2] + "\n   " + restored.partition(" info ")[2], flush=True)
    print(f"   {len(before)} packets pass and are refused as before after the reboots of two hosts and two leaves", flush=True)


def scenario(given):
    for enforcement in ("off", "both"):
        takeover(given.smd, enforcement)


if __name__ == "__main__":
    run_scenario(scenario, __doc__)
