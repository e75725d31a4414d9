#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SA clients beside heavy sweeps: lab_load.py --smd PROGRAM [--fabric ft3:N]. 200 questions under way from one process, then
20 saquery at a time; five forced heavy sweeps beside each. None is lost. Times and SMP time-outs are printed: how long they
are on a busy machine says nothing."""
import concurrent.futures
import json
import pathlib
import statistics
import subprocess
import time

from ibsim import Failure, check, wait_for
from lab import Lab
from runner import run_scenario

SWEEPS = 5


class Load:
    def __init__(self, smd, lab):
        self.smd, self.lab = smd, lab
        self.server = lab.start("h00-00-00", smd, "run", "--socket", "smd.sock", "--set", "sweep.settle=10ms")
        self.socket = str(self.server.folder / "smd.sock")
        try:
            wait_for(lambda: " subnet.up " in self.server.log(), 120, "subnet.up")
        except Failure as failure:
            raise Failure(f"{failure}\n{self.server.log()[-3000:]}") from failure

    def subnet(self):
        done = subprocess.run([self.smd, "status", "--json", "--socket", self.socket], capture_output=True, text=True,
                              timeout=60, check=True)
        return json.loads(done.stdout)["subnets"][0]

    def sweeps(self, number):
        """Heavy ones, one after the other: their times in ms, and the SMPs that timed out."""
        times, lost = [], 0
        for _ in range(number):
            before = self.server.log().count("sweep=heavy")
            subprocess.run([self.smd, "resweep", "heavy", "--socket", self.socket], capture_output=True, timeout=60, check=True)
            wait_for(lambda: self.server.log().count("sweep=heavy") > before, 120, "a heavy sweep")
            last = [line for line in self.server.log().splitlines() if "sweep=heavy" in line][-1]
            figures = dict(word.split("=", 1) for word in last.split() if "=" in word)
            times.append(float(figures["total_ms"]))
            lost += int(figures["timeouts"])
        return times, lost


def generator(load, alone, program):
    lids = load.subnet()["last_sweep"]["lids"]
    begun = time.monotonic()
    client = load.lab.start("h02-03-04", program, "12", "200", str(lids))
    time.sleep(0.5)
    times, lost = load.sweeps(SWEEPS)
    client.process.wait(60)
    figures = dict(word.split("=", 1) for word in (client.folder / "stdout").read_text().split())
    said = (f"200 under way: {figures['answered']} answered, {figures['busy']} BUSY, {figures['lost']} lost, slowest {figures['longest_ms']} ms; "
            f"heavy sweeps {statistics.median(times):.0f} ms (alone {alone:.0f}), longest {max(times):.0f}; {lost} SMP time-outs")
    print("   " + said, flush=True)
    check(time.monotonic() - begun < 60, "the generator's end")
    check(figures["busy"] == "0" and figures["lost"] == "0" and int(figures["answered"]) > 0, said)


def saqueries(load, alone, number=200, at_once=20):
    def one(index):
        done = subprocess.run(load.lab.attach(f"h{index % 16:02}-{index % 7:02}-{index % 5:02}", "saquery", "-t", "10000", "PR", "--dlid",
                                              str(1 + index % 40)), capture_output=True, text=True, timeout=120,
                              cwd=load.lab.folder)
        return done.returncode == 0 and "PathRecord" in done.stdout
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        answers = [pool.submit(one, i + 1) for i in range(number)]
        times, lost = load.sweeps(SWEEPS)
        missing = sum(not answer.result() for answer in answers)
    said = (f"saquery, {at_once} at a time: {number - missing} of {number} answered; heavy sweeps "
            f"{statistics.median(times):.0f} ms (alone {alone:.0f}); {lost} SMP time-outs")
    print("   " + said, flush=True)
    check(missing == 0, said)


def scenario(given):
    program = pathlib.Path(given.smd).resolve().with_name("sa_load")
    with Lab(given.smd, given.fabric) as lab:
        load = Load(lab.smd, lab)
        times, lost = load.sweeps(SWEEPS)
        check(lost == 0, f"{lost} SMP time-outs without a load")
        alone = statistics.median(times)
        generator(load, alone, program)
        saqueries(load, alone)


def arguments(parser):
    parser.add_argument("--fabric", default="ft3:16")


if __name__ == "__main__":
    run_scenario(scenario, __doc__, arguments)
