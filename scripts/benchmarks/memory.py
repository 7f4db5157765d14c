"""How much memory it takes to align many words."""
import os
import shutil
import subprocess

from .common import WORKSPACE, tell


def peak_memory(command):
    """The most resident memory of a command, mapped files included."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        raise subprocess.CalledProcessError(os.waitstatus_to_exitcode(status), command)
    return used.ru_maxrss * 1024


def largest_view(space):
    """Words and bytes of vectors of the largest view of a space."""
    from json import loads
    views = []
    for file in space.glob("*.safetensors"):
        with open(file, "rb") as beginning:
            header = loads(beginning.read(int.from_bytes(beginning.read(8), "little")))
        if "vectors" in header:
            start, end = header["vectors"]["data_offsets"]
            views.append((header["vectors"]["shape"], end - start))
    return max(views, key=lambda view: view[1])


def memory(options):
    """How much memory it takes to align many words."""
    space = WORKSPACE / "memory"
    table = [["vectors", "peak MB", "of the largest matrix"]]
    formats = [options.vectors] + ([options.text] if options.text else [])
    for x, y in formats:
        tell(f"aligning {x.name} and {y.name}")
        shutil.rmtree(space, ignore_errors=True)
        command = [options.binary, "align", f"x={x}", f"y={y}", "--lexicon", f"x-y={options.lexicon}", "--quiet"]
        peak = peak_memory([*command, "--lower", "--normalize", "unit", "-o", space])
        shape, matrix = largest_view(space)
        table.append([y.suffix, f"{peak / 1e6:.0f}", f"{peak / matrix:.2f}"])
    shutil.rmtree(space, ignore_errors=True)
    yield f"Memory to align {shape[0]:,} words of {shape[1]} dimensions", table, [
        f"The most resident memory of the whole command. The largest matrix takes {matrix / 1e6:.0f} MB."]
