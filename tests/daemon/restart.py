#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""systemd/restart-units, which the package's postinst runs, with a systemctl and an smd of the test: restart.py SOURCE."""
import os
import pathlib
import subprocess
import sys
import tempfile

SYSTEMCTL = """#!/bin/sh
if [ "$1" = list-units ]; then
  echo "smd.service loaded active running InfiniBand subnet manager"
  echo "smd@east.service loaded active running InfiniBand subnet manager"
else
  echo "$@" >> "$LOG"
fi
"""
# Ready is what is named in READY, by its socket.
SMD = """#!/bin/sh
echo "smd $*" >> "$LOG"
[ "$1 $2" = "wait restart" ] || exit 2
case " $READY " in *" $6 "*) exit 0 ;; esac
exit 3
"""
PLAIN, EAST = "/run/smd/smd.sock", "/run/smd/east/smd.sock"


def run(script, ready):
    with tempfile.TemporaryDirectory(prefix="smd-restart-") as folder:
        for name, text in (("systemctl", SYSTEMCTL), ("smd", SMD)):
            path = pathlib.Path(folder) / name
            path.write_text(text)
            path.chmod(0o755)
        log = pathlib.Path(folder) / "log"
        log.touch()
        environment = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}", SMD=f"{folder}/smd", LOG=str(log), READY=ready)
        done = subprocess.run([script, "4"], env=environment, capture_output=True, text=True, timeout=20, check=False)
        restarted = [line.split()[1] for line in log.read_text().splitlines() if line.startswith("try-restart")]
        asked = [line for line in log.read_text().splitlines() if line.startswith("smd ")]
        return done.returncode, restarted, done.stderr, asked


def main():
    source = pathlib.Path(sys.argv[1])
    script = str((source / "systemd/restart-units").resolve())
    both = ["smd.service", "smd@east.service"]
    status, restarted, said, asked = run(script, f"{PLAIN} {EAST}")
    assert (status, restarted, said) == (0, both, ""), (status, restarted, said)
    assert asked == [f"smd wait restart --timeout 4 --socket {socket}" for socket in (PLAIN, EAST)], asked
    status, restarted, said, _ = run(script, EAST)
    assert (status, restarted) == (3, both[1:]), (status, restarted)
    assert "smd.service was not restarted" in said, said
    status, restarted, said, _ = run(script, "")
    assert (status, restarted) == (3, []), (status, restarted)
    postinst = (source / "systemd/postinst").read_text()
    assert "try-restart" not in postinst and "/usr/lib/smd/restart-units" in postinst, "postinst restarts by itself"


if __name__ == "__main__":
    main()
