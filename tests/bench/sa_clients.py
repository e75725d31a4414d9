#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PathRecords through ibsim, from opensm and from smd in the same run: rate with 1, 4 and 8 under way, processor time
of the SM's process by query, and the longest wait of a client while a cable is cut and a heavy sweep follows.

sa_clients.py [FABRIC…] (ft2:8 ft3:24), or ./dev bench sa_clients
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
BIN = pathlib.Path(os.environ.get("SMD_BIN", HERE / "../../build/release/bin")).resolve()
os.environ.setdefault("SMD_PEER_COUNTER", str(next(iter(sorted(BIN.parent.glob("**/libpeer_counter.so"))), "")))
sys.path.insert(0, str(HERE / "../peer"))
import subject  # noqa: E402
from ibsim import Ibsim, check, hosts_of, wait_for  # noqa: E402

SMD = BIN / "smd"
WINDOWS = [1, 4, 8]
SECONDS = float(os.environ.get("SMD_BENCH_SECONDS", "5"))
TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def load(sim, host, seconds, window, last):
    out = sim.output(host, BIN / "sa_load", seconds, window, last)
    return {key: float(value) for key, value in (pair.split("=") for pair in out.split())}


class Opensm:
    name = "opensm"

    def __init__(self, sim, host):
        self.client = sim.opensm(host)

    def sweep(self):
        self.client.process.send_signal(signal.SIGHUP)

    def swept(self):
        return (self.client.folder / "osm.log").read_text(errors="replace").count("SUBNET UP")


class Smd:
    name = "smd"

    def __init__(self, sim, host):
        self.client = sim.start(host, SMD, "run", "--state-dir", "state", "--socket", "s")
        wait_for(lambda: "state=up" in self.client.log(), 120, "smd's state=up")

    def sweep(self):
        subprocess.run([SMD, "resweep", "heavy", "--socket", self.client.folder / "s"], check=True,
                       stdout=subprocess.DEVNULL)

    def swept(self):
        return self.client.log().count("sweep=")


def stall(sim, manager, host, cable, last):
    """The longest wait of a client with one question under way."""
    found = {}
    client = threading.Thread(target=lambda: found.update(load(sim, host, 8 + last // 150, 1, last)))
    client.start()
    time.sleep(1)
    before = manager.swept()
    sim.command(f"Unlink {cable}")
    time.sleep(2)
    manager.sweep()
    client.join()
    check(manager.swept() > before, f"{manager.name} has not swept")
    return found


def measure(net, manager_of):
    """[(window, rate, SM's us by query, client's us)], and the stall."""
    text = net.read_text()
    hosts = hosts_of(text)
    # The first cable between two switches.
    switch, cable = None, None
    for line in text.splitlines():
        if line.startswith("Switch"):
            switch = line.split()[2]
        elif switch and cable is None and '"S-' in line and line.startswith("["):
            cable = switch + line.split()[0]
        elif line.startswith(("Hca", "Ca")):
            switch = None
    with Ibsim(net) as sim:
        manager = manager_of(sim, hosts[0])
        time.sleep(2)
        last = len(hosts) + text.count("\nSwitch") + text.startswith("Switch")
        rows = []
        for window in WINDOWS:
            before = processor_seconds(manager.client.process.pid)
            found = load(sim, hosts[3], SECONDS, window, last)
            used = processor_seconds(manager.client.process.pid) - before
            check(found["answered"] > 0, "nothing was answered")
            rows.append((window, found["per_second"], used * 1e6 / found["answered"], found["client_us"],
                         found["others"]))
        waited = stall(sim, manager, hosts[3], cable, last)
        manager.client.stop()
    return rows, waited


def main():
    for spec in sys.argv[1:] or ["ft2:8", "ft3:24"]:
        with tempfile.TemporaryDirectory() as folder:
            subject.Smd(SMD).fabric(spec, folder)
            net = pathlib.Path(folder) / "net"
            (theirs, their_wait), (ours, our_wait) = measure(net, Opensm), measure(net, Smd)
        for one, other in zip(theirs, ours):
            window, rate, used, client, _ = one
            own = max(0.1, used - client)
            print(f"sa_clients/{spec}: {window} under way: opensm {rate:.0f} a second, {used:.1f} us a query "
                  f"(client {client:.1f}); smd {other[1]:.0f}, {other[2]:.1f} us (client {other[3]:.1f}): "
                  f"ratio {other[1] / rate:.2f}, processor less the client's {(other[2] - other[3]) / own:.2f}",
                  flush=True)
        print(f"sa_clients/{spec}: longest wait through a cut cable and a heavy sweep: opensm "
              f"{their_wait['longest_ms']:.1f} ms, smd {our_wait['longest_ms']:.1f} ms", flush=True)


if __name__ == "__main__":
    main()
