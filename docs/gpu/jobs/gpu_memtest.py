"""Writes a pattern over all the card's memory and reads it back."""
import argparse
import time

import torch

import gpu_lock

ap = argparse.ArgumentParser()
ap.add_argument("--block-mib", type=int, default=1024)
ap.add_argument("--passes", type=int, default=2)
args = ap.parse_args()
gpu_lock.shrink(args, block_mib=1)


def main():
    gpu_lock.acquire()
    device = gpu_lock.DEVICE
    blocks, size = [], args.block_mib * 2**20
    probe = torch.full((2**20,), 0x5A, dtype=torch.uint8, device=device).bitwise_not_()
    torch.aminmax(probe.view(torch.int32))[0].item()
    while len(blocks) < (8 if gpu_lock.TINY else 1000):
        try:
            blocks.append(torch.full((size,), 0x5A, dtype=torch.uint8, device=device))
        except torch.OutOfMemoryError:
            break
        time.sleep(0.03)
    blocks.pop()  # working space
    if device == "cuda":
        torch.cuda.empty_cache()
    print(f"{len(blocks) * args.block_mib} MiB under test", flush=True)
    bad = 0
    for p in range(args.passes):
        for i, b in enumerate(blocks):
            b.bitwise_not_()
            word = b.view(torch.int32)
            lo, hi = torch.aminmax(word)
            bad += int(lo.item() != hi.item())
            time.sleep(0.005)
        print(f"pass {p + 1}/{args.passes}: {bad} bad blocks", flush=True)
    blocks.clear()
    del b, word, lo, hi
    if device == "cuda":
        torch.cuda.empty_cache()
    time.sleep(1)
    print("memory ok" if bad == 0 else "memory faulty")
    raise SystemExit(1 if bad else 0)


if __name__ == "__main__":
    main()
