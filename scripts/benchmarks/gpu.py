"""How long exact neighbours take on a GPU, beside torch on the same one."""
import json
import statistics
import subprocess
import sys
import time

ROWS_AT_A_TIME = 8192


def timed(work, repeat):
    import torch
    work()
    torch.cuda.synchronize()
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def top_of_every_row(rows, columns, k):
    import torch
    for block in rows.split(ROWS_AT_A_TIME):
        torch.topk(block @ columns.T, k, dim=1)


def with_torch(count, dim, k, repeat):
    """Seconds of one direction in several precisions, and the rate of large products."""
    import torch
    sides = [torch.nn.functional.normalize(torch.randn(count, dim, device="cuda")) for _ in range(2)]
    seconds = {}
    for name, dtype, is_reduced in [("f32", torch.float32, False), ("tf32", torch.float32, True),
                                    ("bf16", torch.bfloat16, False)]:
        torch.backends.cuda.matmul.allow_tf32 = is_reduced
        rows, columns = (side.to(dtype) for side in sides)
        seconds[name] = timed(lambda: top_of_every_row(rows, columns, k), repeat)
    square = torch.randn(8192, 8192, device="cuda", dtype=torch.float16)
    rate = 2 * 8192**3 / timed(lambda: square @ square, repeat) / 1e12
    return seconds, rate


def gpu(options):
    """Section on searches on a GPU."""
    count, dim, k = options.words, 300, 10
    seconds, rate = with_torch(count, dim, k, options.repeat)
    command = [options.measure, str(count), str(count), str(dim), str(k), str(options.repeat)]
    found = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, text=True)
    if found.returncode:
        sys.exit(f"{options.measure} failed")
    ours = json.loads(found.stdout)
    table = [["work", "seconds", "torch f32", "torch bf16", "ratio to f32", "TFLOP/s"]]
    flop = 2.0 * count * count * dim
    for work, own, directions in [("CSLS terms of both directions", ours["both"], 2), ("10 nearest of every row", ours["one"], 1)]:
        table.append([work, f"{own:.3f}", f"{directions * seconds['f32']:.2f}", f"{directions * seconds['bf16']:.2f}",
                      f"{directions * seconds['f32'] / own:.1f}", f"{flop / own / 1e12:.0f}"])
    notes = [f"{count:,} x {count:,} x {dim}; median of {options.repeat} after one; rows are on the GPU (copying both sides took "
             f"{ours['upload']:.2f} s).",
             f"sememe's results are exact; torch's f32 is not in the last digits, its bf16 is not. tf32: {seconds['tf32']:.2f} s "
             "a direction.",
             f"A product of 8,192 x 8,192 in f16 runs at {rate:.0f} TFLOP/s by torch.",
             f"GPU: {ours['card']}."]
    yield f"Neighbours of {count:,} x {count:,} rows on a GPU", table, notes
