#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ib-kubernetes' calls to one address while the master of a pair dies: lab_api_pair.py --smd PROGRAM. The address is that of
the SM whose /readyz says 200, asked every 100 ms as a load balancer does; without one the answer is the balancer's 503. No
GUID whose POST was answered is lost (mode sync), no answer is another than 200 and 503, none is missing for longer than 3 s,
and a request with an Idempotency-Key that the old master has answered is answered by the new one without being made again.
Then the same with the standby's address alone: it hands changes on to the master, and is master after the kill."""
import base64
import http.client
import json
import re
import secrets
import signal
import ssl
import subprocess
import threading
import time

from failover_pair import Sm, free_ports, hosts_in
from ibsim import check, wait_for
from lab import Lab
from runner import run_scenario

LONGEST = 3.0  # seconds without a 200
UFM = "/ufmRest/resources/pkeys"
BLUE = "/v1/subnets/east/partitions/blue"
SPEC = "ft2:8"


class Address:
    """One address in front of both SMs."""

    def __init__(self, ports):
        self.ports, self.chosen, self.ended = ports, None, threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)
        self.thread.start()

    @staticmethod
    def connection(port, timeout):
        return http.client.HTTPSConnection("127.0.0.1", port, timeout=timeout, context=ssl._create_unverified_context())

    def ready(self, port):
        try:
            connection = self.connection(port, 0.5)
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200
        except OSError:
            return False

    def look(self):
        while not self.ended.wait(0.1):
            self.chosen = next((port for port in self.ports if self.ready(port)), None)

    def call(self, method, path, body=None, headers=None):
        """Status, body and headers; 503 where no master is known, 0 where the connection was cut."""
        port = self.chosen
        if port is None:
            return 503, b"", {}
        try:
            connection = self.connection(port, 10)
            connection.request(method, path, body=json.dumps(body) if body is not None else None, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read(), dict(answer.getheaders())
        except (OSError, http.client.HTTPException):
            return 0, b"", {}


def guid(number):
    return f"02000000{number:08x}"


class Client:
    """Adds one GUID after the other, each until it is answered with 200, as ib-kubernetes does."""

    def __init__(self, address, headers):
        self.address, self.headers, self.ended = address, headers, threading.Event()
        self.answered, self.statuses, self.times = [], set(), []
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        number = 0
        while not self.ended.is_set():
            body = {"pkey": "0x0012", "index0": True, "ip_over_ib": True, "membership": "full", "guids": [guid(number)]}
            status, text, _ = self.address.call("POST", UFM, body, self.headers)
            self.statuses.add(status)
            if status == 200:
                self.answered.append(guid(number))
                self.times.append(time.monotonic())
                number += 1
            elif status not in (0, 503):
                self.wrong = text
            time.sleep(0.02)

    def gap_after(self, began):
        times = [began] + [one for one in self.times if one > began]
        return max(b - a for a, b in zip(times, times[1:]))


class Pair:
    """Two SMs with an API on the network: sms[0] is master, sms[1] has a current copy."""

    def __init__(self, lab):
        key = lab.folder / "ha_key"
        key.touch(0o600)
        key.write_text(secrets.token_hex(32))
        ports = free_ports(4)
        self.ports, self.sms = ports[2:], []
        for at, host in enumerate(hosts_in(SPEC)[:2]):
            cert, secret = lab.folder / f"{host}.pem", lab.folder / f"{host}.key"
            done = lab.smd, "api", "cert", "--self-signed", "127.0.0.1", "--cert", cert, "--key", secret
            subprocess.run([str(word) for word in done], check=True, stdout=subprocess.DEVNULL)
            self.sms.append(Sm(lab, host, f'[sm]\npriority = {10 - at}\n[ha]\nprofile = "fast"\nmode = "sync"\n'
                               f'listen = "127.0.0.1:{ports[at]}"\n'
                               f'peers = ["127.0.0.1:{ports[1 - at]}"]\npsk_file = "{key}"\n[api]\nlisten = '
                               f'"127.0.0.1:{ports[2 + at]}"\ncert = "{cert}"\nkey = "{secret}"\n'
                               '[[subnet]]\nname = "east"\nport = "mlx5_0:1"\n'))
            if at == 0:
                wait_for(lambda: "state=up" in self.sms[0].client.log(), 60, "smd up")
        wait_for(lambda: self.sms[1].role() == "current", 60, "a current copy at the standby")

    def headers(self, name, role):
        token = re.search(r"smd_\w+", self.sms[0].ask("token", "add", name, "--role", role).stdout)[0]
        return {"Authorization": "Basic " + base64.b64encode(f"admin:{token}".encode()).decode(),
                "Content-Type": "application/json; charset=utf-8"}

    def used(self, name, sm):
        """Whether the SM's list says that the token was used."""
        return re.search(rf"^{name}:.* last used \d", sm.ask("token").stdout, re.M) is not None

    def kill_under(self, client, allowed):
        """The master dies while the client calls: what comes of it."""
        wait_for(lambda: len(client.answered) > 50, 20, f"calls that are answered: {client.statuses}")
        before, began = len(client.answered), time.monotonic()
        self.sms[0].client.stop(signal.SIGKILL)
        wait_for(lambda: len(client.answered) > before + 50, 30, f"calls after the kill: {client.statuses}")
        client.ended.set()
        client.thread.join()
        gap = client.gap_after(began)
        print(f"   {len(client.answered)} calls, statuses {sorted(client.statuses)}, none answered for {gap:.2f} s", flush=True)
        check(client.statuses <= allowed, f"statuses {client.statuses}: {getattr(client, 'wrong', '')}")
        check(gap <= LONGEST, f"no answer for {gap:.1f} s")
        status, text, _ = client.address.call("GET", UFM + "/?guids_data=true", None, client.headers)
        listed = {one["guid"] for one in json.loads(text)["0x12"]["guids"]}
        check(status == 200 and set(client.answered) <= listed, f"lost: {sorted(set(client.answered) - listed)}")


class Standby(Address):
    """The address of the standby, whoever is master."""

    def __init__(self, port):
        self.chosen = port


def balanced(args):
    """One address in front of both."""
    with Lab(args.smd, SPEC) as lab:
        pair = Pair(lab)
        headers = pair.headers("ib-kubernetes", "operator")
        address = Address(pair.ports)
        wait_for(lambda: address.call("GET", "/ufmRest/app/ufm_version", None, headers)[0] == 200, 20, "ufm_version")
        check(address.call("PUT", BLUE, {}, headers)[0] == 201, "PUT blue")
        once = {**headers, "Idempotency-Key": "k1"}
        first = address.call("POST", BLUE + "/members", ["0x10"], once)
        check(first[0] == 200 and b'"changed":true' in first[1], f"POST members: {first}")
        pair.kill_under(Client(address, headers), {0, 200, 503})
        again = address.call("POST", BLUE + "/members", ["0x10"], once)
        check(again[:2] == first[:2] and again[2].get("Idempotent-Replayed") == "true", f"{first} and then {again}")
        other = address.call("POST", BLUE + "/members", ["0x11"], once)
        check(other[0] == 422, f"another body with the same key: {other}")
        address.ended.set()


def handed_on(args):
    """The standby is asked: the master does it, and dies under it."""
    with Lab(args.smd, SPEC) as lab:
        pair = Pair(lab)
        headers, viewer = pair.headers("ib-kubernetes", "operator"), pair.headers("grafana", "viewer")
        address, member = Standby(pair.ports[1]), hosts_in(SPEC)[2]
        wait_for(lambda: address.call("GET", BLUE.rsplit("/", 1)[0], None, viewer)[0] == 200, 20, "the tokens at the standby")
        wait_for(lambda: all(pair.used("grafana", sm) for sm in pair.sms), 10,
                 "the use of a token at the standby in both lists")
        check("method=USE" not in pair.sms[0].client.log(), "a use of a token is in the log")
        made = address.call("PUT", BLUE, {"pkey": "0x13", "members": [member]}, headers)
        check(made[0] == 201 and made[2].get("X-SMD-Role") == "standby", f"PUT blue: {made}")
        status, text, _ = address.call("GET", BLUE, None, viewer)
        check(status == 200 and b'"0x0013"' in text, f"read at the standby: {status} {text}")
        wait_for(lambda: "0x0013" in lab.output(member, "smpquery", "-D", "pkeys", "0"), 10, "0x0013 in the member's table")
        check(address.call("PUT", BLUE, {}, viewer)[0] == 403, "a viewer changes nothing")
        pair.sms[1].ask("partitions", "create", "green", "--pkey", "0x8014")
        check("green" in pair.sms[0].ask("partitions", "list").stdout, "green at the master")
        check("via=" in pair.sms[0].client.log(), "the audit names the standby")
        pair.kill_under(Client(address, headers), {200, 503})


def stalled(args):
    """The master stands still (a paused machine), the standby takes over and answers changes, the old master goes on. A use of
    a token of which it could not be told any more is not lost."""
    with Lab(args.smd, SPEC) as lab:
        pair = Pair(lab)
        headers, late = pair.headers("ib-kubernetes", "operator"), pair.headers("late", "viewer")
        doomed = pair.headers("doomed", "operator")
        address, process = Standby(pair.ports[1]), pair.sms[0].client.process
        wait_for(lambda: address.call("GET", BLUE.rsplit("/", 1)[0], None, doomed)[0] == 200, 20, "the tokens at the standby")
        process.send_signal(signal.SIGSTOP)
        check(address.call("GET", BLUE, None, late)[0] == 404, "a read at the standby of a hung master")
        wait_for(lambda: pair.used("late", pair.sms[1]), 2, "the use of a token in the standby's list")
        began = time.monotonic()
        hung = address.call("POST", UFM, {"pkey": "0x0014", "guids": [guid(1)]}, headers)
        wait_for(lambda: address.ready(pair.ports[1]), 10, "the standby's takeover")
        print(f"   a change for the hung master: {hung[0]} after {time.monotonic() - began:.1f} s", flush=True)
        check(hung[0] == 503 and time.monotonic() - began < 3, f"a change for the hung master: {hung}")
        made = address.call("PUT", BLUE, {"pkey": "0x13", "members": [hosts_in(SPEC)[2]]}, headers)
        check(made[0] == 201, f"PUT blue: {made}")
        pair.sms[1].ask("token", "revoke", "doomed")
        check(pair.used("late", pair.sms[1]), "the takeover has lost a use of a token")
        process.send_signal(signal.SIGCONT)
        wait_for(lambda: pair.sms[0].role() == "current", 30, f"a current copy at the old master: {pair.sms[0].client.log()[-2000:]}")
        check(address.ready(pair.ports[1]) and not address.ready(pair.ports[0]), "the fabric stays where it is")
        for port in pair.ports:
            there = Standby(port)
            check(there.call("GET", BLUE, None, headers)[0] == 200, f"blue is lost at {port}")
            check(there.call("GET", BLUE, None, doomed)[0] == 401, f"a revoked token is good at {port}")
        wait_for(lambda: pair.used("late", pair.sms[0]), 20, "the use of a token in the list of the old master")
        check("sm.stood_still" in pair.sms[0].client.log(), "the standstill is in the log")


if __name__ == "__main__":
    for scenario in (balanced, handed_on, stalled):
        run_scenario(scenario, __doc__)
