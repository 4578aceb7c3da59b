#!/usr/bin/env python3
"""Measures terminal programs. Python 3 standard library only; Linux.

  rig.py watch SECONDS OUTDIR -- NAME=COMMAND ...   all at once, each in a pty of its own (160x50)
  rig.py first N -- COMMAND                         ms from start to the first memory figure on the screen
  rig.py once N -- COMMAND                          wall and CPU ms of N runs to the end

A COMMAND is one word of the command line ('nvtop -d 10', 'A=b prog'), or for first/once also several words.
Options before --: --settle S (3), --quit KEYS (q), --mute (the terminal answers no queries), --pattern RE (first),
--size 160x50, --timeout S (first, 20), --env A=b (may be repeated)
"""
import fcntl, json, os, re, select, shlex, shutil, signal, statistics, struct, sys, termios, threading, time

TICK = os.sysconf("SC_CLK_TCK")
ESC = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_].*?\x1b\\|[ -/]*[0-~])", re.S)
FIGURE = r"\d\s*[GM]iB?\b|\d\s*/\s*\d+\s*MB\b"   # not the 80GB of a name


def environment(extra=()):
    env = dict(os.environ)
    for k in ("LINES", "COLUMNS", "COLORTERM", "NO_COLOR", "TMUX", "STY", "TERM_PROGRAM"):
        env.pop(k, None)
    env["TERM"] = "xterm-256color"
    if not env.get("HOME"):                     # nvtop 3.0.1 dies without
        env["HOME"] = "/tmp/righome"
        os.makedirs(env["HOME"], exist_ok=True)
    if "utf" not in (env.get("LC_ALL") or env.get("LC_CTYPE") or env.get("LANG") or "").lower():
        env["LC_ALL"] = "C.UTF-8"
    for e in extra:
        k, _, v = e.partition("=")
        env[k] = v
    return env


def parse(command, env):
    """argv and environment of a command line; what needs a shell gets one."""
    if isinstance(command, (list, tuple)):
        words = list(command)
        if len(words) == 1:
            return parse(words[0], env)
    elif re.search(r"[|;&<>$`*?~]", command):
        words = ["/bin/sh", "-c", command]
    else:
        words = shlex.split(command)
    env = dict(env)
    while words and re.match(r"^[A-Za-z_]\w*=", words[0]):
        k, _, v = words.pop(0).partition("=")
        env[k] = v
    if not words:
        sys.exit("rig: empty command")
    path = words[0] if "/" in words[0] else shutil.which(words[0], path=env.get("PATH"))
    if not path or not os.access(path, os.X_OK):
        raise FileNotFoundError(words[0])
    return path, words, env


def answers(data):
    """What a terminal would say to the queries in data."""
    out = b""
    for m in re.finditer(rb"\x1b\[([?>=]?)([0-9;]*)(\$?[A-Za-z])|\x1b\](1[01]);\?", data):
        pre, num, fin, osc = m.groups()
        if osc:
            out += b"\x1b]%s;rgb:%s\x1b\\" % (osc, b"dddd/dddd/dddd" if osc == b"10" else b"0000/0000/0000")
        elif fin == b"n" and num == b"6":
            out += b"\x1b[1;1R"
        elif fin == b"n" and num == b"5":
            out += b"\x1b[0n"
        elif fin == b"c" and pre in (b"", b"?"):
            out += b"\x1b[?62;22c"
        elif fin == b"c" and pre == b">":
            out += b"\x1b[>41;380;0c"
        elif fin == b"$p" and pre == b"?":
            out += b"\x1b[?%s;%d$y" % (num, 2 if num in (b"2026", b"2004", b"1006", b"1000") else 0)
        elif fin == b"q" and pre == b">":
            out += b"\x1bP>|XTerm(380)\x1b\\"
    return out


class Pty:
    """A program in a pseudo terminal."""

    def __init__(self, command, env, size=(160, 50), mute=False):
        self.path, self.argv, self.env = parse(command, env)
        self.mute, self.got, self.ended, self.rusage, self.code, self.eof = mute, 0, None, None, None, False
        self.master, slave = os.openpty()
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))
        name = os.ttyname(slave)
        self.began_wall, self.began = time.time(), time.monotonic()
        try:
            self.pid = os.posix_spawn(self.path, self.argv, self.env, setsid=True, file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, name, os.O_RDWR, 0), (os.POSIX_SPAWN_DUP2, 0, 1), (os.POSIX_SPAWN_DUP2, 0, 2)])
        except NotImplementedError:
            self.pid = os.fork()
            if self.pid == 0:
                os.setsid()
                fd = os.open(name, os.O_RDWR)
                for i in (0, 1, 2):
                    os.dup2(fd, i)
                os.execve(self.path, self.argv, self.env)
        os.close(slave)
        try:
            self.pidfd = os.pidfd_open(self.pid)
        except (OSError, AttributeError):
            self.pidfd = None

    def read(self):
        try:
            data = os.read(self.master, 65536)
        except OSError:
            data = b""
        if not data:
            self.eof = True
        self.got += len(data)
        if data and not self.mute:
            a = answers(data)
            if a:
                self.write(a)
        return data

    def write(self, data):
        try:
            os.write(self.master, data)
        except OSError:
            pass

    def reap(self, block=False):
        if self.ended is None:
            try:
                pid, st, ru = os.wait4(self.pid, 0 if block else os.WNOHANG)
            except ChildProcessError:
                self.ended, self.code = time.monotonic(), -999
                return True
            if pid:
                self.ended, self.rusage, self.code = time.monotonic(), ru, os.waitstatus_to_exitcode(st)
        return self.ended is not None

    def quit(self, keys=b"q", limit=3.0, drain=True):
        """Sends keys; ms to the end, or None where it had to be killed."""
        if self.reap():
            return None
        t = time.monotonic()
        self.write(keys)
        killed = False
        while not self.reap():
            left = t + limit - time.monotonic()
            if left <= 0 and not killed:
                killed = True
                for p in tree(self.pid):
                    try:
                        os.kill(p, signal.SIGKILL)
                    except OSError:
                        pass
            fds = [self.master] if drain and not self.eof else []
            wait = 0.002
            if self.pidfd is not None:
                fds.append(self.pidfd)
                wait = max(0.01, min(left, 0.5)) if not killed else 0.05
            if fds:
                r = select.select(fds, [], [], wait)[0]
                if drain and self.master in r:
                    self.read()
            else:
                time.sleep(wait)
        return None if killed else (self.ended - t) * 1000

    def close(self):
        for fd in (self.master, self.pidfd):
            if fd is not None:
                try:
                    os.close(fd)
                except OSError:
                    pass


def slurp(path):
    try:
        with open(path, "rb") as f:
            return f.read().decode("utf-8", "replace")
    except OSError:
        return ""


def children_of_all():
    kids = {}
    for d in os.listdir("/proc"):
        if d.isdigit():
            s = slurp(f"/proc/{d}/stat")
            if s:
                kids.setdefault(int(s.rpartition(")")[2].split()[1]), []).append(int(d))
    return kids


HAVE_CHILDREN = os.path.exists(f"/proc/{os.getpid()}/task/{os.getpid()}/children")


def tree(pid):
    out, todo, kids = [], [pid], None
    while todo:
        p = todo.pop()
        out.append(p)
        if HAVE_CHILDREN:
            try:
                tasks = os.listdir(f"/proc/{p}/task")
            except OSError:
                continue
            for t in tasks:
                todo += [int(x) for x in slurp(f"/proc/{p}/task/{t}/children").split()]
        else:
            kids = kids or children_of_all()
            todo += kids.get(p, [])
    return out


def number(text, key):
    m = re.search(r"^%s:\s*(\d+)" % key, text, re.M)
    return int(m.group(1)) if m else None


def sample(pid, memory=False):
    """Figures of a tree of processes at this moment."""
    s = {"t": time.monotonic(), "cpu": 0.0, "ns": {}, "vol": {}, "inv": {}, "threads": 0, "procs": 0,
         "rss": 0, "pss": None, "hwm": 0}
    for p in tree(pid):
        st = slurp(f"/proc/{p}/stat")
        if not st:
            continue
        f = st.rpartition(")")[2].split()
        s["cpu"] += sum(int(x) for x in f[11:15]) / TICK
        s["procs"] += 1
        try:
            tasks = os.listdir(f"/proc/{p}/task")
        except OSError:
            continue
        s["threads"] += len(tasks)
        for t in tasks:
            x = slurp(f"/proc/{p}/task/{t}/status")
            v, i = number(x, "voluntary_ctxt_switches"), number(x, "nonvoluntary_ctxt_switches")
            if v is not None:
                s["vol"][p, t], s["inv"][p, t] = v, i or 0
            x = slurp(f"/proc/{p}/task/{t}/schedstat").split()
            if x:
                s["ns"][p, t] = int(x[0])
        if memory:
            x = slurp(f"/proc/{p}/status")
            s["rss"] += (number(x, "VmRSS") or 0) / 1024
            s["hwm"] += (number(x, "VmHWM") or 0) / 1024
            x = number(slurp(f"/proc/{p}/smaps_rollup"), "Pss")
            if x is not None:
                s["pss"] = (s["pss"] or 0) + x / 1024
    return s


def grew(first, last):
    return sum(v - first.get(k, 0) for k, v in last.items())


def table(rows, keys):
    def text(v):
        return "-" if v is None else f"{v:.3f}".rstrip("0").rstrip(".") if isinstance(v, float) else str(v)
    print("\t".join(keys))
    for r in rows:
        print("\t".join(text(r.get(k)) for k in keys))
    sys.stdout.flush()


def watch(seconds, outdir, commands, opt):
    os.makedirs(outdir, exist_ok=True)
    env = environment(opt["env"])
    ptys, stop = {}, threading.Event()
    for c in commands:
        name, eq, command = c.partition("=")
        if not eq or not re.match(r"^[\w.+-]+$", name):
            sys.exit(f"rig: NAME=COMMAND is needed, not {c!r}")
        try:
            p = Pty(command, env, opt["size"], opt["mute"])
        except (OSError, ValueError) as e:
            print(f"rig: {name}: cannot start: {e}", file=sys.stderr)
            continue
        p.raw, p.times = open(f"{outdir}/{name}.tty", "wb"), open(f"{outdir}/{name}.times", "w")
        p.times.write(f"0 {p.began_wall:.6f}\n")
        ptys[name] = p

    def reader():
        while not stop.is_set():
            live = {p.master: p for p in ptys.values() if not p.eof}
            if not live:
                time.sleep(0.05)
                continue
            for fd in select.select(list(live), [], [], 0.2)[0]:
                p = live[fd]
                at, now = p.got, time.time()
                data = p.read()
                if data:
                    p.raw.write(data)
                    p.times.write(f"{at} {now:.6f}\n")

    th = threading.Thread(target=reader, daemon=True)
    th.start()
    time.sleep(opt["settle"])
    first, last, peakthreads = {}, {}, {}
    for name, p in ptys.items():
        p.reap()
        first[name] = sample(p.pid)
        first[name]["got"] = p.got
        last[name] = {k: {} for k in ("vol", "inv", "ns")}
    t0 = time.monotonic()
    while True:
        left = t0 + seconds - time.monotonic()
        final = left <= 1.01
        time.sleep(max(0, min(1, left)))
        for name, p in ptys.items():
            if p.reap():
                continue
            s = sample(p.pid, memory=final)
            s["got"] = p.got
            for k in ("vol", "inv", "ns"):      # threads that have ended keep what they were seen with
                s[k] = {**last[name].get(k, {}), **s[k]}
            last[name] = s
            peakthreads[name] = max(peakthreads.get(name, 0), s["threads"])
        if final:
            break
    rows = []
    for name, p in ptys.items():
        a, b = first[name], last[name]
        r = {"name": name, "command": " ".join(p.argv)}
        if p.ended is not None or "t" not in b:
            r.update(died_after_s=round((p.ended or time.monotonic()) - p.began, 3), exit_code=p.code)
        else:
            d = b["t"] - a["t"]
            sw = bool(b["vol"])
            r.update(seconds=round(d, 3), cpu_s=round(b["cpu"] - a["cpu"], 3), cpu_pct=round(100 * (b["cpu"] - a["cpu"]) / d, 3),
                     cpu_ns_pct=round(grew(a["ns"], b["ns"]) / 1e7 / d, 3) if any(b["ns"].values()) else None,
                     vol_s=round(grew(a["vol"], b["vol"]) / d, 1) if sw else None,
                     invol_s=round(grew(a["inv"], b["inv"]) / d, 1) if sw else None,
                     rss_mib=round(b["rss"], 1), pss_mib=round(b["pss"], 1) if b["pss"] is not None else None,
                     hwm_mib=round(b["hwm"], 1), threads=b["threads"], max_threads=peakthreads[name], procs=b["procs"],
                     out_b_s=round((b["got"] - a["got"]) / d, 1))
        rows.append(r)
    for r in rows:                              # one after the other, so that none disturbs another's end
        p = ptys[r["name"]]
        if p.ended is None:
            ms = p.quit(opt["quit"], drain=False)
            r["exit_ms"] = round(ms, 1) if ms is not None else None
            r["killed"], r["exit_code"] = ms is None, p.code
        if p.rusage:
            u = p.rusage
            r.update(life_s=round(p.ended - p.began, 2), life_cpu_s=round(u.ru_utime + u.ru_stime, 3),
                     life_vol=u.ru_nvcsw, life_invol=u.ru_nivcsw)
    time.sleep(0.1)
    stop.set()
    th.join(1)
    for p in ptys.values():
        p.raw.close(), p.times.close(), p.close()
    table(rows, ["name", "seconds", "cpu_s", "cpu_pct", "cpu_ns_pct", "vol_s", "invol_s", "rss_mib", "pss_mib", "hwm_mib",
                 "threads", "procs", "out_b_s", "exit_ms", "killed", "exit_code", "life_cpu_s", "life_vol", "died_after_s"])
    doc = {"what": "watch", "settle_s": opt["settle"], "size": opt["size"], "rows": rows}
    with open(f"{outdir}/watch.json", "w") as f:
        json.dump(doc, f, indent=1)
    print(json.dumps(doc), flush=True)
    for r in rows:
        if "died_after_s" in r:
            tail = ESC.sub(b" ", slurp(f"{outdir}/{r['name']}.tty").encode())[-600:]
            print(f"rig: {r['name']} ended by itself, code {r['exit_code']}: {tail.decode('utf-8', 'replace')!r}", file=sys.stderr)


def spread(values, digits=2):
    v = sorted(x for x in values if x is not None)
    if not v:
        return {"n": 0}
    return {"n": len(v), "median": round(statistics.median(v), digits), "least": round(v[0], digits), "most": round(v[-1], digits)}


def first(n, command, opt):
    env, rows, pattern = environment(opt["env"]), [], re.compile(opt["pattern"].encode())
    for i in range(n):
        p = Pty(command, env, opt["size"], opt["mute"])
        raw, r = b"", {"byte_ms": None, "figure_ms": None, "cpu_ms": None, "exit_ms": None}
        while time.monotonic() - p.began < opt["timeout"] and not p.eof:
            if not select.select([p.master], [], [], 0.5)[0]:
                if p.reap():
                    break
                continue
            now = time.monotonic()
            raw += p.read()
            if r["byte_ms"] is None and raw:
                r["byte_ms"] = (now - p.began) * 1000
            m = pattern.search(ESC.sub(b"", raw))
            if m:
                r["figure_ms"] = (now - p.began) * 1000
                s = sample(p.pid)
                r["cpu_ms"] = sum(s["ns"].values()) / 1e6 or s["cpu"] * 1000
                t = ESC.sub(b"", raw)
                r["text"] = t[max(0, m.start() - 25):m.end() + 5].decode("utf-8", "replace")
                break
        if r["figure_ms"] is None:
            r["text"] = ESC.sub(b" ", raw)[-300:].decode("utf-8", "replace")
        else:
            end = time.monotonic() + 0.3        # it is let to settle, so that q is not lost
            while time.monotonic() < end and not p.eof:
                if select.select([p.master], [], [], 0.05)[0]:
                    p.read()
        r["exit_ms"] = p.quit(opt["quit"])
        p.reap(block=True)
        r["code"] = p.code
        p.close()
        rows.append(r)
    doc = {"what": "first", "command": command if isinstance(command, str) else " ".join(command), "text": rows[-1].get("text"),
           "seen": sum(r["figure_ms"] is not None for r in rows),
           **{k: spread(r[k] for r in rows) for k in ("figure_ms", "byte_ms", "cpu_ms", "exit_ms")},
           "all_figure_ms": [round(r["figure_ms"], 1) if r["figure_ms"] else None for r in rows]}
    table([{"what": k, **doc[k]} for k in ("figure_ms", "byte_ms", "cpu_ms", "exit_ms")], ["what", "n", "median", "least", "most"])
    print(json.dumps(doc, ensure_ascii=False))


def once(n, command, opt):
    path, argv, env = parse(command, environment(opt["env"]))
    wall, cpu, codes = [], [], {}
    for i in range(n + 1):                      # the first is a warm-up and told apart
        t = time.monotonic()
        pid = os.posix_spawn(path, argv, env, file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
        _, st, ru = os.wait4(pid, 0)
        wall.append((time.monotonic() - t) * 1000)
        cpu.append((ru.ru_utime + ru.ru_stime) * 1000)
        c = os.waitstatus_to_exitcode(st)
        codes[c] = codes.get(c, 0) + 1
    doc = {"what": "once", "command": " ".join(argv), "wall_ms": spread(wall[1:]), "cpu_ms": spread(cpu[1:]),
           "warmup_wall_ms": round(wall[0], 2), "exit_codes": codes}
    table([{"what": k, **doc[k]} for k in ("wall_ms", "cpu_ms")], ["what", "n", "median", "least", "most"])
    print(json.dumps(doc), flush=True)


def main():
    a = sys.argv[1:]
    if "--" not in a or a[0] not in ("watch", "first", "once"):
        sys.exit(__doc__)
    i = a.index("--")
    head, tail = a[1:i], a[i + 1:]
    opt = {"settle": 3.0, "quit": b"q", "mute": False, "pattern": FIGURE, "size": (160, 50), "timeout": 20.0, "env": []}
    pos = []
    while head:
        w = head.pop(0)
        if w == "--mute":
            opt["mute"] = True
        elif w.startswith("--"):
            v = head.pop(0)
            k = w[2:]
            if k == "env":
                opt["env"].append(v)
            elif k == "quit":
                opt["quit"] = v.encode().decode("unicode_escape").encode("latin1")
            elif k == "size":
                opt["size"] = tuple(int(x) for x in v.split("x"))
            elif k == "pattern":
                opt["pattern"] = v
            elif k in ("settle", "timeout"):
                opt[k] = float(v)
            else:
                sys.exit(__doc__)
        else:
            pos.append(w)
    if not tail:
        sys.exit(__doc__)
    if a[0] == "watch":
        watch(float(pos[0]), pos[1], tail, opt)
    else:
        {"first": first, "once": once}[a[0]](int(pos[0]), tail, opt)


if __name__ == "__main__":
    main()
