"""Writes memory snapshots of PyTorch as torch.cuda.memory._dump_snapshot does, without PyTorch.

    python3 make.py CAUSE FILE [protocol=N] [frames=0] [old=1] [device=N] [steps=N] [start=N] [oom=0]

CAUSE: leak validation inline fragmentation batch optimizer healthy empty. A small allocator plays a training: weights, then
steps of activations, gradients and an optimizer, then what goes wrong. start: events that the ring has lost.
"""
import pickle
import sys

MIB = 1 << 20
LIB = "/usr/lib/python3.11/site-packages/torch/"


def options(words):
    chosen = {"protocol": 4, "frames": 1, "old": 0, "device": 0, "steps": 40, "start": 0, "oom": 1}
    for word in words:
        name, number = word.split("=")
        chosen[name] = int(number)
    return chosen


class Allocator:
    """Gives each block an address, and writes down what happens."""

    def __init__(self, chosen):
        self.chosen, self.trace, self.live = chosen, [], {}
        self.next, self.time, self.known = 0x7F0000000000, 1_700_000_000_000_000, {}

    def frames(self, *lines):
        """The stack of user lines with the frames of torch within; frames are shared as PyTorch shares them."""
        if not self.chosen["frames"]:
            return []
        rows = [("??", 0, "c10::Allocator::allocate"), (LIB + "nn/functional.py", 2300, "linear"), *lines, ("/usr/lib/python3.11/runpy.py", 88, "_run_code")]
        return [self.known.setdefault(row, {"name": row[2], "filename": row[0], "line": row[1]}) for row in rows]

    def event(self, action, addr, size, frames, **more):
        self.time += 1500
        entry = {"action": action, "addr": addr, "size": size, "stream": 0, "time_us": self.time, **more}
        if self.chosen["frames"]:
            entry["frames"] = frames
        self.trace.append(entry)

    def alloc(self, size, frames):
        addr = self.next
        self.next += size + 512
        self.live[addr] = (size, frames)
        self.event("alloc", addr, size, frames)
        return addr

    def free(self, addr):
        size, frames = self.live.pop(addr)
        self.event("free_requested", addr, size, frames)
        self.event("free_completed", addr, size, frames)

    def refuse(self, size, frames, free):
        if self.chosen["oom"]:
            self.event("oom", free, size, frames, device_free=free)


def train(a, steps, state=True, leak=0):
    main = ("/home/ann/job/train.py", 240, "main")
    weights = [a.alloc(40 * MIB, a.frames(("/home/ann/job/train.py", 31, "build"), main)) for _ in range(20)]
    moments = []
    for step in range(steps):
        batch = a.alloc(64 * MIB, a.frames(("/home/ann/job/data.py", 55, "to_gpu"), ("/home/ann/job/train.py", 198, "train_epoch"), main))
        kept = [a.alloc(100 * MIB, a.frames(("/home/ann/job/model.py", 88, "forward"), ("/home/ann/job/train.py", 205, "train_epoch"), main)) for _ in range(12)]
        if leak:
            a.alloc(leak, a.frames(("/home/ann/job/train.py", 210, "train_epoch"), main))
        gradients = []
        for addr in reversed(kept):
            gradients.append(a.alloc(40 * MIB, a.frames((LIB + "autograd/graph.py", 744, "_engine_run_backward"), ("/home/ann/job/train.py", 212, "train_epoch"), main)))
            a.free(addr)
        if state and not moments:
            moments = [a.alloc(40 * MIB, optimizer(a)) for _ in range(40)]
        for addr in gradients + [batch]:
            a.free(addr)
    return weights


def optimizer(a):
    return a.frames((LIB + "optim/adamw.py", 140, "_init_group"), (LIB + "optim/optimizer.py", 493, "wrapper"),
                    ("/home/ann/job/train.py", 215, "train_epoch"), ("/home/ann/job/train.py", 240, "main"))


def leak(a, steps):
    train(a, steps, leak=12 * MIB)
    a.refuse(100 * MIB, a.frames(("/home/ann/job/model.py", 88, "forward"), ("/home/ann/job/train.py", 205, "train_epoch")), 20 * MIB)


def validation(a, steps):
    train(a, steps)
    stack = a.frames(("/home/ann/job/model.py", 88, "forward"), ("/home/ann/job/train.py", 260, "validate"), ("/home/ann/job/train.py", 244, "main"))
    for _ in range(60):
        a.alloc(150 * MIB, stack)
    a.refuse(150 * MIB, stack, 30 * MIB)


def inline(a, steps):
    train(a, steps)
    stack = a.frames(("/home/ann/job/model.py", 88, "forward"), ("/home/ann/job/train.py", 251, "main"))
    for _ in range(60):
        a.alloc(100 * MIB, stack)
    a.refuse(100 * MIB, stack, 30 * MIB)


def batch(a, steps):
    train(a, steps)
    stack = a.frames(("/home/ann/job/model.py", 88, "forward"), ("/home/ann/job/train.py", 205, "train_epoch"))
    for _ in range(7):
        a.alloc(900 * MIB, stack)
    a.refuse(900 * MIB, stack, 200 * MIB)


def optimizer_state(a, steps):
    train(a, 1, state=False)
    for _ in range(60):
        a.alloc(40 * MIB, optimizer(a))
    a.refuse(40 * MIB, optimizer(a), 10 * MIB)


def fragmentation(a, steps):
    train(a, steps)
    a.refuse(1500 * MIB, a.frames(("/home/ann/job/model.py", 120, "forward"), ("/home/ann/job/train.py", 205, "train_epoch")), 300 * MIB)


def healthy(a, steps):
    train(a, steps)


def block(a, size, state, frames):
    b = {"address": a.next, "size": size, "requested_size": size - 100, "state": state, "frames": frames}
    a.next += size
    if a.chosen["old"]:
        b = {"size": size, "state": state}
        if state != "inactive":
            b["history"] = [{"addr": a.next, "real_size": size - 100, "frames": frames}]
    elif not a.chosen["frames"]:
        del b["frames"]
    return b


def segments(a, device, cause):
    out = []
    for size, frames in a.live.values():
        blocks = [block(a, size, "active_allocated", frames)]
        if cause == "fragmentation":
            blocks = [block(a, 2 * MIB, "active_allocated", a.frames(("/home/ann/job/cache.py", 17, "remember"), ("/home/ann/job/train.py", 219, "train_epoch"))),
                      block(a, 90 * MIB, "inactive", [])] + blocks
        total = sum(b["size"] for b in blocks)
        used = sum(b["size"] for b in blocks if b["state"] != "inactive")
        s = {"device": device, "address": a.next, "total_size": total, "allocated_size": used, "active_size": used, "stream": 0,
             "segment_type": "large", "blocks": blocks}
        if not a.chosen["old"]:
            s.update(requested_size=used, segment_pool_id=(0, 0), is_expandable=False, frames=[])
        out.append(s)
    return out


CAUSES = {"leak": leak, "validation": validation, "inline": inline, "batch": batch, "optimizer": optimizer_state, "fragmentation": fragmentation, "healthy": healthy}


def snapshot(cause, chosen):
    a, device = Allocator(chosen), chosen["device"]
    if cause in CAUSES:
        CAUSES[cause](a, chosen["steps"])
    settings = {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "garbage_collection_threshold": 0.0, "expandable_segments": False, "big": 1 << 70, "small": -(1 << 65)}
    traces = [[] for _ in range(device)] + [a.trace[chosen["start"]:], []]
    return {"segments": segments(a, device, cause), "device_traces": traces, "allocator_settings": settings, "external_annotations": []}


if __name__ == "__main__":
    picked = options(sys.argv[3:])
    with open(sys.argv[2], "wb") as f:
        pickle.dump(snapshot(sys.argv[1], picked), f, protocol=picked["protocol"])
