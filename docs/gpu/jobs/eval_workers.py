"""Score a test set with several worker processes on one card."""
import argparse
import time

import torch
import torch.multiprocessing as mp

import gpu_lock
from gpt import GPT

ap = argparse.ArgumentParser()
ap.add_argument("--workers", type=int, default=4)
ap.add_argument("--batch-size", type=int, default=2)
ap.add_argument("--batches", type=int, default=12)
ap.add_argument("--n-layer", type=int, default=29)
ap.add_argument("--n-embd", type=int, default=4096)
ap.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")


def worker(rank, args):
    device = gpu_lock.DEVICE + ":0" if gpu_lock.DEVICE == "cuda" else "cpu"
    time.sleep(1.0 * rank)
    torch.manual_seed(rank)
    torch.set_default_dtype(getattr(torch, args.dtype))
    with torch.device(device):
        model = GPT(32000, args.n_embd, args.n_layer, 32, 256).eval()
    print(f"[rank {rank}] model ready", flush=True)
    total = 0.0
    with torch.no_grad():
        for i in range(args.batches):
            x = torch.randint(32000, (args.batch_size, 256), device=device)
            _, loss = model(x, x.roll(-1, 1))
            total += loss.item()
            time.sleep(0.2)
            if i % 4 == 0:
                print(f"[rank {rank}] batch {i} loss {loss.item():.3f}", flush=True)
    print(f"[rank {rank}] mean loss {total / args.batches:.4f}", flush=True)


if __name__ == "__main__":
    args = ap.parse_args()
    gpu_lock.shrink(args, n_layer=1, n_embd=64, batches=2, workers=2)
    gpu_lock.acquire()
    mp.spawn(worker, args=(args,), nprocs=args.workers)
    print("all workers finished")
