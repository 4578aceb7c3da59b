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


def _snapshot():
    misbehave()
    if "long" in lies:
        time.sleep(2)
    if "shapeless" in lies:
        return {"segments": 5}
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
