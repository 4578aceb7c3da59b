"""Explicit 3D heat equation with CuPy."""
import argparse
import time

import numpy as np

import gpu_lock

if gpu_lock.TINY:
    cp = np
else:
    import cupy as cp

ap = argparse.ArgumentParser()
ap.add_argument("--n", type=int, default=1024)
ap.add_argument("--depth", type=int, default=1920)
ap.add_argument("--steps", type=int, default=30)
args = ap.parse_args()
gpu_lock.shrink(args, n=16, depth=16, steps=5)


def main():
    gpu_lock.acquire()
    u = cp.zeros((args.depth, args.n, args.n), dtype=np.float32)
    u[args.depth // 4:args.depth // 2] = 1.0
    for step in range(args.steps):
        lap = u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1]
        lap += u[1:-1, 2:, 1:-1]
        lap += u[1:-1, :-2, 1:-1]
        lap += u[1:-1, 1:-1, 2:]
        lap += u[1:-1, 1:-1, :-2]
        lap -= 6 * u[1:-1, 1:-1, 1:-1]
        lap *= 0.1
        inner = u[1:-1, 1:-1, 1:-1]
        inner += lap
        del lap, inner
        time.sleep(0.1)
        if step % 5 == 0:
            print(f"t={step} peak {float(u.max()):.4f}", flush=True)
    print("done")


if __name__ == "__main__":
    main()
