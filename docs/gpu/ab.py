#!/usr/bin/env python3
"""Does a program beside it slow a training down? One process trains all the time (steptime.py); beside it, in turn, runs
nothing or one of the programs, each in a pty of 160x50 that is read all the time.

  ab.py [options] -- NAME=COMMAND ...      'control=' has no command: its ratio tells the noise
Before and after each of them runs nothing for --between seconds; that is the base.
Options: --each S (6), --between S (3), --rounds N (3), --drop S (1: left out at each begin, base too), --train 'ARGS of steptime.py' (--mode lm),
--out DIR (ab.out), --python P (this one), --settle S (3: before the first), --limit S (stop early after so long)
Every second round goes backwards. A ratio is a step time divided by the mean of those of nothing before and after it.
"""
import json, os, select, signal, statistics, subprocess, sys, threading, time
import rig

HERE = os.path.dirname(os.path.abspath(__file__))


def quantile(v, q):
    v = sorted(v)
    return v[min(len(v) - 1, int(q * len(v)))]


def main():
    a = sys.argv[1:]
    if "--" not in a:
        sys.exit(__doc__)
    i = a.index("--")
    head, conds = a[:i], [c.partition("=")[::2] for c in a[i + 1:]]
    opt = {"each": 6.0, "rounds": 3, "drop": 1.0, "train": "--mode lm", "out": "ab.out", "python": sys.executable, "settle": 3.0,
           "limit": 1e9, "between": 3.0, "ready": 240.0}
    while head:
        k = head.pop(0)[2:]
        if k not in opt:
            sys.exit(__doc__)
        opt[k] = type(opt[k])(head.pop(0))
    conds = [c for c in conds if c[0] != "nothing"]
    if opt["between"] <= opt["drop"]:
        sys.exit("ab: --between has to be longer than --drop")
    os.makedirs(opt["out"], exist_ok=True)
    f = {k: os.path.join(opt["out"], k) for k in ("steps.log", "ready.json", "stop", "train.json", "train.err")}
    for k in ("steps.log", "ready.json", "stop"):
        if os.path.exists(f[k]):
            os.remove(f[k])
    train = subprocess.Popen([opt["python"], os.path.join(HERE, "steptime.py"), *opt["train"].split(), "--seconds", "100000",
                              "--log", f["steps.log"], "--ready", f["ready.json"], "--until", f["stop"]],
                             stdout=open(f["train.json"], "w"), stderr=open(f["train.err"], "w"))
    began, segments = time.monotonic(), []
    try:
        while not os.path.exists(f["ready.json"]):
            if train.poll() is not None or time.monotonic() - began > opt["ready"]:
                sys.exit(f"ab: the training did not start, code {train.poll()}: {open(f['train.err']).read()[-1500:]}")
            time.sleep(0.05)
        info = json.load(open(f["ready.json"]))
        print(f"ab: training runs after {time.monotonic() - began:.1f} s: {json.dumps(info)}", file=sys.stderr, flush=True)
        time.sleep(opt["settle"])

        def nothing(r):
            s = {"round": r, "name": "nothing", "begin": time.time() + opt["drop"]}
            time.sleep(opt["between"])
            s["end"] = time.time()
            segments.append(s)
        nothing(0)
        for r in range(opt["rounds"]):
            for name, command in (conds if r % 2 == 0 else conds[::-1]):
                if train.poll() is not None or time.monotonic() - began > opt["limit"]:
                    break
                s = {"round": r, "name": name, "begin": time.time() + opt["drop"]}
                if command.strip():
                    try:
                        p = rig.Pty(command, rig.environment())
                    except OSError as e:
                        s["failed"] = repr(e)
                        segments.append(s)
                        nothing(r)
                        continue
                    until, raw = time.monotonic() + opt["each"], b""
                    while time.monotonic() < until and not p.eof:
                        if select.select([p.master], [], [], max(0, min(0.2, until - time.monotonic())))[0]:
                            raw += p.read()
                    s["end"] = time.time()
                    early = p.eof or p.reap()
                    if early:
                        s["failed"] = "ended by itself: " + rig.ESC.sub(b" ", raw)[-300:].decode("utf-8", "replace")
                    one = rig.sample(p.pid, memory=True) if not early else {}
                    ms = p.quit()
                    p.reap(block=True)
                    p.close()
                    s["exit_ms"] = ms and round(ms, 1)
                    if p.rusage and not early:
                        s["cpu_pct"] = round(100 * (p.rusage.ru_utime + p.rusage.ru_stime) / (p.ended - p.began), 2)
                        s["rss_mib"] = round(one["rss"], 1)
                    with open(os.path.join(opt["out"], f"{name}.{r}.tty"), "wb") as g:
                        g.write(raw)
                    time.sleep(0.3)
                else:
                    time.sleep(opt["each"])
                    s["end"] = time.time()
                segments.append(s)
                nothing(r)
    finally:
        open(f["stop"], "w").close()
        try:
            train.wait(20)
        except subprocess.TimeoutExpired:
            train.terminate()
            try:
                train.wait(5)
            except subprocess.TimeoutExpired:
                train.kill()
    steps = []
    for line in open(f["steps.log"]):
        w = line.split()
        if len(w) == 2:
            steps.append((float(w[0]), float(w[1])))
    for s in segments:
        if "end" not in s:
            continue
        v = [ms for t, ms in steps if t - ms / 1000 >= s["begin"] and t <= s["end"]]
        if v:
            s.update(steps=len(v), median=statistics.median(v), mean=statistics.fmean(v), p90=quantile(v, .9), p99=quantile(v, .99))
    report, KEYS = [], ("median", "mean", "p90", "p99")
    for name, command in [("nothing", "")] + conds:
        mine = [s for s in segments if s["name"] == name and "median" in s]
        row = {"name": name, "command": command, "segments": len(mine), "steps": sum(s["steps"] for s in mine),
               "failed": [s["failed"] for s in segments if s["name"] == name and "failed" in s]}
        for k in KEYS:
            ratios = []
            for s in mine:
                i = segments.index(s)
                b = [x[k] for x in segments[max(0, i - 1):i + 2] if x is not s and x["name"] == "nothing" and k in x]
                if b and "failed" not in s and name != "nothing":
                    ratios.append(s[k] / statistics.fmean(b))
            if mine:
                row[k + "_ms"] = round(statistics.median(s[k] for s in mine), 4)
            if ratios:
                row[k + "_ratio"] = {"median": round(statistics.median(ratios), 5), "least": round(min(ratios), 5),
                                     "most": round(max(ratios), 5)}
        for k in ("cpu_pct", "rss_mib"):
            v = [s[k] for s in mine if k in s]
            if v:
                row[k] = round(statistics.median(v), 2)
        report.append(row)
    rig.table([{**r, "ratio": r.get("median_ratio", {}).get("median"), "least": r.get("median_ratio", {}).get("least"),
                "most": r.get("median_ratio", {}).get("most"), "mean_r": r.get("mean_ratio", {}).get("median"),
                "p99_r": r.get("p99_ratio", {}).get("median"), "bad": len(r["failed"])} for r in report],
              ["name", "segments", "steps", "median_ms", "p90_ms", "p99_ms", "ratio", "least", "most", "mean_r", "p99_r", "cpu_pct",
               "rss_mib", "bad"])
    doc = {"what": "ab", "train": opt["train"], "info": info, "each_s": opt["each"], "rounds": opt["rounds"], "report": report,
           "segments": segments}
    json.dump(doc, open(os.path.join(opt["out"], "ab.json"), "w"), indent=1)
    print(json.dumps({k: doc[k] for k in ("what", "train", "info", "each_s", "rounds", "report")}), flush=True)
    if train.returncode not in (0, None):
        print(f"ab: the training ended with {train.returncode}: {open(f['train.err']).read()[-800:]}", file=sys.stderr)


if __name__ == "__main__":
    main()
