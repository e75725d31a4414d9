#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From the trap to the last Set after a cable was pulled, by smd and by opensm on the same ibsim: ./dev bench repair

repair.py [SPEC]. Both times are taken outside of both programs, where they meet libibumad (tests/peer/counter.cpp).
"""
import os
import pathlib
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peer"))
SMD = os.environ.get("SMD", str(HERE / "../../build/release/bin/smd"))
if "SMD_PEER_COUNTER" not in os.environ:
    os.environ["SMD_PEER_COUNTER"] = str(next((HERE / "../../build/release/tests").rglob("libpeer_counter.so"), ""))

import network  # noqa: E402
from ibsim import Failure, Ibsim, hosts_of, wait_for  # noqa: E402
from subject import Smd  # noqa: E402

RUNS = int(os.environ.get("SMD_BENCH_RUNS", "20"))


def quiet(client, seconds=0.5):
    """Waits until it has set nothing for so long; the times that it has left."""
    while True:
        times = client.times()
        time.sleep(seconds)
        if client.times() == times:
            return times


def measure(sim, client, command):
    """Milliseconds from the trap to the last Set of a forwarding table (nothing: none was needed), to the last Set."""
    client.forget_times()
    sim.command(command)
    wait_for(lambda: client.times()[0] != 0 and client.times()[1] > client.times()[0], 10, f"{command}: a trap, a Set")
    trap, last, table = quiet(client)
    return (table - trap) / 1e6 if table else None, (last - trap) / 1e6


def row(name, what, times):
    tables, last = [t[0] for t in times if t[0] is not None], [t[1] for t in times]
    print(f"  {name:7} {what:9} trap to the last Set: median {statistics.median(last):6.1f} ms, min {min(last):.1f}, "
          f"max {max(last):.1f}" + (f"; of a table: median {statistics.median(tables):.1f}" if tables else ""), flush=True)
    return statistics.median(last)


def bench(spec):
    medians = {}
    with tempfile.TemporaryDirectory(prefix="smd-bench-") as folder:
        text = Smd(SMD).fabric(spec, folder)
        host = hosts_of(text)[0]
        print(f"repair/{spec} on ibsim, {RUNS} cables")
        for name in ("smd", "opensm"):
            with Ibsim(pathlib.Path(folder) / "net") as sim:
                if name == "smd":
                    client = Smd(SMD).start(sim, host)
                    wait_for(lambda: "state=up" in client.log(), 60, "state=up")
                else:
                    client = sim.opensm(host)
                quiet(client, 1.5)
                pulled, restored = [], []
                links = network.switch_links(network.parse(text))
                for i in range(RUNS):
                    guid, port = links[i * len(links) // RUNS]
                    place = f'"S-{guid:016x}"[{port}]'
                    pulled.append(measure(sim, client, f"Unlink {place}"))
                    restored.append(measure(sim, client, f"ReLink {place}"))
                medians[name] = row(name, "pulled", pulled)
                row(name, "restored", restored)
    print(f"  a cable pulled: smd takes {medians['smd'] / medians['opensm']:.2f} of opensm's time (medians)")


if __name__ == "__main__":
    try:
        for fabric in sys.argv[1:] or ["ft2:8"]:
            bench(fabric)
    except Failure as failure:
        sys.exit(f"repair: {failure}")
