"""Writes a large memory snapshot opcode by opcode, as Python would hold it in ten times its size.

    python3 large.py FILE BYTES [frames=0]

One GPU, two kinds of events, and with frames a list of 20 of its own for each event, as PyTorch writes them.
"""
import random
import struct
import sys


class Writer:
    def __init__(self, out):
        self.out, self.memo, self.known = out, 0, {}

    def get(self, place):
        return b"h" + bytes([place]) if place < 256 else b"j" + struct.pack("<I", place)

    def text(self, s):
        if s in self.known:
            return self.get(self.known[s])
        self.known[s] = self.object()
        b = s.encode()
        return b"\x8c" + bytes([len(b)]) + b + b"\x94"

    def object(self):
        self.memo += 1
        return self.memo - 1

    def number(self, n):
        return b"K" + bytes([n]) if n < 256 else b"M" + struct.pack("<H", n) if n < 65536 else b"\x8a\x08" + struct.pack("<q", n)

    def frame(self, i):
        if ("frame", i) in self.known:
            return self.get(self.known["frame", i])
        self.known["frame", i] = self.object()
        return (b"}\x94(" + self.text("name") + self.text("f%d" % i) + self.text("filename") + self.text("/home/ann/job/m%d.py" % (i % 40))
                + self.text("line") + self.number(i) + b"u")

    def event(self, action, addr, time, frames):
        self.object()
        out = [b"}\x94(", self.text("action"), self.text(action), self.text("addr"), self.number(addr), self.text("size"), self.number(2 << 20),
               self.text("stream"), self.number(0), self.text("time_us"), self.number(time), self.text("frames"), b"]\x94"]
        self.object()
        if frames:
            out += [b"(", *(self.frame(i) for i in frames), b"e"]
        return b"".join(out) + b"u"


def write(name, size, with_frames):
    random.seed(1)
    with open(name, "wb") as out:
        w, live, k = Writer(out), [], 0
        w.object()
        out.write(b"\x80\x04}\x94(" + w.text("segments") + b"]\x94")
        w.object()
        out.write(w.text("device_traces") + b"]\x94]\x94")
        w.object(), w.object()
        while out.tell() < size:
            batch = [b"("]
            for _ in range(1000):
                k += 1
                free = len(live) > 3000
                addr = live.pop(random.randrange(len(live))) if free else (0x7F << 40) + k * 512
                if not free:
                    live.append(addr)
                frames = [(k * 7 + j) % 2000 for j in range(20)] if with_frames else []
                batch.append(w.event("free_requested" if free else "alloc", addr, 1_700_000_000_000_000 + 20 * k, frames))
            out.write(b"".join(batch) + b"e")
        out.write(b"au.")


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]), sys.argv[3:] != ["frames=0"])
