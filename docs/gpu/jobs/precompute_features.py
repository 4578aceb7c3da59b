"""Dense features at growing resolutions, one resolution after another."""
import argparse
import time

import torch

import gpu_lock

ap = argparse.ArgumentParser()
ap.add_argument("--images", type=int, default=64)
ap.add_argument("--channels", type=int, default=96)
ap.add_argument("--min-side", type=int, default=960)
ap.add_argument("--max-side", type=int, default=1440)
ap.add_argument("--increment", type=int, default=48)
ap.add_argument("--repeats", type=int, default=4)
args = ap.parse_args()
gpu_lock.shrink(args, images=2, channels=4, min_side=16, max_side=32, increment=8)


@torch.no_grad()
def main():
    gpu_lock.acquire()
    device = gpu_lock.DEVICE
    torch.manual_seed(0)
    for side in range(args.min_side, args.max_side + 1, args.increment):
        for _ in range(args.repeats):
            feats = torch.full((args.images, args.channels, side, side), 0.5, device=device)
            feats.mul_(1.5).clamp_(0, 1)
            mean = feats[:, 0].mean().item()
            del feats
            time.sleep(0.12)
        print(f"side {side}: mean {mean:.3f}", flush=True)
    head = torch.nn.Linear(args.channels, 10).to(device)
    for step in range(15):
        out = head(torch.randn(65536, args.channels, device=device))
        time.sleep(0.08)
    print(f"head std {out.std().item():.3f}, done")


if __name__ == "__main__":
    main()
