# SPDX-License-Identifier: Apache-2.0
"""What outlives a process of smd: killed at random moments; a fabric handed to opensm, and taken from it."""
import pathlib
import random
import shutil
import signal
import time

import network
from ibsim import Ibsim, check, wait_for

SET = 0x02


def lids(dumps):
    return sorted((dumps / "guid2lid").read_text().split("\n"))


def killed(sim, client, delay):
    """SIGKILL after so many seconds, and ibsim told to forget the client, which it would take for there."""
    time.sleep(delay)
    client.process.kill()
    client.process.wait()
    sim.command(f"X {client.slot}")
    sim.settle()  # or it may be the next client that is cut off


def stopped(smd, sim, text, hosts):
    """ibsim does not answer any more, and its library's calls do not return: a run that was to end ends, and says
    why."""
    for after in ("", "port.opened"):
        with Ibsim(sim.folder / "net") as other:
            client = smd.start(other, hosts[0], "--once")
            wait_for(lambda c=client, w=after: w in c.log(), 20, after)
            other.process.send_signal(signal.SIGSTOP)
            began = time.monotonic()
            try:
                status = client.process.wait(120)  # a sweep to its end by time-outs, then 30 s in one call
            finally:
                other.process.send_signal(signal.SIGCONT)
            if status != 0:  # it may have been faster than the signal
                said = [line for line in client.log().splitlines() if line.startswith("smd run: ")] or [client.log()[-300:]]
                said = said[-1]
                no_port = said.startswith("smd run: gave up: a device does not answer")  # stopped before it was open
                wanted = 1 if no_port else 3
                check(status == wanted, f"exit status {status}, must be {wanted}:\n{client.log()[-2000:]}")
                check(said.startswith("smd run: ") and (no_port or "has not answered" in said
                                                        or "do not answer" in said or "not done" in said), f"no reason: {said}")
                print(f"   ended {time.monotonic() - began:.1f} s after ibsim was stopped: {said}", flush=True)


def start(smd, sim, host, state):
    """A daemon that is the first client of its simulator, or the only one left."""
    client = smd.start(sim, host, state=state)
    client.slot = 0
    return client


def recovers(smd, sim, host, state, wanted, what):
    """The next run brings the fabric up with the same LIDs; the one after it Sets nothing."""
    client, summary, dumps = smd.once(sim, host, state=state)
    check(summary["state"] == "up", f"{what}: state {summary['state']}, must be up:\n{client.log()[-3000:]}")
    check(lids(dumps) == wanted, f"{what}: other LIDs than in the first run")
    client, summary, dumps = smd.once(sim, host, state=state)
    check(summary["state"] == "up" and lids(dumps) == wanted, f"{what}: not as the run before")
    check(client.sent(SET) == 0, f"{what}: {client.sent(SET)} Sets by the second run:\n{client.log()[-3000:]}")


def kills(smd, sim, text, hosts, times=10):
    """kill -9 at random moments of bring-up and of repair."""
    chooser = random.Random(4)
    folder = pathlib.Path(sim.folder)
    kept = folder / "kept"
    began = time.monotonic()
    _, summary, dumps = smd.once(sim, hosts[0], state=kept)
    seconds = time.monotonic() - began
    check(summary["state"] == "up", f"state {summary['state']}, must be up")
    wanted = lids(dumps)
    for i in range(times // 2):
        state = folder / f"state{i}"
        if i % 2 == 0:  # a state of before, or none
            shutil.copytree(kept, state)
        with Ibsim(folder / "net") as other:
            client = start(smd, other, hosts[0], state)
            delay = chooser.uniform(0, seconds)
            killed(other, client, delay)
            recovers(smd, other, hosts[0], state, wanted, f"killed {delay:.4f} s into bring-up {i}")
    links = sorted(l for l in network.parse(text)["links"] if f"{l[0][0]:016x}" not in hosts[0]
                   and f"{l[1][0]:016x}" not in hosts[0])
    for i in range(times - times // 2):
        client = start(smd, sim, hosts[0], kept)
        wait_for(lambda c=client: "state=up" in c.log(), 60, "state=up")
        (guid, port), _ = chooser.choice(links)
        kind = "S" if network.parse(text)["nodes"][guid][0] == "Switch" else "H"
        sim.command(f'Unlink "{kind}-{guid:016x}"[{port}]')
        delay = chooser.uniform(0, 0.1)
        killed(sim, client, delay)
        sim.command(f'ReLink "{kind}-{guid:016x}"[{port}]')
        recovers(smd, sim, hosts[0], kept, wanted, f"killed {delay:.4f} s after link {guid:x}[{port}] went, {i}")
    print(f"   {times} times kill -9: the same {len(wanted)} lines of guid2lid, and 0 Sets after each recovery",
          flush=True)


def back_to_opensm(smd, sim, text, hosts):
    """opensm to smd and back: no LID changes; smd takes opensm's guid2lid over, opensm takes smd's."""
    opensm = sim.opensm(hosts[1])
    theirs = lids(opensm.folder)
    opensm.stop(signal.SIGKILL)
    gone = hosts[2]
    sim.command(f'Unlink "{gone}"')
    imported = f"lids.import_guid2lid={opensm.folder / 'guid2lid'}"
    client, summary, dumps = smd.once(sim, hosts[0], "--set", imported)
    check("lid.imported" in client.log(), "no line lid.imported: " + client.log()[-2000:])
    check(set(lids(dumps)) < set(theirs), "smd has LIDs that opensm had not")
    sim.command(f'ReLink "{gone}"')
    sim.command(f'Baselid "{gone}"[1] 0')  # it has been restarted meanwhile: only the store knows its LID
    client, summary, dumps = smd.once(sim, hosts[0], "--set", imported, state=client.folder / "state")
    check(summary["state"] == "up", f"state {summary['state']}, must be up")
    check(lids(dumps) == theirs, "LIDs other than opensm's:\n" + "\n".join(sorted(set(lids(dumps)) ^ set(theirs))))
    check("lid.imported" not in client.log(), "imported once more")
    again = sim.start(hosts[1], "sh", "-c", f"cp {dumps / 'guid2lid'} guid2lid && exec opensm -d 2 -f osm.log -o")
    sim.finish(again, ["opensm"])
    check("SUBNET UP" in (again.folder / "osm.log").read_text(errors="replace"), "opensm: no SUBNET UP")
    check(lids(again.folder) == theirs, "opensm changed LIDs with smd's guid2lid")
    print(f"   {len([l for l in theirs if l])} LIDs from opensm to smd and back", flush=True)
