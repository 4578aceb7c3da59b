#!/usr/bin/env python3
"""compare.py ASK_OUTPUT STREAM_JSONL [PID]   what `ask events` says it asked for, against `nvpeak stream`.

PID: that of ask as the stream has it; without it, or where it isn't in the stream (other pid namespace), the pid of
the stream that fits best is taken, and that is said. Child processes have "# pid N" lines of their own.
STREAM_JSONL may be compressed by gzip; "-": standard input. Exits with 1 where anything is missing, extra or wrong.
"""
import collections, difflib, gzip, json, re, sys

# Told in "requests": functions that give memory of a GPU, answered with 0 or 2. sampler/request/function.go, Effect Gives, Memory not Host.
TOLD = set("""cuMemAlloc_v2 cuMemAllocPitch_v2 cuMemAllocManaged cuMemAllocAsync cuMemAllocAsync_ptsz cuMemAllocFromPoolAsync
cuMemAllocFromPoolAsync_ptsz cuMemCreate""".split())
# Looked at, but no requests of their own.
WATCHED = set("""cuMemAllocHost_v2 cuMemHostAlloc cuMemFree_v2 cuMemFreeAsync cuMemFreeAsync_ptsz cuMemFreeHost cuMemRelease
cuMemRetainAllocationHandle cuMemMap cuMemUnmap cuMemImportFromShareableHandle cuIpcOpenMemHandle_v2 cuArrayCreate_v2
cuArray3DCreate_v2 cuMipmappedArrayCreate cuArrayDestroy cuMipmappedArrayDestroy cuGraphAddMemAllocNode cuGraphAddNode
cuGraphAddNode_v2 cuStreamBeginCapture_v2 cuStreamBeginCapture_v2_ptsz cuStreamBeginCaptureToGraph
cuStreamBeginCaptureToGraph_ptsz cuStreamEndCapture cuStreamEndCapture_ptsz cuMemPoolTrimTo cuMemPoolDestroy
cuDeviceGraphMemTrim cuDevicePrimaryCtxRetain cuDeviceGetDefaultMemPool cuDeviceGetMemPool cuMemGetDefaultMemPool
cuMemGetMemPool cuMemPoolCreate cuCtxCreate_v2 cuCtxCreate_v3 cuCtxCreate_v4 cuCtxSetCurrent cuCtxPushCurrent_v2
cuCtxPopCurrent_v2 cuCtxDestroy_v2 cuDevicePrimaryCtxReset_v2 cuDevicePrimaryCtxRelease_v2 cuStreamCreate
cuStreamCreateWithPriority cuGreenCtxCreate cuGreenCtxStreamCreate cuInit""".split())

LINE = re.compile(r"^(\d+\.\d+) (\w+) (\d+) (\d+) (-?\d+)(?: tid=(\d+))?$")


class Said:
    def __init__(self, m, pid, group):
        self.t, self.function, self.bytes, self.answer = float(m[1]), m[2], int(m[3]), int(m[4])
        self.device, self.tid, self.pid, self.group = int(m[5]), int(m[6] or 0), pid, group

    def told(self):
        return self.function in TOLD and self.answer in (0, 2) and self.device >= 0

    def key(self):
        return (self.function, self.bytes, self.answer)


def read_said(name):
    said, notes, groups, pid, group = [], collections.defaultdict(list), ["begin"], 0, "begin"
    for line in open(name, errors="replace"):
        line = line.rstrip("\n")
        if m := LINE.match(line):
            said.append(Said(m, pid, group))
        elif line.startswith("# pid "):
            pid = int(line.split()[2])
        elif line.startswith("# group "):
            group = line[len("# group "):]
            groups.append(group)
        elif line.startswith("# "):
            notes[group].append(line[2:])
        elif line.strip():
            print(f"?? not understood: {line!r}")
    return said, notes, groups


def when(text):
    from datetime import datetime
    text = text.replace("Z", "+00:00")
    m = re.match(r"^(.*T\d\d:\d\d:\d\d)(\.\d+)?(.*)$", text)
    return datetime.fromisoformat(m[1] + m[3]).timestamp() + float(m[2] or 0)


def read_stream(name):
    f = sys.stdin if name == "-" else gzip.open(name, "rt") if name.endswith(".gz") else open(name)
    seen, door, last, n = [], None, {}, 0
    for line in f:
        try:
            s = json.loads(line)
        except ValueError:
            continue  # the last one may be cut
        n += 1
        for q in s.get("requests") or []:
            seen.append(q)
        door = s.get("requests_door") or door
        lists = [g.get("processes") or [] for g in s.get("gpus") or []] + [s.get("unplaced_processes") or []]
        for p in sum(lists, []):
            if p.get("requests"):
                last[p["pid"]] = p["requests"]
    return seen, door, last, n


def thread(q):
    return q.get("tid") or 0


def lines(items, most=12):
    for x in items[:most]:
        print(f"      {x}")
    if len(items) > most:
        print(f"      … and {len(items) - most} more")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    said, notes, groups = read_said(sys.argv[1])
    seen, door, last, snapshots = read_stream(sys.argv[2])
    by_pid = collections.defaultdict(list)
    for q in seen:
        by_pid[q["pid"]].append(q)
    print(f"{len(said)} calls said, {len(seen)} requests in {snapshots} snapshots, of pids {', '.join(f'{p}: {len(v)}' for p, v in by_pid.items()) or 'none'}")
    if door:
        print(f"door: {json.dumps(door)}")

    # Which pid of the stream is which.
    pids = list(dict.fromkeys(s.pid for s in said))
    def fit(p, q):
        want = collections.Counter(s.key() for s in said if s.pid == p and s.told())
        return sum((collections.Counter((r["function"], r["bytes"], r["answer"]) for r in by_pid[q]) & want).values())

    as_seen = {}
    if len(sys.argv) > 3 and pids:
        if int(sys.argv[3]) in by_pid:
            as_seen[pids[0]] = int(sys.argv[3])
        else:
            print(f"NOTE: pid {sys.argv[3]} isn't in the stream")
    for p in sorted(pids, key=lambda p: p not in by_pid):
        if p in as_seen or not any(s.pid == p and s.told() for s in said):
            continue
        free = [q for q in by_pid if q not in as_seen.values()]
        best = max(free, key=lambda q: fit(p, q), default=None)
        most = fit(p, best) if best is not None else 0
        if p in free and 2 * fit(p, p) >= most:
            as_seen[p] = p
        elif most > 0:
            print(f"NOTE: pid {p} isn't in the stream, or is another one's there; {best} fits best ({most} requests) and is taken for it")
            as_seen[p] = best
        else:
            print(f"NOTE: pid {p} isn't in the stream, and nothing fits")

    # Each thread by itself: the order counts within one only. Matched by the longest common sequence.
    wrong = False
    stats = collections.defaultdict(collections.Counter)
    details = collections.defaultdict(list)
    delays = []
    tids = {}
    for p in pids:
        mine = [s for s in said if s.pid == p and s.told()]
        theirs = by_pid.get(as_seen.get(p), [])
        threads = list(dict.fromkeys(s.tid for s in mine))
        theirs_by = collections.defaultdict(list)
        for q in theirs:
            theirs_by[thread(q)].append(q)
        taken = set()
        for t in threads:
            if t in theirs_by:
                tids[p, t] = t
                taken.add(t)
        for t in threads:  # other pid namespace: by what fits
            if (p, t) in tids:
                continue
            want = collections.Counter(s.key() for s in mine if s.tid == t)
            fits = [(sum((collections.Counter((r["function"], r["bytes"], r["answer"]) for r in v) & want).values()), u) for u, v in theirs_by.items() if u not in taken]
            if fits and max(fits)[0] > 0:
                tids[p, t] = max(fits)[1]
                taken.add(tids[p, t])
        for t in threads:
            a = [s for s in mine if s.tid == t]
            b = theirs_by.get(tids.get((p, t), -1), [])
            ka, kb = [s.key() for s in a], [(q["function"], q["bytes"], q["answer"]) for q in b]
            left_a, left_b = [], []
            for op, i1, i2, j1, j2 in difflib.SequenceMatcher(None, ka, kb, autojunk=False).get_opcodes():
                if op == "equal":
                    for s, q in zip(a[i1:i2], b[j1:j2]):
                        stats[s.group]["same"] += 1
                        if q.get("gpu") != s.device:
                            stats[s.group]["other GPU"] += 1
                            details[s.group].append(f"GPU {q.get('gpu')} for {s.device}: {s.key()}")
                        delays.append((when(q["time"]) - s.t, s))
                else:
                    left_a += a[i1:i2]
                    left_b += b[j1:j2]
            # What is left: the same elsewhere in the order, or with another size or answer nearby, or missing.
            for s in list(left_a):
                for q in left_b:
                    if (q["function"], q["bytes"], q["answer"]) == s.key() and abs(when(q["time"]) - s.t) < 1:
                        stats[s.group]["out of order"] += 1
                        left_a.remove(s), left_b.remove(q)
                        break
            for s in list(left_a):
                near = [q for q in left_b if q["function"] == s.function and abs(when(q["time"]) - s.t) < 0.01 and (q["bytes"] == s.bytes or q["answer"] == s.answer)]
                if near:
                    q = min(near, key=lambda q: abs(when(q["time"]) - s.t))
                    stats[s.group]["changed"] += 1
                    details[s.group].append(f"said {s.key()}, seen ({q['function']}, {q['bytes']}, {q['answer']})")
                    left_a.remove(s), left_b.remove(q)
            for s in left_a:
                stats[s.group]["missing"] += 1
                details[s.group].append(f"missing: {s.t:.6f} {s.key()} pid {s.pid} tid {s.tid}")
            for q in left_b:
                g = group_at(said, when(q["time"]))
                stats[g]["extra"] += 1
                details[g].append(f"extra: {q['time']} {q['function']} {q['bytes']} {q['answer']} pid {q['pid']} tid {thread(q)}")
        for u, v in theirs_by.items():
            if u in taken:
                continue
            for q in v:
                g = group_at(said, when(q["time"]))
                stats[g]["extra"] += 1
                details[g].append(f"extra, of a thread that said nothing: {q['time']} {q['function']} {q['bytes']} {q['answer']} tid {u}")

    print(f"\n{'group':16} {'said':>6} {'seen':>6} {'order':>6} {'size/answer':>11} {'GPU':>5} {'missing':>8} {'extra':>6}")
    totals = collections.Counter()
    for g in dict.fromkeys(groups + list(stats)):
        n = sum(1 for s in said if s.group == g and s.told())
        c = stats[g]
        if not n and not c:
            continue
        row = [n, c["same"], c["out of order"], c["changed"], c["other GPU"], c["missing"], c["extra"]]
        totals.update(dict(enumerate(row)))
        bad = any(row[2:])
        wrong = wrong or bad
        print(f"{g:16} {row[0]:6} {row[1]:6} {row[2]:6} {row[3]:11} {row[4]:5} {row[5]:8} {row[6]:6}  {'WRONG' if bad else 'ok'}")
    print(f"{'all':16} {totals[0]:6} {totals[1]:6} {totals[2]:6} {totals[3]:11} {totals[4]:5} {totals[5]:8} {totals[6]:6}")
    for g, list_ in details.items():
        print(f"\n  {g}:")
        lines(list_)

    if delays:
        d = sorted(x for x, _ in delays)
        print(f"\ntime of the stream less time of ask (the stream has ms): median {d[len(d) // 2] * 1e3:.2f} ms, from {d[0] * 1e3:.2f} to {d[-1] * 1e3:.2f} ms")

    told_by_none = collections.defaultdict(collections.Counter)
    for s in said:
        if s.told():
            continue
        if s.function not in TOLD | WATCHED:
            kind = "not watched"
        elif s.function in TOLD:
            kind = f"no request by design (answer {s.answer}{', of the host' if s.device < 0 else ''})"
        else:
            kind = "watched, no request of its own"
        told_by_none[kind][s.function] += 1
    for kind, c in told_by_none.items():
        print(f"\n{kind}:\n  " + ", ".join(f"{f} {n}" for f, n in sorted(c.items())))
    failed = [s for s in said if s.answer not in (0, 2)]
    if failed:
        print("\nanswered with another error:")
        lines([f"{s.group}: {s.function} {s.bytes} -> {s.answer}" for s in failed], 40)
    bad = [(g, x) for g in notes for x in notes[g] if x.startswith(("skipped", "missing", "procaddress", "cuMemAlloc by"))]
    if bad:
        print("\nnotes of ask:")
        lines([f"{g}: {x}" for g, x in bad], 200)
    for p in pids:
        if as_seen.get(p) in last:
            print(f"\nlast of pid {p} in the stream: {json.dumps(last[as_seen[p]])}")
            refused = sum(1 for s in said if s.pid == p and s.told() and s.answer == 2)
            granted = sum(1 for s in said if s.pid == p and s.told() and s.answer == 0)
            print(f"  ask says: granted {granted}, refused {refused}")
    sys.exit(1 if wrong else 0)


def group_at(said, t):
    g = "begin"
    for s in said:
        if s.t > t + 0.002:
            break
        g = s.group
    return g


main()
