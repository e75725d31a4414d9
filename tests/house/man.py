#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""man.py SMD PAGE: smd(8) has the commands and options that `smd --help` has, each in its command's section."""
import re
import shutil
import subprocess
import sys


def help_of(smd, *command):
    return subprocess.run([smd, *command, "--help"], capture_output=True, text=True, check=True).stdout


def subcommands(text):
    """Names below 'Subcommands:'."""
    part = re.search(r"^Subcommands:\n((?:  .*\n?)*)", text, re.M)
    return re.findall(r"^  ([a-z][a-z0-9-]*)", part[1], re.M) if part else []


def options(text):
    """Long options, each where its own line begins."""
    return set(re.findall(r"^\s+(?:-\w,)?(--[a-z][a-z0-9-]*)", text, re.M)) - {"--help"}


def commands(smd, prefix=()):
    """{("run",): {"--once", ...}, ("sim", "ctl"): ...}"""
    text = help_of(smd, *prefix)
    found = {prefix: options(text)}
    for name in subcommands(text):
        found.update(commands(smd, (*prefix, name)))
    return found


def sections(page):
    """{("run",): options named at the start of its paragraphs}"""
    found, current = {}, None
    paragraph = False
    for line in page.replace("\\-", "-").splitlines():
        heading = re.match(r'\.SH "?smd ([a-z -]+?)"?$', line)
        if line.startswith(".SH"):
            current = tuple(heading[1].split()) if heading else None
            if current:
                found[current] = set()
        elif current and paragraph:
            found[current].update(re.findall(r"--[a-z][a-z0-9-]*", line))
        paragraph = line.startswith(".TP")
    return found


def main(smd, path):
    page = open(path, encoding="utf-8").read()
    wanted = {c: o for c, o in commands(smd).items() if c and not subcommands(help_of(smd, *c)) or o and c}
    have = sections(page)
    wrong = [f"smd {' '.join(c)}: no section in {path}" for c in wanted.keys() - have.keys()]
    wrong += [f"smd {' '.join(c)}: in {path}, no such command" for c in have.keys() - wanted.keys()]
    for command in wanted.keys() & have.keys():
        name = f"smd {' '.join(command)}"
        wrong += [f"{name}: {o} is not described in {path}" for o in wanted[command] - have[command]]
        wrong += [f"{name}: {path} describes {o}, which does not exist" for o in have[command] - wanted[command]]
    if shutil.which("mandoc"):
        for one in (path, path.replace("smd.8", "smd.toml.5")):
            lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", one], capture_output=True, text=True)
            wrong += [l for l in (lint.stdout + lint.stderr).splitlines() if "missing date" not in l]
    sys.exit("\n".join(sorted(wrong)) or None)


if __name__ == "__main__":
    main(*sys.argv[1:])
