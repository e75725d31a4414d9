#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Meshes, hypercubes, HyperX and tori with random GUIDs, whole and damaged, beside opensm's engines in the same run.

routing_lattices.py [SPEC|FILE…], or ./dev bench routing_lattices

smd's default chain on one VL, against the runs of opensm whose tables are free of credit loops on one VL: most loaded
link, and the ratio to opensm's least; the time of tables and proof (opensm's: of its tables). SMD_BENCH_JSON names a
file for the figures.
"""
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import opensm_runs  # noqa: E402
import routing  # noqa: E402
import shapes  # noqa: E402

SPECS = """
hyperx:8x8:4+guids=1 hyperx:12x8:7+guids=2 hyperx:4x4x4:4+guids=3 hyperx:8x8:4+guids=4+cut=1:1 hyperx:8x8:4+guids=5+cut=5:1
hyperx:8x8:4+guids=6+cut=10:1 mesh:8x8:4+guids=7 mesh:4x4x4:4+guids=8 mesh:4x4x4:4+guids=9+cut=1:1
hyperx:2x2x2x2x2x2:4+guids=10 hyperx:2x2x2x2x2x2:4+guids=11+cut=5:1 torus:5x5:4+guids=12 torus:4x4x4:4+guids=13
torus:4x4x4:4+guids=14+cut=2:1 torus:6x6x6:2+guids=15 torus:8:4+guids=16
""".split()
RUNS = {"minhop": ("minhop", ()), "dor": ("dor", ()), "lash": ("lash", ("-Q",)), "updn": ("updn", ()),
        "nue, 1 VL": ("nue", ("-Q", "--nue_max_num_vls", "1"))}


def credit_loops(run):
    return "" if run.verify["ok"] else f"{run.quality['max_link_paths']} with credit loops on one VL"


def bench(case):
    with tempfile.TemporaryDirectory(prefix="smd-lattices-") as name:
        folder = pathlib.Path(name)
        net = shapes.write(case, folder, routing.route)
        found = routing.route("--topology", net, "--quality", "--repeat", 3, "--threads", 2)
        runs, refused = opensm_runs.all_of(net, folder, RUNS, credit_loops)
    proven = {label: (run.quality["max_link_paths"], run.ms) for label, run in runs.items()}
    ours, ms = found["quality"]["max_link_paths"], found["ms"]["route"] + found["ms"]["verify"]
    best = min((load for load, _ in proven.values()), default=0)
    ratio = ours / best if best else 0
    print(f"{case}: smd {found['engine']} {ours} in {ms:.1f} ms" + ("" if found["verify"]["ok"] else " NOT VERIFIED") +
          (f", {ratio:.2f} of opensm's best" if best else ""), flush=True)
    for label, (load, took) in proven.items():
        print(f"   opensm {label:<10} {load} in {took:.1f} ms", flush=True)
    for label, reason in refused.items():
        print(f"   opensm {label:<10} not counted: {reason}", flush=True)
    return {"case": case, "engine": found["engine"], "ours": ours, "ms": ms, "theirs": proven, "refused": refused,
            "ratio": ratio}


def main():
    results = [bench(case) for case in sys.argv[1:] or SPECS]
    if os.environ.get("SMD_BENCH_JSON"):
        pathlib.Path(os.environ["SMD_BENCH_JSON"]).write_text(json.dumps(results, indent=1) + "\n")
    worse = [r["case"] for r in results if r["ratio"] > 1]
    print(f"{len(results)} fabrics, {len(results) - len(worse)} not above opensm's best on one VL" +
          (f"; above it: {', '.join(worse)}" if worse else ""))


if __name__ == "__main__":
    main()
