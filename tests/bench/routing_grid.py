#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damaged trees beside opensm: 1, 5 and 10 % of the cables between switches, of the switches, and of both.

routing_grid.py, or ./dev bench routing. SMD_BENCH_SEEDS: how many seeds each (3), SMD_BENCH_FABRICS (ft3:16+guids=1),
SMD_BENCH_CELLS (1,5,10,0-1,…: percent of the cables, then of the switches),
SMD_BENCH_GRID: a folder in which opensm's figures are kept and found again.
For each case the most used link, the worst shift and the mean of random permutations, ours over the best of opensm's
minhop, updn and ftree; and what no tables can better: what one leaf's hosts send and get over the leaf's cables.
"""
import json
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import routing  # noqa: E402
from ibsim import Failure, Ibsim, hosts_of  # noqa: E402

CELLS = os.environ.get("SMD_BENCH_CELLS", "1,5,10,0-1,0-5,0-10,1-1,5-5,10-10").split(",")
KEYS = ("max_link_paths", "shift_max", "random_permutation_mean")
SEEDS = int(os.environ.get("SMD_BENCH_SEEDS", "3"))
FABRICS = os.environ.get("SMD_BENCH_FABRICS", "ft3:16+guids=1").split(",")
KEPT = os.environ.get("SMD_BENCH_GRID")


def leaf_bound(net):
    """Routes over the most used link of a leaf, at least."""
    here, hosts, cables = None, {}, {}
    for line in net.splitlines():
        if found := re.match(r'Switch\s+\d+\s+"S-([0-9a-f]+)"', line):
            here = found[1]
        elif line.startswith("Ca"):
            here = None
        elif here and (found := re.match(r'\[\d+\]\s+"([SH])-', line)):
            counts = cables if found[1] == "S" else hosts
            counts[here] = counts.get(here, 0) + 1
    every = sum(hosts.values())
    return max((n * (every - n) / cables[leaf] for leaf, n in hosts.items() if leaf in cables), default=0)


def fabric(case, folder):
    spec, links, switches, seed = routing.parse(case)
    routing.route("--topology", spec, "--dump-dir", folder, "--dump", "topology.net")
    whole = folder / "topology.net"
    (folder / "without").write_text("\n".join(routing.removals(whole.read_text(), links, switches, seed)) + "\n")
    routing.route("--topology", whole, "--without", folder / "without", "--dump-dir", folder / "rest", "--dump",
                  "topology.net")
    return folder / "rest" / "topology.net"


def theirs(net, folder):
    """opensm's quality by engine; nothing of one that did not come up, or leaves host pairs without a route."""
    figures = {}
    for engine in routing.THEIRS:
        with Ibsim(net) as sim:
            try:
                routing.theirs(sim, hosts_of(net.read_text())[0], engine, folder)
            except Failure:
                continue
        found = routing.route("--topology", net, "--lfts", folder / "opensm-lfts.dump", "--quality")
        if found["verify"]["host_pairs_unreachable"] == 0:
            figures[engine] = found["quality"]
    return figures


def remembered(case, net, folder):
    kept = pathlib.Path(KEPT) / f"{case.replace(':', '_')}.json" if KEPT else None
    if kept and kept.exists():
        return json.loads(kept.read_text())
    figures = theirs(net, folder)
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(figures))
    return figures


def one(case, engine="dmodc"):
    with tempfile.TemporaryDirectory(prefix="smd-grid-") as name:
        folder = pathlib.Path(name)
        net = fabric(case, folder)
        ours = routing.route("--topology", net, "--engine", engine, "--quality")
        others = remembered(case, net, folder)
        bound = leaf_bound(net.read_text())
    routed = ours["engine"] == engine and ours["verify"]["ok"] and ours["verify"]["vls"] == 1
    best = {key: min((found[key] for found in others.values()), default=None) for key in KEYS}
    return {"case": case, "routed": routed, "refusals": ours["fell_back_from"], "bound": bound, "best": best,
            "ours": {key: ours["quality"][key] for key in KEYS}}


def say(name, results):
    known = [r for r in results if r["best"]["max_link_paths"]]  # opensm has routed every pair
    ratio = lambda key: [r["ours"][key] / r["best"][key] for r in known]
    spread = lambda values: f"{min(values):.2f} to {max(values):.2f}" if values else "-"
    possible = [r for r in known if r["bound"] <= 0.4 * r["best"]["max_link_paths"]]
    good = sum(r["ours"]["max_link_paths"] <= 0.4 * r["best"]["max_link_paths"] for r in possible)
    over = [r["ours"]["max_link_paths"] / r["bound"] for r in results if r["bound"]]
    print(f"| {name} | {sum(r['routed'] for r in results)} of {len(results)} | {spread(ratio('max_link_paths'))} | "
          f"{good} of {len(possible)} | {spread(over)} | {spread(ratio('shift_max'))} | "
          f"{spread(ratio('random_permutation_mean'))} |", flush=True)


def main():
    print("| fabric, lost (cables - switches, %) | routed, one VL | most used link, of opensm's best | at most 0.4 where a"
          " leaf's cables allow it | most used link, of a leaf's bound | worst shift, of opensm's best | random"
          " permutations, of opensm's best |\n|---|---|---|---|---|---|---|")
    for spec in FABRICS:
        for cell in CELLS:
            results = [one(f"{spec}-{cell}#{seed}") for seed in range(1, SEEDS + 1)]
            say(f"{spec} {cell}", results)
            for result in results:
                if not result["routed"]:
                    print(f"   {result['case']}: {result['refusals']}", flush=True)


if __name__ == "__main__":
    main()
