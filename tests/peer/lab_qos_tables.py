#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same QoS tables by opensm -Q and by smd: lab_qos_tables.py --smd PROGRAM. In a fresh laboratory each, where nodes have 8, 4,
2 and 1 VLs, smpquery shows SL to VL, VL arbitration and VLHighLimit of every port with a link. All are equal, and so are the blocks of
opensm-sl2vl.dump but for the LIDs. A second sweep of smd writes nothing."""
import os
import re
import signal

from ibsim import check, wait_for
from lab import Lab
from runner import run_scenario

SMS = {"ft2:4": "h00000", "torus:4x4x4:1": "ht00-00-00-00"}
FABRICS = {"ft2:4": ["minhop", "updn"], "torus:4x4x4:1": ["updn"]}
SWAPPED = "7,6,5,4,3,2,1,0,0,1,2,3,4,5,6,7"
# Options of opensm; smd's keys are the same ones without "qos_".
CASES = [
    {},
    {"qos_high_limit": "6", "qos_vlarb_high": "0:64", "qos_vlarb_low": "0:0,1:64,2:128,3:192", "qos_sl2vl": SWAPPED},
    {"qos_ca_vlarb_low": "0:8,1:16", "qos_ca_sl2vl": "0,1,0,1,0,1,0,1,0,1,0,1,0,1,0,1", "qos_swe_vlarb_high": "3:255,2:1",
     "qos_swe_high_limit": "255", "qos_swe_sl2vl": "15,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"},
    {"qos_sw0_sl2vl": SWAPPED, "qos_rtr_high_limit": "3", "qos_swe_vlarb_low": ",".join(f"{vl % 8}:{vl + 1}" for vl in range(15)),
     "qos_vlarb_high": "14:4,13:3"},
]
VLS = (8, 4, 2, 1)


def names_of(lab):
    """{name of a node: (LID, ports with a link)}"""
    nodes, owner = {}, None
    for line in lab.output(lab.sm, "ibnetdiscover").splitlines():
        head = re.match(r'(Switch|Ca)\s+\d+ "[^"]*"\s+# "([^"]+)"(?:.* lid (\d+))?', line)
        link = re.match(r'\[(\d+)\](?:\([0-9a-f]+\))?\s+"[SH]-[^"]*"\[\d+\](?:\([0-9a-f]+\))?\s+#(?: lid (\d+))?', line)
        if head:
            owner = head[2]
            nodes[owner] = (head[3], [])
        elif link and owner:
            lid, ports = nodes[owner]
            nodes[owner] = (lid or link[2], ports + [link[1]])
    return nodes


def mix_vls(lab):
    for number, name in enumerate(sorted(names_of(lab))):
        if number % 3:
            lab.command(f"node vls {name} {VLS[number % 4]}")


def tables(lab):
    """What smpquery says of every port with a link."""
    found = {}
    for name, (lid, ports) in names_of(lab).items():
        for port in ports:
            words = [] if name[0] == "h" else [port]
            found[name, port, "sl2vl"] = re.sub(r"(?m)^#.*\n", "", lab.output(lab.sm, "smpquery", "sl2vl", lid, *words))
            found[name, port, "vlarb"] = re.sub(r"(?m)^# VLArb.*\n", "", lab.output(lab.sm, "smpquery", "vlarb", lid, port))
            info = lab.output(lab.sm, "smpquery", "portinfo", lid, port)
            found[name, port, "limit"] = re.search(r"VLHighLimit:\.*(\d+)", info)[1]
            found[name, port, "vls"] = re.search(r"OperVLs:\.*(.*)", info)[1]
    return found


def blocks(text):
    text = re.sub(r"base LID \d+", "base LID *", text)
    return [part for part in re.split(r"(?m)^(?=Switch|Channel|Router)", text) if part]


def by_opensm(smd, fabric, engine, case):
    with Lab(smd, fabric) as lab:
        lab.sm = SMS[fabric]
        mix_vls(lab)
        conf = lab.folder / "osm.conf"
        conf.write_text("".join(f"{key} {value}\n" for key, value in case.items()) + "qos_max_vls 15\n")
        client = lab.opensm(lab.sm, "-Q", "-F", conf, "-R", engine, "-D", "0x43")
        log = client.folder / "osm.log"
        # In its first sweep it cuts SL2VL to the OperationalVLs that ports have after a reset.
        done = log.read_text(errors="replace").count("SUBNET UP")
        client.process.send_signal(signal.SIGHUP)
        wait_for(lambda: log.read_text(errors="replace").count("SUBNET UP") > done, 60, "opensm's second SUBNET UP")
        return tables(lab), blocks((client.folder / "opensm-sl2vl.dump").read_text(errors="replace"))


def by_smd(smd, fabric, engine, case):
    with Lab(smd, fabric) as lab:
        lab.sm = SMS[fabric]
        mix_vls(lab)
        config = lab.folder / "smd.toml"
        values = {key.removeprefix("qos_"): value if "limit" in key else f'"{value}"' for key, value in case.items()}
        config.write_text(f'[routing]\nengines = ["{engine}"]\n[qos]\nenabled = true\n'
                          + "".join(f"{key} = {value}\n" for key, value in values.items()))
        once = [lab.smd, "run", "--once", "--config", config, "--state-dir", "state"]
        dumps = lab.folder / "dumps"
        lab.run(lab.sm, *once, "--dump-dir", dumps, "--dump", "opensm-sl2vl.dump")
        found = tables(lab), blocks((dumps / "opensm-sl2vl.dump").read_text())
        written = re.search(r"smps_set=(\d+)", lab.run(lab.sm, *once).log())
        check(written and written[1] == "0", f"a second run wrote {written and written[1]} tables")
        return found


def compare(given):
    everything = "SMD_LONG" in os.environ
    cases, fabrics = (CASES, FABRICS) if everything else (CASES[1:3], {"ft2:4": ["minhop"]})
    for fabric, engines in fabrics.items():
        for engine in engines:
            for case in cases:
                theirs, ours = by_opensm(given.smd, fabric, engine, case), by_smd(given.smd, fabric, engine, case)
                differ = [f"{key}:\nopensm {theirs[0].get(key)}\nsmd    {ours[0].get(key)}" for key in theirs[0]
                          if theirs[0][key] != ours[0].get(key)]
                check(not differ, f"{fabric} {engine} {case}: {len(differ)} of {len(theirs[0])} differ:\n" + "\n".join(differ[:6]))
                check(theirs[1] == ours[1], f"{fabric} {engine} {case}: opensm-sl2vl.dump differs:\n"
                      + "\n".join(f"{a}\n{b}" for a, b in zip(*map(sorted, (theirs[1], ours[1]))) if a != b)[:3000])
                print(f"   {fabric} {engine}: {len(theirs[0])} tables and {len(theirs[1])} blocks of the dump alike", flush=True)


def scenario(given):
    compare(given)


if __name__ == "__main__":
    run_scenario(scenario, __doc__)
