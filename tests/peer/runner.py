# SPDX-License-Identifier: Apache-2.0
"""What every scenario that is a program of its own does with its arguments and its failure."""
import argparse
import sys

from ibsim import Failure


def run_scenario(scenario, doc, add_arguments=lambda parser: None):
    """Calls `scenario` with the program's arguments, --smd among them, and ends: 1 and a line where it failed."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--smd", required=True)
    add_arguments(parser)
    given = parser.parse_args()
    try:
        scenario(given)
    except Failure as failure:
        sys.exit(f"FAILED: {failure}")
