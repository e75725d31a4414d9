#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bursts of cuts and mends in real time, by smd and by opensm in the same `smd sim`: ./dev bench storms

storms.py [SPEC]... (ft3:8, dragonfly:4:2:2, torus:4x4x4:2). SMD_BENCH_RUNS storms in all (20), each of 1 to 20
events within 300 ms between switches. Measured is how long after the last event pairs of hosts that cables join cannot
reach each other, by the tables that the switches hold (`reach`): the SM is not asked.
"""
import os
import pathlib
import random
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peer"))
SMD = os.environ.get("SMD", str(HERE / "../../build/release/bin/smd"))

import network  # noqa: E402
from ibsim import Failure, wait_for  # noqa: E402
from lab import Lab  # noqa: E402
from subject import Smd  # noqa: E402

RUNS = int(os.environ.get("SMD_BENCH_RUNS", "20"))
SPECS = ("ft3:8", "dragonfly:4:2:2", "torus:4x4x4:2")
LONGEST, QUIET = 60.0, 3.0  # seconds: given up after; so long without a lost pair ends a storm


def lost_pairs(sim):
    words = sim.command("reach").split()
    return int(words[1]) - int(words[3])


def parts_of(folder, spec):
    """A host's name, and one end of each cable between switches."""
    net = network.parse(Smd(SMD).fabric(spec, folder))
    host = next(name for kind, _, name in net["nodes"].values() if kind == "Ca")
    return host, network.switch_links(net)


def settle(sim, since):
    """Seconds from `since` until no pair was lost any more for QUIET seconds, and the most pairs lost at once; None:
    not within LONGEST."""
    most, settled = 0, None
    while time.monotonic() - since < LONGEST + QUIET:
        now = time.monotonic()
        lost = lost_pairs(sim)
        most = max(most, lost)
        if lost:
            settled = None
        elif settled is None:
            settled = now
        elif now - settled > QUIET:
            return settled - since, most
        time.sleep(0.02)
    return None, most


def storm(sim, links, seed):
    """(seconds, most pairs lost, events) of one storm; the fabric is whole again at its end."""
    chance = random.Random(seed)
    count = chance.randint(1, 20)
    events = sorted((chance.uniform(0, 0.3), i, chance.choice(links)) for i in range(count))
    down, began = set(), time.monotonic()
    for at, i, (guid, port) in events:
        time.sleep(max(0.0, began + at - time.monotonic()))
        mends = i % 4 == 3 and (guid, port) in down
        sim.command(f"link {'up' if mends else 'down'} 0x{guid:016x} {port}")
        (down.discard if mends else down.add)((guid, port))
    seconds, most = settle(sim, time.monotonic())
    for guid, port in down:
        sim.command(f"link up 0x{guid:016x} {port}")
    settle(sim, time.monotonic())
    return seconds, most, count


def lifetimes(log):
    """Packet lifetimes (2^18 * 4.096 us) that smd waited for between rounds of tables."""
    return log.count(" routing.waits ")


def start(sim, name, host):
    if name == "opensm":
        return sim.opensm(host)
    client = Smd(SMD).start(sim, host)
    wait_for(lambda: "state=up" in client.log(), 60, "state=up")
    return client


def bench(spec, seeds):
    medians = {}
    print(f"storms/{spec} in smd sim, {len(seeds)} storms")
    for name in ("smd", "opensm"):
        with Lab(SMD, spec) as sim:
            host, links = parts_of(sim.folder, spec)
            client = start(sim, name, host)
            settle(sim, time.monotonic())
            found, waited = [], 0
            for seed in seeds:
                said = len(client.log())
                found.append(storm(sim, links, seed))
                waited += lifetimes(client.log()[said:]) > 0
        times = [LONGEST if seconds is None else seconds for seconds, _, _ in found]
        never = sum(seconds is None for seconds, _, _ in found)
        medians[name] = statistics.median(times)
        print(f"  {name:7} all pairs reach each other after: median {medians[name]:6.2f} s, worst {max(times):.2f} s"
              + (f" ({never} not within {LONGEST:.0f} s)" if never else "")
              + f"; most pairs lost {max(most for _, most, _ in found)}; within 0.5 s {sum(t <= 0.5 for t in times)}"
              + f" of {len(times)}"
              + (f", {waited} waited for a packet's lifetime: no order of writes was safe" if waited else ""), flush=True)
    print(f"  smd takes {medians['smd'] / medians['opensm']:.3f} of opensm's time (medians)", flush=True)


def main():
    specs = sys.argv[1:] or SPECS
    try:
        for i, spec in enumerate(specs):
            bench(spec, range(1 + i * RUNS // len(specs), 1 + (i + 1) * RUNS // len(specs)))
    except Failure as failure:
        sys.exit(f"storms.py: {failure}")


if __name__ == "__main__":
    main()
