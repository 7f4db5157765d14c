"""Take the memory of the first GPU but so many megabytes, say "ready", and hold it until standard input ends."""
import ctypes
import sys

left = int(sys.argv[1]) << 20
cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    error = getattr(cuda, name)(*arguments)
    if error:
        sys.exit(f"{name}: error {error}")


device, context, address = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
free, total = ctypes.c_size_t(), ctypes.c_size_t()
call("cuInit", 0)
call("cuDeviceGet", ctypes.byref(device), 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
call("cuCtxSetCurrent", context)
call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(free.value - left))
print("ready", flush=True)
sys.stdin.read()
