#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""P_Keys of no partition and a GUID of all ones, beside opensm: lab_zero_keys.py --smd PROGRAM. What the two answer
differently has its row in docs/differences.md."""

from ibsim import check, wait_for
from lab import Lab
from runner import run_scenario
from same import DELETE, GET, SET, Asker, line
from subject import Smd

MGID, PORT_GID, STATE = 1 << 0, 1 << 1, 1 << 16
ENOUGH = MGID | PORT_GID | 1 << 2 | 1 << 6 | 1 << 7 | 1 << 12 | 1 << 13 | STATE
ONES = (1 << 64) - 1


def group(mgid, pkey, gid):
    record = bytearray(52)
    record[:16], record[16:32] = bytes.fromhex(mgid), gid
    record[32:36] = (0x0B1B).to_bytes(4, "big")
    record[40:42], record[48] = pkey.to_bytes(2, "big"), 0x21
    return line(SET, "MCMemberRecord", ENOUGH, bytes(record))


def service(method, number, pkey, gid, named=True):
    record = bytearray(176)
    record[:8], record[8:24], record[24:26] = number.to_bytes(8, "big"), gid, pkey.to_bytes(2, "big")
    record[28:32] = b"\xff" * 4
    return line(method, "ServiceRecord", 3 | (4 if named else 0) | (1 << 4 if method == SET else 0), bytes(record))


def alias(lid, guid):
    record = bytearray(72)
    record[:2], record[16:24] = lid, guid.to_bytes(8, "big")
    return line(SET, "GUIDInfoRecord", 3 | 1 << 5, bytes(record))


def answers(lab):
    """(what was asked, status, the field that matters) of each question."""
    asker = Asker(lab, "h00002")
    own = next(node for node in asker.table("NodeRecord") if b"h00002" in node)
    gid = bytes.fromhex("fe80000000000000") + own[24:32]
    asked = []
    for number, pkey in enumerate((0, 0x8000, 0xFFFF)):
        asked += [(f"group of {pkey:#06x}", group(f"ff12432112340000000000000000000{number}", pkey, gid), (0, 0)),
                  (f"unnamed group of {pkey:#06x}", group("0" * 32, pkey, gid), (0, 0)),
                  (f"service of {pkey:#06x}", service(SET, 0x2000 + number, pkey, gid), (24, 26)),
                  (f"by its P_Key {pkey:#06x}", service(GET, 0x2000 + number, pkey, gid), (24, 26)),
                  (f"without it {pkey:#06x}", service(GET, 0x2000 + number, 0, gid, False), (24, 26)),
                  (f"Delete by its P_Key {pkey:#06x}", service(DELETE, 0x2000 + number, pkey, gid), (24, 26))]
    asked += [("alias of all ones", alias(own[:2], ONES), (16, 24)), ("alias 5", alias(own[:2], 5), (16, 24)),
              ("all ones in its place", alias(own[:2], ONES), (16, 24))]
    found = {}
    for (name, _, (first, last)), answer in zip(asked, asker.ask([text for _, text, _ in asked])):
        _, status, _, data = (answer.split() if len(answer.split()) == 4 else ["", *answer.split()])
        found[name] = (int(status, 16), data[2 * first:2 * last])
    return found


def scenario(given):
    with Lab(given.smd, "ft2:4") as lab:
        lab.opensm("h00000")
        theirs = answers(lab)
    with Lab(given.smd, "ft2:4") as lab:
        client = Smd(given.smd).start(lab, "h00000")
        wait_for(lambda: "state=up" in client.log(), 60, "smd's state=up")
        ours = answers(lab)
    expected = dict(theirs)
    for pkey in ("0x0000", "0x8000"):
        for name in ("service of", "by its P_Key", "without it", "Delete by its P_Key"):
            expected[f"{name} {pkey}"] = (0, "ffff")
    expected["alias of all ones"] = (0, "0" * 16)
    expected["all ones in its place"] = (0, "0" * 15 + "5")
    for name, answer in ours.items():
        print(f"   {name:32} opensm {theirs[name][0]:#06x} {theirs[name][1]:18} smd {answer[0]:#06x} {answer[1]}", flush=True)
    wrong = {name for name in ours if ours[name] != expected[name]}
    check(not wrong, f"differ from what was to be: {sorted(wrong)}")


if __name__ == "__main__":
    run_scenario(scenario, __doc__)
