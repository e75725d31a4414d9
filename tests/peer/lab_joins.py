#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The master of a pair is killed while 64 clients' joins and leaves are under way: lab_joins.py --smd PROGRAM. Eight hosts have eight
each under way at any time. After each kill -9 the standby is master, and each membership is what the last answer has made of it,
or what was under way; with `mode = "async"` the last changes may be missing, and are counted. The SM that was killed returns as
standby, and is the next to take over. SMD_LONG=1: 100 kills in each mode instead of 4."""
import os
import random
import re
import signal
import time

import same
from ibsim import Failure, check, wait_for
from lab import Lab
from lab_replica import SMS, Replicated, by_peers
from lab_stop import masters
from runner import run_scenario

ROUNDS = 100 if "SMD_LONG" in os.environ else 4
ASKING = [f"h{number:05}" for number in (1, 4, 7, 10, 13, 16, 24, 28)]
GROUPS, WINDOW, LINES = 6, 8, 6000


class Asking:
    """One host's joins and leaves: every host of the fabric in its own groups, one after the other, in and out."""

    def __init__(self, host, number, gids, seed):
        self.host = host
        self.places = [(same.mgid_of(0x1000 * (number + 1) + group), gid) for group in range(GROUPS) for gid in gids]
        self.order = random.Random(seed).sample(range(len(self.places)), len(self.places))
        self.known = [False] * len(self.places)  # as the last answer has it
        self.latest = {}  # of the last round: which answer was the last for a place
        self.either = set()

    def begin(self, lab, round_number):
        self.plan = []
        state, at = list(self.known), self.order[round_number % len(self.order):] + self.order[:round_number % len(self.order)]
        for number in range(LINES):
            place = at[number % len(at)]
            state[place] = not state[place]
            self.plan.append((place, state[place]))
        file = lab.folder / f"joins-{self.host}"
        file.write_text("".join(same.join_line(*self.places[place], 1, same.SET if joins else same.DELETE) + "\n"
                                for place, joins in self.plan))
        self.client = lab.start(self.host, "sh", "-c", f"exec '{same.ASKER}' {WINDOW} < '{file}'")

    def count(self):
        return (self.client.folder / "stdout").read_text().count("\n")

    def end(self):
        """What is known when the master is gone: by the answers that came."""
        self.client.stop(signal.SIGKILL)
        text = (self.client.folder / "stdout").read_text()
        answers = {}
        for line in text[:text.rfind("\n") + 1].splitlines():
            number, status = line.split()[:2]
            answers[int(number)] = status
        self.latest, self.either = {}, set()
        last = max(answers, default=-1)
        for number, (place, joins) in enumerate(self.plan[:last + WINDOW + 1]):
            status = answers.get(number, "none")
            if status == "0":
                self.known[place], self.latest[place] = joins, number
            else:  # none, or refused: it is not there to leave, or its group ended under way
                self.either.add(place)
        return len(answers)

    def differences(self, records):
        """Memberships that are not as they were answered; what was under way is taken as it is."""
        wrong = []
        for place, (mgid, gid) in enumerate(self.places):
            there = (mgid, gid) in records
            if there != self.known[place] and place not in self.either:
                wrong.append(self.latest.get(place, -1))
            self.known[place] = there
        return wrong


def memberships(lab, host):
    """(MGID, port GID) of all members, as the SA of the SM in force says it."""
    table = same.Asker(lab, host).table("MCMemberRecord", same.SM_KEY)
    return {(bytes(record[:16]), bytes(record[16:32])) for record in table if record[48] & 0xF}


class Fabric:
    def __init__(self, lab, mode):
        self.lab = lab
        ha = {host: keys + f'mode = "{mode}"\n' for host, keys in by_peers(lab).items()}
        self.sms = {"h00000": Replicated(lab, "h00000", ha["h00000"])}
        wait_for(lambda: "state=up" in self.sms["h00000"].client.log(), 60, "smd up")
        self.sms["h00021"] = Replicated(lab, "h00021", ha["h00021"])
        self.lids = {host: int(re.search(r"Base lid:\s+(\d+)", lab.output(host, "ibstat"))[1]) for host in SMS}
        gids = sorted(same.gids_of(same.Asker(lab, "h00002").table("NodeRecord")))
        self.asking = [Asking(host, number, gids, number) for number, host in enumerate(ASKING)]
        self.master, self.standby = "h00000", "h00021"

    def round(self, number, chance):
        """The answers of the round, and what is not as it was answered."""
        standby = self.sms[self.standby]
        wait_for(lambda: standby.role() == "current", 30, f"a current copy on {self.standby}")
        for one in self.asking:
            one.begin(self.lab, number)
        wait_for(lambda: all(one.count() > 10 for one in self.asking), 30, "answers to all")
        time.sleep(chance.uniform(0.1, 0.8))
        lost_sync = self.sms[self.master].client.log().count("ha.sync_lost ")
        self.sms[self.master].kill()
        answered = sum(one.end() for one in self.asking)
        wait_for(lambda: masters(self.lab, {self.standby: self.lids[self.standby]}), 30, f"{self.standby} master")
        wait_for(lambda: standby.status().get("state") == "up", 30, f"{self.standby} has read the fabric")
        records = memberships(self.lab, "h00002")
        wrong = [(one.host, places, len(one.plan)) for one in self.asking if (places := one.differences(records))]
        self.sms[self.master].start()
        self.master, self.standby = self.standby, self.master
        return answered, wrong, lost_sync


def in_mode(smd, mode):
    chance, answered, missing = random.Random(mode), 0, 0
    with Lab(smd, "ft2:8") as lab:
        fabric = Fabric(lab, mode)
        try:
            for number in range(ROUNDS):
                count, wrong, lost_sync = fabric.round(number, chance)
                answered += count
                missing += sum(len(places) for _, places, _ in wrong)
                check(not wrong or mode == "async" or lost_sync, f"round {number}: answered, and not so at the new master: {wrong}")
        except Failure:
            print(*(sm.client.log()[-3000:] for sm in fabric.sms.values()), sep="\n----\n")
            raise
    print(f"   {mode}: {ROUNDS} times killed: {answered} answered joins and leaves, {missing} of them not so at the new master",
          flush=True)


def scenario(given):
    for mode in ("sync", "async"):
        in_mode(given.smd, mode)


if __name__ == "__main__":
    run_scenario(scenario, __doc__)
