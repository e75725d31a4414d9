# SPDX-License-Identifier: Apache-2.0
"""Our dumps beside OpenSM's of the same fabric with the same LIDs and tables: equal bytes but for the order."""
import re
import subprocess

from ibsim import check

# Of each file the line that begins a block; files without one are compared line by line.
BLOCKS = {
    "opensm.fdbs": "dump_ucast_routes: Switch ",
    "opensm-lfts.dump": "Unicast lids [",
    "opensm-lid-matrix.dump": "Switch: guid ",
    "opensm-subnet.lst": None,
    "guid2lid": None,
    "opensm.mcfdbs": None,
}


def blocks(text, header):
    """The parts of a dump that may stand in any order."""
    if header is None:
        return sorted(text.splitlines(keepends=True))
    return sorted(part for part in re.split("^(?=" + re.escape(header) + ")", text, flags=re.M) if part)


def comparable(name, text):
    """Without what ibsim's nodes and ours are free to have: the revision of the device."""
    return re.sub(r" Rev:[0-9A-F]{8} ", " Rev:* ", text) if name == "opensm-subnet.lst" else text


def difference(name, ours, theirs):
    """The first lines that differ, or None."""
    ours, theirs = (blocks(comparable(name, t), BLOCKS[name]) for t in (ours, theirs))
    for a, b in zip(ours + [""], theirs + [""]):
        if a == b:
            continue
        for line_a, line_b in zip(a.splitlines() + [""], b.splitlines() + [""]):
            if line_a != line_b:
                return f"{name}: ours   {line_a!r}\n{' ' * len(name)}  theirs {line_b!r}"
    return None if len(ours) == len(theirs) else f"{name}: {len(ours)} parts, theirs has {len(theirs)}"


def dumps(smd, sim, text, hosts):
    """opensm brings the fabric up and dumps it; smd route reads its tables and LIDs and dumps the same."""
    theirs = sim.run(hosts[0], "opensm", "-d", "2", "-f", "osm.log", "-D", "0x43", "-o").folder
    found = theirs / "topology.net"  # with the rates that ibsim's links really have
    found.write_text(sim.output(hosts[0], "ibnetdiscover"))
    ours = theirs / "ours"
    command = [smd.program, "route", "--topology", found, "--lids", theirs / "guid2lid", "--lfts",
               theirs / "opensm-lfts.dump", "--dump-dir", ours, "--dump", ",".join(BLOCKS)]
    done = subprocess.run(command, capture_output=True, text=True)
    check(done.returncode == 0, f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    for name in BLOCKS:
        mine, other = ((folder / name).read_text() for folder in (ours, theirs))
        mine, other = (t.replace("-SM ", " ") for t in (mine, other))  # offline it is the first CA of the file
        wrong = difference(name, mine, other)
        check(not wrong, wrong)
    print(f"   {len(BLOCKS)} dumps equal: {', '.join(BLOCKS)}", flush=True)
