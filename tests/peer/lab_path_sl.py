#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""smd takes a torus over from unmodified opensm with lash, whose SLs `smd import path-sl` has asked for: lab_path_sl.py --smd PROGRAM.
No forwarding table changes, and saquery shows the SL of every path as before. Without the file smd says how many SLs it does not know."""
import re
import signal
import subprocess
import time

from ibsim import check, wait_for
from lab import Lab
from lab_arbitrate import EIGHT_VLS, opensm, options
from runner import run_scenario

FABRIC, MASTER, SM, ASKER = "torus:4x5:2+guids=3", "ht00-00-00", "ht03-03-01", "ht01-02-00"


def sls_by_saquery(lab):
    """{(SLID, DLID): SL} of all paths, once they stay: opensm may sweep once more and give them anew."""
    found = None
    for _ in range(10):
        text = lab.output(ASKER, "saquery", "PR")
        records = re.findall(r"dlid\.+(\d+)\s+slid\.+(\d+).*?\bsl\.+0x([0-9a-fA-F]+)", text, re.S)
        check(len(records) >= 40 * 39, f"saquery PR: {len(records)} records")
        before, found = found, {(int(slid), int(dlid)): int(sl, 16) for dlid, slid, sl in records}
        if found == before:
            return found
        time.sleep(1)
    check(False, "the SLs of saquery PR do not stay")


def tables(lab):
    """{name: forwarding table} as ibroute shows it."""
    found = re.findall(r'"(t[0-9-]+)".*? lid (\d+)', lab.output(ASKER, "ibswitches"))
    check(len(found) == 20, f"ibswitches: {found}")
    return {name: lab.output(ASKER, "ibroute", lid) for name, lid in found}


def import_sls(lab, name):
    path = lab.folder / name
    text = lab.output(ASKER, lab.smd, "import", "path-sl", "--output", path)
    rows = [line.split() for line in path.read_text().splitlines()]
    check(len(rows) >= 40 * 39, f"{len(rows)} rows: {text}")
    return path, rows


def check_file(lab, rows, sls):
    """Each row is what saquery shows."""
    lids = {int(guid, 16): int(lid) for lid, guid in re.findall(
        r"NodeRecord dump:.*?lid\.+(\d+).*?node_guid\.+0x([0-9a-f]+)", lab.output(ASKER, "saquery", "NR"), re.S)}
    wrong = [row for row in rows if sls.get((lids[int(row[0], 16)], int(row[1])), int(row[2])) != int(row[2])]
    check(not wrong, f"{len(wrong)} rows of {len(rows)} differ from saquery: {wrong[:4]}")


def start_smd(lab, lines):
    config = lab.folder / "smd.toml"
    config.write_text(f'[routing]\nengines = ["dfsssp"]\npath_sl = "asked"\n{lines}')
    client = lab.start(SM, lab.smd, "run", "--config", config, "--state-dir", lab.folder / "state", "--socket", lab.folder / "api.sock")
    wait_for(lambda: "subnet.up" in client.log() or client.process.poll() is not None, 60, "smd's first sweep")
    check(client.process.poll() is None, "smd ended: " + client.log()[-3000:])
    return client


def with_file(smd):
    with Lab(smd, FABRIC) as lab:
        master = opensm(lab, options(EIGHT_VLS), "-R", "lash", host=MASTER)
        before, routes = sls_by_saquery(lab), tables(lab)
        path, rows = import_sls(lab, "path-sl.txt")
        check_file(lab, rows, before)
        master.stop(signal.SIGKILL)
        client = start_smd(lab, f'[adopt]\npath_sl = "{path}"\n')
        log = client.log()
        check("routing.path_sl_adopted" in log and "routing.adopted" in log, "not adopted:\n" + log[-3000:])
        check(tables(lab) == routes, "forwarding tables differ after the takeover")
        after = sls_by_saquery(lab)
        common = before.keys() & after.keys()
        different = [(key, before[key], after[key]) for key in sorted(common) if before[key] != after[key]]
        check(len(common) >= 40 * 39 and not different, f"{len(different)} SLs of {len(common)} differ: {different[:4]}")
        again, same = import_sls(lab, "again.txt")  # of smd's own SA
        check(again.read_text() == path.read_text(), "smd import path-sl of smd gives another file")
        print(f"   lash: {len(rows)} rows, {len(common)} SLs {sorted(set(before.values()))} and {len(routes)} forwarding tables stay", flush=True)


def without_file(smd):
    with Lab(smd, FABRIC) as lab:
        opensm(lab, options(EIGHT_VLS), "-R", "lash", host=MASTER).stop(signal.SIGKILL)
        client = start_smd(lab, "")
        unknown = re.search(r"routing\.sl_unknown.*", client.log())
        check(unknown and "paths=1520 of=1520" in unknown[0], f"no routing.sl_unknown:\n{client.log()[-3000:]}")
        status = subprocess.run([lab.smd, "status", "--socket", lab.folder / "api.sock"], capture_output=True, text=True, timeout=20, check=False)
        check("not known for 1520 paths" in status.stdout, "smd status: " + status.stdout + status.stderr)
        print("   without a file: 1520 paths of unknown SL in log and status", flush=True)


def errors(smd):
    with Lab(smd, "ft2:4") as lab:
        for words, what in ((["--port", "mlx5_0:x"], "not a port"), ([], "no subnet manager")):
            done = lab.run("h00001", lab.smd, "import", "path-sl", *words, ok=(1, 2))
            check(what in done.log(), f"{words}: {done.log()}")


def scenario(given):
    errors(given.smd)
    with_file(given.smd)
    without_file(given.smd)


if __name__ == "__main__":
    run_scenario(scenario, __doc__)
