#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trees as they are cabled, random GUIDs, beside opensm's minhop, updn and ftree with and without root files.

routing_cabled.py [SPEC|FILE…], or ./dev bench routing_cabled

smd's chain against each opensm run whose tables are free of credit loops and serve every pair of hosts. A figure is
marked where smd's is worse: the most loaded link (by time where cables differ) and the worst shift by any, mean shift,
permutations and effective bisection by more than 1 %. Shifts are counted in rank order; of opensm's the better of rank
order and file order counts. SMD_BENCH_JSON names a file for the figures.
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
ft2:16+guids=1 ft2:24+guids=2 ft3:8+guids=3 ft3:12+guids=4 ft3:16+guids=5 ft3:8:4+guids=6
ft3:8+guids=7+an ft3:12+guids=8+an ft3:12+guids=9+an+cut=5:1 ft2:16+guids=10+an+cut=5:2
ft2:16+guids=11+cut=1:1 ft2:16+guids=12+cut=5:2 ft2:24+guids=13+cut=10:3 ft3:8+guids=14+cut=1:4 ft3:8+guids=15+cut=5:5
ft3:12+guids=16+cut=1:6 ft3:12+guids=17+cut=5:7 ft3:12+guids=18+cut=10:8 ft3:16+guids=19+cut=1:9 ft3:16+guids=20+cut=5:1
xgft:4;4,4,4,4;1,4,4,4;1,1,1,1+guids=21 xgft:3;8,4,4;1,4,4;1,2,1+guids=22 xgft:3;6,6,3;1,3,6;1,2,1+guids=23
xgft:3;8,8,4;1,8,4;1,1,2+guids=24 xgft:2;12,10;1,6;1,2+guids=25 xgft:4;4,3,3,2;1,3,3,2;1,1,1,2+guids=26
xgft:3;8,4,4;1,4,4;1,2,1+guids=27+cut=5:2 xgft:4;4,4,4,4;1,4,4,4;1,1,1,1+guids=28+cut=2:3
chassis:36:18:18:9+guids=29 chassis:8:8:8:4+guids=30 chassis:16:12:12:6+guids=31 chassis:8:8:8:4+guids=32+cut=2:1
chassis:36:18:18:9+guids=33+cut=1:2 chassis:16:12:12:6+guids=34+an
fullcore:8:8:8:8:8+guids=35 fullcore:4:6:6:6:9+guids=36 fullcore:8:8:8:8:8+guids=37+cut=1:1
fullcore:8:8:8:8:8+guids=38+cut=5:2 fullcore:4:6:6:6:9+guids=39+an fullcore:6:4:8:8:4+guids=40
rails:16:8:16:8+guids=41 rails:32:16:16:8+guids=42 rails:32:16:16:8+guids=43+an rails:32:16:16:8+guids=44+cut=3:1
ft2:16+guids=45+speeds=EDR,HDR:1 ft3:8+guids=46+speeds=EDR,HDR:2 ft3:12+guids=47+speeds=HDR,NDR:3
""".split()
COUNTS = ("max_link_time", "shift_max")
MEANS = ("shift_mean", "random_permutation_mean", "ebb")


def figures(quality, better_order):
    """The figures that are compared. opensm numbers the hosts of a tree its own way: any order of them may count."""
    found = {key: quality[key] for key in ("max_link_paths", "max_link_time", "random_permutation_mean", "ebb")}
    for key in ("max", "mean"):
        in_rank, in_file = quality[f"shift_rank_{key}"], quality[f"shift_{key}"]
        found[f"shift_{key}"] = min(in_rank, in_file) if better_order else in_rank
    return found


def worse(ours, theirs):
    """The figures in which ours are worse."""
    found = [key for key in COUNTS if ours[key] > theirs[key] * (1 + 1e-9)]
    for key in MEANS:
        ratio = theirs[key] / ours[key] if key == "ebb" else ours[key] / theirs[key]
        found += [key] if ratio > 1.01 else []
    return found


def faults(run):
    verdict = run.verify
    return "" if verdict["ok"] else (f"{verdict['credit_loops']} credit loops, "
                                     f"{verdict['host_pairs_unreachable']} pairs without a route")


def opensm(net, folder):
    """opensm's runs that are proven: {name: figures}, and the names of the others with the reason."""
    roots = folder / "roots"
    roots.write_text("".join(f"0x{guid:016x}\n" for guid in shapes.roots(net.read_text())))
    runs = {"minhop": ("minhop", []), "updn": ("updn", []), "ftree": ("ftree", [])}
    runs |= {f"{name}+roots": (name, ["-a", str(roots)]) for name in ("updn", "ftree")}
    proven, refused = opensm_runs.all_of(net, folder, runs, faults)
    return {label: figures(run.quality, True) for label, run in proven.items()}, refused


def line(who, found, marks=()):
    shown = "  ".join(f"{key} {found[key]:.3f}{'!' if key in marks else ''}" if isinstance(found[key], float)
                      else f"{key} {found[key]}{'!' if key in marks else ''}" for key in COUNTS + MEANS)
    print(f"   {who:<20} {shown}", flush=True)


def bench(case):
    with tempfile.TemporaryDirectory(prefix="smd-cabled-") as name:
        folder = pathlib.Path(name)
        net = shapes.write(case, folder, routing.route)
        found = routing.route("--topology", net, "--quality")
        ours = figures(found["quality"], False)
        proven, refused = opensm(net, folder)
    print(f"{case}: {found['hosts']} hosts, {found['switches']} switches, bound by time "
          f"{found['quality']['leaf_bound']:.0f}", flush=True)
    flagged = {name: worse(ours, other) for name, other in proven.items()}
    line(f"smd {found['engine']}", ours, {key for keys in flagged.values() for key in keys})
    for name, other in proven.items():
        line(f"opensm {name}", other)
    for name, reason in refused.items():
        print(f"   opensm {name:<13} not counted: {reason}", flush=True)
    return {"case": case, "engine": found["engine"], "proven": found["verify"]["ok"], "ours": ours, "theirs": proven,
            "refused": refused, "worse": {name: keys for name, keys in flagged.items() if keys}}


def main():
    results = [bench(case) for case in sys.argv[1:] or SPECS + list(shapes.SHAPES)]
    if os.environ.get("SMD_BENCH_JSON"):
        pathlib.Path(os.environ["SMD_BENCH_JSON"]).write_text(json.dumps(results, indent=1) + "\n")
    compared = sum(len(r["theirs"]) for r in results)
    clean = sum(not keys for r in results for keys in [r["worse"].get(n) for n in r["theirs"]])
    print(f"{len(results)} fabrics, {sum(r['proven'] for r in results)} proven; {compared} proven runs of opensm, "
          f"{clean} of them better in no figure")
    for result in results:
        for name, keys in result["worse"].items():
            pairs = ", ".join(f"{key} {result['ours'][key]:.4g} ({result['theirs'][name][key]:.4g})" for key in keys)
            print(f"   {result['case']}: opensm {name} has better {pairs}")


if __name__ == "__main__":
    main()
