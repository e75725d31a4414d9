#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""completion.py SMD COMPLETION: bash completes each command, option and value that smd has, and nothing else."""
import re
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


# Values that the help has in braces: what follows the words, some of them.
VALUES = {
    "wait": {"up", "replica", "restart"},
    "sweep": {"on", "off"},
    "token": {"list", "add", "revoke", "rotate"},
    "token add x --role": {"viewer", "tenant", "operator", "admin"},
    "ports --state": {"down", "init", "armed", "active"},
    "ports --socket x --state": {"down", "init", "armed", "active"},
    "port disable": set(),
}


def first_values(text):
    """Values of the first word that is no option."""
    part = re.search(r"^Positionals:\n  [A-Z][^\n{]*{([^}]*)}", text, re.M)
    return set(part[1].split(",")) if part else set()


def main(smd, completion):
    tree = commands(smd)
    asked, wanted = [], []
    for command, options in tree.items():
        words = " ".join((smd, *command))
        asked += [f"{words} --", f"{words} ."]
        # The version is the program's own.
        text = help_of(smd, *command)
        wanted += [options | {"--help"}, set(subcommands(text)) | first_values(text)]
    for words, values in VALUES.items():
        asked.append(f"{smd} {words} .")
        wanted.append(values)
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
