#!/usr/bin/env python3
"""Tries nvpeak on a machine with an NVIDIA GPU, a CUDA toolkit and PyTorch.

    NVPEAK=./nvpeak python3 docs/gpu/run.py OUT [PART …]

looks    doctor and once, beside nvidia-smi          events   every way of asking the driver for memory, compared with what stream tells
nvml     how long each call of NVML takes            spikes   20 of 50 ms, nvpeak beside nvtop, nvitop and nvidia-smi, where they are there
rate     the cost of a call that is watched          start    first figures, once
watch    the cost of each watcher beside a training  steps    what each does to the steps of a training
reporter the same under run, and run --lines         jobs     those of jobs/truth.tsv under run --record (JOBS=01,02… for some), two of
                                                              which import while a third has the GPU

Each part is bounded, and one that fails is told of and gone past. OUT/PART… has what was printed. Root, or the capabilities that doctor names, for events.
"""
import os, queue, shlex, shutil, signal, subprocess, sys, threading, time

HERE = os.path.dirname(os.path.abspath(__file__))
NVPEAK = os.path.abspath(os.environ.get("NVPEAK", "./nvpeak"))
START = time.time()


def say(*words):
    print("[%6.1f]" % (time.time() - START), *words, flush=True)


def run(command, log, limit=60, env=None, cwd=HERE):
    """Runs a command with its output in a file, and ends it after so many seconds."""
    os.makedirs(os.path.dirname(f"{OUT}/{log}"), exist_ok=True)
    began = time.time()
    with open(f"{OUT}/{log}", "ab") as out:
        p = subprocess.Popen(command, shell=isinstance(command, str), stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=cwd, env=dict(ENV, **(env or {})),
                             start_new_session=True)
        try:
            code = p.wait(limit)
        except subprocess.TimeoutExpired:
            for s in signal.SIGTERM, signal.SIGKILL:
                try:
                    os.killpg(p.pid, s)
                except OSError:
                    pass
                time.sleep(0.7)
            code = 124
    say(f"{log}: exit {code}, {time.time() - began:.1f} s")
    return code


class Beside:
    """A program that runs beside a part, and is interrupted at its end."""

    def __init__(self, command, log):
        os.makedirs(os.path.dirname(f"{OUT}/{log}"), exist_ok=True)
        self.p = subprocess.Popen(command, stdout=open(f"{OUT}/{log}", "wb"), stderr=open(f"{OUT}/{log}.err", "wb"), stdin=subprocess.DEVNULL, env=ENV, cwd=HERE, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *what):
        self.p.send_signal(signal.SIGINT)
        try:
            self.p.wait(5)
        except subprocess.TimeoutExpired:
            self.p.kill()
            say("had to be killed:", self.p.args)


def watchers():
    list_ = [f"nvpeak={NVPEAK} --requests on", f"nvpeak-off={NVPEAK} --requests off"]
    for name, command in ("nvtop-100ms", "nvtop -d 1"), ("nvtop", "nvtop -d 10"), ("nvitop", "nvitop"):
        if shutil.which(command.split()[0]):
            list_.append(f"{name}={command}")
    return list_


def looks():
    run("nvidia-smi; nvidia-smi -q -d MEMORY", "looks/nvidia-smi.txt", 30)
    for name, args in ("doctor.txt", ["doctor"]), ("once.txt", ["once"]), ("once.json", ["once", "--json"]):
        run([NVPEAK] + args, "looks/" + name, 40)


def build(name):
    if not os.path.exists(f"{OUT}/{name}"):
        run(["gcc", "-O2", "-I/usr/local/cuda/include", "-o", f"{OUT}/{name}", f"{HERE}/{name}.c", "-ldl", "-lpthread"], name + ".build")
    return f"{OUT}/{name}"


def events():
    ask = build("ask")
    with Beside([NVPEAK, "stream", "--requests", "on", "--interval", "200ms"], "events/stream.jsonl"), Beside([NVPEAK, "record", "-o", f"{OUT}/events.jsonl", "--requests", "on"], "events/record"):
        time.sleep(2.5)
        run([ask, "events"], "events/said", 70)
        time.sleep(1)
        run([ask, "die", "3G"], "events/die", 30)
        time.sleep(2)
    run([sys.executable, HERE + "/compare.py", f"{OUT}/events/said", f"{OUT}/events/stream.jsonl"], "events/compared.txt")
    run([NVPEAK, "run", "--requests", "on", "--", ask, "die", "3G"], "events/die.run", 30)


def nvml():
    run([build("nvml")], "nvml.tsv", 40)


def spikes():
    ask, sources = build("ask"), [f"{OUT}/spikes.jsonl"]
    with Beside([NVPEAK, "record", "-o", sources[0]], "spikes/record"), Beside(["sh", "-c", "exec nvidia-smi --query-gpu=timestamp,memory.used --format=csv,noheader -lms 100"], "spikes/nvidia-smi"):
        rig = subprocess.Popen([sys.executable, HERE + "/rig.py", "watch", "21", f"{OUT}/spikes-tty", "--"] + watchers(), cwd=HERE, env=ENV, stdout=open(f"{OUT}/spikes/rig", "wb"), stderr=subprocess.STDOUT)
        time.sleep(2.5)
        run([ask, "spikes", "20", "50", "8", "10"], "spikes/said", 40)
        rig.wait(30)
    run(f"awk '$1==\"spike\"{{print $1,$2,$4,$5,$7}}' {OUT}/spikes/said > {OUT}/spikes/list", "spikes/list.err")
    for w in watchers():
        name = w.partition("=")[0]
        sources.append(f"{'' if name.startswith('nvpeak') else name.partition('-')[0] + ':'}{OUT}/spikes-tty/{name}")
    run([sys.executable, HERE + "/spikes.py", f"{OUT}/spikes/list"] + sources, "spikes/seen.txt")


def rate():
    ask = build("ask")
    run([ask, "time", "250"], "rate/before", 30)
    with Beside([NVPEAK, "stream", "--requests", "on"], "rate/stream.jsonl"):
        time.sleep(2)
        run([ask, "time", "250"], "rate/watched", 30)
        for n in "100", "1500":
            run([ask, "rate", n, "4"], "rate/rates", 30)
        time.sleep(1.5)
    run([ask, "time", "250"], "rate/after", 30)


def start():
    for c in (f"first 6 -- '{NVPEAK} --requests off'", f"first 6 -- '{NVPEAK} --requests on'", f"once 6 -- {NVPEAK} once", "once 4 -- nvidia-smi", "first 4 -- 'nvtop -d 10'"):
        run(f"echo '# {c}'; {sys.executable} rig.py {c}", "start.txt", 30)


def watch():
    stop, ready = f"{OUT}/stop", f"{OUT}/ready"
    train = subprocess.Popen([sys.executable, "steptime.py", "--mode", "lm", "--seconds", "90", "--until", stop, "--ready", ready], cwd=HERE, env=ENV, stdout=subprocess.DEVNULL)
    for _ in range(300):
        if os.path.exists(ready):
            break
        time.sleep(0.1)
    run([sys.executable, "rig.py", "watch", "15", f"{OUT}/watch-tty", "--"] + watchers(), "watch.txt", 40)
    open(stop, "w").close()
    train.wait(30)


def steps():
    run([sys.executable, "ab.py", "--each", "5", "--between", "3", "--rounds", "3", "--limit", "180", "--out", f"{OUT}/ab", "--train", "--mode lm", "--"] + watchers() + ["control="], "steps.txt", 200)


def reporter():
    for i in range(3):
        for name, before in ("plain", []), ("run", [NVPEAK, "run", "--"]), ("lines", [NVPEAK, "run", "--lines", "--"]):
            run(before + [sys.executable, HERE + "/steptime.py", "--seconds", "5", "--rounds", "1", "--mode", "lm"], f"reporter/{name}-{i}", 60)


def jobs():
    table = [line.rstrip("\n").split("\t") for line in open(HERE + "/jobs/truth.tsv")][1:]
    work, some = queue.Queue(), os.environ.get("JOBS")
    for i, row in enumerate(table, 1):
        if not some or "%02d" % i in some.split(","):
            work.put(("%02d-%s" % (i, os.path.splitext(row[0])[0]), row[1]))
    run("test -x particles || nvcc -O2 -o particles particles.cu", "jobs/particles.build", 60, cwd=HERE + "/jobs")

    def worker():
        while True:
            try:
                name, command = work.get_nowait()
            except queue.Empty:
                return
            run([NVPEAK, "run", "--record", "--"] + shlex.split(command), f"jobs/{name}.log", 120, {"XDG_STATE_HOME": f"{OUT}/jobs/{name}"}, HERE + "/jobs")

    with Beside([NVPEAK, "record", "-o", f"{OUT}/jobs.jsonl.zst"], "jobs/record"):
        threads = [threading.Thread(target=worker) for _ in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()


PARTS = {f.__name__: f for f in (looks, events, nvml, spikes, rate, start, watch, steps, reporter, jobs)}

if __name__ == "__main__":
    if len(sys.argv) < 2 or not all(p in PARTS for p in sys.argv[2:]):
        sys.exit(__doc__)
    OUT = os.path.abspath(sys.argv[1])
    os.makedirs(OUT, exist_ok=True)
    ENV = dict(os.environ, TERM="xterm-256color", PYTHONUNBUFFERED="1", GPU_LOCK=f"{OUT}/lock", HOME=os.environ.get("HOME") or OUT)
    for part in sys.argv[2:] or PARTS:
        say("##", part)
        try:
            PARTS[part]()
        except Exception as error:  # the next one goes on
            say("failed:", part, repr(error))
