#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A master that stands still (SIGSTOP), for a time or for ever: lab_stop.py --smd PROGRAM MASTER STANDBY SECONDS.

MASTER and STANDBY are `smd` or `opensm`; SECONDS 0 is for ever. What must hold: another SM takes the fabric, 3 s after
SIGCONT one SM says that it is master, a woken smd sends no Set before it has read SMInfo of the other one and its own
PortInfo (by the pcap), and LIDs and forwarding tables are what they were."""
import os
import re
import signal
import struct
import time

from ibsim import check, wait_for
from lab import Lab
from runner import run_scenario
from subject import Smd

GET, SET, RESPONSE = 1, 2, 0x81
PORT_INFO, SM_INFO = 0x15, 0x20


def smps(data):
    """(time in s, client, method, attribute) of each directed SMP in a pcap of `smd sim`; a client is known by the
    upper half of its TIDs."""
    at = 24
    while at + 16 <= len(data):
        seconds, nanoseconds, size, _ = struct.unpack_from("=IIII", data, at)
        mad = data[at + 16 + 28:at + 16 + size]
        if mad[1] == 0x81:
            yield seconds + nanoseconds / 1e9, struct.unpack_from(">I", mad, 8)[0], mad[3], struct.unpack_from(">H", mad, 16)[0]
        at += 16 + size


class Sm:
    """An SM of either kind on a host."""

    def __init__(self, lab, kind, host, priority):
        self.lab, self.kind, self.host = lab, kind, host
        if kind == "smd":
            self.client = lab.start(host, lab.smd, "run", "--state-dir", "state", "--socket", "api.sock",
                                    "--set", f"sm.priority={priority}")
        else:
            # OpenSM's defaults but for the standby's polls: 1 s, 2 of them lost.
            conf = lab.folder / f"{host}.conf"
            conf.write_text("sminfo_polling_timeout 1000\npolling_retry_number 2\n")
            self.client = lab.start(host, "opensm", "-d", "2", "-f", "osm.log", "-p", str(priority), "-F", str(conf))
            self.log_file = self.client.folder / "osm.log"

    def log(self):
        if self.kind == "smd":
            return self.client.log()
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    def wait_up(self):
        wait_for(lambda: ("state=up" if self.kind == "smd" else "SUBNET UP") in self.log(), 60, f"{self.kind} up")

    def wait_standby(self):
        word = "sm.other_master" if self.kind == "smd" else "Entering STANDBY"
        wait_for(lambda: word in self.log(), 60, f"{self.kind} in standby")

    def signal(self, how):
        os.kill(self.client.process.pid, how)


def state_of(lab, viewer, lid):
    """What the SM on this LID says of itself; '' where it says nothing."""
    client = lab.start(viewer, "sminfo", "-t", "150", str(lid))
    client.process.wait(20)
    found = re.search(r"state \d+ SMINFO_(\w+)", (client.folder / "stdout").read_text())
    return found[1] if found else ""


def discovered(lab, viewer):
    """Nodes, links and LIDs as ibnetdiscover prints them, without the time."""
    return [line for line in lab.output(viewer, "ibnetdiscover").splitlines() if not line.startswith("#")]


def tables(lab, viewer, lids):
    return {lid: lab.output(viewer, "ibroute", str(lid)) for lid in lids}


def masters(lab, lids):
    return [host for host, lid in lids.items() if state_of(lab, "h00009", lid) == "MASTER"]


def stop_master(smd, master_kind, standby_kind, seconds, priorities):
    with Lab(smd, "ft2:8", "--pcap", "trace.pcap") as lab:
        master = Sm(lab, master_kind, "h00000", priorities[0])
        master.wait_up()
        standby = Sm(lab, standby_kind, "h00021", priorities[1])
        standby.wait_standby()
        time.sleep(1)
        viewer = "h00009"
        lids = {host: int(re.search(r"Base lid:\s+(\d+)", lab.output(host, "ibstat"))[1]) for host in ("h00000", "h00021")}
        hosts = discovered(lab, viewer)
        switches = sorted(int(lid) for lid in re.findall(r"^Switch.* lid (\d+) lmc", "\n".join(hosts), re.M))
        before = tables(lab, viewer, switches)
        master.signal(signal.SIGSTOP)
        stopped = time.monotonic()
        if seconds == 0 or seconds > 5:
            wait_for(lambda: masters(lab, {"h00021": lids["h00021"]}), 30, "the standby's takeover")
            print(f"   {standby_kind} is master {time.monotonic() - stopped:.1f} s after {master_kind}'s SIGSTOP", flush=True)
        if seconds:
            time.sleep(max(0.0, seconds - (time.monotonic() - stopped)))
            trace = lab.folder / "trace.pcap"
            offset = trace.stat().st_size
            woken = time.time()
            master.signal(signal.SIGCONT)
            began = time.monotonic()
            time.sleep(3)
            found = masters(lab, lids)
            print(f"   3 s after SIGCONT: master is {found}", flush=True)
            if "smd" == master_kind == standby_kind:
                check(len(found) == 1, f"not one master: {found}")
            else:
                wait_for(lambda: len(masters(lab, lids)) == 1, 90, "one master")
                print(f"   one master {time.monotonic() - began:.1f} s after SIGCONT: {masters(lab, lids)}", flush=True)
            if master_kind == "smd":
                check_first_set(trace.read_bytes(), master, woken)
        time.sleep(1)
        after = discovered(lab, viewer)
        check(after == hosts, f"ibnetdiscover: other nodes, links or LIDs: {set(after) ^ set(hosts)}")
        if standby_kind == "smd":  # opensm writes its own tables when it becomes master
            check(tables(lab, viewer, switches) == before, "forwarding tables differ")
        if os.environ.get("SMD_PEER_SHOW"):
            print(master.log()[-6000:], "\n----\n", standby.log()[-6000:])


def check_first_set(data, master, woken):
    """By the trace: which client is the woken SM? The one that sent the first Set of all."""
    seen = list(smps(data))
    client = next(client for _, client, method, _ in seen if method == SET)
    later = [(when, method, attribute) for when, who, method, attribute in seen if who == client and when >= woken]
    first_set = next((n for n, item in enumerate(later) if item[1] == SET), None)
    asked = [item for item in later[:first_set] if item[1] == GET]
    print(f"   after SIGCONT: {len(asked)} Gets before the first Set", flush=True)
    if first_set is None:
        return
    check(any(item[2] == SM_INFO for item in asked), "a Set before SMInfo of the other SM was read")
    check(any(item[2] == PORT_INFO for item in asked), "a Set before our own PortInfo was read")


def scenario(given):
    stop_master(given.smd, given.master, given.standby, given.seconds, given.priorities.split(","))


def arguments(parser):
    parser.add_argument("master", choices=("smd", "opensm"))
    parser.add_argument("standby", choices=("smd", "opensm"))
    parser.add_argument("seconds", type=float)
    parser.add_argument("--priorities", default="5,3", help="of master and standby")


if __name__ == "__main__":
    run_scenario(scenario, __doc__, arguments)
