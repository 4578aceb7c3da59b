"""DQN on stacked frames with the replay memory kept on the card."""
import argparse
import collections
import random
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

import gpu_lock

ap = argparse.ArgumentParser()
ap.add_argument("--capacity", type=int, default=1_000_000, help="transitions in the replay memory")
ap.add_argument("--store", choices=["float32", "uint8"], default="float32")
ap.add_argument("--envs", type=int, default=4096, help="transitions collected per iteration")
ap.add_argument("--batch-size", type=int, default=512)
ap.add_argument("--iterations", type=int, default=240)
args = ap.parse_args()
gpu_lock.shrink(args, envs=8, capacity=64, batch_size=4, iterations=12)


def main():
    gpu_lock.acquire()
    device = gpu_lock.DEVICE
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(4, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Conv2d(64, 64, 3),
                        nn.ReLU(), nn.Flatten(), nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, 6)).to(device)
    opt = torch.optim.Adam(net.parameters(), lr=1e-4)
    memory = collections.deque(maxlen=max(1, args.capacity // args.envs))
    for it in range(args.iterations):
        frames = torch.randint(0, 256, (args.envs, 4, 84, 84), device=device, dtype=torch.uint8)
        if args.store == "float32":
            frames = frames.float() / 255
        memory.append((frames, torch.randint(6, (args.envs,), device=device), torch.rand(args.envs, device=device)))
        time.sleep(0.07)
        s, a, r = random.choice(memory)
        ix = torch.randint(len(s), (args.batch_size,), device=device)
        x = s[ix] if s.dtype == torch.float32 else s[ix].float() / 255
        q = net(x).gather(1, a[ix, None]).squeeze(1)
        loss = F.smooth_l1_loss(q, r[ix])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 20 == 0:
            print(f"iteration {it} replay {len(memory) * args.envs:,} loss {loss.item():.4f}", flush=True)
    print("done")


if __name__ == "__main__":
    main()
