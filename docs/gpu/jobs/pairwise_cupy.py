"""All pairwise distances of a point cloud with CuPy."""
import argparse
import time

import numpy as np

import gpu_lock

if gpu_lock.TINY:
    cp = np
else:
    import cupy as cp

ap = argparse.ArgumentParser()
ap.add_argument("--points", type=int, default=114688)
ap.add_argument("--chunk", type=int, default=7168)
ap.add_argument("--dtype", choices=["float32", "float16"], default="float32")
ap.add_argument("--preallocate", action="store_true", help="write the rows into one matrix")
args = ap.parse_args()
gpu_lock.shrink(args, points=256, chunk=64)


def main():
    gpu_lock.acquire()
    pts = cp.asarray(np.random.default_rng(0).standard_normal((args.points, 3)).astype(np.float32))
    x, y, z = (cp.ascontiguousarray(pts[:, i]) for i in range(3))
    time.sleep(1.0)
    rows = []
    dist = cp.empty((args.points, args.points), dtype=args.dtype) if args.preallocate else None
    for s in range(0, args.points, args.chunk):
        sl = slice(s, s + args.chunk)
        d = (x[sl, None] - x[None, :]) ** 2
        d += (y[sl, None] - y[None, :]) ** 2
        d += (z[sl, None] - z[None, :]) ** 2
        d **= 0.5
        if args.preallocate:
            dist[sl] = d
        else:
            rows.append(d.astype(args.dtype, copy=False))
        del d
        time.sleep(0.3)
        print(f"rows {s + args.chunk}/{args.points}", flush=True)
    if dist is None:
        dist = cp.concatenate(rows)
        del rows
    print(f"mean distance of the first point: {float(dist[0].astype(np.float32).mean()):.4f}")


if __name__ == "__main__":
    main()
