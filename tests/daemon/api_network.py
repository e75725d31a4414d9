#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The API over TLS of a real daemon: tokens over a restart, certificates over a reload, and clients that do not behave.
api_network.py --smd PROGRAM [--attempts N] [--seconds S]"""
import argparse
import hashlib
import hmac
import http.client
import http.server
import json
import os
import pathlib
import random
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

from subject import LIMIT, Daemon, Failed, expect, until

PROMPT = 5.0  # seconds in which the Unix socket answers, on a loaded machine too


class Site:
    def __init__(self, args, folder):
        self.args, self.folder = args, pathlib.Path(folder)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.config = self.folder / "smd.toml"
        self.config.write_text(f'[api]\nlisten = "127.0.0.1:{self.port}"\ncert = "api.pem"\nkey = "api.key"\n')
        self.certificate()

    def certificate(self):
        os.spawnl(os.P_WAIT, self.args.smd, "smd", "api", "cert", "--self-signed", "127.0.0.1", "--force", "--cert",
                  str(self.folder / "api.pem"), "--key", str(self.folder / "api.key"))

    def daemon(self):
        return Daemon(self.args.smd, "--sim", "ft2:4", "--config", self.config, "--state-dir", self.folder / "state")

    def trust(self):
        return ssl.create_default_context(cafile=self.folder / "api.pem")

    def get(self, path, secret=None):
        """Status and body; None where there is no answer."""
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=self.trust(), timeout=10)
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {secret}"} if secret else {})
            answer = connection.getresponse()
            return answer.status, answer.read()
        except OSError:
            return None
        finally:
            connection.close()


def tokens_and_certificates(site):
    with site.daemon() as smd:
        smd.swept()
        secret = smd.tell("token", "add", "mon", "--role", "viewer").strip()
        expect(site.get("/v1/status", secret)[0] == 200, "a token opens the API")
        expect(site.get("/v1/status")[0] == 401, "nobody else is let in")
        expect(site.get("/readyz")[0] == 200, "the master is ready")
        smd.end()
    with site.daemon() as smd:
        smd.swept()
        expect(site.get("/v1/status", secret)[0] == 200, "a token outlives a restart")
        expect(secret not in smd.log(), "no secret in the log")
        old = site.trust()
        site.certificate()
        smd.process.send_signal(signal.SIGHUP)
        until(lambda: site.get("/healthz") is not None, "the new certificate")
        smd.logged("api.certificate_in_use")
        try:
            with socket.create_connection(("127.0.0.1", site.port)) as plain:
                old.wrap_socket(plain, server_hostname="127.0.0.1")
            raise Failed("the old certificate is still shown")
        except ssl.SSLError:
            pass
        smd.tell("token", "revoke", "mon")
        expect(site.get("/v1/status", secret)[0] == 401, "a revoked token opens nothing")
        smd.end()
    expect(secret.encode() not in b"".join(p.read_bytes() for p in (site.folder / "state").iterdir()),
           "no secret in the store")


def resumption(site):
    """Each connection proves itself, by either version of TLS."""
    with site.daemon() as smd:
        smd.swept()
        until(lambda: site.get("/healthz") is not None, "the API on the network")
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = site.trust()
            context.minimum_version = context.maximum_version = version
            session = None
            for attempt in range(2):
                with socket.create_connection(("127.0.0.1", site.port), timeout=10) as plain:
                    with context.wrap_socket(plain, server_hostname="127.0.0.1", session=session) as line:
                        line.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                        expect(b" 200 " in line.recv(65536), f"{version.name}: an answer")
                        expect(not line.session_reused, f"{version.name}: a session is resumed")
                        expect(line.session is None or not line.session.has_ticket, f"{version.name}: a ticket")
                        session = line.session
        smd.end()


def ask(site, method, path, body=None, headers=None):
    """Status, headers and body."""
    connection = http.client.HTTPSConnection("127.0.0.1", site.port, context=site.trust(), timeout=10)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    got = answer.status, answer.headers, answer.read()
    connection.close()
    return got


def ufm_session(site):
    """A cookie of /dologin opens /ufmRestV2 until its token is revoked; unknown calls are named in the log."""
    with site.daemon() as smd:
        smd.swept()
        secret = smd.tell("token", "add", "ufm", "--role", "operator").strip()
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        status, headers, _ = ask(site, "POST", "/dologin", f"httpd_username=admin&httpd_password={secret}", form)
        expect(status == 200, f"/dologin: {status}")
        cookie = {"Cookie": headers["Set-Cookie"].split(";")[0]}
        expect(ask(site, "GET", "/ufmRestV2/app/ufm_version", None, cookie)[0] == 200, "the cookie")
        body = json.dumps({"pkey": "0x0011", "guids": ["0002c90300000001"] * 3000})  # longer than strangers may send
        expect(ask(site, "POST", "/ufmRestV2/resources/pkeys", body, cookie)[0] == 200, "a change with the cookie")
        keys = json.loads(ask(site, "GET", "/ufmRestV2/resources/pkeys/?guids_data=True", None, cookie)[2])
        expect(keys["0x11"]["guids"][0]["guid"] == "0002c90300000001", keys)
        for path in ("/ufmRest/app/ufm_version", "/ufmRestV3/app/ufm_version", "/v1/status", "/metrics"):
            expect(ask(site, "GET", path, None, cookie)[0] == 401, f"{path} takes no cookie")
        basic = {"Authorization": f"Basic {secret}"}
        for _ in range(3):
            status, _, body = ask(site, "GET", "/ufmRest/resources/vfs", None, basic)
            expect(status == 404 and json.loads(body)["error"]["message"], body)
        smd.logged("api.ufm_unknown")
        expect(smd.log().count("GET /ufmRest/resources/vfs") == 1, "one line a minute")
        expect(ask(site, "GET", "/healthcheck")[0] == 200, "/healthcheck needs no token")
        smd.tell("token", "revoke", "ufm")
        begun = time.monotonic()
        until(lambda: ask(site, "GET", "/ufmRestV2/app/ufm_version", None, cookie)[0] == 401, "the session ends")
        expect(time.monotonic() - begun < 1 + PROMPT, "with its token")
        expect(secret not in smd.log(), "no secret in the log")
        smd.end()


class Follower:
    """A client of server-sent events over TLS."""

    def __init__(self, site, secret, path="/v1/events", last=None):
        self.line = site.trust().wrap_socket(socket.create_connection(("127.0.0.1", site.port), timeout=30),
                                             server_hostname="127.0.0.1")
        head = f"GET {path} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer {secret}\r\n"
        self.line.sendall((head + (f"Last-Event-ID: {last}\r\n" if last else "") + "\r\n").encode())
        self.text = ""

    def until(self, what):
        """Reads until that has come; False: it ended before."""
        end = time.monotonic() + LIMIT
        while what not in self.text and time.monotonic() < end:
            piece = self.line.recv(65536)
            if not piece:
                return False
            self.text += piece.decode()
        return what in self.text

    def last_id(self):
        return [line for line in self.text.splitlines() if line.startswith("id: ")][-1][4:]


def events(site):
    with site.daemon() as smd:
        smd.swept()
        secret = smd.tell("token", "add", "watch", "--role", "viewer").strip()
        follower = Follower(site, secret)
        expect(follower.until("retry: "), "a stream begins")
        begun = time.monotonic()
        smd.tell("log", "debug")
        expect(follower.until("event: api.log\n"), "an event reaches its reader")
        took = time.monotonic() - begun
        last = follower.last_id()
        smd.tell("log", "default")  # while the reader is away
        follower.line.close()
        time.sleep(1.5)  # written by then: a process may also die
        smd.process.kill()
        smd.process.wait()
    with site.daemon() as smd:
        smd.swept()
        back = Follower(site, secret, last=last)
        expect(back.until("event: api.on_network\n"), "the new process")
        expect('"log_level":"info"' in back.text, "what came while the reader was away comes")
        expect("event: gap" not in back.text and '"log_level":"debug"' not in back.text, "and nothing twice")
        ids = [tuple(map(int, line[4:].split("-"))) for line in back.text.splitlines() if line.startswith("id: ")]
        expect(ids == sorted(ids) and ids[0] > tuple(map(int, last.split("-"))), f"ids go up: {last}, {ids}")
        begun = time.monotonic()
        smd.tell("token", "revoke", "watch")
        while back.line.recv(65536):
            pass
        ended = time.monotonic() - begun
        expect(ended < 1 + PROMPT, f"the stream of a revoked token ends: {ended:.1f} s")
        with subprocess.Popen([smd.smd, "events", "--follow", "--limit", "1", "--socket", str(smd.socket)],
                              stdout=subprocess.PIPE, text=True) as cli:
            line = cli.stdout.readline()
            expect(" " in line, "smd events --follow begins with the latest")
            smd.tell("resweep")
            while "api.resweep" not in line:
                line = cli.stdout.readline()
                expect(line, "smd events --follow goes on")
            smd.end()
            time.sleep(1)
            expect(cli.poll() is None, "smd events --follow waits for the next daemon")
            cli.terminate()
        print(f"event to reader {took * 1e3:.0f} ms with the command; stream of a revoked token {ended * 1e3:.0f} ms")


class Receiver(http.server.BaseHTTPRequestHandler):
    """Of webhooks."""
    got, refuse = [], False

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        signature = hmac.new(b"0123456789abcdef", self.headers["X-SMD-Timestamp"].encode() + b"." + body, hashlib.sha256)
        good = hmac.compare_digest("sha256=" + signature.hexdigest(), self.headers["X-SMD-Signature"])
        if good and not Receiver.refuse:
            Receiver.got += json.loads(body)["events"]
        self.send_response(500 if Receiver.refuse or not good else 204)
        self.end_headers()

    def log_message(self, *_):
        pass


def webhooks(site):
    secret = site.folder / "webhook.secret"
    secret.write_text("0123456789abcdef\n")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(site.folder / "api.pem", site.folder / "api.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    hook = (f'[[api.webhook]]\nurl = "https://127.0.0.1:{server.server_port}/x"\nsecret_file = "{secret}"\n'
            f'events = ["api.token"]\nca_file = "{site.folder / "api.pem"}"\n')
    # Its name is in no certificate: nothing is ever sent there.
    wrong = f'[[api.webhook]]\nurl = "https://localhost:{server.server_port}/y"\nsecret_file = "{secret}"\nca_file = "{site.folder / "api.pem"}"\n'
    before = site.config.read_text()
    site.config.write_text(before + hook + wrong)
    names = lambda: [event["fields"]["token"] for event in Receiver.got]
    with site.daemon() as smd:
        smd.swept()
        time.sleep(0.5)  # a receiver begins with the next event
        smd.tell("token", "add", "one", "--role", "viewer")
        until(lambda: names() == ["one"], "an event at the receiver")
        smd.logged("api.webhook_failed")
        Receiver.refuse = True
        smd.tell("token", "add", "two", "--role", "viewer")
        smd.logged("api.webhook_failed", 2)
        time.sleep(1.5)
        smd.process.kill()
        smd.process.wait()
    Receiver.refuse = False
    with site.daemon() as smd:
        smd.swept()
        smd.tell("token", "add", "three", "--role", "viewer")
        until(lambda: names() == ["one", "two", "three"], f"what waited comes after a kill -9: {names()}")
        begun = time.monotonic()
        server.shutdown()
        server.server_close()
        smd.tell("token", "revoke", "one")
        expect(time.monotonic() - begun < PROMPT, "a dead receiver holds nothing up")
        smd.end()
    site.config.write_text(before)


def commands(site):
    with site.daemon() as smd:
        smd.swept()
        text = smd.tell("why", "h00001")
        expect('"h00001" port 1: Active' in text and ', to "' in text, f"smd why: {text}")
        expect("has no port 77" in smd.tell("why", "h00001:77", status=1), "a port that is not there")
        why = json.loads(smd.tell("why", "h00001:1", "--json"))
        expect(len(why["ports"]) == 1 and why["ports"][0]["state"] == "Active", f"smd why --json: {why}")
        smd.tell("why", "\x1b[31mnobody", status=1)
        smd.end()


def memory(pid):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) // 1024
    return 0


def prompt(smd):
    begin = time.monotonic()
    smd.status()
    return time.monotonic() - begin


def from_address(site, i):
    """A connection of one of many clients of this machine."""
    one = socket.socket()
    one.setblocking(False)
    one.bind((f"127.0.{i % 200 + 1}.{i // 200 % 200 + 1}", 0))
    try:
        one.connect(("127.0.0.1", site.port))
    except BlockingIOError:
        pass
    return one


def hostile(site, attempts, seconds):
    with site.daemon() as smd:
        smd.swept()
        secret = smd.tell("token", "add", "mon", "--role", "viewer").strip()
        before, slowest, held = memory(smd.process.pid), 0.0, []
        for i in range(attempts):
            one = from_address(site, i)
            held.append(one)
            try:
                one.send(random.choice((b"", b"\x16\x03\x01\x02\x00\x01", b"GET / HTTP/1.1\r\n", os.urandom(100))))
            except OSError:
                pass
            if len(held) > 500:
                held.pop(0).close()
            if i % 500 == 0:
                slowest = max(slowest, prompt(smd))
        answers = fuzz(site, secret, seconds)
        slowest = max(slowest, prompt(smd))
        grown = memory(smd.process.pid) - before
        for one in held:
            one.close()
        until(lambda: site.get("/v1/status", secret) is not None, "a client that behaves is served afterwards")
        expect(grown <= site.args.memory, f"{grown} MB more")
        expect(slowest <= PROMPT, f"the Unix socket took {slowest:.1f} s")
        print(f"{attempts} attempts, {answers} answers to rubbish: {grown} MB more, Unix socket {slowest * 1e3:.0f} ms at most")
        smd.end()


def rubbish():
    """Requests that are nearly right."""
    line = random.choice((b"GET ", b"PUT ", b"POST ", b"\0", b"DELETE ")) + random.choice(
        (b"/v1/status", b"/metrics?node=%", b"/v1/subnets/ft2%3A4/nodes?limit=9" + b"9" * random.randrange(30),
         b"/ufmRest/resources/pkeys", b"/" + os.urandom(20), b"/v1/subnets/" + b"%2F" * random.randrange(300)))
    body = random.choice((b"", b"[" * 5000, b'{"pkey": "0x5", "guids": ["' + b"f" * random.randrange(40) + b'"]}',
                          os.urandom(random.randrange(2000)), b'{"\\u0000": 1e999}'))
    return line + b" HTTP/1.1\r\n" + random.choice((b"", b"Host: x\r\n", b"Host: x\r\n", b"Host: x\r\n")), body


def fuzz(site, secret, seconds):
    end, answers = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        try:
            with socket.create_connection(("127.0.0.1", site.port), timeout=2) as plain:
                with site.trust().wrap_socket(plain, server_hostname="127.0.0.1") as line:
                    for _ in range(20):
                        first, body = rubbish()
                        head = f"Authorization: Bearer {secret}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
                        line.sendall(first + head + body)
                        answer = line.recv(65536)
                        answers += bool(answer)
                        if not answer:
                            break
        except OSError:
            pass
    return answers


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--smd", required=True)
    parser.add_argument("--attempts", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--memory", type=int, default=100, help="MB that hostile clients may cost")
    args = parser.parse_args()
    random.seed(25)
    with tempfile.TemporaryDirectory(prefix="smd-api-") as folder:
        site = Site(args, folder)
        try:
            tokens_and_certificates(site)
            resumption(site)
            ufm_session(site)
            events(site)
            webhooks(site)
            commands(site)
            hostile(site, args.attempts, args.seconds)
        except Failed as failure:
            sys.exit(f"api_network: {failure}")


if __name__ == "__main__":
    main()
