# SPDX-License-Identifier: Apache-2.0
"""Random bytes through the devices of an attached program: lab_fuzz.py SEED ROUNDS. It may get errors, no more."""
import fcntl
import os
import random
import struct
import sys

ENABLE, REGISTER, UNREGISTER, REGISTER2 = 0x1B03, 0xC01C1B01, 0x40041B02, 0xC0281B04


def control(fd, request, argument):
    try:
        return fcntl.ioctl(fd, request, argument)
    except OSError:
        return None


def attempt(call, *arguments):
    try:
        return call(*arguments)
    except OSError:
        return None


def header(chance, size):
    """Of a MAD that looks right, so that it gets further than the first check."""
    agent = struct.pack("<5I", chance.choice((0, 0, 1, 40)), 0, chance.choice((0, 5)), chance.choice((0, 2)), 0)
    to = struct.pack(">IIHBBBBBB", chance.choice((0, 1)), 0x80010000, chance.choice((1, 2, 9, 0xC000, 0xFFFF)), 0, 0,
                     chance.choice((0, 1)), 0, 0, 0)
    mad = bytes((1, chance.choice((1, 3, 4, 0x81, 0x32)), chance.choice((1, 2)), chance.randrange(256)))
    return (agent + to + bytes(28) + mad + chance.randbytes(400_000 if size > 5000 else size))[:64 + size]


def main(seed, rounds):
    chance = random.Random(seed)
    errors = 0
    for _ in range(rounds):
        fd = os.open("/dev/infiniband/umad0", os.O_RDWR | os.O_NONBLOCK)
        control(fd, ENABLE, 0)
        for mgmt_class, version, qp in ((0x81, 1, 0), (3, 2, 1)):
            control(fd, REGISTER, struct.pack("<I16sBBB3sB", 0, chance.randbytes(16), qp, mgmt_class, version, b"", 1)
                    .ljust(28, b"\0"))
        for _ in range(20):
            size = chance.choice((0, 10, 36, 255, 256, 257, 400, 3000, 200_000))
            data = chance.randbytes(size) if chance.random() < 0.3 else header(chance, size)
            errors += attempt(os.write, fd, data) is None
            request = chance.choice((ENABLE, REGISTER, UNREGISTER, REGISTER2, 0x1B00 | chance.randrange(256)))
            control(fd, request, chance.randbytes(64))
            attempt(os.read, fd, chance.choice((10, 64, 320, 100_000)))
        os.close(fd)
    print(errors, "errors")


main(int(sys.argv[1]), int(sys.argv[2]))
