#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""probe.py PROBE FABRIC SMD LOAD: umad_probe at a host of a fabric in ibsim; without a device; two at a time; as an
SA whose io_context is held up."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from ibsim import Failure, Ibsim, check, hosts_of, wait_for


def asked_while_held(sim, hosts, probe, smd, load):
    sim.output(hosts[0], smd, "run", "--once", "--state-dir", "state")  # LIDs and routes stay
    sa = sim.start(hosts[0], probe, "held", 4)
    wait_for(lambda: "held" in sa.log(), 10, "umad_probe held")
    out = sim.output(hosts[1], load, 1, 1, 2)
    check(sa.process.wait(20) == 0, f"held: {sa.log()}")
    answered, echoed = int(re.search(r"answered=(\d+)", out)[1]), int(re.search(r"echoed=(\d+)", sa.log())[1])
    print(f"   held: {answered} answered, {echoed} echoed")
    check(answered > 10 and answered == echoed, f"an SA whose io_context is held up answers: {out} {sa.log()}")


def main(probe, net, smd, load):
    alone = subprocess.run([probe], capture_output=True, text=True, timeout=20, check=False)
    check(alone.returncode == 1 and alone.stdout.count("\n") == 1, f"without a fabric: {alone.stdout}")
    print(f"   without a device: {alone.stdout.strip()}")
    hosts = hosts_of(pathlib.Path(net).read_text())
    with Ibsim(net) as sim:
        out = sim.output(hosts[0], probe, 64, 20000)
        print("   " + out.strip().replace("\n", "\n   "))
        guids = re.findall(r"^hops=(\d) guid=0x([0-9a-f]{16})", out, re.M)
        check([h for h, _ in guids] == ["0", "1"], f"two introductions expected: {out}")
        check(guids[0][1] == hosts[0].split("-")[1], f"the local node is {hosts[0]}: {out}")
        check("answered=20000" in out, f"all requests answered: {out}")
        for stall in (0.3, 0.6):  # less than a request lasts: nothing may hang, nothing may be lost
            client = sim.start(hosts[0], probe, 256, 100000)
            time.sleep(0.1)
            os.kill(sim.process.pid, signal.SIGSTOP)
            time.sleep(stall)
            os.kill(sim.process.pid, signal.SIGCONT)
            check(client.process.wait(60) == 0, f"ibsim stalled for {stall} s: {client.log()}")
            print("   " + client.log().strip().splitlines()[-1])
        sim.command(f'Error "S-{guids[1][1]}" 5')
        client = sim.run(hosts[0], probe, 64, 5000, ok=(0, 1))
        print("   " + client.log().strip().splitlines()[-1])
        sim.command(f'Error "S-{guids[1][1]}" 0')
        first = sim.start(hosts[0], probe, 64, 50000)
        second = sim.start(hosts[1], probe, 64, 50000)
        for client in (first, second):
            check(client.process.wait(60) == 0, f"two at a time: {client.log()}")
    with Ibsim(net) as sim:
        asked_while_held(sim, hosts, probe, smd, load)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Failure as failure:
        sys.exit(f"peer_umad_probe: {failure}")
