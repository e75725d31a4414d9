#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two smd whose state is copied through etcd, by TLS on loopback: lab_etcd.py --smd PROGRAM. As lab_replica.py
the fabric goes from one to the other, and nothing changes. Then: etcd is killed and comes back, it is compacted while the standby is away, its
quota is used up, another hand has a later epoch, of three members one and two die, and the fabric is cut in two."""
import contextlib
import signal
import time

import same
from etcd_server import Etcd
from ibsim import Failure, check, wait_for
from lab import Lab
from lab_replica import SMS, Fabric, answers, handed_round
from lab_stop import masters
from runner import run_scenario


class Pair(Fabric):
    """Of `etcd`. The SM on h00000 begins as master."""

    def __init__(self, lab, etcd):
        super().__init__(lab, {host: etcd.ha() for host in SMS})
        self.etcd = etcd

    def join(self, number):
        """One more group with a member, which an answer confirms in time."""
        asker = same.Asker(self.lab, "h00002")
        gid = sorted(same.gids_of(asker.table("NodeRecord")))[number]
        began = time.monotonic()
        answer = asker.ask([same.join_line(same.mgid_of(0x200 + number), gid)])[0]
        took = time.monotonic() - began
        check(answer.startswith("0 "), f"a join is answered with {answer[:40]}")
        check(took < 2.5, f"a join took {took:.1f} s")
        self.answers = answers(asker)
        return took

    def log(self, host):
        return self.sms[host].client.log()

    def said(self, host, word):
        return self.log(host).count(word)

    def has_written(self):
        """The master has nothing that is not in etcd."""
        replica = self.sms["h00000"].status()["replica"]
        return not replica["trouble"] and any(one["name"] == "etcd" and one["lag_transactions"] == 0 and
                                              one["position"] == replica["position"] for one in replica["standbys"])

    def current(self, host, seconds=30):
        def is_so():
            replica = self.sms[host].status().get("replica") or {}
            return replica.get("role") == "current" and replica.get("lag_transactions") == 0

        wait_for(is_so, seconds, f"a current copy on {host}")


def killed(pair):
    """etcd dies: one warning, clients are answered; it comes back, and the standby has everything."""
    warned = {host: pair.said(host, "ha.etcd_failed") for host in SMS}
    pair.etcd.kill()
    wait_for(lambda: all(pair.said(host, "ha.etcd_failed") > warned[host] for host in SMS), 20, "ha.etcd_failed")
    for number in range(3):
        pair.join(number)
    trouble = pair.sms["h00000"].status()["replica"]["trouble"]
    check(trouble, "the status does not say that etcd is gone")
    check("etcd: " in pair.sms["h00000"].ask("status").stdout, "smd status does not say that etcd is gone")
    time.sleep(3)
    for host in SMS:
        check(pair.said(host, "ha.etcd_failed") == warned[host] + 1, f"warned again and again on {host}")
    check(masters(pair.lab, pair.lids) == ["h00000"], "the fabric has another master")
    pair.etcd.start()
    wait_for(lambda: pair.said("h00000", "ha.etcd_works_again"), 40, "ha.etcd_works_again")
    wait_for(lambda: not pair.sms["h00000"].status()["replica"]["trouble"], 5, "an end of the trouble in the status")
    wait_for(pair.has_written, 30, "all in etcd")
    pair.current("h00021")
    print(f"   etcd killed and started again: {trouble!r} meanwhile", flush=True)


def stopped(pair):
    """etcd stands still: no answer waits for it."""
    warned = pair.said("h00000", "ha.etcd_failed")
    pair.etcd.processes[0].send_signal(signal.SIGSTOP)
    longest = max(pair.join(number) for number in range(7, 12))
    wait_for(lambda: pair.said("h00000", "ha.etcd_failed") > warned, 20, "ha.etcd_failed")
    pair.etcd.processes[0].send_signal(signal.SIGCONT)
    wait_for(pair.has_written, 30, "all in etcd")
    pair.current("h00021")
    print(f"   etcd stood still: a join took {longest * 1000:.0f} ms at most, with the start of the program that asks", flush=True)


def compacted(pair):
    """The standby is away while etcd forgets what it has not read."""
    pair.sms["h00021"].client.stop(signal.SIGKILL)
    for number in range(3, 6):
        pair.join(number)
        pair.etcd.compact()
    pair.sms["h00021"].start()
    pair.current("h00021")
    print("   etcd compacted while the standby was away: it is current", flush=True)


def outbid(pair):
    """Another SM has written under a later epoch, and writes no more: the master outbids it, and is copied again."""
    epoch = int(pair.sms["h00000"].status()["replica"]["position"].split(".")[0])
    key = next(key for key in pair.etcd.keys("/smd/") if key.endswith("/live/epoch"))
    pair.etcd.put(key, f"{epoch + 5:016x} 0000000000000099")
    pair.join(6)
    wait_for(lambda: pair.etcd.get(key).startswith(f"{epoch + 6:016x}"), 30, "an epoch above that of the other one")
    pair.current("h00021")
    check(masters(pair.lab, pair.lids) == ["h00000"], "the fabric has another master")
    check(pair.said("h00000", "ha.lower_epoch") and not pair.said("h00000", "ha.split"), "the later epoch is not told")
    print(f"   a later epoch in etcd: refused, and epoch {epoch + 6} begun", flush=True)


@contextlib.contextmanager
def a_pair(lab, **how):
    """Over an etcd that is started with it and ended with it; logs of a failure."""
    etcd = Etcd(lab.folder, **how)
    pair = Pair(lab, etcd)
    try:
        yield pair
    except Failure:
        print(*(sm.client.log()[-6000:] for sm in pair.sms.values()), etcd.log(), sep="\n----\n")
        raise
    finally:
        etcd.kill()


def round_trip(lab):
    with a_pair(lab) as pair:
        killed(pair)
        stopped(pair)
        compacted(pair)
        outbid(pair)
        handed_round(pair)
        time.sleep(1)
        names = [key.split("/")[3] for key in pair.etcd.keys("/smd/")]
        print("   keys in etcd: " + ", ".join(f"{names.count(name)} {name}" for name in sorted(set(names))), flush=True)


def filled(lab):
    """A quota that is used up: a warning that says what to do, and the fabric goes on."""
    with a_pair(lab, quota=4 << 20) as pair:
        pair.etcd.fill()
        for number in range(3):
            pair.join(number)
        wait_for(lambda: pair.said("h00000", "ha.etcd_failed"), 20, "ha.etcd_failed")
        check("quota-backend-bytes" in pair.log("h00000"), "it does not say what to do")
        time.sleep(6)
        check(pair.said("h00000", "ha.etcd_failed") == 1, "warned again and again")
        status = pair.sms["h00000"].status()
        check(status["state"] == "up" and "space" in status["replica"]["trouble"], f"the state: {status['state']} {status['replica']}")
        pair.join(3)
        pair.etcd.make_room()
        wait_for(lambda: pair.said("h00000", "ha.etcd_works_again"), 40, "ha.etcd_works_again")
        pair.current("h00021")
        pair.goes_to("h00021", "SIGKILL after a full etcd", pair.sms["h00000"].kill)


def of_three(lab):
    """A member of three dies, and nothing happens; two die: as if etcd were gone."""
    with a_pair(lab, members=3) as pair:
        pair.etcd.kill([0])  # which all have asked first
        pair.join(0)
        wait_for(lambda: pair.has_written(), 30, "the join in etcd")
        pair.current("h00021")
        check(masters(lab, pair.lids) == ["h00000"], "the fabric has another master")
        pair.etcd.kill([1])
        wait_for(lambda: "etcd: " in pair.sms["h00000"].ask("status").stdout, 30, "etcd's trouble in smd status")
        pair.join(1)
        pair.etcd.start()
        wait_for(lambda: pair.has_written(), 40, "the join in etcd")
        pair.current("h00021")
        print("   a member of three dies, then two: the standby is current", flush=True)


def parted(lab):
    """The fabric is cut in two, each part has its master; at the join clients of both are registered."""
    with a_pair(lab) as pair:
        askers = {host: same.Asker(lab, host) for host in ("h00002", "h00022")}
        nodes = askers["h00002"].table("NodeRecord")
        gids = {node[44:].split(b"\0")[0].decode(): b"\xfe\x80" + bytes(6) + node[24:32] for node in nodes}
        lab.command("split leaf005 h00020 h00021 h00022 h00023")
        wait_for(lambda: pair.sms["h00021"].status()["sm"]["state"] == "master", 30, "a master of the smaller part")
        wait_for(lambda: pair.sms["h00021"].status()["state"] in ("up", "reduced"), 30, "the smaller part in service")
        groups = [same.mgid_of(0x300), same.mgid_of(0x301)]
        for group, (host, asker) in zip(groups, askers.items()):
            answer = asker.ask([same.join_line(group, gids[host])])[0]
            check(answer.startswith("0 "), f"a join of {host} is answered with {answer[:40]}")
        time.sleep(1)
        lab.command("join")
        wait_for(lambda: masters(lab, pair.lids) == ["h00000"], 60, "one master")

        def registered():
            return all(any(row[:16] == group for row in askers["h00002"].table("MCMemberRecord")) for group in groups)

        wait_for(registered, 30, "groups of both parts")
        check(pair.said("h00000", "ha.clients_inherited") == 1, "the master has not taken the other part's clients")
        left = [key for key in pair.etcd.keys("/smd/") if "/left" in key]
        check(not left, f"left in etcd: {left}")
        print("   a fabric in two parts and one again: clients of both are registered", flush=True)


def scenario(given):
    for one in (round_trip, filled, of_three, parted):
        with Lab(given.smd, "ft2:8", "--pcap", "trace.pcap") as lab:
            one(lab)


if __name__ == "__main__":
    run_scenario(scenario, __doc__)
