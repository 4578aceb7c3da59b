#!/usr/bin/env python3
"""How many short spikes of GPU memory did a program see, and how soon? Python 3 standard library only.

  spikes.py SPIKES SOURCE ...
SPIKES   a file with lines 'spike I BEGIN END BYTES' (Unix seconds; BYTES on top of the base)
SOURCE   run.jsonl (or .gz, .zst with zstdcat)   a recording of nvpeak
         [KIND:]DIR/NAME or DIR/NAME.tty         what rig.py watch kept; KIND is nvpeak (default: the peak, ▲), nvpeak-used,
                                                 nvtop, nvitop, gpustat; by NAME's beginning when left out
Options: --gpu I (0, place in the recording), --base BYTES, --slack SECONDS (0.06), --share F (0.9), --offset S (added to the
times of SPIKES), --unit BYTES (nvpeak's figures without unit: GiB), --dump (last screen of each tty), --all (each spike)
"""
import calendar, gzip, json, os, re, statistics, subprocess, sys, time
import vt

U = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
KINDS = {  # pattern, is it a peak that only grows?
    "nvpeak-used": (r"([\d.]+)\s*/\s*[\d.]+\s*([KMGT])iB", False),
    "nvpeak": (r"▲\s*([\d.]+)()", True),
    "nvtop": (r"(?i)\bmem\[[^\]]*?([\d.]+)\s*([KMGT])i?B?/", False),
    "nvitop": (r"([\d.]+)\s*([KMGT])iB\s*/\s*[\d.]+\s*[KMGT]iB", False),
    "gpustat": (r"([\d.]+)\s*/\s*[\d.]+\s*([KMGT])B", False),
}


def read_spikes(path, offset):
    out = []
    for line in open(path, errors="replace"):
        f = line.split()
        if len(f) >= 5 and f[0] == "spike":
            try:
                out.append((int(f[1]), float(f[2]) + offset, float(f[3]) + offset, int(float(f[4]))))
            except ValueError:
                pass
    return sorted(out, key=lambda s: s[1])


def unix(text):
    m = re.match(r"(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)(\.\d+)?Z$", text)
    return calendar.timegm(tuple(int(x) for x in m.groups()[:6]) + (0, 0, 0)) + float(m.group(7) or 0)


def lines(path):
    with open(path, "rb") as f:
        magic = f.read(4)
    if magic == b"\x28\xb5\x2f\xfd":
        text = subprocess.run(["zstdcat", path], stdout=subprocess.PIPE, check=True).stdout
    elif magic[:2] == b"\x1f\x8b":
        text = gzip.open(path).read()
    else:
        text = open(path, "rb").read()
    return text.decode("utf-8", "replace").splitlines()


def recording(path, spikes, opt):
    """Readings as (time, bytes); a reading holds until the next."""
    key, start, got, end, interval, windows = str(opt["gpu"]), None, [], None, None, []
    for line in lines(path):
        try:
            r = json.loads(line)
        except ValueError:
            continue
        if r.get("type") == "header":
            start, interval = unix(r["time"]), r.get("memory_interval_s")
        elif start is None:
            continue
        elif r.get("type") == "mem" and key in r:
            got.append((start + r["t"], r[key]))
        elif r.get("type") in ("snapshot", "tick"):
            if r["type"] == "snapshot":
                t, u = unix(r["time"]), r["gpus"][opt["gpu"]]["memory"].get("used_bytes")
                w = (r["gpus"][opt["gpu"]]["memory"].get("window") or {}).get("max_bytes")
            else:
                t = start + r["t"]
                u = (r.get("gpu", {}).get("memory.used_bytes") or [None] * 99)[opt["gpu"]]
                w = (r.get("gpu", {}).get("memory.window.max_bytes") or [None] * 99)[opt["gpu"]]
            if u is not None and not got:
                got.append((t, u))
            if w is not None:
                windows.append((t, w))
        elif r.get("type") == "end":
            end = next((p["peak"] for p in r.get("peaks", []) if p.get("gpu") == opt["gpu"]), None)
    out, seen, delays, missed = [], 0, [], []
    for n, (i, b, e, size) in enumerate(spikes):
        since = spikes[n - 1][2] + opt["slack"] if n else 0
        before = [v for t, v in got if since < t <= b][-200:]
        held = [v for t, v in got if t <= b]
        # what was used just before: the last that was read in the quiet time, or the lowest that came after the spike before
        base = opt["base"] if opt["base"] is not None else before[-1] if before else \
            min([v for t, v in got if (spikes[n - 1][1] if n else 0) < t <= b] or held[-1:] or [None], key=lambda v: v or 0)
        if base is None:
            out.append((i, None, None, None))
            missed.append(i)
            continue
        hit = next((t for t, v in got if b <= t <= e + opt["slack"] and v >= base + opt["share"] * size), None)
        top = max([v for t, v in got if b <= t <= e + opt["slack"]], default=None)
        seen += hit is not None
        missed += [i] if hit is None else []
        if hit is not None:
            delays.append((hit - b) * 1000)
        out.append((i, hit and (hit - b) * 1000, top and (top - base) / size, base))
    ts = [t for t, _ in got]
    span = sum(ts and ts[0] <= b and e <= ts[-1] + 2 for _, b, e, _ in spikes)
    return {"source": path, "kind": "recording", "spikes": len(spikes), "in_span": span, "seen": seen, "missed": missed[:50],
            "delay_ms": spread(delays), "readings": len(got), "memory_interval_s": interval, "end_peak": end}, out


def tty(source, kind, spikes, opt):
    pattern, peak = KINDS[kind]
    regex, got, last, s = re.compile(pattern), [], None, None
    for t, s in vt.frames(source):
        v = [float(m.group(1)) * (U.get((m.group(2) or "").upper()) or opt["unit"]) for m in regex.finditer(s.text())
             if re.match(r"^\d+(\.\d+)?$", m.group(1))]
        if not v:
            continue
        v = max(v) if peak or kind != "nvpeak-used" else v[0]
        if v != last:
            got.append((t, v))
            last = v
    if opt["dump"] and s:
        print(s.text())
    step = 0.05 * (1 << 30) if kind.startswith("nvpeak") else 1 << 20
    if not got:
        return {"source": source, "kind": kind, "spikes": len(spikes), "seen": 0, "error": "no figure on any screen"}, []
    held = [v for t, v in got if spikes and t <= spikes[0][1]]
    base = held[-1] if held else got[0][1]
    if opt["base"] is not None:
        base = opt["base"]
    out, delays, seen, missed, most, larger = [], [], 0, [], 0, 0
    for n, (i, b, e, size) in enumerate(spikes):
        # a figure is on the screen until the next is drawn, so the next spike's begin is the limit
        limit = min(spikes[n + 1][1] if n + 1 < len(spikes) else b + 5, b + 5)
        need = base + opt["share"] * size
        if peak:
            need = max(need, base + (size + most) / 2)
        grown = size > most
        larger += grown
        most = max(most, size)
        hit = next((t for t, v in got if b <= t < limit and v >= need - step), None)
        if peak and not grown:
            hit = None                          # a peak cannot tell a spike that is no larger
        seen += hit is not None
        if hit is not None:
            delays.append((hit - b) * 1000)
        elif not peak or grown:
            missed.append(i)
        out.append((i, hit and (hit - b) * 1000, None, base))
    return {"source": source, "kind": kind, "spikes": len(spikes), **({"larger_than_before": larger} if peak else {}),
            "seen": seen, "missed": missed[:50], "delay_ms": spread(delays), "base_gib": round(base / (1 << 30), 3),
            "changes": len(got), "highest_gib": round(max(v for _, v in got) / (1 << 30), 3)}, out


def spread(v):
    v = sorted(v)
    if not v:
        return {"n": 0}
    return {"n": len(v), "median": round(statistics.median(v), 1), "p90": round(v[min(len(v) - 1, int(.9 * len(v)))], 1),
            "least": round(v[0], 1), "most": round(v[-1], 1)}


def main():
    opt = {"gpu": 0, "base": None, "slack": 0.06, "share": 0.9, "offset": 0.0, "unit": 1 << 30, "dump": False, "all": False}
    a, pos = sys.argv[1:], []
    while a:
        w = a.pop(0)
        if w in ("--dump", "--all"):
            opt[w[2:]] = True
        elif w.startswith("--") and w[2:] in opt:
            v = a.pop(0)
            opt[w[2:]] = int(float(v)) if w in ("--gpu", "--base", "--unit") else float(v)
        else:
            pos.append(w)
    if len(pos) < 2:
        sys.exit(__doc__)
    spikes, results = read_spikes(pos[0], opt["offset"]), []
    if not spikes:
        sys.exit(f"spikes: no line 'spike I BEGIN END BYTES' in {pos[0]}")
    for source in pos[1:]:
        try:
            if re.search(r"\.jsonl(\.zst|\.gz)?$", source):
                r, each = recording(source, spikes, opt)
            else:
                kind, colon, path = source.partition(":")
                if not colon:
                    path, kind = source, None
                path = re.sub(r"\.tty$", "", path)
                kind = kind or next((k for k in ("nvtop", "nvitop", "gpustat") if os.path.basename(path).startswith(k)), "nvpeak")
                r, each = tty(path, kind, spikes, opt)
        except (OSError, subprocess.CalledProcessError, KeyError) as e:
            print(f"spikes: {source}: {e!r}", file=sys.stderr)
            continue
        results.append(r)
        d = r.get("delay_ms", {})
        print(f"{source}\t{r['kind']}\tseen {r['seen']} of {r['spikes']}\tdelay ms median {d.get('median')} p90 {d.get('p90')}"
              f" most {d.get('most')}\t{r.get('error', '')}")
        if opt["all"]:
            for i, ms, share, base in each:
                print(f"  {i}\t{'-' if ms is None else round(ms, 1)}\t{'-' if share is None else round(share, 3)}\t{base}")
    print(json.dumps(results))


if __name__ == "__main__":
    main()
