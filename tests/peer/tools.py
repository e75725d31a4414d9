# SPDX-License-Identifier: Apache-2.0
"""What unmodified tools say of a fabric that a subnet manager brought up; each raises Failure when it is wrong."""
import re
import subprocess

import network
from ibsim import check


def same_network(sim, host, text):
    """ibnetdiscover finds the nodes, port counts, names and links of the fabric's file."""
    found = network.parse(sim.output(host, "ibnetdiscover"))
    lines = network.differences(network.parse(text), found)
    check(not lines, "ibnetdiscover differs from the fabric's file:\n" + "\n".join(lines[:20]))
    return f"{len(found['nodes'])} nodes, {len(found['links'])} links as in the file"


def all_active(sim, host, text):
    """iblinkinfo shows no port in Init or Armed, and each link of the file Active."""
    out = sim.output(host, "iblinkinfo", "-l")
    waiting = [l for l in out.splitlines() if re.search(r"\b(Init|Initialize|Armed)\b", l)]
    check(not waiting, f"{len(waiting)} ports in Init or Armed:\n" + "\n".join(waiting[:10]))
    active = sum("Active/" in l for l in out.splitlines())
    links = len(network.parse(text)["links"])
    check(active == 2 * links, f"iblinkinfo: {active} lines with Active, the fabric has {links} links")
    return f"{active} ends of links Active"


def tracert(sim, host, lids, count):
    """ibtracert follows the tables from end to end between random pairs of hosts."""
    pairs = network.random_pairs(lids, count, seed=1)
    outputs = sim.outputs(host, (("ibtracert", a, b) for a, b in pairs))
    for (source, destination), out in zip(pairs, outputs, strict=True):
        check(re.search(rf"^To (ca|switch|router) .* lid {destination}-", out, re.M),
              f"ibtracert {source} {destination}:\n{out}")
    return f"{len(pairs)} ibtracert pairs"


def ibdmchk(dumps, paths, layered=False):
    """ibdmchk scans all CA to CA paths and finds no credit loop. It ends with SIGSEGV after it has said all."""
    command = ["ibdmchk", "-s", "opensm-subnet.lst", "-f", "opensm.fdbs", "-m", "opensm.mcfdbs"]
    if layered:
        command += ["-c", "path-sl.txt", "-d", "sl2vl.txt"]
    out = subprocess.run(command, cwd=dumps, capture_output=True, text=True, errors="replace").stdout
    bad = [l for l in out.splitlines() if l.startswith("-E-") or "credit loop on" in l]
    check(not bad, "ibdmchk:\n" + "\n".join(bad[:10]))
    scanned = re.search(r"-I- Scanned:(\d+) CA to CA paths", out)
    check(scanned, "ibdmchk scanned no paths:\n" + out[-2000:])
    check(int(scanned[1]) == paths, f"ibdmchk scanned {scanned[1]} CA to CA paths, there are {paths}")
    check("-I- no credit loops found" in out, "ibdmchk does not say 'no credit loops found':\n" + out[-2000:])
    return f"ibdmchk: {paths} paths, no credit loops"


def ibroute(sim, host, dumps, switch_lids):
    """Each switch's table, as ibroute reads it, is the one in our dump."""
    dumped = network.lfts((dumps / "opensm-lfts.dump").read_text())
    check(dumped.keys() == switch_lids.keys(), "opensm-lfts.dump and opensm-subnet.lst name different switches")
    switches = sorted(switch_lids.items())
    outputs = sim.outputs(host, (("ibroute", "-n", lid) for _, lid in switches))
    for (guid, lid), out in zip(switches, outputs, strict=True):
        read = network.lfts(out).get(guid, {})
        top = max(dumped[guid])
        if top % 64 == 0 and top not in read:
            # ibroute of infiniband-diags 44 leaves out the last block when LinearFDBTop is its first LID.
            read.update(network.lft_block(sim.output(host, "smpdump", "-L", lid, "0x19", top // 64), top))
        wrong = sorted(l for l in read.keys() | dumped[guid].keys() if read.get(l) != dumped[guid].get(l))
        check(not wrong, f"switch 0x{guid:016x}: {len(wrong)} entries differ from the dump, the first: " +
              ", ".join(f"LID {l}: ibroute {read.get(l)}, dump {dumped[guid].get(l)}" for l in wrong[:5]))
    return f"{len(dumped)} tables as dumped"
