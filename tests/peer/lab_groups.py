#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""smd takes over from unmodified opensm, whose multicast groups it has read as its standby: lab_groups.py --smd PROGRAM.
LIDs stay, groups keep their multicast LIDs and members from the first moment on, and those that join again get them."""
import json
import re
import signal

from ibsim import check, wait_for
from lab import Lab
from lab_pair import OPENSM, SMD, Pair
from lab_stop import Sm, masters
from runner import run_scenario
from same import SM_KEY, Asker, gids_of, join_line, mgid_of

GROUPS, MEMBERS = range(0x300, 0x308), 5


def mlid_of(record):
    return int.from_bytes(record[36:38], "big")


def groups_of(asker):
    """{mgid: (mlid, {port gid})} as a trusted client sees them."""
    found = {}
    for record in asker.table("MCMemberRecord", SM_KEY):
        mlid, gids = found.setdefault(bytes(record[:16]), (mlid_of(record), set()))
        check(mlid == mlid_of(record), "one group has two multicast LIDs")
        gids.add(bytes(record[16:32]))
    return found


def join(asker, numbers, gids):
    """All of these groups, each with MEMBERS members; the multicast LIDs that were given."""
    asked = [(mgid_of(number), gids[(number + i) % len(gids)]) for number in numbers for i in range(MEMBERS)]
    answers = asker.ask([join_line(*one) for one in asked])
    given = {}
    for (mgid, _), answer in zip(asked, answers, strict=True):
        words = answer.split()
        check(words[0] == "0", f"a join is refused: {answer[:60]}")
        given.setdefault(mgid, set()).add(mlid_of(bytes.fromhex(words[2])))
    check(all(len(mlids) == 1 for mlids in given.values()), f"members of a group got several multicast LIDs: {given}")
    return {mgid: mlids.pop() for mgid, mlids in given.items()}


def groups_read(both):
    """What smd has read last: the number of groups and members."""
    found = re.findall(r"ha\.groups_read.* groups=(\d+) members=(\d+)", both.smd.log())
    return tuple(map(int, found[-1])) if found else (0, 0)


def takeover(smd):
    with Lab(smd, "ft2:8") as lab:
        both = Pair(lab)
        both.start_opensm(9)
        both.wait_master(OPENSM, "opensm of a higher priority starts")
        wait_for(lambda: "SUBNET UP" in both.opensm_log(), 20, "opensm's SUBNET UP")
        asker = Asker(lab, "h00009")
        gids = gids_of(asker.table("NodeRecord"))
        given = join(asker, GROUPS, gids)
        before = groups_of(asker)
        want = len(GROUPS) * MEMBERS
        wait_for(lambda: groups_read(both)[1] >= want, 90, f"the standby to read {want} members: {both.smd.log()[-2000:]}")
        print(f"   read as standby: {groups_read(both)[0]} groups, {groups_read(both)[1]} members", flush=True)

        both.opensm.stop(signal.SIGKILL)
        wait_for(lambda: masters(lab, {SMD: both.lids[SMD]}) == [SMD], 20, "smd's takeover")
        wait_for(lambda: "ha.groups_inherited" in both.smd.log(), 20, "the groups of opensm")
        both.check_lids()
        after = groups_of(asker)
        check({m: g for m, g in after.items() if m in given} == {m: g for m, g in before.items() if m in given},
              "groups, multicast LIDs or members differ after the takeover")
        asked = re.findall(r"sa\.reregister.*", both.smd.log())
        print(f"   {len(given)} groups as before; {asked[-1][-80:] if asked else 'no client was asked'}", flush=True)
        again = join(asker, reversed(GROUPS), gids)
        check(again == given, f"multicast LIDs differ after joining again: {given} {again}")
        check(json.loads(both.ask("status", "--json")) is not None, "smd status")
        both.check_lids()


def newcomer(smd):
    """An smd that outranks opensm gets HANDOVER as soon as opensm sees it, before it is a standby."""
    with Lab(smd, "ft2:8") as lab:
        opensm = lab.start(OPENSM, "opensm", "-d", "2", "-f", "osm.log", "-p", "1")
        log = opensm.folder / "osm.log"
        wait_for(lambda: log.exists() and "SUBNET UP" in log.read_text(errors="replace"), 20, "opensm's SUBNET UP")
        asker = Asker(lab, "h00009")
        given = join(asker, GROUPS, gids_of(asker.table("NodeRecord")))
        before = groups_of(asker)
        new = Sm(lab, "smd", SMD, 9)
        wait_for(lambda: "ha.groups_inherited" in new.log(), 30, f"the groups of opensm: {new.log()[-2000:]}")
        after = groups_of(asker)
        check({m: g for m, g in after.items() if m in given} == {m: g for m, g in before.items() if m in given},
              "groups, multicast LIDs or members differ after the handover")
        print(f"   {len(given)} groups as before, of an opensm that was outranked", flush=True)


def scenario(given):
    takeover(given.smd)
    newcomer(given.smd)


if __name__ == "__main__":
    run_scenario(scenario, __doc__)
