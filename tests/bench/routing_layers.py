#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dfsssp, lash and nue beside opensm's engines of the same names: layers, balance and time, same fabric, same run.

routing_layers.py [SPEC|FILE…], or ./dev bench routing_layers

dfsssp and lash may use eight VLs, nue one. opensm's tables count if its engine did not fall back to another. Its layers are what its log
says; on fabrics of at most 200 hosts its SA is asked for the SL of each path, and `smd route --path-sl --sl2vl` looks for credit
loops with each path and its way back on that SL. A figure is marked where smd's is worse:
the most loaded link, layers and mean link load by any, permutations and effective bisection by more than 1 %.
SMD_BENCH_JSON names a file for the figures.
"""
import json
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import opensm_runs  # noqa: E402
import routing  # noqa: E402
import shapes  # noqa: E402
import lab_arbitrate  # noqa: E402
from lab import Lab  # noqa: E402

SPECS = """
torus:5x5:4+guids=1 torus:4x4x4:4+guids=2 torus:6x6x6:2+guids=3 torus:8:4+guids=4 mesh:8x8:4+guids=5 mesh:4x4x4:4+guids=6
hyperx:2x2x2x2x2x2:4+guids=7 hyperx:8x8:4+guids=8 hyperx:8x8:4+guids=9+cut=5:1 hyperx:4x4x4:4+guids=10 hyperx:12x8:7+guids=11
hyperx:16x16:8+guids=12 dragonfly:4:2:2+guids=13 dragonfly:4:2:2+guids=14+cut=5:1 dragonfly:6:3:3+guids=15
dragonfly:8:4:4+guids=16 random:24:6:5:1+guids=17 random:24:6:5:2+guids=18 random:60:8:6:1+guids=19 random:60:8:6:2+guids=20
ft3:8+guids=21 ft3:12+guids=22
""".split()
VLS = 8
MOST_ASKED = 200
RUNS = {"dfsssp": ("dfsssp", ("-Q",)), "lash": ("lash", ("-Q",)), "nue": ("nue", ("-Q", "--nue_max_num_vls", "1"))}
KEYS = ("layers", "max_link_paths", "mean_link_paths", "random_permutation_mean", "ebb")


def unreachable(run):
    return f"{run.verify['host_pairs_unreachable']} pairs without a route" if run.verify["host_pairs_unreachable"] else ""


def worse(ours, theirs):
    found = [key for key in ("layers", "max_link_paths") if theirs[key] is not None and ours[key] > theirs[key]]
    found += [key for key in ("mean_link_paths", "random_permutation_mean") if ours[key] > theirs[key] * 1.01]
    return found + (["ebb"] if ours["ebb"] * 1.01 < theirs["ebb"] else [])


def line(who, figures, marks=()):
    shown = "  ".join(f"{key} {figures[key]}{'!' if key in marks else ''}" if not isinstance(figures[key], float) else
                      f"{key} {figures[key]:.3f}{'!' if key in marks else ''}" for key in KEYS)
    print(f"   {who:<14} {figures['ms']:>9.1f} ms  {shown}", flush=True)


def verified_on_its_sls(net, engine, options):
    """`verify` of opensm's tables on the SLs of its PathRecords and the VLs of its switches, in `smd sim`: ibsim has no RMPP. None:
    too many hosts to ask for all paths, or its engine fell back."""
    hosts = re.findall(r'^Ca\s.*# "([^"]+)"', net.read_text(), re.M)
    if not 1 < len(hosts) <= MOST_ASKED:
        return None
    with Lab(routing.SMD, str(net)) as lab:
        client = lab_arbitrate.opensm(lab, lab_arbitrate.options(lab_arbitrate.EIGHT_VLS), "-R", engine, *options, "-D", "0x47",
                                      host=hosts[0])
        log = client.folder / "osm.log"
        used = re.findall(r"'?([^\s']+)'? tables configured", log.read_text(errors="replace"))
        if used and used[-1] != engine:
            return None
        ports = re.findall(r"^(0x[0-9a-f]+) (0x[0-9a-f]+)", (client.folder / "guid2lid").read_text(), re.M)
        guid_of = {int(lid, 16): guid for guid, lid in ports}
        text = lab.output(hosts[1], "saquery", "PR")
        records = re.findall(r"dlid\.+(\d+)\s+slid\.+(\d+).*?\bsl\.+0x([0-9a-f]+)", text, re.S)
        (client.folder / "path-sl.txt").write_text("".join(f"{guid_of[int(slid)]} {dlid} {int(sl, 16)}\n"
                                                           for dlid, slid, sl in records if int(slid) in guid_of))
        return routing.route("--topology", net, "--lfts", client.folder / "opensm-lfts.dump", "--path-sl",
                             client.folder / "path-sl.txt", "--sl2vl", client.folder / "opensm-sl2vl.dump")["verify"]


def sls_line(verify):
    if verify is None:
        return "opensm's SLs were not asked"
    loops = (f"{verify['credit_loops']} credit loops with the way back on the SL of the path" if verify["credit_loops"] else
             "free of credit loops both ways")
    return f"opensm's SLs: {verify['layers']} SLs, {verify['vls']} VLs, {loops}"


def bench(case):
    print(f"{case}:", flush=True)
    result = {"case": case, "ours": {}, "theirs": {}, "refused": {}}
    with tempfile.TemporaryDirectory(prefix="smd-layers-") as name:
        folder = pathlib.Path(name)
        net = shapes.write(case, folder, routing.route)
        for engine in RUNS:
            found = routing.route("--topology", net, "--engine", engine, "--vls", VLS, "--quality", "--repeat", 3,
                                  "--threads", 2)
            if found["engine"] == engine and found["verify"]["ok"]:
                result["ours"][engine] = found["quality"] | {
                    "layers": found["verify"]["layers"], "ms": found["ms"]["route"] + found["ms"]["verify"]}
            else:
                result["refused"]["smd " + engine] = "; ".join(found["fell_back_from"])
        proven, refused = opensm_runs.all_of(net, folder, RUNS, unreachable)
        on_sls = {label: verified_on_its_sls(net, *RUNS[label]) for label in proven}
    result["theirs"] = {label: run.quality | {"layers": run.layers, "ms": run.ms, "on_sls": on_sls[label]}
                        for label, run in proven.items()}
    result["refused"] |= {"opensm " + label: reason for label, reason in refused.items()}
    result["worse"] = {label: worse(result["ours"][label], theirs) for label, theirs in result["theirs"].items()
                       if label in result["ours"]}
    for engine in RUNS:
        if engine in result["ours"]:
            line("smd " + engine, result["ours"][engine], result["worse"].get(engine, ()))
        if engine in result["theirs"]:
            line("opensm " + engine, result["theirs"][engine])
            print("   " + sls_line(result["theirs"][engine]["on_sls"]), flush=True)
    for who, reason in result["refused"].items():
        print(f"   {who}: {reason}", flush=True)
    return result


def main():
    results = [bench(case) for case in sys.argv[1:] or SPECS]
    if os.environ.get("SMD_BENCH_JSON"):
        pathlib.Path(os.environ["SMD_BENCH_JSON"]).write_text(json.dumps(results, indent=1) + "\n")
    only_theirs = [f"{r['case']} {label}" for r in results for label in r["theirs"] if label not in r["ours"]]
    only_ours = [f"{r['case']} {label}" for r in results for label in r["ours"] if label not in r["theirs"]]
    marks = [f"{r['case']} {label}: {', '.join(keys)}" for r in results for label, keys in r["worse"].items() if keys]
    print(f"{len(results)} fabrics; refused by smd only: {', '.join(only_theirs) or 'none'}; by opensm only: "
          f"{', '.join(only_ours) or 'none'}; worse: {'; '.join(marks) or 'none'}")


if __name__ == "__main__":
    main()
