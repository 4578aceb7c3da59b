"""Nearest neighbors over an embedding index kept on the card.

The shards are read in float32, then packed as bfloat16 with 32 columns of metadata.
"""
import argparse
import time

import torch

import gpu_lock

ap = argparse.ArgumentParser()
ap.add_argument("--shards", type=int, default=68)
ap.add_argument("--rows", type=int, default=262144, help="rows per shard")
ap.add_argument("--dim", type=int, default=1024)
ap.add_argument("--query-batch", type=int, default=256)
ap.add_argument("--queries", type=int, default=2560)
ap.add_argument("--top-k", type=int, default=10)
args = ap.parse_args()
gpu_lock.shrink(args, shards=4, rows=100, query_batch=20, queries=40)


@torch.no_grad()
def main():
    gpu_lock.acquire()
    device = gpu_lock.DEVICE
    torch.manual_seed(0)
    shards = []
    for i in range(args.shards):
        shards.append(torch.randn(args.rows, args.dim, device=device))
        time.sleep(0.04)
        if i % 10 == 9:
            print(f"read shard {i + 1}/{args.shards}", flush=True)
    for i in range(args.shards):
        meta = torch.zeros(args.rows, 32, device=device, dtype=torch.bfloat16)
        shards[i] = torch.cat([shards[i].to(torch.bfloat16), meta], dim=1)
        time.sleep(0.02)
    print("index packed, searching", flush=True)
    total = args.rows * args.shards
    for start in range(0, args.queries, args.query_batch):
        q = torch.randn(args.query_batch, args.dim, device=device, dtype=torch.bfloat16)
        scores = torch.empty(args.query_batch, total, device=device)
        best = []
        for i, shard in enumerate(shards):
            part = scores[:, i * args.rows:(i + 1) * args.rows]
            part.copy_(q @ shard[:, :args.dim].T)
            best.append(part.amax(1))
        best = torch.stack(best, 1).topk(min(args.top_k, args.shards)).values
        print(f"queries {start}..{start + args.query_batch}: mean best {best.mean().item():.3f}", flush=True)
        del scores
        time.sleep(0.05)
    print("done")


if __name__ == "__main__":
    main()
