#!/usr/bin/env python3
"""A training loop that tells how long its steps take.

  steptime.py [--mode lm|eager|alloc] [--seconds S] [--rounds N] [--warmup 50] [--target-ms 12] [--log FILE] [--ready FILE]
              [--until FILE] [--cpu | --device cuda|cpu]

lm     a transformer of 6 layers (d 1024, 16 heads, 1024 tokens), bf16 autocast, AdamW; the batch is chosen so that a
       step takes about --target-ms
eager  4,000 small kernels a step (--launches), most with a new tensor of changing size: launches and the caching allocator
alloc  32 allocations of 64 MiB a step that reach the driver (the cache is emptied each step), beside a small product:
       the worst case for anything that watches the driver's allocations
--cpu is a stand-in without torch: fixed work of about 12 ms a step. --log gets 'END_UNIX STEP_MS' for each step.
Ends after rounds x seconds, when the file --until exists, or with SIGTERM; prints JSON either way.
"""
import argparse, json, os, signal, statistics, sys, time

ap = argparse.ArgumentParser()
ap.add_argument("--mode", default="lm", choices=["lm", "eager", "alloc"])
ap.add_argument("--seconds", type=float, default=10)
ap.add_argument("--rounds", type=int, default=1)
ap.add_argument("--warmup", type=int, default=50)
ap.add_argument("--target-ms", type=float, default=12)
ap.add_argument("--batch", type=int, default=0, help="lm: fixed batch instead of --target-ms")
ap.add_argument("--launches", type=int, default=4000)
ap.add_argument("--log")
ap.add_argument("--ready")
ap.add_argument("--until")
ap.add_argument("--cpu", action="store_true")
ap.add_argument("--device", default="cuda")
ap.add_argument("--tiny", action="store_true", help="small shapes, to test the code")
o = ap.parse_args()
stop = False


def end(*_):
    global stop
    stop = True


signal.signal(signal.SIGTERM, end)
signal.signal(signal.SIGINT, end)
info = {"mode": o.mode, "pid": os.getpid()}
sync = lambda: None


def standin():
    info["device"] = "stand-in"

    def work(n):
        x = 0
        for i in range(n):
            x += i
    t = time.perf_counter()
    work(1000000)
    n = int(1000000 * 0.012 / (time.perf_counter() - t))     # fixed work, so that a slow-down shows

    return lambda: work(n)


def lm(torch, dev):
    import torch.nn as nn, torch.nn.functional as F
    D, H, T, V, L = (1024, 16, 1024, 16384, 6) if not o.tiny else (64, 4, 32, 256, 6)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.n1, self.n2 = nn.LayerNorm(D), nn.LayerNorm(D)
            self.qkv, self.proj = nn.Linear(D, 3 * D, bias=False), nn.Linear(D, D, bias=False)
            self.up, self.down = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)

        def forward(self, x):
            b, t, _ = x.shape
            q, k, v = self.qkv(self.n1(x)).view(b, t, 3, H, D // H).permute(2, 0, 3, 1, 4)
            if hasattr(F, "scaled_dot_product_attention"):
                a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            else:                               # torch 1.13, for tests
                w = (q @ k.transpose(-2, -1)) * (D // H) ** -0.5
                w = w.masked_fill(torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
                a = w.softmax(-1).to(v.dtype) @ v
            x = x + self.proj(a.transpose(1, 2).reshape(b, t, D))
            return x + self.down(F.gelu(self.up(self.n2(x))))

    class LM(nn.Module):
        def __init__(self):
            super().__init__()
            self.tok, self.pos = nn.Embedding(V, D), nn.Embedding(T, D)
            self.blocks, self.norm = nn.ModuleList(Block() for _ in range(L)), nn.LayerNorm(D)
            self.head = nn.Linear(D, V, bias=False)

        def forward(self, ids):
            x = self.tok(ids) + self.pos(torch.arange(ids.shape[1], device=ids.device))
            for b in self.blocks:
                x = b(x)
            return self.head(self.norm(x))

    torch.manual_seed(1)
    model = LM().to(dev)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4, **({"fused": True} if dev == "cuda" else {}))
    data = {}

    def make(batch):
        if batch not in data:
            data[batch] = [torch.randint(0, V, (batch, T + 1), device=dev) for _ in range(4)]
        n = [0]

        def step():
            ids = data[batch][n[0] % 4]
            n[0] += 1
            with torch.autocast(device_type=dev, dtype=torch.bfloat16):
                logits = model(ids[:, :-1])
                loss = F.cross_entropy(logits.view(-1, V), ids[:, 1:].reshape(-1))
            loss.backward()
            opt.step()
            opt.zero_grad(set_to_none=True)
        return step

    batch = o.batch or 8
    if not o.batch and dev == "cuda":           # two batches give the time of a sequence, and what does not depend on it
        def took(b):
            s, t = make(b), []
            for _ in range(15):
                a = time.perf_counter()
                s()
                sync()
                t.append(time.perf_counter() - a)
            return 1000 * statistics.median(t[5:])
        t4, t16 = took(4), took(16)
        slope = max((t16 - t4) / 12, 0.05)
        batch = max(1, min(48, round(16 + (o.target_ms - t16) / slope)))
        info.update(ms_at_4=round(t4, 2), ms_at_16=round(t16, 2))
        torch.cuda.empty_cache()
    info.update(batch=batch, parameters=sum(p.numel() for p in model.parameters()))
    return make(batch)


def eager(torch, dev):
    sizes = [48, 64, 96, 128, 160, 192, 256, 320] if not o.tiny else [4, 6, 8]
    base = [torch.randn(n, n, device=dev) for n in sizes]
    bias = [torch.randn(n, device=dev) for n in sizes]
    held = [None] * 64                          # what lives on for a while, so that the allocator has blocks to search

    @torch.no_grad()
    def step():
        k = len(sizes)
        for i in range(o.launches // 4):
            x = base[i % k]
            y = x * 1.0001                      # new
            y = y + bias[i % k]                 # new
            y.relu_()
            held[i * 7 % 64] = y.sub(0.5)       # new
    return step


def alloc(torch, dev):
    size = (64 << 20) if not o.tiny else 1 << 16
    a = torch.randn(2048 if not o.tiny else 32, 2048 if not o.tiny else 32, device=dev)

    @torch.no_grad()
    def step():
        keep = [torch.empty(size, dtype=torch.uint8, device=dev) for _ in range(32)]
        b = a @ a
        del keep, b
        if dev == "cuda":
            torch.cuda.empty_cache()
    return step


if o.cpu:
    step = standin()
else:
    import torch
    dev = o.device
    info.update(torch=torch.__version__, device=torch.cuda.get_device_name() if dev == "cuda" else dev)
    if dev == "cuda":
        sync = torch.cuda.synchronize
        torch.backends.cuda.matmul.allow_tf32 = True
    step = {"lm": lm, "eager": eager, "alloc": alloc}[o.mode](torch, dev)

for _ in range(o.warmup):
    step()
    sync()
    if stop:
        break
if not o.cpu and dev == "cuda":
    info["reserved_mib"] = torch.cuda.memory_reserved() >> 20


def told(t):
    v = sorted(1000 * x for x in t)
    if not v:
        return {"steps": 0}
    at = lambda q: round(v[min(len(v) - 1, int(q * len(v)))], 4)
    return {"steps": len(v), "median_ms": round(statistics.median(v), 4), "p90_ms": at(.9), "p99_ms": at(.99),
            "mean_ms": round(statistics.fmean(v), 4), "least_ms": round(v[0], 4), "most_ms": round(v[-1], 4)}


log = open(o.log, "w") if o.log else None
if o.ready:
    with open(o.ready + ".new", "w") as f:
        json.dump(info, f)
    os.rename(o.ready + ".new", o.ready)
rounds, all_, flushed = [], [], time.monotonic()
for _ in range(o.rounds):
    times, t0 = [], time.perf_counter()
    while not stop and time.perf_counter() - t0 < o.seconds:
        a = time.perf_counter()
        step()
        sync()
        d = time.perf_counter() - a
        times.append(d)
        if log:
            log.write(f"{time.time():.6f} {1000 * d:.4f}\n")
        if time.monotonic() - flushed > 0.5:    # between steps, in no step's time
            flushed = time.monotonic()
            if log:
                log.flush()
            if o.until and os.path.exists(o.until):
                stop = True
    rounds.append(told(times))
    all_ += times
    if stop:
        break
if log:
    log.close()
print(json.dumps({"what": "steptime", **info, "all": told(all_), "rounds": rounds}), flush=True)
