#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Layers that smd installs in a torus: lab_fabric_layers.py --smd PROGRAM. smpquery shows the SL to VL tables of sl2vl.txt, saquery the
SLs of path-sl.txt, every hop of a data packet has the VL of its SL, and a torus in which all hosts send does not come to a stand.
`smd route` and ibdmchk find no credit loop in the dumps. kill -9 and a new start change no SL and write no table."""
import json
import re
import signal
import subprocess

from ibsim import check, wait_for
from lab import Lab
from lab_arbitrate import arbitrate, check_hops, flow, lid_of, pairs
from runner import run_scenario
from verdicts import ibdmchk

FABRIC, SM, ASKER = "torus:4x4x4", "ht00-00-00-00", "ht00-00-01-00"
DUMPS = "path-sl.txt,sl2vl.txt,opensm-lfts.dump,opensm-sl2vl.dump,topology.net,opensm-subnet.lst,opensm.fdbs,opensm.mcfdbs"


def start(lab, config):
    client = lab.start(SM, lab.smd, "run", "--config", config, "--state-dir", lab.folder / "state", "--dump-dir", lab.folder / "dumps",
                       "--dump", DUMPS)
    wait_for(lambda: "subnet.up" in client.log() or client.process.poll() is not None, 60, "smd's first sweep")
    check(client.process.poll() is None, "smd ended: " + client.log()[-3000:])
    return client


def wait_for_dumps(dumps):
    wait_for(lambda: all((dumps / name).exists() for name in DUMPS.split(",")), 20, "smd's dumps")


def rows(text):
    """{(GUID, in, out): VL of each SL} of sl2vl.txt."""
    found = {}
    for line in text.splitlines():
        guid, port_in, port_out, *words = line.split()
        vls = [int(digit, 16) for word in words for digit in word.removeprefix("0x").zfill(2)]
        found[int(guid, 16), int(port_in), int(port_out)] = vls
    return found


def check_tables(lab, maps):
    """Of some switches, all ports."""
    guids = {int(guid, 16): lid for guid, lid in re.findall(r"0x([0-9a-f]+) ports.*?lid (\d+)", lab.output(ASKER, "ibswitches"))}
    count = 0
    for guid, lid in sorted(guids.items())[::16]:
        outs = sorted({out for sw, _, out in maps if sw == guid})
        text = "".join(lab.output(ASKER, "smpquery", "sl2vl", lid, str(out)) for out in outs)
        for port_in, port_out, row in re.findall(r"in +(\d+), out +(\d+):(.*)", text):
            want = maps.get((guid, int(port_in), int(port_out)))
            got = [int(vl) for vl in re.findall(r"\d+", row)]
            check(want is None or got == want, f"switch {guid:#x} from {port_in} to {port_out}: {got}, sl2vl.txt has {want}")
            count += want is not None
    check(count >= 100, f"smpquery sl2vl: {count} rows compared")
    return count


def check_records(lab, path_sl):
    """{(SLID, DLID): SL} of saquery; those of adapters are the ones of path-sl.txt."""
    records = re.findall(r"dlid\.+(\d+)\s+slid\.+(\d+).*?\bsl\.+0x([0-9a-fA-F]+)", lab.output(ASKER, "saquery", "PR"), re.S)
    sl_of = {(int(slid), int(dlid)): int(sl, 16) for dlid, slid, sl in records}
    check(len(sl_of) >= 64 * 63, f"saquery PR: {len(sl_of)} records")
    wanted = {}
    for line in path_sl.splitlines():
        guid, dlid, sl = line.split()
        wanted.setdefault(int(guid, 16), {})[int(dlid)] = int(sl)
    lids = {}
    for guid, lid in re.findall(r"NodeRecord dump:.*?lid\.+(\d+).*?node_guid\.+0x([0-9a-f]+)", lab.output(ASKER, "saquery", "NR"), re.S):
        lids[int(lid, 16)] = int(guid)
    compared = 0
    for guid, paths in wanted.items():
        for dlid, sl in paths.items():
            if dlid != lids[guid]:
                compared += 1
                check(sl_of[lids[guid], dlid] == sl, f"{guid:#x} to LID {dlid}: SL {sl_of[lids[guid], dlid]}, path-sl.txt has {sl}")
    return sl_of, compared


def offline(lab, dumps):
    command = [lab.smd, "route", "--topology", dumps / "topology.net", "--lfts", dumps / "opensm-lfts.dump", "--path-sl",
               dumps / "path-sl.txt", "--json"]
    for name in ("sl2vl.txt", "opensm-sl2vl.dump"):
        done = subprocess.run([*command, "--sl2vl", dumps / name], capture_output=True, text=True)
        verify = json.loads(done.stdout)["verify"]
        check(done.returncode == 0 and verify["ok"] and verify["reverse_ok"] and not verify["fixed_sl_ok"], f"{name}: {verify}")
    return verify["layers"]


CLASSES = """[qos]
enabled = true
[[qos.class]]
name = "storage"
share = 50
ulps = ["nvmeof"]
"""


def scenario(given):
    for engine, qos in (("dfsssp", ""), ("lash", ""), ("dfsssp", CLASSES)):
        with Lab(given.smd, FABRIC) as lab:
            config = lab.folder / "smd.toml"
            config.write_text(f'[routing]\nengines = ["{engine}"]\npath_sl = "asked"\n{qos}')
            client = start(lab, config)
            dumps = lab.folder / "dumps"
            wait_for_dumps(dumps)
            before = (dumps / "path-sl.txt").read_text()
            tables = check_tables(lab, rows((dumps / "sl2vl.txt").read_text()))
            sl_of, compared = check_records(lab, before)
            lids = {name: int(lid_of(lab, name)) for name in {name for pair in pairs() for name in pair}}
            result = arbitrate(lab, *(flow(a, sl_of[lids[a], lids[b]], b) for a, b in pairs()))
            vls = {hop["vl"] for one in result["flows"] for hop in one["hops"]} - {None}
            check(result["ending"] == "counted" and not result["deadlocks"] and len(vls) > 1, f"{engine}: {result['ending']}, VLs {vls}")
            for one in result["flows"] if not qos else ():
                check(all(hop["vl"] == one["sl"] for hop in one["hops"][1:-2]), f"{engine}: {one}")
            check_hops(lab, ASKER, result, 4)
            layers = offline(lab, dumps)
            check(ibdmchk(dumps, "-c", "path-sl.txt", "-d", "sl2vl.txt"), f"{engine}: ibdmchk finds credit loops")
            client.stop(signal.SIGKILL)
            for name in DUMPS.split(","):
                (dumps / name).unlink()
            again = start(lab, config)
            wait_for_dumps(dumps)
            check((dumps / "path-sl.txt").read_text() == before, f"{engine}: another path-sl.txt after kill -9")
            written = re.search(r" sweep=heavy .*?smps_set=(\d+)", again.log())
            print(f"   {engine}{' with classes' if qos else ''}: {layers} layers, VLs {sorted(vls)}, {tables} rows of SL to VL, {compared} records, "
                  f"{written[1]} Sets after kill -9", flush=True)


if __name__ == "__main__":
    run_scenario(scenario, __doc__)
