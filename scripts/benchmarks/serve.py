"""How many requests a second a server answers, and how long they wait."""
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

from .common import WORKSPACE, tell

DIM, TRAINED, K = 300, 4000, 5
# Requests that wrk sends: one word each, another one every time.
SCRIPT = """
local words, at = {}, 0
for line in io.lines("%s") do words[#words + 1] = line end
function init(arguments) at = math.random(#words) end
function request()
  at = at %% #words + 1
  return wrk.format("POST", "%s", {["Content-Type"] = "application/json"}, string.format('%s', words[at]))
end
"""
RIVAL = '''
import faiss, numpy, sys
from fastapi import FastAPI
from pydantic import BaseModel
faiss.omp_set_num_threads(int(sys.argv[2]))
folder = sys.argv[1]
queries, targets = numpy.load(folder + "/queries.npy"), numpy.load(folder + "/targets.npy")
words = {word: row for row, word in enumerate(open(folder + "/queries.txt", encoding="utf-8").read().split("\\n"))}
names = open(folder + "/targets.txt", encoding="utf-8").read().split("\\n")
index = faiss.IndexFlatIP(targets.shape[1])
index.add(targets)

class Asked(BaseModel):
    word: str
    k: int = 5

app = FastAPI()

@app.post("/translate")
def translate(asked: Asked):
    scores, rows = index.search(queries[words[asked.word]][None], asked.k)
    return {"candidates": [{"word": names[row], "score": float(score)} for row, score in zip(rows[0], scores[0])]}

if __name__ == "__main__":
    import uvicorn
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[3]), log_level="error", access_log=False)
'''


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def make_space(options):
    """A space of two views, from files of vectors or of related random numbers."""
    import numpy as np
    space, words = WORKSPACE / f"served-{options.targets}", WORKSPACE / "asked.txt"
    if options.space:
        space = options.space
    elif not space.exists():
        rng = np.random.default_rng(0)
        for name, count in (("a", options.sources), ("b", options.targets)):
            rows = np.random.default_rng(1).standard_normal((count, DIM), dtype=np.float32)
            rows = rows @ rng.standard_normal((DIM, DIM), dtype=np.float32) / DIM**0.5
            rows += 0.5 * rng.standard_normal(rows.shape, dtype=np.float32)
            np.save(WORKSPACE / f"{name}.npy", rows)
            (WORKSPACE / f"{name}.words.txt").write_text("\n".join(f"{name}{row}" for row in range(count)))
        pairs = WORKSPACE / "pairs.txt"
        pairs.write_text("\n".join(f"a{row}\tb{row}" for row in range(TRAINED)))
        views = [f"{name}={WORKSPACE / name}.npy" for name in "ab"]
        how = ["--lexicon", f"a-b={pairs}", "--finish", "none", "--shrinkage", "0.1", "-o", space, "--quiet", "--json"]
        subprocess.run([options.binary, "align", *views, *how], check=True, stdout=subprocess.DEVNULL)
    return space, words


def wait_for(url, process, seconds=120):
    until = time.time() + seconds
    while time.time() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                return answer.read()
        except OSError:
            time.sleep(0.02)
    sys.exit(f"{url} does not answer")


def ask(url, body, timeout=300):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        return json.load(answer)


def words_of(url, view):
    with urllib.request.urlopen(f"{url}/v1/words?view={view}") as answer:
        return answer.read().decode().rstrip("\n").split("\n")


def vectors_of(url, view):
    import numpy as np
    names, parts = words_of(url, view), []
    for first in range(0, len(names), 512):
        body = json.dumps({"view": view, "words": names[first:first + 512]}).encode()
        request = urllib.request.Request(f"{url}/v1/vectors", body, {"Accept": "application/x-npy"})
        with urllib.request.urlopen(request) as answer:
            parts.append(np.load(io.BytesIO(answer.read())))
    return np.concatenate(parts)


def memory(process, kind="VmRSS"):
    """Megabytes; those of the kind RssAnon are the process's own, without the files that are mapped."""
    return int(re.search(rf"{kind}:\s+(\d+)", open(f"/proc/{process.pid}/status").read())[1]) / 1024


def cpu_seconds(process):
    fields = open(f"/proc/{process.pid}/stat").read().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def load(name, process, url, path, body, words, options):
    """A row of the table: what wrk measured at this server."""
    script = WORKSPACE / "load.lua"
    script.write_text(SCRIPT % (words, path, body))
    command = ["wrk", "--threads", "1", "--connections", str(options.connections), "--timeout", "60s", "--latency",
               "--script", str(script)]
    subprocess.run([*command, "--duration", "3s", url], check=True, stdout=subprocess.DEVNULL)
    before, cpu = memory(process), cpu_seconds(process)
    output = subprocess.run([*command, "--duration", f"{options.seconds}s", url], check=True, stdout=subprocess.PIPE,
                            text=True).stdout
    tell(output)
    after, cpu = memory(process), cpu_seconds(process) - cpu
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", output)[1])
    answered = int(re.search(r"(\d+) requests in", output)[1])
    if re.search(r"Non-2xx|Socket errors", output):
        sys.exit(f"{name}: some requests failed")

    def latency(share):
        number, unit = re.search(rf"^\s+{share}%\s+([\d.]+)(us|ms|s)\s*$", output, re.MULTILINE).groups()
        return float(number) * {"us": 0.001, "ms": 1, "s": 1000}[unit]

    row = [name, f"{rate:,.0f}", f"{latency(50):.0f}", f"{latency(99):.0f}", f"{1000 * cpu / answered:.2f}",
           f"{before:,.0f}", f"{after:,.0f}"]
    return rate, row


def serve(options):
    """64 connections that ask for one word each, at sememe and at a server that searches for every request."""
    import numpy as np
    if not shutil.which("wrk"):
        sys.exit("this benchmark needs wrk: apt install wrk")
    space, words = make_space(options)
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    start = time.time()
    command = [options.binary, "serve", space, "--port", str(port), "--quiet"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        wait_for(f"{url}/", server)
        first_page = time.time() - start
        described = json.loads(wait_for(f"{url}/v1/spaces", server))["spaces"][0]
        views = sorted(described["views"], key=lambda view: view["words"])
        source, target = views[0]["name"], views[-1]["name"]
        asked = [word for word in words_of(url, source) if re.fullmatch(r"\w+", word)][1000:9000]
        words.write_text("\n".join(asked), encoding="utf-8")
        wanted = {"from": source, "to": target, "words": asked[:1], "k": K, "criterion": "csls"}
        deadline = time.time() + 600
        while True:
            try:
                ask(f"{url}/v1/translate", wanted)
                break
            except OSError:
                if time.time() > deadline:
                    raise
        body = json.dumps({**wanted, "words": ["%s"]})
        rate, row = load("sememe serve, CSLS", server, url, "/v1/translate", body, words, options)
        rows = {view: (words_of(url, view), vectors_of(url, view)) for view in (source, target)}
    finally:
        server.send_signal(signal.SIGTERM)
        code = server.wait(60)
    tell(f"sememe ended with {code}")
    folder = WORKSPACE / "rival"
    folder.mkdir(exist_ok=True)
    for name, view in (("queries", source), ("targets", target)):
        names, vectors = rows[view]
        np.save(folder / f"{name}.npy", vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9))
        (folder / f"{name}.txt").write_text("\n".join(names), encoding="utf-8")
    (folder / "rival.py").write_text(RIVAL)
    table = [["server", "requests/s", "p50, ms", "p99, ms", "CPU ms/request", "MB before", "MB after"], row]
    ratios = []
    for threads in (1, 2):
        port = free_port()
        command = [sys.executable, folder / "rival.py", folder, str(threads), str(port)]
        rival = subprocess.Popen(list(map(str, command)))
        try:
            wait_for(f"http://127.0.0.1:{port}/docs", rival)
            body = '{"word": "%s", "k": 5}'
            other, row = load(f"FastAPI, faiss IndexFlatIP, {threads} thread{'s' * (threads > 1)}", rival,
                              f"http://127.0.0.1:{port}", "/translate", body, words, options)
            table.append(row)
            ratios.append(rate / other)
        finally:
            rival.terminate()
            rival.wait(60)
    count = views[-1]["words"]
    notes = [
        f"{options.connections} connections of wrk on the same machine, {options.seconds} s; a request asks for the {K} "
        f"best of {count:,} words to one word. sememe ranks by CSLS with confidences, exactly; the rival by inner products.",
        "The rival searches for every request, in the threads of FastAPI; "
        f"sememe answers at least {min(ratios):.1f} times as many.",
        f"The first page came {1000 * first_page:.0f} ms after the start of the program.",
    ]
    yield f"Requests: one word each, {count:,} x {described['latent']} targets", table, notes
