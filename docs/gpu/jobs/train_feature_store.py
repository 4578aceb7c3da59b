"""Head on top of precomputed features; as many feature rows as wanted stay on the card."""
import argparse
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

import gpu_lock

ap = argparse.ArgumentParser()
ap.add_argument("--device-fill", type=float, default=0.955, help="share of the card in use once the store is loaded")
ap.add_argument("--dim", type=int, default=1024)
ap.add_argument("--batch-size", type=int, default=8192)
ap.add_argument("--steps", type=int, default=100)
args = ap.parse_args()
gpu_lock.shrink(args, dim=32, batch_size=16, steps=5)


def train_step(model, opt, x, y):
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss


def main():
    gpu_lock.acquire()
    device = gpu_lock.DEVICE
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(args.dim, 2048), nn.GELU(), nn.Linear(2048, 1000)).to(device)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    y = torch.randint(1000, (args.batch_size,), device=device)
    for _ in range(5):
        train_step(model, opt, torch.randn(args.batch_size, args.dim, device=device), y)
    rows = 1000
    if device == "cuda":
        torch.cuda.synchronize()
        free, total = torch.cuda.mem_get_info()
        rows = int(free - (1 - args.device_fill) * total) // (2 * args.dim)
    store = torch.empty(rows, args.dim, device=device, dtype=torch.bfloat16)
    for part in store.split(1 << 20):
        part.fill_(0.01)
    print(f"feature store: {rows:,} rows", flush=True)
    for step in range(args.steps):
        time.sleep(0.06)
        ix = torch.randint(rows, (args.batch_size,), device=device)
        loss = train_step(model, opt, store.index_select(0, ix).float(), y)
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    print("done")


if __name__ == "__main__":
    main()
