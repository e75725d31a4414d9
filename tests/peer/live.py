# SPDX-License-Identifier: Apache-2.0
"""A daemon that runs while ibsim's console changes the fabric under it."""
import json
import os
import random
import re
import signal
import subprocess
import time

import network
import tools
from ibsim import Ibsim, check, wait_for
from survive import lids as lids_in

LFT, SET = "0x19", 0x02
LONG = bool(os.environ.get("SMD_LONG"))


class Running:
    """smd as a daemon beside a simulator, asked by `smd status`."""

    def __init__(self, smd, sim, host, *options):
        self.smd, self.sim = smd, sim
        self.socket = sim.folder / f"smd{len(sim.clients)}.sock"
        self.client = smd.start(sim, host, "--socket", self.socket, "--set", "sweep.interval=1s", *options)

    def status(self):
        done = subprocess.run([self.smd.program, "status", "--json", "--socket", self.socket], capture_output=True,
                              text=True)
        subnets = json.loads(done.stdout)["subnets"] if done.returncode == 0 else []
        return subnets[0] if subnets else None  # it listens before it has opened a port

    def last(self):
        found = self.status()
        return found["last_sweep"] if found and found["last_sweep"] else {}

    def wait(self, what, condition, seconds=30):
        try:
            wait_for(lambda: (last := self.last()) and condition(last), seconds, what)
        except Exception:
            print(f"   last sweep: {self.last()}\n{self.client.log()[-6000:]}", flush=True)
            raise

    def up(self, text, seconds=30):
        """Up with all nodes and links of the fabric's file."""
        net = network.parse(text)
        self.wait("up with the whole fabric",
                  lambda last: last["state"] == "up" and last["links"] == len(net["links"])
                  and last["switches"] + last["cas"] + last["routers"] == len(net["nodes"])
                  and last["ports_not_active"] == 0, seconds)

    def sweeps(self):
        return len(re.findall(r"\bsweep (?:subnet=\S+ )?sweep=(?:heavy|incremental)", self.client.log()))

    def lines(self):
        return len(self.client.log().splitlines())

    def end(self):
        check(self.client.stop() == 0, f"exit status {self.client.process.returncode} after SIGTERM")


def node_id(kind, guid):
    return f'"{kind}-{guid:016x}"'


def places(text, own):
    """Things to pull in a two-level tree: a link between switches, a host's, a spine, a leaf; not our own."""
    net = network.parse(text)
    switches = {guid for guid, (kind, _, _) in net["nodes"].items() if kind == "Switch"}
    leaves = {a if a in switches else b for (a, _), (b, _) in net["links"] if (a in switches) != (b in switches)}
    mine = int(own.split("-")[1], 16)
    my_leaf = next(a if a in switches else b for (a, _), (b, _) in net["links"] if mine in (a, b))
    links = sorted(net["links"])
    between = next(l for l in links if l[0][0] in switches and l[1][0] in switches and my_leaf not in (l[0][0], l[1][0]))
    host = next(a if a not in switches else b for (a, _), (b, _) in reversed(links)
                if (a in switches) != (b in switches) and mine not in (a, b))
    spine, leaf = min(switches - leaves), max(leaves - {my_leaf})
    return {"link": f"{node_id('S', between[0][0])}[{between[0][1]}]", "host": node_id("H", host),
            "spine": node_id("S", spine), "leaf": node_id("S", leaf)}, leaf, host


def behind(text, node):
    """How many links and nodes are not reached when all of a node's links are down."""
    net = network.parse(text)
    own = [l for l in net["links"] if node in (l[0][0], l[1][0])]
    ends = {a if b == node else b for (a, _), (b, _) in own}
    hosts = [n for n in ends if net["nodes"][n][0] != "Switch"]
    return len(own), 1 + (len(hosts) if net["nodes"][node][0] == "Switch" else 0)


def console(smd, sim, text, hosts):
    """Link, host, whole spine, whole leaf: pulled and restored. A LID stolen. An attribute that fails and is back."""
    running = Running(smd, sim, hosts[0])
    running.up(text)
    lids = sim.output(hosts[1], "ibnetdiscover", "-p")
    chosen, leaf, host = places(text, hosts[0])
    net = network.parse(text)
    for what, place in chosen.items():
        links, nodes = (1, 0) if what == "link" else behind(text, int(re.search(r"-([0-9a-f]+)", place)[1], 16))
        sim.command(f"Unlink {place}")
        wanted = len(net["nodes"]) - nodes
        states = ("up", "reduced") if what == "host" else ("reduced",)  # a host counts only above hosts_missing
        running.wait(f"{what} pulled", lambda last: last["links"] == len(net["links"]) - links
                     and last["state"] in states and last["switches"] + last["cas"] + last["routers"] == wanted)
        sim.command(f"ReLink {place}")
        running.up(text)
    check(sim.output(hosts[1], "ibnetdiscover", "-p") == lids, "LIDs or links differ after all came back")
    stolen(running, sim, text, hosts, host)
    attribute_fails(running, sim, text, leaf)
    tools.all_active(sim, hosts[1], text)
    running.end()
    print(f"   {', '.join(chosen)} pulled and restored, a LID stolen, an attribute failed: {running.sweeps()} sweeps, "
          f"{running.lines()} lines of log", flush=True)


def lid_of(sim, viewer, host):
    """Of a host's port 1, whose GUID is the node's and 1 in these fabrics."""
    out = sim.output(viewer, "ibnetdiscover", "-p")
    found = re.search(rf"^CA\s+(\d+)\s+1\s+0x{host + 1:016x}", out, re.M)
    return int(found[1]) if found else None


def stolen(running, sim, text, hosts, host):
    """A host shows another host's LID: it gets its own back."""
    was, other = lid_of(sim, hosts[1], host), lid_of(sim, hosts[1], int(hosts[2].split("-")[1], 16))
    check(was and other and was != other, f"LIDs {was} and {other}")
    sim.command(f"Baselid {node_id('H', host)}[1] {other}")
    wait_for(lambda: "node.changed" in running.client.log(), 60, "a line for the stolen LID")
    wait_for(lambda: lid_of(sim, hosts[1], host) == was, 60, f"LID {was} again")
    running.up(text)


def attribute_fails(running, sim, text, leaf):
    """All requests for one attribute of a switch are dropped, and later not any more."""
    place = node_id("S", leaf)
    for attribute, number in (("PortInfo", 0x15), ("LinearForwardingTable", 0x19)):
        sim.command(f"Error {place} 100 {number}")
        subprocess.run([running.smd.program, "resweep", "heavy", "--socket", running.socket], check=True,
                       capture_output=True)
        if attribute == "PortInfo":
            running.wait(f"degraded without {attribute}", lambda last: last["state"] == "degraded", 60)
            check(f"{leaf:016x}" in running.client.log(), f"no line names {leaf:016x}")
        sim.command(f"Error {place} 0 {number}")
        running.up(text, 60)


def loss(smd, sim, text, hosts, times=2):
    """40 % of all requests to all nodes but our own are lost: up all the same, and never with a part of it."""
    net = network.parse(text)
    ours = int(hosts[0].split("-")[1], 16)
    took = []
    for _ in range(times):
        with Ibsim(sim.folder / "net") as other:
            for guid, (kind, _, _) in net["nodes"].items():
                if guid == ours:
                    continue
                other.command(f"Error {node_id('S' if kind == 'Switch' else 'H', guid)} 40")
            time.sleep(0.5)  # ibsim reads its console between requests
            began = time.monotonic()
            running = Running(smd, other, hosts[0])
            running.up(text, 120)
            took.append(time.monotonic() - began)
            running.end()
    print(f"   40 % loss: up after {', '.join(f'{t:.1f}' for t in took)} s", flush=True)


def storm(smd, sim, text, hosts):
    """1,000 times Unlink and ReLink in 10 s: at most 50 sweeps and 200 lines, and up at the end."""
    running = Running(smd, sim, hosts[0])
    running.up(text)
    sweeps, lines = running.sweeps(), running.lines()
    chosen, _, _ = places(text, hosts[0])
    chooser = random.Random(1)
    begun = time.monotonic()
    for i in range(1000):
        place = chosen["link"] if chooser.random() < 0.7 else chosen["host"]
        sim.command(f"Unlink {place}")
        sim.command(f"ReLink {place}")
        time.sleep(max(0.0, begun + (i + 1) / 100 - time.monotonic()))
    running.up(text, 60)
    sweeps, lines = running.sweeps() - sweeps, running.lines() - lines
    check(sweeps <= 50, f"{sweeps} sweeps")
    check(lines <= 200, f"{lines} lines of log")
    running.end()
    print(f"   1,000 flaps in 10 s: {sweeps} sweeps, {lines} lines of log, up at the end", flush=True)


def by_guid(sim, viewer):
    """{GUID of a switch or of a host's port: LID} as ibnetdiscover sees them."""
    found = re.findall(r"^(?:CA|SW)\s+(\d+)\s+\d+\s+(0x[0-9a-f]+)", sim.output(viewer, "ibnetdiscover", "-p"), re.M)
    return {guid: int(lid) for lid, guid in found}


def tables(sim, viewer, lids, text):
    """ibroute of all switches, P_Key tables of some ports, as the tools print them."""
    net = network.parse(text)
    switches = [lids[f"0x{g:016x}"] for g, (kind, _, _) in sorted(net["nodes"].items()) if kind == "Switch"]
    hosts = [lids[f"0x{g + 1:016x}"] for g, (kind, _, _) in sorted(net["nodes"].items()) if kind == "Ca"]
    some = hosts[:: max(1, len(hosts) // 40)]
    if not LONG:  # a process each: all of a large fabric's take most of a minute
        switches = switches[:: max(1, len(switches) // 80)]
    commands = [("ibroute", "-n", lid) for lid in switches] + [("smpquery", "pkeys", lid, 1) for lid in some]
    return list(sim.outputs(viewer, commands))


def takeover(smd, sim, text, hosts):
    """opensm brings the fabric up and is killed; smd takes it and changes nothing; opensm takes it back."""
    opensm = sim.opensm(hosts[1])
    theirs = lids_in(opensm.folder)
    opensm.stop(signal.SIGKILL)
    lids = by_guid(sim, hosts[2])
    before = tables(sim, hosts[2], lids, text)
    client, summary, dumps = smd.once(sim, hosts[0])
    check(summary["state"] == "up", f"state {summary['state']}, must be up: {client.log()[-3000:]}")
    check(summary["lids_changed"] == 0 and by_guid(sim, hosts[2]) == lids, "LIDs changed")
    after = tables(sim, hosts[2], lids, text)
    wrong = [i for i, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
    check(not wrong, f"{len(wrong)} of {len(before)} tables changed, the first:\n{before[wrong[0]] if wrong else ''}")
    sets = {}
    for (mgmt_class, method, attribute), number in client.counts().items():
        if mgmt_class in (1, 0x81) and method == SET:
            sets[f"0x{attribute:02X}"] = sets.get(f"0x{attribute:02X}", 0) + number
    check(not sets.keys() & {LFT, "0x1B", "0x16", "0x17", "0x18"}, f"tables were written: {sets}")
    again = sim.start(hosts[1], "sh", "-c", f"cp {dumps / 'guid2lid'} guid2lid && exec opensm -d 2 -f osm.log -o")
    sim.finish(again, ["opensm"])
    check(lids_in(again.folder) == theirs, "opensm's guid2lid differs after smd's")
    check(by_guid(sim, hosts[2]) == lids, "LIDs changed on the way back")
    print(f"   {len(lids)} nodes, {len(before)} tables as before; Sets by attribute {dict(sorted(sets.items()))}; and back",
          flush=True)
