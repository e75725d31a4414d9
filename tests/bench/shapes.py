# SPDX-License-Identifier: Apache-2.0
"""Trees that no spec describes, as files: hosts on inner switches, unequal heights, islands, generations, two speeds.

GUIDs are random and nodes are in breadth-first order from a host, as ibnetdiscover prints them.
"""
import collections
import pathlib
import random
import re


class Fabric:
    """Switches and hosts by name; cables use the lowest free ports."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.guids, self.ports = {}, {}

    def switch(self, name, hosts=0, speed="HDR"):
        self._add(name, "S")
        for i in range(hosts):
            self._add(f"{name}-h{i:02}", "H")
            self.cable(f"{name}-h{i:02}", name, speed)
        return name

    def _add(self, name, kind):
        self.guids[name] = (kind, 0x900A840300000000 | self.random.randrange(1 << 28) << 4)
        self.ports[name] = {}

    def cable(self, a, b, speed="HDR", count=1):
        for _ in range(count):
            p, q = (next(i for i in range(1, 255) if i not in self.ports[x]) for x in (a, b))
            self.ports[a][p], self.ports[b][q] = (b, q, speed), (a, p, speed)

    def slow(self, count, speed):
        """That many of the cables between switches have another speed."""
        cables = sorted((a, p) for a, at in self.ports.items() for p, (b, q, _) in at.items()
                        if self.guids[a][0] == self.guids[b][0] == "S" and (a, p) < (b, q))
        for a, p in self.random.sample(cables, count):
            b, q, _ = self.ports[a][p]
            self.ports[a][p], self.ports[b][q] = (b, q, speed), (a, p, speed)

    def text(self):
        first = next(name for name, (kind, _) in self.guids.items() if kind == "H")
        order = {first: None}
        open_ = collections.deque(order)
        while open_:
            for _, (peer, _, _) in sorted(self.ports[open_.popleft()].items()):
                if peer not in order:
                    order[peer] = None
                    open_.append(peer)
        return "".join(self._node(name) for name in sorted(order, key=lambda name: self.guids[name][0] == "H"))

    def _node(self, name):
        ident = lambda of: "{0}-{1:016x}".format(*self.guids[of])
        kind, guid = self.guids[name]
        head = (f'switchguid=0x{guid:x}({guid:x})\nSwitch\t{max(self.ports[name])} "{ident(name)}"\t\t# "{name}" '
                f'enhanced port 0 lid 0 lmc 0\n' if kind == "S" else
                f'caguid=0x{guid:x}\nCa\t1 "{ident(name)}"\t\t# "{name}"\n')
        rows = ""
        for p, (b, q, speed) in sorted(self.ports[name].items()):
            if kind == "S":
                port_guid = "" if self.guids[b][0] == "S" else f"({self.guids[b][1] + q:x})"
                rows += f'[{p}]\t"{ident(b)}"[{q}]{port_guid}\t\t# "{b}" lid 0 4x{speed}\n'
            else:
                rows += f'[{p}]({guid + p:x})\t"{ident(b)}"[{q}]\t\t# lid 0 lmc 0 "{b}" lid 0 4x{speed}\n'
        return f"vendid=0x2c9\ndevid=0x{'d2f0' if kind == 'S' else '101b'}\nsysimgguid=0x{guid:x}\n{head}{rows}\n"


def two_levels(fabric, leaves, hosts, spines, cables=1, name=""):
    tops = [fabric.switch(f"{name}spine{i:02}") for i in range(spines)]
    for i in range(leaves):
        leaf = fabric.switch(f"{name}leaf{i:02}", hosts)
        for top in tops:
            fabric.cable(leaf, top, count=cables)
    return tops


def three_levels(fabric, pods, leaves, hosts, aggs, cores):
    """Each aggregation switch has as many cables up as leaves below it, round robin over the cores."""
    tops = [fabric.switch(f"core{i:02}") for i in range(cores)]
    for p in range(pods):
        middle = [fabric.switch(f"p{p}-agg{i}") for i in range(aggs)]
        for i in range(leaves):
            leaf = fabric.switch(f"p{p}-leaf{i}", hosts)
            for agg in middle:
                fabric.cable(leaf, agg)
        for i, agg in enumerate(middle):
            for up in range(leaves):
                fabric.cable(agg, tops[(i * leaves + up) % cores])
    return tops


def hosts_on_inner(fabric, switches, count):
    for top in switches:
        for i in range(count):
            fabric._add(f"{top}-own{i}", "H")
            fabric.cable(f"{top}-own{i}", top)


def spine_hosts(fabric):
    hosts_on_inner(fabric, two_levels(fabric, 16, 16, 8, 2)[:5], 3)


def spine_hosts_many(fabric):
    hosts_on_inner(fabric, two_levels(fabric, 16, 16, 8, 2), 8)


def core_hosts(fabric):
    hosts_on_inner(fabric, three_levels(fabric, 4, 4, 4, 4, 16)[:4], 2)


def heights(fabric, cores, direct):
    tops = three_levels(fabric, 4, 4, 8, 4, cores)
    for i in range(direct):
        leaf = fabric.switch(f"direct{i}", 8)
        for up in range(8):
            fabric.cable(leaf, tops[(i * 8 + up) % cores])


def islands(fabric, joins):
    one, other = (two_levels(fabric, 8, 8, 4, 2, name) for name in ("a-", "b-"))
    for a, b in list(zip(one, other))[:joins]:
        fabric.cable(a, b, count=2)


def island_below_leaves(fabric):
    two_levels(fabric, 8, 8, 4, 2, "a-")
    other = two_levels(fabric, 4, 8, 4, 1, "b-")
    for i in range(2):
        fabric.cable(f"a-leaf{i:02}", other[i])


def generations(fabric, new, old, hosts):
    tops = two_levels(fabric, new, hosts, 12)
    for i in range(old):
        leaf = fabric.switch(f"old{i:02}", hosts)
        for top in tops[:8]:
            fabric.cable(leaf, top)


def below_a_leaf(fabric):
    three_levels(fabric, 8, 8, 8, 8, 64)
    fabric.cable("p0-leaf0", fabric.switch("small", 4))


def half_slow(fabric):
    for i in range(16):
        fabric.switch(f"leaf{i:02}", 16)
    for j in range(8):
        fabric.switch(f"spine{j}")
        for i in range(16):
            fabric.cable(f"leaf{i:02}", f"spine{j}", "EDR" if j < 4 else "HDR", 2)


def some_slow(fabric):
    two_levels(fabric, 16, 16, 8, 2)
    fabric.slow(25, "EDR")


def three_speeds(fabric):
    three_levels(fabric, 6, 6, 6, 6, 36)
    fabric.slow(65, "EDR")
    fabric.slow(65, "NDR")


def cut_off_pods(fabric):
    """Two pods of older switches have half of the cables to the cores."""
    tops = three_levels(fabric, 4, 4, 4, 4, 16)
    for p in range(2):
        middle = [fabric.switch(f"old{p}-agg{i}") for i in range(4)]
        for i in range(4):
            leaf = fabric.switch(f"old{p}-leaf{i}", 4)
            for agg in middle:
                fabric.cable(leaf, agg)
        for i, agg in enumerate(middle):
            for up in range(2):
                fabric.cable(agg, tops[i * 4 + up])


SHAPES = {
    "spine-hosts": spine_hosts, "spine-hosts-many": spine_hosts_many, "core-hosts": core_hosts,
    "heights": lambda f: heights(f, 16, 4), "heights-narrow": lambda f: heights(f, 8, 6),
    "islands": lambda f: islands(f, 4), "islands-two-cables": lambda f: islands(f, 1),
    "island-below-leaves": island_below_leaves, "generations": lambda f: generations(f, 8, 8, 12),
    "generations-full": lambda f: generations(f, 6, 12, 18), "below-a-leaf": below_a_leaf, "half-slow": half_slow,
    "some-slow": some_slow, "three-speeds": three_speeds, "old-pods": cut_off_pods,
}


def write(case, folder, route):
    """The fabric file of a shape, a spec (by `smd route`) or a file."""
    if case in SHAPES:
        fabric = Fabric(sum(map(ord, case)))
        SHAPES[case](fabric)
        (folder / "topology.net").write_text(fabric.text())
        return folder / "topology.net"
    if case.endswith(".net"):
        return pathlib.Path(case)
    route("--topology", case, "--dump-dir", folder, "--dump", "topology.net")
    return folder / "topology.net"


def roots(text):
    """The switches that are farthest from those with hosts, by GUID: what an operator would put into a root file."""
    peers, hosts, here = collections.defaultdict(set), set(), None
    kind = ""
    for row in text.splitlines():
        if found := re.match(r'(Switch|Ca)\s+\d+\s+"[SH]-([0-9a-f]+)"(.*)', row):
            kind, here = found[1], int(found[2], 16)
            aggregation = "Aggregation Node" in found[3]
        elif kind == "Ca" and not aggregation and (found := re.match(r'\[\d+\].*"S-([0-9a-f]+)"', row)):
            hosts.add(int(found[1], 16))
        elif kind == "Switch" and (found := re.match(r'\[\d+\]\s+"S-([0-9a-f]+)"', row)):
            peers[here].add(int(found[1], 16))
    level, front = {s: 0 for s in hosts}, collections.deque(sorted(hosts))
    while front:
        s = front.popleft()
        for peer in sorted(peers[s]):
            if peer not in level:
                level[peer] = level[s] + 1
                front.append(peer)
    top = max(level.values(), default=0)
    return sorted(s for s, at in level.items() if at == top)
