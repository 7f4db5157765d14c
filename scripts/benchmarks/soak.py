"""A server under a long mixed load, one request in ten hostile: what it answers, and whether its memory grows."""
import collections
import json
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

from .common import WORKSPACE, tell
from .serve import ask, free_port, make_space, memory, wait_for, words_of

# Requests that wrk sends, one after the other, and how many answers had which status.
SCRIPT = """
local requests, at, counts, thread = dofile("%s"), 0, {}, nil
function setup(created) thread = created end
function request()
  at = at %% #requests + 1
  local asked = requests[at]
  return wrk.format(asked.method, asked.path, asked.headers, asked.body)
end
statuses = ""
function response(status)
  counts[status] = (counts[status] or 0) + 1
  local parts = {}
  for key, count in pairs(counts) do parts[#parts + 1] = key .. "=" .. count end
  statuses = table.concat(parts, " ")
end
function done() print("statuses " .. thread:get("statuses")) end
"""
# Requests of a cycle, of which one in ten is hostile.
CYCLE = 2000
# Seconds within which a broken connection is answered or closed: the server waits 10 for a head and 30 for a body.
PATIENCE = 45


def polite(source, target, words, rng):
    """A request as the page and programs send it."""
    some = rng.sample(words, 16)
    direction = {"from": source, "to": target}
    kinds = [
        (10, "/v1/translate", {**direction, "words": some[:1], "k": 5, "criterion": "csls"}),
        (2, "/v1/translate", {**direction, "words": some, "k": 10, "criterion": "nn"}),
        (2, "/v1/neighbors", {"from": source, "words": some[:2], "k": 10}),
        (1, "/v1/vectors", {"view": source, "words": some[:4]}),
        (1, "/v1/explain", {**direction, "word": some[0]}),
    ]
    pages = [(2, f"/v1/complete?view={source}&prefix={some[0][:2]}"), (1, "/v1/spaces"), (1, "/healthz"), (1, "/")]
    posts = [("POST", path, json.dumps(body)) for _, path, body in kinds]
    gets = [("GET", path, "") for _, path in pages]
    return rng.choices(posts + gets, [weight for weight, *_ in kinds] + [weight for weight, _ in pages])[0]


def hostile(source, target, rng):
    """A request that must get a status from 400 to 499."""
    wanted = {"from": source, "to": target, "words": ["x"], "k": 5}
    bodies = ["", "{", "[]", "nul", '{"from": NaN}', "[" * 2000, '{"from": "\\ud800"}', json.dumps({**wanted, "k": -1}),
              json.dumps({**wanted, "k": 10**12}), json.dumps({**wanted, "words": "x"}),
              json.dumps({**wanted, "words": ["x" * 1000]}), json.dumps({**wanted, "words": ["x"] * 600}),
              json.dumps({**wanted, "to": "nowhere"}), json.dumps({**wanted, "space": "../../etc"}),
              json.dumps({**wanted, "criterion": "csls:k=0"}), json.dumps({**wanted, "surplus": 1})]
    paths = ["/../../etc/passwd", "/assets/..%2f..%2fetc%2fpasswd", "/assets/%00", "/v1/nothing", "/v1/complete",
             f"/v1/complete?view={source}&prefix={'x' * 4000}", "/v1/map/points?space=%2e%2e", "/v1/translate"]
    posts = [("POST", "/v1/translate", body) for body in bodies]
    posts.append(("POST", "/v1/project", json.dumps({"view": source, "vectors": [[1e39, "NaN"]]})))
    return rng.choice(posts + [("GET", path, "") for path in paths] + [("DELETE", "/v1/spaces", "")])


def lua(text):
    """A string of Lua with these bytes."""
    return '"' + "".join(f"\\{byte:03d}" for byte in text.encode("utf-8", "surrogatepass")) + '"'


def write_requests(path, source, target, words):
    rng = random.Random(1)
    rows = []
    for number in range(CYCLE):
        asked = hostile(source, target, rng) if number % 10 == 9 else polite(source, target, words, rng)
        method, place, body = map(lua, asked)
        headers = '{["Content-Type"] = "application/json"}'
        rows.append(f"{{method = {method}, path = {place}, body = {body}, headers = {headers}}}")
    path.write_text("return {" + ",\n".join(rows) + "}")


def broken_connections(port):
    """What a client may send that breaks off, dawdles or makes no sense: bytes, and the seconds between their pieces."""
    head = b"POST /v1/translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return {
        "a body that breaks off": ([head + b"Content-Length: 1000\r\n\r\n{"], 0),
        "a body of 1 GB": ([head + b"Content-Length: 1000000000\r\n\r\n", b"x" * 10_000_000], 0),
        "a head that comes byte by byte": ([bytes([byte]) for byte in head], 1),
        "a body that comes byte by byte": ([head + b"Content-Length: 100\r\n\r\n", *[b" "] * 100], 1),
        "no HTTP": ([random.Random(port).randbytes(4096)], 0),
        "a head of 1 MB": ([head + b"X: " + b"x" * 1_000_000 + b"\r\n\r\n"], 0),
        "two lengths": ([head + b"Content-Length: 1\r\nContent-Length: 9\r\n\r\n{}"], 0),
        "silence": ([], 0),
    }


def outcome(port, pieces, pause):
    """How a server ends a broken connection."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
            until = time.monotonic() + PATIENCE
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(pause)
                if time.monotonic() > until:
                    return "still open"
            answer = connection.recv(4096)
    except TimeoutError:
        return "still open"
    except OSError:
        return "closed"
    status = re.match(rb"HTTP/1\.[01] (\d+)", answer)
    return status[1].decode() if status else "closed"


def break_connections(port, ended, outcomes):
    while not ended.is_set():
        for name, (pieces, pause) in broken_connections(port).items():
            outcomes[name, outcome(port, pieces, pause)] += 1
            if ended.is_set():
                return


def soak(options):
    """Mixed load for minutes, one request in ten hostile, and broken connections beside it."""
    if not shutil.which("wrk"):
        sys.exit("this benchmark needs wrk: apt install wrk")
    space, _ = make_space(options)
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    server = subprocess.Popen([options.binary, "serve", space, "--port", str(port), "--quiet"], stdout=subprocess.DEVNULL)
    outcomes, sizes, ended = collections.Counter(), [], threading.Event()
    try:
        described = json.loads(wait_for(f"{url}/v1/spaces", server))["spaces"][0]
        views = sorted(described["views"], key=lambda view: view["words"])
        source, target = views[0]["name"], views[-1]["name"]
        words = [word for word in words_of(url, source) if re.fullmatch(r"[a-z0-9]+", word)][:8000]
        requests, script = WORKSPACE / "requests.lua", WORKSPACE / "soak.lua"
        write_requests(requests, source, target, words)
        script.write_text(SCRIPT % requests)
        wait_for_map(url)
        for criterion in ("csls", "nn", "pmi"):
            prepared(url, {"from": source, "to": target, "words": words[:1], "criterion": criterion})
        for _ in range(options.wreckers):
            threading.Thread(target=break_connections, args=(port, ended, outcomes), daemon=True).start()
        command = ["wrk", "--threads", "1", "--connections", str(options.connections), "--timeout", "60s", "--latency",
                   "--script", str(script), "--duration", f"{options.seconds}s", url]
        load = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        while load.poll() is None:
            sizes.append((memory(server, "RssAnon"), memory(server)))
            time.sleep(min(10, options.seconds / 10))
        output = load.stdout.read()
        tell(output)
        ended.set()
    finally:
        server.send_signal(signal.SIGTERM)
        code = server.wait(90)
    yield report(options, described, output, outcomes, sizes, code, views[-1]["words"])


def prepared(url, wanted):
    """Waits until a criterion is prepared."""
    deadline = time.time() + 900
    while True:
        try:
            return ask(f"{url}/v1/translate", wanted)
        except OSError:
            if time.time() > deadline:
                raise


def wait_for_map(url, seconds=3600):
    """Waits until the map is laid out, which the first server of a space does beside its requests, in memory that it then gives back."""
    until = time.time() + seconds
    while time.time() < until:
        with urllib.request.urlopen(f"{url}/v1/map?layout=pca") as answer:
            if all(layout["ready"] for layout in json.load(answer)["layouts"]):
                return
        time.sleep(1)
    sys.exit("the map is not laid out")


def report(options, described, output, outcomes, sizes, code, count):
    statuses = dict(pair.split("=") for pair in re.search(r"^statuses (.*)$", output, re.MULTILINE)[1].split())
    errors = re.search(r"Socket errors: (.*)", output)
    table = [["answer", "times"], *([status, f"{int(number):,}"] for status, number in sorted(statuses.items())),
             *([f"{name}: {end}", str(number)] for (name, end), number in sorted(outcomes.items()))]
    rate = re.search(r"Requests/sec:\s+([\d.]+)", output)[1]
    p99 = re.search(r"^\s+99%\s+(\S+)\s*$", output, re.MULTILINE)[1]
    own, whole = zip(*sizes)
    after_a_tenth = len(sizes) // 10
    notes = [
        f"{options.seconds} s, {options.connections} connections of wrk and {options.wreckers} that break off, dawdle or send no HTTP; "
        f"{float(rate):,.0f} requests a second, 99 % of them within {p99}. Socket errors: {errors[1] if errors else 'none'}.",
        f"Translations of single words and of 16, neighbours, vectors, explanations, completions and pages among {count:,} words; one request in ten is hostile.",
        f"Memory of its own: {own[0]:,.0f} MB at first, {own[after_a_tenth]:,.0f} MB after a tenth of the time, {own[-1]:,.0f} MB at the end, {max(own):,.0f} MB at most. "
        f"With the mapped files: {whole[after_a_tenth]:,.0f} MB after a tenth of the time, {whole[-1]:,.0f} MB at the end. The map was laid out before.",
        f"After SIGTERM the server ended with {code}.",
    ]
    return f"A mixed load of {options.seconds} seconds, {count:,} x {described['latent']} targets", table, notes
