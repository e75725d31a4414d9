#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""torus-2QoS beside opensm's of the same torus-2QoS.conf: lab_torus.py --smd PROGRAM. On tori and meshes, whole, without a cable and
without a switch, `smd route` gives every switch the tables of opensm, every path its SL (saquery), every pair of ports its SL to VL
row."""
import pathlib
import re
import subprocess

import dumps
from ibsim import check
from lab import Lab
from lab_arbitrate import EIGHT_VLS, opensm, options
from runner import run_scenario

TABLES = "opensm-lfts.dump"
# Spec, file, what is taken away: a switch, or a switch and its port. Switch names are t or m and the coordinates.
CASES = [
    ("torus:4x4x4:2", "torus 4 4 4", None),
    ("torus:4x4x4:1", "torus 4 4 4", ("t00-01-02", 3)),
    ("torus:4x4x4:1", "torus 4 4 4", ("t02-01-02", None)),
    ("torus:5x5:2", "torus 5 5 1", None),
    ("torus:5x5:2", "torus 5 5 1", ("t03-02", 1)),
    ("torus:5x5:2", "torus 5 5 1", ("t02-04", 3)),
    ("torus:5x6:1", "torus 1 5 6\nz_dateline -2\ny_dateline 1", ("t03-03", None)),
    ("torus:3x5:1", "torus 3 5 1", None),
    ("mesh:4x3:1", "mesh 4 3 1", None),
    ("mesh:3x3x3:1", "mesh 3 3 3", None),
]


def sizes_of(spec):
    return [int(size) for size in spec.split(":")[1].split("x")]


def network(smd, folder, spec):
    """The spec as a file, which opensm's names and ours agree on."""
    subprocess.run([smd, "route", "--topology", spec, "--dump-dir", folder, "--dump", "topology.net"], check=True,
                   capture_output=True)
    return (folder / "topology.net").read_text()


def without(text, gone):
    """The file without a cable, or without a switch and its hosts: those have no cable then."""
    if gone is None:
        return text
    name, port = gone
    switch = re.search(rf'^Switch\s+\d+\s+"(S-[0-9a-f]+)"\s*# "{name}"', text, re.M)
    check(switch, f"no switch {name}")
    ends = set()
    block = text[switch.end():].split("\n\n")[0]
    for own, far, far_port in re.findall(r'^\[(\d+)\]\s+"([SH]-[0-9a-f]+)"\[(\d+)\]', block, re.M):
        if port is None or int(own) == port:
            ends |= {(switch[1], own), (far, far_port)}
    check(ends, f"no cable at {name} port {port}")
    lines, node = [], None
    for line in text.splitlines():
        head = re.match(r'(?:Switch|Ca)\s+\d+\s+"([SH]-[0-9a-f]+)"', line)
        node = head[1] if head else node
        row = re.match(r"\[(\d+)\]", line)
        if not (row and (node, row[1]) in ends):
            lines.append(line)
    blocks = ("\n".join(lines) + "\n").split("\n\n")
    is_gone = re.compile(rf'^Switch\s+\d+\s+"{switch[1]}"', re.M)
    return "\n\n".join(block for block in blocks if port is not None or not is_gone.search(block))


def configuration(folder, text, spec, lines):
    """Seeds at the switch with the lowest coordinates; both ways where the ring has four switches."""
    guid = {name: number for number, name in re.findall(r'^switchguid=(0x[0-9a-f]+).*\nSwitch.*# "(\S+)"', text, re.M)}
    sizes = sizes_of(spec)
    letter = spec[0]

    def at(*place):
        return guid[letter + "-".join(f"{one:02}" for one in place)]

    axes = [axis for axis, size in zip("xyz", lines.split("\n")[0].split()[1:]) if size != "1"]
    origin = [0] * len(sizes)
    seeds = []
    for d, axis in enumerate(axes):
        ends = [("p", 1)] + ([("m", sizes[d] - 1)] if sizes[d] == 4 and letter == "t" else [])
        for way, to in ends:
            place = origin[:d] + [to] + origin[d + 1:]
            seeds.append(f"{axis}{way}_link {at(*origin)} {at(*place)}")
    first, *rest = lines.split("\n")
    path = folder / "torus-2QoS.conf"
    path.write_text("\n".join([first, *seeds, *rest]) + "\n")
    return path


def rows(text):
    """{(GUID, in, out): VL of each SL} of an opensm-sl2vl.dump."""
    found, node = {}, None
    for line in text.splitlines():
        head = re.match(r"(?:Switch|Channel Adapter|Router) (0x[0-9a-f]+),", line)
        node = head[1] if head else node
        row = re.match(r"(\d+)\s+(\d+)\s*:((?:\s+\d+)+)", line)
        if row:
            found[node, int(row[1]), int(row[2])] = row[3].split()
    return found


def sls_of(text, lid_of):
    """{(SLID, DLID): SL} of a path-sl.txt."""
    found = {}
    for line in text.splitlines():
        guid, dlid, sl = line.split()
        if int(guid, 16) in lid_of:  # hosts of a switch that is gone are in the file, and no program sees them
            found[lid_of[int(guid, 16)], int(dlid)] = int(sl)
    return found


def compare(lab, smd, client, net, conf):
    theirs, ours = client.folder, client.folder / "ours"
    config = client.folder / "smd.toml"
    config.write_text(f'[routing]\npath_sl = "asked"\ntorus_file = "{conf}"\n')
    command = [smd, "route", "--topology", net, "--lids", theirs / "guid2lid", "--config", config, "--engine", "torus-2QoS", "--dump-dir", ours, "--dump",
               f"{TABLES},opensm-sl2vl.dump,path-sl.txt", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    check(done.returncode == 0, f"{' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    check('"engine": "torus-2QoS"' in done.stdout or '"engine":"torus-2QoS"' in done.stdout, "fell back: " + done.stdout)
    wrong = dumps.difference(TABLES, *((folder / TABLES).read_text() for folder in (ours, theirs)))
    check(not wrong, wrong)
    mine, other = (rows((folder / "opensm-sl2vl.dump").read_text()) for folder in (ours, theirs))
    common = mine.keys() & other.keys()
    check(len(common) > len(mine) / 2, f"opensm-sl2vl.dump: {len(mine)} and {len(other)} rows, {len(common)} in common")
    different = [(key, mine[key], other[key]) for key in sorted(common) if mine[key] != other[key]]
    check(not different, f"{len(different)} rows of {len(common)} differ: {different[:4]}")
    lid_of = {int(guid, 16): int(lid, 16) for guid, lid in re.findall(r"^(0x[0-9a-f]+) (0x[0-9a-f]+)", (theirs / "guid2lid").read_text(),
                                                                       re.M)}
    # A host's file names its node, of which the port has the next GUID.
    sls = sls_of((ours / "path-sl.txt").read_text(), {guid - 1: lid for guid, lid in lid_of.items()} | lid_of)
    asker = next(name for name in re.findall(r'^Ca\s.*# "(\S+)"', net.read_text(), re.M) if linked(net.read_text(), name))
    records = re.findall(r"dlid\.+(\d+)\s+slid\.+(\d+).*?\bsl\.+0x([0-9a-f]+)", lab.output(asker, "saquery", "PR"), re.S)
    asked = {(int(slid), int(dlid)): int(sl, 16) for dlid, slid, sl in records}
    both = asked.keys() & sls.keys()
    check(len(both) > 50, f"{len(both)} SLs compared")
    different = [(key, sls[key], asked[key]) for key in sorted(both) if sls[key] != asked[key]]
    check(not different, f"{len(different)} SLs of {len(both)} differ: {different[:4]}")
    return len(common), len(both), sorted({asked[key] for key in both})


def linked(text, name):
    return re.search(rf'^Ca\s.*# "{name}"\s*\n\[1\]', text, re.M)


def one(given, spec, lines, gone):
    smd = str(pathlib.Path(given.smd).resolve())
    with Lab(given.smd, spec) as first:  # its folder
        whole = network(smd, first.folder, spec)
        net = first.folder / "net"
        net.write_text(without(whole, gone))
        conf = configuration(first.folder, whole, spec, lines)
        with Lab(given.smd, str(net)) as lab:
            host = next(name for name in re.findall(r'^Ca\s.*# "(\S+)"', net.read_text(), re.M) if linked(net.read_text(), name))
            client = opensm(lab, options(EIGHT_VLS), "-R", "torus-2QoS,no_fallback", "--torus_config", conf, "-D", "0x47", host=host)
            log = (client.folder / "osm.log").read_text(errors="replace")
            check("torus-2QoS tables configured" in log, f"{spec} {lines}: opensm refuses:\n" + log[-2000:])
            counts = compare(lab, smd, client, net, conf)
    print(f"   {spec} {lines.splitlines()[0]}{' without ' + str(gone) if gone else ''}: tables equal, {counts[0]} SL to VL rows, "
          f"{counts[1]} SLs {counts[2]}", flush=True)


def scenario(given):
    for case in CASES:
        one(given, *case)


if __name__ == "__main__":
    run_scenario(scenario, __doc__)
