#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Data packets through the tables that opensm -Q writes: lab_arbitrate.py --smd PROGRAM. Three senders a class, on one adapter's
link, on a leaf and in a tree: the shares that the receiver gets are within 5 % of what the tables say that smpquery shows. A
class that is blocked at its receiver costs the others nothing. With the layers of dfsssp, lash and torus-2QoS each hop has
the VL of the tables and a torus moves; with minhop on one VL it does not."""
import itertools
import json
import math
import re
import signal

from ibsim import check, wait_for
from lab import Lab
from runner import run_scenario

RECEIVER = "h00000"
PLACES = {  # senders of each class, and the port that all their packets pass
    "link": (["h00004"] * 3, ("h00004", 1)),
    "leaf": (["h00001", "h00002", "h00003"], ("leaf000", 1)),
    "tree": (["h00004", "h00008", "h00012"], ("leaf000", 1)),
}
SL2VL = "0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7"
HEADERS = 26
# What is shown, and opensm's options for it.
CASES = [
    ("weights", dict(high_limit=0, vlarb_high="3:0", vlarb_low="0:64,1:128,2:192", sl2vl=SL2VL)),
    ("weights below a packet", dict(high_limit=0, vlarb_high="3:0", vlarb_low="0:1,1:2,2:64", sl2vl=SL2VL)),
    ("high, one packet", dict(high_limit=0, vlarb_high="2:64", vlarb_low="0:64,1:192", sl2vl=SL2VL)),
    ("high, 24 KB", dict(high_limit=6, vlarb_high="2:255", vlarb_low="0:64,1:64", sl2vl=SL2VL)),
    ("high without an end", dict(high_limit=255, vlarb_high="2:64", vlarb_low="0:64,1:64", sl2vl=SL2VL)),
    ("two in high", dict(high_limit=2, vlarb_high="2:64,1:128", vlarb_low="0:64,1:64", sl2vl=SL2VL)),
    ("two SLs on a VL", dict(high_limit=0, vlarb_high="3:0", vlarb_low="0:64,1:192", sl2vl="0,1,1,3,4,5,6,7,0,1,2,3,4,5,6,7")),
]

HOST, ASKER = "ht00-00-00-00", "ht00-00-01-00"  # of the torus
EIGHT_VLS = dict(high_limit=0, vlarb_high="0:0", vlarb_low=",".join(f"{vl}:64" for vl in range(8)), sl2vl=SL2VL)


def options(values, classes=("",)):
    return "".join(f"qos_{one}max_vls 8\n" + "".join(f"qos_{one}{key} {value}\n" for key, value in values.items())
                   for one in classes)


def opensm(lab, text, *words, host=RECEIVER):
    """After its second sweep: in the first one it cuts SL2VL, and the layers that it counts on, to the OperationalVLs that ports
    have after a reset, which is VL0 alone."""
    conf = lab.folder / "osm.conf"
    conf.write_text(text)
    client = lab.opensm(host, "-Q", "-F", conf, *words)
    log = client.folder / "osm.log"
    done = log.read_text(errors="replace").count("SUBNET UP")
    client.process.send_signal(signal.SIGHUP)
    wait_for(lambda: log.read_text(errors="replace").count("SUBNET UP") > done, 60, "opensm's second SUBNET UP")
    return client


def lid_of(lab, name):
    """Of an adapter (h…), or of a switch."""
    return re.search(r"\bLID (\d+)", lab.command(f"show {name} {1 if name[0] == 'h' else 0}"), re.I)[1]


def tables(lab, host, name, port):
    """The high table, the low table, and VLHighLimit, by smpquery."""
    lid = lid_of(lab, name)
    text = lab.output(host, "smpquery", "vlarb", lid, str(port))
    parts = {}
    for kind, vls, weights in re.findall(r"# (Low|High) priority.*?\nVL +: (.*?)\nWEIGHT: (.*?)\n", text, re.S):
        numbers = [[int(cell, 16) for cell in re.findall(r"0x[0-9a-fA-F]+", row)] for row in (vls, weights)]
        parts[kind] = [entry for entry in zip(*numbers) if entry[1]]
    limit = re.search(r"VLHighLimit:\.*(\d+)", lab.output(host, "smpquery", "portinfo", lid, str(port)))[1]
    check(set(parts) == {"Low", "High"}, f"smpquery vlarb {lid} {port}: {text}")
    return parts["High"], parts["Low"], int(limit)


def expected(high, low, limit, busy, payload):
    """{VL: share}, where each VL of `busy` always has packets: of whole turns, and of high between two packets of low."""
    packet = payload + HEADERS
    blocks = -(-packet // 64)

    def of_table(table):
        turns = [(vl, -(-weight // blocks)) for vl, weight in table if vl in busy]
        whole = sum(n for _, n in turns)
        return {vl: sum(n for v, n in turns if v == vl) / whole for vl, _ in turns}

    parts = [of_table(high), of_table(low)]
    if not parts[0] or not parts[1]:
        return parts[0] or parts[1]
    row = math.inf if limit == 255 else max(1, -(-limit * 4096 // packet))
    of_high = 1 if limit == 255 else row / (row + 1)
    return {vl: parts[0].get(vl, 0) * of_high + parts[1].get(vl, 0) * (1 - of_high) for vl in busy}


def flow(sender, sl, receiver=RECEIVER):
    return f"flow {sender} {receiver} {sl} 0xffff"


def arbitrate(lab, *words):
    return json.loads(lab.command("arbitrate json " + " ".join(map(str, words))))


def shares(result):
    """{(SL, VL): share} of the receiver."""
    return {(one["sl"], one["vl"]): one["share"] for one in result["receivers"]}


def near(found, wanted, what):
    check(abs(found - wanted) <= 0.05 * wanted, f"{what}: {found:.4f}, not {wanted:.4f}")


def weights(given, name, text):
    with Lab(given.smd, "ft2:8") as lab:
        opensm(lab, text)
        for place, (senders, port) in PLACES.items():
            result = arbitrate(lab, "packets", given.packets, *(flow(one, sl) for sl in range(3) for one in senders))
            check(result["ending"] == "counted" and sum(one["packets"] for one in result["flows"]) == given.packets,
                  f"{name}, {place}: {result['ending']}")
            got = shares(result)
            vls = {sl: vl for sl, vl in got}
            payload = next(one["bytes"] // one["packets"] for one in result["flows"] if one["packets"]) - HEADERS
            wanted = expected(*tables(lab, RECEIVER, *port), set(vls.values()), payload)
            for sl, vl in vls.items():
                on_it = sum(other == vl for other in vls.values())
                near(got[sl, vl], wanted[vl] / on_it, f"{name}, {place}, SL {sl} VL {vl}")
            print(f"   {name}, {place}: " + ", ".join(f"SL {sl} VL {vl} {got[sl, vl]:.3f} ({wanted[vl]:.3f} a VL)"
                                                     for sl, vl in vls.items()), flush=True)


def blocked(given):
    """The first class has a receiver of its own, which takes nothing."""
    with Lab(given.smd, "ft2:8") as lab:
        opensm(lab, options(CASES[0][1]))
        flows = [flow(one, sl, "h00001" if sl == 0 else RECEIVER) for sl in range(3) for one in PLACES["tree"][0]]
        before = arbitrate(lab, "packets", given.packets, *flows)
        after = arbitrate(lab, "packets", given.packets, "blocked h00001", *flows)
        check(not after["deadlocks"] and after["blocked"] and {one["vl"] for one in after["blocked"]} == {0},
              f"blocked: {after['blocked']}, deadlocks: {after['deadlocks']}")
        for old, new in zip(before["flows"], after["flows"]):
            speeds = [one["bytes"] / result["elapsed_ps"] for one, result in ((old, before), (new, after))]
            check(new["sl"] == 0 or speeds[1] >= 0.999 * speeds[0], f"a blocked class costs {new['node']} SL {new['sl']}: {speeds}")


def pairs():
    for x, y, z in itertools.product(range(4), repeat=3):
        for a, b, c in ((2, 2, 2), (1, 2, 0), (2, 0, 3), (0, 1, 2)):
            yield (f"ht{x:02}-{y:02}-{z:02}-00", f"ht{(x + a) % 4:02}-{(y + b) % 4:02}-{(z + c) % 4:02}-00")


def check_hops(lab, host, result, number):
    """The VLs of the first flows by smpquery's SL2VL tables."""
    for one in result["flows"][:number]:
        for hop in one["hops"][1:-1]:
            text = lab.output(host, "smpquery", "sl2vl", lid_of(lab, hop["node"]), str(hop["out"]))
            row = re.search(rf"in +{hop['in']}, out +{hop['out']}:(.*)", text)
            check(row, f"smpquery sl2vl of {hop['node']}: {text}")
            vl = int(re.findall(r"\d+", row[1])[one["sl"]])
            check(vl == hop["vl"], f"{hop['node']} port {hop['out']}, SL {one['sl']}: VL {hop['vl']}, smpquery says {vl}")


def torus_conf(lab):
    """Of torus-2QoS: the switches around the first one, both ways in each dimension, because the radix is 4."""
    def guid(x, y, z):
        return hex(0x0002C90000000010 + 0x10 * (16 * x + 4 * y + z))

    links = [f"{axis}{way}_link {guid(0, 0, 0)} {guid(*(to if other == axis else 0 for other in 'xyz'))}"
             for axis in "xyz" for way, to in (("p", 1), ("m", 3))]
    path = lab.folder / "torus-2QoS.conf"
    path.write_text("torus 4 4 4\n" + "\n".join(links) + "\n")
    return path


def layers(given, engine):
    """Packets on the SLs of opensm's PathRecords."""
    with Lab(given.smd, "torus:4x4x4") as lab:
        more = ("--torus_config", torus_conf(lab)) if engine == "torus-2QoS" else ()
        opensm(lab, options(EIGHT_VLS), "-R", engine, *more, host=HOST)
        records = re.findall(r"dlid\.+(\d+)\s+slid\.+(\d+).*?\bsl\.+0x([0-9a-f]+)", lab.output(ASKER, "saquery", "PR"), re.S)
        sl_of = {(slid, dlid): int(sl, 16) for dlid, slid, sl in records}
        lids = {name: lid_of(lab, name) for name in {name for pair in pairs() for name in pair}}
        result = arbitrate(lab, *(flow(a, sl_of[lids[a], lids[b]], b) for a, b in pairs()))
        vls = {hop["vl"] for one in result["flows"] for hop in one["hops"]} - {None}
        check(result["ending"] == "counted" and not result["deadlocks"] and len(vls) > 1,
              f"{engine}: {result['ending']}, VLs {vls}, {result['deadlocks']}")
        check_hops(lab, ASKER, result, 8)
        print(f"   {engine} on torus:4x4x4: VLs {sorted(vls)}, no deadlock", flush=True)


def one_layer(given):
    with Lab(given.smd, "torus:4x4x4") as lab:
        opensm(lab, options(EIGHT_VLS), "-R", "minhop", host=HOST)
        result = arbitrate(lab, *(flow(a, 0, b) for a, b in pairs()))
        check(result["deadlocks"], "minhop on one VL of a torus: no deadlock")
        ring = " -> ".join(f"{one['node']} port {one['port']}" for one in result["deadlocks"][0])
        print(f"   minhop on one VL: deadlock {ring}", flush=True)


def scenario(given):
    for name, values in CASES:
        weights(given, name, options(values))
    # Adapters have other weights than switches.
    weights(given, "ca and swe", options(CASES[0][1], ("swe_",)) +
            options(CASES[0][1] | {"vlarb_low": "0:192,1:64,2:64"}, ("ca_",)))
    blocked(given)
    for engine in ("dfsssp", "lash", "torus-2QoS"):
        layers(given, engine)
    one_layer(given)


if __name__ == "__main__":
    run_scenario(scenario, __doc__, lambda parser: parser.add_argument("--packets", type=int, default=100_000))
