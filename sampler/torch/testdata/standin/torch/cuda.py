import os
import sys
import time
import types

MIB = 1 << 20
ooms = 0
_initialized = False
lies = os.environ.get("STANDIN", "").split(",")
wrong = {"negative": -5, "text": "12", "nan": float("nan"), "huge": 2**70, "true": True, "none": None, "list": [1]}


class Odd(BaseException):
    pass


class Evil(object):
    def __getattr__(self, name):
        raise Odd(name)

    __int__ = __index__ = __str__ = __repr__ = __eq__ = __lt__ = __hash__ = __bool__ = __getattr__


def misbehave():
    if "slow" in lies:
        time.sleep(2)
    if "silent" in lies:
        time.sleep(3600)
    if "raises" in lies:
        raise RuntimeError("no stats")
    if "exits" in lies:
        sys.exit(7)
    if "interrupts" in lies:
        raise KeyboardInterrupt
    if "odd" in lies:
        raise Odd


def init():
    global _initialized
    _initialized = True


def is_initialized():
    if "flag" in lies:
        raise Odd
    return _initialized  # also in a child, where torch itself says no


def device_count():
    return int(os.environ.get("STANDIN_DEVICES", "1"))


def memory_stats(device=None):
    misbehave()
    if "evil" in lies:
        return Evil()
    if device not in [int(d) for d in os.environ.get("STANDIN_USED", "0").split(",")]:
        return {"reserved_bytes.all.current": 0, "reserved_bytes.all.peak": 0}
    stats = {
        "allocated_bytes.all.current": 600 * MIB,
        "allocated_bytes.all.peak": 900 * MIB,
        "reserved_bytes.all.current": (1000 + device) * MIB,
        "reserved_bytes.all.peak": 2000 * MIB,
        "inactive_split_bytes.all.current": 150 * MIB,
        "num_alloc_retries": 3,
        "num_ooms": ooms,
        "active.all.current": 2,
        "inactive_split.all.current": 2,
    }
    for lie in lies:
        if lie in wrong:
            stats.update((k, wrong[lie]) for k in stats if k.startswith(os.environ.get("STANDIN_WHICH", "")))
    if "over" in lies:
        stats["reserved_bytes.all.current"] = 500 << 30
    if "empty" in lies:
        stats = {}
    return stats


def get_device_properties(device):
    names = os.environ.get("STANDIN_UUIDS")
    if not names:
        raise AttributeError("no names")
    return types.SimpleNamespace(uuid=names.split(",")[device])


def symbolize():
    """As PyTorch does for the frames of compiled code, wherever it is called from."""
    import torch

    return hasattr(torch, "_inductor") and hasattr(torch._inductor, "codecache")


def _snapshot():
    misbehave()
    symbolize()
    if "long" in lies:
        time.sleep(2)
    if "shapeless" in lies:
        return {"segments": 5}
    if "endless" in lies:
        return {"segments": ({"device": 0, "total_size": MIB, "blocks": []} for _ in iter(int, 1))}
    block = lambda size, state: {"size": size * MIB, "state": state}
    return {
        "segments": [
            {"device": 0, "blocks": [block(550, "active_allocated"), block(100, "inactive"), block(50, "active_awaiting_free"), block(50, "inactive")]},
            {"device": 0, "blocks": [block(250, "inactive")]},
        ]
    }


memory = types.SimpleNamespace()
if "bare" not in lies:
    memory._snapshot = _snapshot
if "unready" in lies:
    del is_initialized, memory_stats

# The memory history. Tensors are ranges of a pretended GPU; recording is as in the version that STANDIN names.
_queued_calls = []
HOLE = int(os.environ.get("STANDIN_HOLE", "100")) * MIB
history = None
live = {}
free_blocks = []
peak = 0


class tensor(object):
    """One that is on the GPU while it lives."""

    def __init__(self, size):
        global peak
        live[id(self)] = (size, frames() if history else [])
        peak = max(peak, sum(s for s, _ in live.values()))

    def __del__(self):
        live.pop(id(self), None)


def frames():
    """As a traceback that torch has taken: the innermost first."""
    found, frame = [], sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        found.append({"filename": code.co_filename, "line": frame.f_lineno, "name": code.co_name})
        frame = frame.f_back
    return found


def init():
    global _initialized
    if "latecomer" not in lies:
        for call, _ in _queued_calls:
            call()
    _initialized = True


def _record_memory_history(enabled="all", context="all", stacks="all", max_entries=sys.maxsize, device=None):
    global history
    if "recordraises" in lies:
        raise RuntimeError("no recording")
    if "recordexits" in lies:
        sys.exit(9)
    if "recordslow" in lies:
        time.sleep(5)
    if isinstance(enabled, bool) or enabled not in (None, "state", "all"):
        raise RuntimeError("another form")
    if "recordoff" not in lies:
        history = (enabled, context, stacks, max_entries) if enabled else None


def _record_memory_history_2_0(enabled, record_context=True, trace_alloc_max_entries=1, trace_alloc_record_context=False, device=None, record_context_cpp=False):
    global history
    history = (enabled, record_context, trace_alloc_max_entries, trace_alloc_record_context) if enabled else None


def synthetic():
    """Blocks of stacks that no program has: STANDIN_BLOCKS of them, each of STANDIN_DEPTH frames."""
    n, depth = int(os.environ.get("STANDIN_BLOCKS", "0")), int(os.environ.get("STANDIN_DEPTH", "30"))
    alike = 200
    stacks = [
        [{"filename": "/lib/python3/site-packages/torch/nn/modules/module.py", "line": d, "name": "call"} for d in range(depth - 1)]
        + [{"filename": "/home/me/model.py", "line": s, "name": "forward"}]
        for s in range(alike)
    ]
    return [(MIB, list(stacks[i % alike])) for i in range(n)]


def hostile():
    file = os.environ.get("STANDIN_FILE", "/tmp/evil.py")
    bad = "/tmp/\x1b]0;evil\x07\x1b[2J\udcff\r\n\u202e.py"
    yield 5 * MIB, [{"filename": bad, "line": 3, "name": "\x1b[31mf"}]
    yield 4 * MIB, [{"filename": file, "line": 2, "name": "f"}]
    yield -7, [{"filename": file, "line": -2, "name": None}]
    yield 2**70, [{"filename": 5, "line": "x", "name": Evil()}]
    yield 3 * MIB, [None, 5, Evil(), {}]
    yield 2 * MIB, "frames"
    yield MIB, [{"filename": "x" * 10**6 + ".py", "line": 1, "name": "y" * 10**6}] * 2000


def _snapshot_with_history():
    misbehave()
    symbolize()
    if "snapshotraises" in lies:
        raise RuntimeError("CUDA error: out of \"order\"\nand more")
    if "long" in lies:
        time.sleep(2)
    if "endless" in lies:
        return {"segments": ({"device": 0, "total_size": MIB, "blocks": []} for _ in iter(int, 1))}
    blocks = list(live.values())
    if "hostile" in lies:
        blocks += hostile()
    if "manylines" in lies:
        blocks += [(4096, [{"filename": "/tmp/f%d.py" % (i % 1000), "line": 1000 + i, "name": "f"}]) for i in range(int(os.environ.get("STANDIN_LINES", "100000")))]
    blocks += synthetic()
    listed = []
    for size, stack in blocks:
        block = {"size": size, "requested_size": size, "state": "active_allocated"}
        if "form20" in lies:
            block["history"] = [{"addr": 0, "real_size": size, "frames": stack}]
        elif "stackless" not in lies:
            block["frames"] = stack
        listed.append(block)
    total = sum(b["size"] for b in listed if b["size"] > 0)
    hole = [{"size": HOLE, "state": "inactive", "frames": []}] * (2 if listed else 0)
    segments = [{"device": 0, "total_size": total + 2 * HOLE, "blocks": listed + hole}]
    return {"segments": segments, "device_traces": [[]]}


def stats_of_tensors(device):
    misbehave()
    if "statsraise" in lies:
        raise RuntimeError("no stats")
    now = sum(s for s, _ in live.values())
    return {
        "allocated_bytes.all.current": now,
        "allocated_bytes.all.peak": peak,
        "reserved_bytes.all.current": now + 2 * HOLE,
        "reserved_bytes.all.peak": peak + 2 * HOLE,
        "inactive_split_bytes.all.current": 2 * HOLE,
        "num_ooms": ooms,
    }


if "bare" not in lies and "historyless" not in lies:
    memory._record_memory_history = _record_memory_history_2_0 if "form20" in lies else _record_memory_history
if os.environ.get("STANDIN_TENSORS"):
    memory_stats = stats_of_tensors
    memory._snapshot = _snapshot_with_history
