#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SM_Keys beside opensm: lab_keys.py --smd PROGRAM. With the default key and with one of our own, smd and opensm agree
on one master, whichever starts first; a host that is no SM is shown no key; smd puts no key into a Get."""
import itertools
import re
import struct
import time

from ibsim import check, wait_for
from lab import Lab
from lab_stop import GET, SM_INFO, masters
from runner import run_scenario

KEY = 0x1122334455667788


def start(lab, kind, host, priority, key):
    """An SM that has `key`, or the default one where it is 0."""
    if kind == "smd":
        words = ["--set", f"sm.priority={priority}"]
        if key:
            secret = lab.folder / f"{host}.key"
            secret.write_text(f"{key:#x}\n")
            secret.chmod(0o600)
            words += ["--set", f"keys.sm_key_file={secret}"]
        return lab.start(host, lab.smd, "run", "--state-dir", "state", "--socket", "api.sock", *words)
    conf = lab.folder / f"{host}.conf"
    conf.write_text(f"sm_key {key or 1:#018x}\nsminfo_polling_timeout 1000\n")
    return lab.start(host, "opensm", "-d", "2", "-f", "osm.log", "-p", str(priority), "-F", str(conf))


def log_of(kind, client):
    path = client.folder / ("stdout" if kind == "smd" else "osm.log")
    return client.log() if kind == "smd" else path.read_text(errors="replace") if path.exists() else ""


def shown_key(lab, host, lid):
    """The SM_Key in SMInfo that this host is answered (bytes 8 to 15)."""
    text = lab.output(host, "smpdump", str(lid), "0x20")
    words = re.findall(r"^((?:[0-9a-f]{4} ?){8})", text, re.M)
    return int("".join(words[0].split())[16:32], 16) if words else None


def gets_with_data(data):
    """Gets of SMInfo in the trace that carry anything in the attribute."""
    at, found = 24, 0
    while at + 16 <= len(data):
        size = struct.unpack_from("=I", data, at + 8)[0]
        mad = data[at + 16 + 28:at + 16 + size]
        if mad[1] == 0x81 and mad[3] == GET and struct.unpack_from(">H", mad, 16)[0] == SM_INFO:
            found += any(mad[64 + 8:64 + 16])
        at += 16 + size
    return found


def pair(smd, first, second, key):
    with Lab(smd, "ft2:8", "--pcap", "trace.pcap") as lab:
        one = start(lab, first, "h00000", 5, key)
        wait_for(lambda: ("state=up" if first == "smd" else "SUBNET UP") in log_of(first, one), 60, f"{first} up")
        two = start(lab, second, "h00021", 3, key)
        word = "sm.other_master" if second == "smd" else "Entering STANDBY"
        wait_for(lambda: word in log_of(second, two), 30, f"{second} in standby")
        lids = {host: int(re.search(r"Base lid:\s+(\d+)", lab.output(host, "ibstat"))[1]) for host in ("h00000", "h00021")}
        time.sleep(3)
        found = masters(lab, lids)
        check(found == ["h00000"], f"{first} then {second}, key {key:#x}: master is {found}")
        smd_lid = lids["h00000" if first == "smd" else "h00021"]
        seen = shown_key(lab, "h00009", smd_lid)
        check(seen == (0 if key else 1), f"a host without IsSM is shown the key {seen:#x}")
        check(gets_with_data((lab.folder / "trace.pcap").read_bytes()) == 0, "a Get of SMInfo carries a key")
        opensm = one if first == "opensm" else two
        check("non-matching sm_key" not in log_of("opensm", opensm), "opensm: non-matching sm_key")
        print(f"   {first} (5) then {second} (3), key {'own' if key else 'default'}: one master, shown to hosts: {seen:#x}",
              flush=True)


def scenario(given):
    for (first, second), key in itertools.product((("smd", "opensm"), ("opensm", "smd")), (0, KEY)):
        pair(given.smd, first, second, key)


if __name__ == "__main__":
    run_scenario(scenario, __doc__)
