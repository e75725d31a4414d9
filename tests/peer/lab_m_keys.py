#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""M_Keys: lab_m_keys.py --smd PROGRAM. A fabric that opensm has protected by one: opensm dies; smd cannot take the fabric and
says why; with a lease it has it once that has run out; with opensm's guid2mkey it has it at once. Then keys of smd: what
unmodified tools can do without and with them, and that the next smd goes on."""
import json
import signal
import subprocess

from ibsim import check, wait_for
from lab import Lab
from runner import run_scenario


def takeover(smd, level, lease):
    with Lab(smd, "ft2:8") as lab:
        conf = lab.folder / "opensm.conf"
        conf.write_text(f"m_key 0x1234567800000001\nm_key_protection_level {level}\nm_key_lease_period {lease}\n")
        opensm = lab.opensm("h00000", "-F", str(conf))
        opensm.stop(signal.SIGKILL)
        lab.command("link down leaf000 5")  # something to write
        server = lab.start("h00021", lab.smd, "run", "--state-dir", "state", "--socket", "smd.sock", "--set",
                           "sweep.interval=2s")
        socket = str(server.folder / "smd.sock")

        def say(*words):
            done = subprocess.run([smd, "status", *words, "--socket", socket], capture_output=True, text=True, timeout=20)
            return done.stdout

        def state():
            try:
                return json.loads(say("--json"))["subnets"][0]["state"]
            except (ValueError, IndexError):  # no answer, or its port is not open yet
                return None
        if level == 1:
            wait_for(lambda: "node.m_key_unknown" in server.log(), 60, "node.m_key_unknown")
            told = next(line for line in server.log().splitlines() if "node.m_key_unknown" in line)
            check("protect_bits=1" in told and (f"lease={lease}s" if lease else 'lease="for ever"') in told, told)
            wait_for(lambda: "has an M_Key of another SM" in say(), 30, "M_Keys in status")
        else:
            wait_for(lambda: "M_Key with protection level 2 or 3" in server.log() + say(), 60, "the hint")
            told = next(line for line in server.log().splitlines() if "M_Key" in line)
        print(f"   level {level}, lease {lease} s: " + told.partition(" warn ")[2].strip(), flush=True)
        for line in say().splitlines():
            if line.strip().startswith(("why", "M_Keys", "waiting", "unresponsive")):
                print("   " + line[:200], flush=True)
        if lease:
            wait_for(lambda: state() in ("up", "reduced"), 120, "the fabric, after the lease")
            print("   after the lease: " + state(), flush=True)


KEY = 0x5EC2E7000000CAFE


def tool(lab, *words):
    """Exit status and output of a program on a host that is not the SM's."""
    client = lab.start("h00002", *words)
    lab.finish(client, words, ok=range(256))
    return client.process.returncode, (client.folder / "stdout").read_text(errors="replace")


def own_keys(smd, level, per_port):
    with Lab(smd, "ft2:8") as lab:
        (lab.folder / "m_key").write_text(f"{KEY:#x}\n")
        (lab.folder / "m_key").chmod(0o600)

        def start():
            server = lab.start("h00000", lab.smd, "run", "--state-dir", str(lab.folder / "state"), "--socket", "smd.sock",
                               "--set", f"keys.m_key_file={lab.folder / 'm_key'}", "--set", f"keys.m_key_level={level}",
                               "--set", f"keys.m_key_per_port={'true' if per_port else 'false'}")

            def keyed():
                asked = subprocess.run([smd, "status", "--json", "--socket", str(server.folder / "smd.sock")],
                                       capture_output=True, text=True, timeout=20)
                try:
                    subnet = json.loads(asked.stdout)["subnets"][0]
                except (ValueError, IndexError):
                    return False
                keys = subnet["m_keys"]
                return subnet["state"] == "up" and keys and keys["ports"] == keys["done"] != 0
            wait_for(keyed, 60, "M_Keys of all end ports")
            return server
        server = start()
        lid = int(server.log().rpartition("sm_lid=")[2].split()[0])
        asked = ["smpquery", "-K", "-t", "100", "portinfo", str(lid), "1"]
        status, text = tool(lab, *asked)
        if level == 1:
            check(status == 0 and "Mkey:............................0x0000000000000000" in text, f"{status} {text}")
        else:
            check(status != 0, f"level {level} answers without the key: {text}")
        status, text = tool(lab, "ibportstate", "-t", "100", str(lid), "1", "disable")
        check(status != 0, f"a port was disabled without the key: {text}")
        if not per_port:
            status, text = tool(lab, "smpquery", "-K", "-y", f"{KEY:#x}", "portinfo", str(lid), "1")
            check(status == 0 and f"0x{KEY:016x}" in text, f"{status} {text}")
        server.stop(signal.SIGKILL)
        server = start()
        check("m_key_unknown" not in server.log() and "node.unresponsive" not in server.log(), server.log()[-2000:])
        for form in (f"{KEY:x}", f"{KEY:X}", str(KEY)):
            check(form not in server.log(), "the key is in the log")
        print(f"   level {level}, {'keys by port' if per_port else 'one key'}: kept from who has none, and by the next smd",
              flush=True)


def imported(smd):
    """opensm's file of keys instead of its death."""
    with Lab(smd, "ft2:8") as lab:
        conf = lab.folder / "opensm.conf"
        conf.write_text(f"m_key {KEY:#x}\nm_key_protection_level 2\nm_key_lease_period 0\n")
        opensm = lab.opensm("h00000", "-F", str(conf))
        files = list(lab.folder.glob("**/guid2mkey"))
        opensm.stop(signal.SIGKILL)
        check(files, "opensm has written no guid2mkey")
        server = lab.start("h00000", lab.smd, "run", "--socket", "smd.sock", "--state-dir", "state", "--set",
                           f"keys.import_guid2mkey={files[0]}")
        wait_for(lambda: "m_key.imported" in server.log(), 30, "m_key.imported")
        own = (lab.folder / "m_key")
        own.write_text(f"{KEY:#x}\n")
        own.chmod(0o600)
        server.stop(signal.SIGKILL)
        server = lab.start("h00000", lab.smd, "run", "--socket", "smd.sock", "--state-dir", "state", "--set",
                           f"keys.m_key_file={own}", "--set", "keys.m_key_level=2")
        wait_for(lambda: "state=up" in server.log(), 60, "state=up")
        print("   opensm's fabric at level 2, taken over with its key", flush=True)


def scenario(given):
    for level, per_port in ((1, False), (2, False), (3, True)):
        own_keys(given.smd, level, per_port)
    imported(given.smd)
    for level, lease in ((1, 0), (1, 20), (2, 0)):
        takeover(given.smd, level, lease)


if __name__ == "__main__":
    run_scenario(scenario, __doc__)
