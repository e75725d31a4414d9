#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A fabric that opensm has protected by an M_Key: lab_m_keys.py --smd PROGRAM. opensm dies; smd cannot take the fabric and
says why; with a lease it has it once that has run out."""
import json
import signal
import subprocess

from ibsim import check, wait_for
from lab import Lab
from runner import run_scenario


def takeover(smd, level, lease):
    with Lab(smd, "ft2:8") as lab:
        conf = lab.folder / "opensm.conf"
        conf.write_text(f"m_key 0x1234567800000001\nm_key_protection_level {level}\nm_key_lease_period {lease}\n")
        opensm = lab.opensm("h00000", "-F", str(conf))
        opensm.stop(signal.SIGKILL)
        lab.command("link down leaf000 5")  # something to write
        server = lab.start("h00021", lab.smd, "run", "--state-dir", "state", "--socket", "smd.sock", "--set",
                           "sweep.interval=2s")
        socket = str(server.folder / "smd.sock")

        def say(*words):
            done = subprocess.run([smd, "status", *words, "--socket", socket], capture_output=True, text=True, timeout=20)
            return done.stdout

        def state():
            try:
                return json.loads(say("--json"))["subnets"][0]["state"]
            except ValueError:
                return None
        if level == 1:
            wait_for(lambda: "node.m_key_unknown" in server.log(), 60, "node.m_key_unknown")
            told = next(line for line in server.log().splitlines() if "node.m_key_unknown" in line)
            check("protect_bits=1" in told and (f"lease={lease}s" if lease else 'lease="for ever"') in told, told)
            wait_for(lambda: "has an M_Key of another SM" in say(), 30, "M_Keys in status")
        else:
            wait_for(lambda: "M_Key with protection level 2 or 3" in server.log() + say(), 60, "the hint")
            told = next(line for line in server.log().splitlines() if "M_Key" in line)
        print(f"   level {level}, lease {lease} s: " + told.partition(" warn ")[2].strip(), flush=True)
        for line in say().splitlines():
            if line.strip().startswith(("why", "M_Keys", "waiting", "unresponsive")):
                print("   " + line[:200], flush=True)
        if lease:
            wait_for(lambda: state() in ("up", "reduced"), 120, "the fabric, after the lease")
            print("   after the lease: " + state(), flush=True)


def scenario(given):
    for level, lease in ((1, 0), (1, 20), (2, 0)):
        takeover(given.smd, level, lease)


if __name__ == "__main__":
    run_scenario(scenario, __doc__)
