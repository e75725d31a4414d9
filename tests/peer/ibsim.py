# SPDX-License-Identifier: Apache-2.0
"""ibsim with a fabric file, and programs that live in it. Everything started here is ended here, by its id."""
import collections
import ctypes
import itertools
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time

UMAD2SIM = next(iter(sorted(pathlib.Path("/usr/lib").glob("*/umad2sim/libumad2sim.so"))), None)
COUNTER = os.environ.get("SMD_PEER_COUNTER")
ROWS_BYTES = 1024 * 8  # of counter.cpp's table


PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def end_with_parent():
    """In a new child: it ends when this test does, also when ctest kills the test for its time."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Failure(Exception):
    """What a scenario found wrong; its text is for whoever reads the test's output."""


def check(condition, text):
    if not condition:
        raise Failure(text)


def wait_for(condition, seconds, what):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.02)
    raise Failure(f"{what}: not within {seconds} s")


def report(clients):
    """What each program said last and how it ended: of a failure that cannot be had again."""
    for client in clients:
        ended = client.process.poll()
        lines = client.log().splitlines()
        if ended is None or ended < 0 or lines:
            print(f"-- {' '.join(map(str, client.process.args))[:120]}: "
                  + ("runs" if ended is None else f"ended with {ended}"))
            print("\n".join(line[:400] for line in lines[-25:]), flush=True)


class Client:
    """A program with a port of the simulated fabric as its umad device."""

    def __init__(self, folder, process, counts):
        self.folder, self.process, self.counts_file = folder, process, counts

    def log(self):
        return "".join((self.folder / n).read_text(errors="replace") for n in ("stdout", "stderr"))

    def counts(self):
        """{(class, method, attribute): sends} so far."""
        if not self.counts_file.exists():
            return {}
        rows = struct.iter_unpack("<II", self.counts_file.read_bytes()[:ROWS_BYTES])
        return {(k >> 24, (k >> 16) & 255, k & 0xFFFF): n for k, n in rows if k and n}

    def times(self):
        """Nanoseconds of the monotonic clock: first trap received, last Set sent, last of a forwarding table."""
        return struct.unpack_from("<QQQ", self.counts_file.read_bytes(), ROWS_BYTES)

    def forget_times(self):
        with open(self.counts_file, "r+b") as table:
            table.seek(ROWS_BYTES)
            table.write(bytes(24))

    def sent(self, method):
        """SMPs sent with this method (0x81 LID-routed ones as well as directed ones are class 1 and 0x81)."""
        return sum(n for (c, m, _), n in self.counts().items() if c in (1, 0x81) and m == method)

    def hang_up(self, log, word):
        """SIGHUP; until its log has the word once more. What the log had before is not read again: it may be long."""
        file = self.folder / log
        before = file.stat().st_size
        self.process.send_signal(signal.SIGHUP)

        def has_it():
            with open(file, "rb") as text:
                text.seek(before)
                return word in text.read()

        wait_for(has_it, 60, f"{word.decode().strip()} after SIGHUP")

    def stop(self, how=signal.SIGTERM, seconds=10):
        if self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(seconds)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode


class Ibsim:
    """One simulator in a private folder. Use with `with`."""

    _numbers = itertools.count(1)

    def __init__(self, net):
        check(UMAD2SIM, "libumad2sim.so: not installed (package ibsim-utils)")
        check(COUNTER and os.path.exists(COUNTER), f"SMD_PEER_COUNTER={COUNTER}: must name libpeer_counter.so")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="smd-peer-"))
        self.name = f"smd-{os.getpid()}-{next(Ibsim._numbers)}"
        self.clients = []
        self.commands = 0
        shutil.copy(net, self.folder / "net")
        read_end, self.console = os.pipe()  # ibsim spins when its standard input ends
        with open(self.folder / "ibsim.log", "wb") as log:
            self.process = subprocess.Popen(
                ["stdbuf", "-oL", "ibsim", "-s", "-N", "65536", "-S", "8192", "-P", "700000", "-L", "49152", "net"],
                cwd=self.folder, stdin=read_end, stdout=log, stderr=subprocess.STDOUT,
                env=dict(os.environ, IBSIM_SOCKNAME=self.name), preexec_fn=end_with_parent)
        os.close(read_end)
        wait_for(self._ready, 60, "ibsim's 'Network simulator ready.'")

    def _ready(self):
        check(self.process.poll() is None, "ibsim ended: " + self.log()[-2000:])
        return "Network simulator ready." in self.log()

    def log(self):
        return (self.folder / "ibsim.log").read_text(errors="replace")

    def command(self, text):
        """A line for ibsim's console; ibsim reads it when it gets round to it."""
        os.write(self.console, (text + "\n").encode())
        self.commands += 1

    def settle(self):
        """Until ibsim has done all commands: it prints its prompt before the first one and after each."""
        wait_for(lambda: self.log().count("sim> ") > self.commands, 20, "ibsim's prompt after its commands")

    def _environment(self, host, folder):
        preload = f"{COUNTER}:{UMAD2SIM}"
        return dict(os.environ, IBSIM_SOCKNAME=self.name, SIM_HOST=host, LD_PRELOAD=preload,
                    SMD_PEER_COUNT=str(folder / "counts"), OSM_TMP_DIR=str(folder), OSM_CACHE_DIR=str(folder),
                    # umad2sim reads 32 bytes behind its buffers and is not instrumented: what it does itself in
                    # memcpy, malloc and free is not ours to judge.
                    ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0:replace_intrin=0",
                    TSAN_OPTIONS=os.environ.get("TSAN_OPTIONS", "") + ":ignore_noninstrumented_modules=1")

    def start(self, host, *command):
        """Starts a program at a host; its folder holds stdout, stderr and what it writes."""
        folder = self.folder / f"client{len(self.clients):05}"
        folder.mkdir()
        with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
            process = subprocess.Popen([str(c) for c in command], cwd=folder, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=err, env=self._environment(host, folder), preexec_fn=end_with_parent)
        client = Client(folder, process, folder / "counts")
        self.clients.append(client)
        return client

    def finish(self, client, command, seconds=120, ok=(0,)):
        """Waits for a program's end."""
        try:
            client.process.wait(seconds)
        except subprocess.TimeoutExpired:
            client.stop()
            raise Failure(f"{' '.join(map(str, command))}: still running after {seconds} s\n{client.log()[-3000:]}")
        check(client.process.returncode in ok, f"{' '.join(map(str, command))}: exit status "
              f"{client.process.returncode}\n{client.log()[-3000:]}")
        return client

    def run(self, host, *command, **options):
        """Runs a program to its end."""
        return self.finish(self.start(host, *command), command, **options)

    def output(self, host, *command, **options):
        client = self.run(host, *command, **options)
        return (client.folder / "stdout").read_text(errors="replace")

    def outputs(self, host, commands, at_once=4, **options):
        """The outputs of many short programs, in their order; ibsim takes ten clients at most."""
        waiting = collections.deque()
        for command in itertools.chain(commands, [None] * at_once):
            if len(waiting) == at_once or (command is None and waiting):
                client, started = waiting.popleft()
                yield (self.finish(client, started, **options).folder / "stdout").read_text(errors="replace")
            if command is not None:
                waiting.append((self.start(host, *command), command))

    def opensm(self, host, *options, seconds=120):
        """opensm as subnet manager, returned when the fabric is up."""
        client = self.start(host, "opensm", "-d", "2", "-f", "osm.log", *options)
        log = client.folder / "osm.log"
        wait_for(lambda: log.exists() and "SUBNET UP" in log.read_text(errors="replace"), seconds,
                 "opensm's SUBNET UP")
        return client

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is Failure:
            report(self.clients[-4:])
        for client in self.clients:
            client.stop()
        os.close(self.console)
        self.process.terminate()
        self.process.wait()
        keep = kind is not None and os.environ.get("SMD_PEER_KEEP")
        if keep:
            print(f"kept: {self.folder}")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)


def hosts_of(net_text):
    """The channel adapters of a fabric file, by node id as SIM_HOST wants it."""
    return re.findall(r'^(?:Ca|Hca)\s+\d+\s+"([^"]+)"', net_text, re.M)
