"""Teacher process: holds its weights on the card and answers over a pipe."""
import argparse
import select
import sys

import torch

import gpu_lock

ap = argparse.ArgumentParser()
ap.add_argument("--gb", type=float, default=50)
args = ap.parse_args()
if gpu_lock.TINY:
    args.gb = 0.001

if sys.stdin.readline().strip() == "start":
    weights = torch.zeros(int(args.gb * 2**30) // 2, dtype=torch.bfloat16, device=gpu_lock.DEVICE)
    a = torch.randn(1024, 1024, device=gpu_lock.DEVICE)
    print("ready", flush=True)
    while True:
        ready, _, _ = select.select([sys.stdin], [], [], 0.25)
        if ready and not sys.stdin.readline():
            break
        a = torch.tanh(a @ a)
