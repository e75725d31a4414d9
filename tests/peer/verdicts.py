#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables that `smd route` makes offline. verdicts: ibdmchk finds credit loops exactly where smd does, over fabrics
and engines, with loops allowed too. layers: ibdmchk finds no credit loop with path-sl.txt and sl2vl.txt where there are
several layers, and finds some without them. shuffled: one sha256 for any order of the file and any number of threads.

verdicts.py verdicts|layers|shuffled --smd PROGRAM
"""
import argparse
import hashlib
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

FABRICS = pathlib.Path(__file__).resolve().parent.parent / "fabrics"
TREES = ["ft2:8", "ft3:4", "ft3:8", "ft3:8:3", "xgft:4;2,2,2,2;1,2,2,2;1,1,1,1", "rails:8:4:8:4", "xgft:2;8,6;1,3;1,2"]
OTHERS = ["torus:4x4:2", "torus:5x5:1", "torus:3x3x3:1", "mesh:4x4:2", "dragonfly:4:2", "hyperx:4x4:2", "random:14:4:3:7",
          str(FABRICS / "irregular.net")]
LAYERED = ["torus:5x5:4", "torus:3x3x3:1", "dragonfly:4:2", "random:14:4:3:7"]
LOOPS = "[routing]\nallow_credit_loops = true\n"


def route(smd, folder, topology, engine, *arguments):
    done = subprocess.run([smd, "route", "--json", "--topology", topology, "--engine", engine, "--dump-dir", folder,
                           *map(str, arguments)], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"smd route {topology} {engine}: exit status {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def ibdmchk(folder, *options):
    """True: no credit loops. It follows paths between CAs only."""
    out = subprocess.run(["ibdmchk", "-s", "opensm-subnet.lst", "-f", "opensm.fdbs", "-m", "opensm.mcfdbs", *options],
                         cwd=folder, capture_output=True, text=True, errors="replace").stdout
    if re.search(r"credit loops? (found|on)|found:?\s*\d+ credit", out) and "no credit loops found" not in out:
        return False
    if "no credit loops found" in out and "-E-" not in out:
        return True
    sys.exit("ibdmchk says neither:\n" + out[-2000:])


def cases(folder):
    """Fabric, engine, further arguments."""
    config = folder / "loops.toml"
    config.write_text(LOOPS)
    for fabric in TREES:
        for engine in ("dmodc", "ftree", "updn", "dnup", "minhop"):
            yield fabric, engine, ()
    for fabric in OTHERS:
        yield fabric, "updn", ()
        yield fabric, "dor", ()
        yield fabric, "nue", ()
        yield fabric, "minhop", ("--config", config)


def verdicts(smd):
    found = {True: 0, False: 0}
    with tempfile.TemporaryDirectory(prefix="smd-verdicts-") as name:
        top = pathlib.Path(name)
        for number, (fabric, engine, arguments) in enumerate(cases(top)):
            folder = top / str(number)
            ours = route(smd, folder, fabric, engine, *arguments)["verify"]["credit_loops"] == 0
            theirs = ibdmchk(folder)
            if ours != theirs:
                sys.exit(f"{fabric} {engine}: smd says {'no ' if ours else ''}credit loops, ibdmchk the opposite")
            found[ours] += 1
    print(f"{found[True]} dumps without credit loops, {found[False]} with: ibdmchk agrees on all")
    if found[True] < 15 or found[False] < 5:
        sys.exit("too few of one kind to say anything")


def layers(smd):
    with tempfile.TemporaryDirectory(prefix="smd-layers-") as name:
        for number, fabric in enumerate(LAYERED):
            for engine in ("dfsssp", "lash"):
                folder = pathlib.Path(name) / f"{number}-{engine}"
                found = route(smd, folder, fabric, engine)
                if found["engine"] != engine or not found["verify"]["ok"]:
                    sys.exit(f"{fabric} {engine}: {found['fell_back_from']} {found['verify']}")
                several = ("-c", "path-sl.txt", "-d", "sl2vl.txt") if found["verify"]["layers"] > 1 else ()
                if not ibdmchk(folder, *several):
                    sys.exit(f"{fabric} {engine}: ibdmchk finds credit loops in {found['verify']['layers']} layers")
                if ibdmchk(folder) != found["verify"]["fixed_sl_ok"]:
                    sys.exit(f"{fabric} {engine}: fixed_sl_ok is {found['verify']['fixed_sl_ok']}, ibdmchk the opposite")
                print(f"{fabric} {engine}: {found['verify']['layers']} layers, no credit loops", flush=True)


def shuffled(smd):
    with tempfile.TemporaryDirectory(prefix="smd-shuffled-") as name:
        folder = pathlib.Path(name)
        for fabric in [*TREES[:4], *OTHERS[:1], OTHERS[-1]]:
            route(smd, folder / "as-it-is", fabric, "updn", "--dump", "topology.net")
            text = (folder / "as-it-is" / "topology.net").read_text()
            parts = re.split(r"\n\s*\n", text)
            nodes = [p for p in parts if re.search(r"^(Switch|Ca|Rt)\s", p, re.M)]
            head = [p for p in parts if p not in nodes]
            for engine in ("dmodc", "ftree", "updn", "dnup", "minhop", "dor", "dfsssp", "lash", "nue"):
                sums = set()
                for seed in range(3):
                    order = random.Random(seed).sample(nodes, len(nodes)) if seed else nodes
                    (folder / "x.net").write_text("\n\n".join(head + order) + "\n")
                    for threads in (1, 2):
                        route(smd, folder / "out", folder / "x.net", engine, "--threads", threads, "--dump",
                              "opensm-lfts.dump")
                        sums.add(hashlib.sha256((folder / "out" / "opensm-lfts.dump").read_bytes()).hexdigest())
                if len(sums) != 1:
                    sys.exit(f"{fabric} {engine}: {len(sums)} different tables")
    print("one sha256 for every order and 1 or 2 threads")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("scenario", choices=["verdicts", "layers", "shuffled"])
    parser.add_argument("--smd", required=True)
    options = parser.parse_args()
    {"verdicts": verdicts, "layers": layers, "shuffled": shuffled}[options.scenario](options.smd)


if __name__ == "__main__":
    main()
