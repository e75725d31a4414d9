#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The unit files: systemd-analyze has nothing to say, and little is open to the daemon. units.py SOURCE."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MOST = 2.0  # of systemd-analyze security; 10 is an ordinary service


def main():
    source = pathlib.Path(sys.argv[1]) / "systemd"
    wrong = []
    plain, template = ((source / name).read_text() for name in ("smd.service", "smd@.service"))
    different = [(a, b) for a, b in zip(plain.splitlines(), template.splitlines()) if a != b]
    if len(plain.splitlines()) != len(template.splitlines()) or len(different) != 7:
        wrong.append(f"the two units differ in more than comment, description, files and folders: {different}")
    for line in ("LimitCORE=0", "StateDirectoryMode=0700"):
        wrong += [f"{name}: no {line}" for name, text in (("smd.service", plain), ("smd@.service", template))
                  if line not in text.splitlines()]
    opened = (source / "network.conf").read_text().splitlines()
    wrong += [f"network.conf: no {line}" for line in ("[Service]", "IPAddressAllow=any",
              "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6") if line not in opened]
    if shutil.which("systemd-analyze") is None:
        print("no systemd-analyze here: the rest is not looked at")
    else:
        wrong += analyze(plain, template)
    sys.exit("\n".join(wrong) or 0)


def analyze(plain, template):
    wrong = []
    with tempfile.TemporaryDirectory(prefix="smd-units-") as folder:
        # The program need not be installed where this runs.
        for name, text in (("smd.service", plain), ("smd@east.service", template)):
            (pathlib.Path(folder) / name).write_text(text.replace("/usr/bin/smd", "/bin/true"))
        for name in ("smd.service", "smd@east.service"):
            path = f"{folder}/{name}"
            verified = subprocess.run(["systemd-analyze", "verify", path], capture_output=True, text=True)
            said = [l for l in (verified.stdout + verified.stderr).splitlines() if "smd" in l]
            if said or verified.returncode != 0:
                wrong.append(f"verify {name}: {verified.stdout}{verified.stderr}")
            judged = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager", path],
                                    capture_output=True, text=True)
            level = re.search(r"Overall exposure level for \S+: ([0-9.]+)", judged.stdout)
            if level is None:
                wrong.append(f"security {name}: {judged.stdout}{judged.stderr}")
            elif float(level.group(1)) > MOST:
                wrong.append(f"security {name}: {level.group(1)}, at most {MOST}")
            else:
                print(f"{name}: exposure {level.group(1)}")
    return wrong


if __name__ == "__main__":
    main()
