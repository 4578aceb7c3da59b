"""Serve batches of requests and pick up a new checkpoint while running."""
import argparse
import gc
import time

import torch
import torch.nn as nn

import gpu_lock
from gpt import Block, count

ap = argparse.ArgumentParser()
ap.add_argument("--batch-size", type=int, default=8)
ap.add_argument("--seq-len", type=int, default=256)
ap.add_argument("--n-layer", type=int, default=30)
ap.add_argument("--n-embd", type=int, default=8192)
ap.add_argument("--requests", type=int, default=30)
ap.add_argument("--reload-every", type=int, default=18, help="look for a new checkpoint after this many batches, 0: never")
ap.add_argument("--unload-first", action="store_true", help="drop the running weights before reading the new ones")
args = ap.parse_args()
gpu_lock.shrink(args, n_layer=2, n_embd=128, seq_len=8, batch_size=2, requests=8, reload_every=4)


def load_model(tag):
    t0 = time.time()
    torch.set_default_dtype(torch.bfloat16)
    with torch.device(gpu_lock.DEVICE):
        model = nn.Sequential(*[Block(args.n_embd, args.n_embd // 128 or 1) for _ in range(args.n_layer)])
    torch.set_default_dtype(torch.float32)
    print(f"loaded checkpoint {tag}: {count(model) / 1e9:.2f}B parameters in {time.time() - t0:.1f}s", flush=True)
    return model.eval().requires_grad_(False)


class Server:
    def __init__(self):
        self.version = 0
        self.model = load_model("v0")

    def reload(self):
        self.version += 1
        if args.unload_first:
            self.model = None
            gc.collect()
        self.model = load_model(f"v{self.version}")

    @torch.inference_mode()
    def handle(self, x):
        return self.model(x).float().mean(dim=(1, 2))


def main():
    gpu_lock.acquire()
    server = Server()
    for i in range(1, args.requests + 1):
        t0 = time.time()
        x = torch.randn(args.batch_size, args.seq_len, args.n_embd, device=gpu_lock.DEVICE, dtype=torch.bfloat16)
        scores = server.handle(x).cpu()
        time.sleep(0.1)
        print(f"INFO batch {i} n={scores.numel()} latency={(time.time() - t0) * 1000:.0f}ms", flush=True)
        if args.reload_every and i % args.reload_every == 0:
            print("INFO new checkpoint found", flush=True)
            server.reload()
    print("INFO shutdown")


if __name__ == "__main__":
    main()
