#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""completion.py SMD COMPLETION: bash completes each command and option that smd has, and nothing else."""
import subprocess
import sys

from man import commands, subcommands, help_of

# Of each line "WORDS" what completes it, sorted, in one line.
COMPLETE = """
. "$1"
while read -r -a words; do
  prefix=${words[-1]}
  [ "$prefix" != . ] || words[-1]=
  COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1))
  _smd
  printf '%s\\n' "${COMPREPLY[@]}" | sort -u | tr '\\n' ' '
  echo
done
"""


def main(smd, completion):
    tree = commands(smd)
    asked, wanted = [], []
    for command, options in tree.items():
        words = " ".join((smd, *command))
        asked += [f"{words} --", f"{words} ."]
        # The version is the program's own.
        wanted += [options | {"--help"}, set(subcommands(help_of(smd, *command)))]
    done = subprocess.run(["bash", "-c", COMPLETE, "_", completion], input="\n".join(asked) + "\n", text=True,
                          capture_output=True, check=True, timeout=120)
    found = done.stdout.split("\n")[:-1]
    assert len(found) == len(asked), done.stdout + done.stderr
    wrong = []
    for line, have, want in zip(asked, found, wanted):
        if set(have.split()) != want:
            wrong.append(f"{line}: missing {sorted(want - set(have.split()))}, too many {sorted(set(have.split()) - want)}")
    if len(tree) < 25:
        wrong.append(f"{len(tree)} commands: help is not read as it is")
    sys.exit("\n".join(wrong) or None)


if __name__ == "__main__":
    main(*sys.argv[1:])
