#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What engines = ["auto"] chooses, beside opensm's engines in the same run: fabrics of every shape, whole and damaged.

routing_auto.py [SPEC|FILE…], or ./dev bench routing_auto

For each fabric the default on one VL against the opensm runs whose tables are free of credit loops on one VL; then with layers (4 VLs;
8 on tori and meshes, as path_sl = "asked" has them) against these and opensm's dfsssp, lash and nue with as many VLs. The SLs of those are not
read here: each direction counts by itself (routing_layers.py follows both). SMD_BENCH_JSON names a file for the figures.
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
ft3:8+guids=1 ft3:8+guids=2+cut=5:1 chassis:12:8:4:4+guids=3 rails:8:4:8:2+guids=4 torus:5x5:4+guids=5 torus:4x4x4:4+guids=6
torus:6x6x6:2+guids=7 torus:6x6x6:2+guids=8+cut=2:1 torus:8x8x8:1+guids=9 mesh:8x8:4+guids=10 mesh:8x8:4+guids=11+cut=5:1
hyperx:2x2x2x2x2x2:4+guids=12 hyperx:8x8:4+guids=13 hyperx:8x8:4+guids=14+cut=5:1 hyperx:12x8:7+guids=15 dragonfly:4:2:2+guids=16
dragonfly:4:2:2+guids=17+cut=5:1 dragonfly:4:2:2+guids=18+an dragonfly:6:3:3+guids=19 dragonflyplus:5:4:4:4+guids=20
dragonflyplus:9:8:8:4+guids=21 random:24:6:5:1+guids=22 random:24:6:5:2+guids=23 random:60:8:6:1+guids=24 random:60:8:6:2+guids=25
""".split()
ONE_VL = {"updn": ("updn", ()), "minhop": ("minhop", ()), "ftree": ("ftree", ()), "dor": ("dor", ()),
          "nue, 1 VL": ("nue", ("-Q", "--nue_max_num_vls", "1"))}


def layered(vls):
    return {"dfsssp": ("dfsssp", ("-Q",)), "lash": ("lash", ("-Q",)), "nue": ("nue", ("-Q", "--nue_max_num_vls", str(vls)))}


def credit_loops(run):
    return "" if run.verify["ok"] else f"{run.quality['max_link_paths']} with credit loops on one VL"


def unreachable(run):
    return f"{run.verify['host_pairs_unreachable']} pairs without a route" if run.verify["host_pairs_unreachable"] else ""


def ours(net, *options):
    found = routing.route("--topology", net, "--quality", "--repeat", 3, "--threads", 2, *options)
    return {"engine": found["engine"], "why": found["why"], "ok": found["verify"]["ok"], "layers": found["verify"]["layers"],
            "load": found["quality"]["max_link_paths"], "hops": found["quality"]["mean_link_paths"],
            "ms": found["ms"]["route"] + found["ms"]["verify"]}


def show(label, run, theirs):
    best = min((load for load, _ in theirs.values()), default=0)
    print(f"   {label}: {run['load']} over {run['layers']} layers in {run['ms']:.1f} ms{'' if run['ok'] else ' NOT VERIFIED'}; {run['why']}")
    print(f"      {run['load'] / best if best else 0:.2f} of opensm's best: " +
          ", ".join(f"{name} {load} in {took:.1f} ms" for name, (load, took) in theirs.items()), flush=True)
    return run["load"] / best if best else 0


def bench(case):
    vls = 8 if case.startswith(("torus", "mesh")) else 4
    with tempfile.TemporaryDirectory(prefix="smd-auto-") as name:
        folder = pathlib.Path(name)
        net = shapes.write(case, folder, routing.route)
        fixed, asked = ours(net), ours(net, "--vls", vls)
        one_vl, refused = opensm_runs.all_of(net, folder, ONE_VL, credit_loops)
        more, also = opensm_runs.all_of(net, folder, layered(vls), unreachable)
    of = {label: (run.quality["max_link_paths"], run.ms) for label, run in one_vl.items()}
    # Of those whose log says so; an opensm that needs more VLs than it may have falls back.
    all_vls = of | {label: (run.quality["max_link_paths"], run.ms) for label, run in more.items() if (run.layers or 1) <= vls}
    print(f"{case}:")
    result = {"case": case, "fixed": fixed, "asked": asked, "theirs_fixed": of, "theirs_asked": all_vls, "refused": refused | also}
    result["ratios"] = show("one VL", fixed, of), show(f"{vls} VLs", asked, all_vls)
    for label, reason in result["refused"].items():
        print(f"      not counted: opensm {label}: {reason}", flush=True)
    return result


def main():
    results = [bench(case) for case in sys.argv[1:] or SPECS]
    if os.environ.get("SMD_BENCH_JSON"):
        pathlib.Path(os.environ["SMD_BENCH_JSON"]).write_text(json.dumps(results, indent=1) + "\n")
    worse = [f"{r['case']} ({label})" for r in results for label, ratio in zip(("one VL", "layers"), r["ratios"]) if ratio > 1]
    print(f"{len(results)} fabrics; above opensm's best: {', '.join(worse) or 'none'}")


if __name__ == "__main__":
    main()
