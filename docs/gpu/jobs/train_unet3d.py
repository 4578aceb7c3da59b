"""3D U-Net on random volumes."""
import argparse
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

import gpu_lock

ap = argparse.ArgumentParser()
ap.add_argument("--batch-size", type=int, default=2)
ap.add_argument("--patch", type=int, default=160)
ap.add_argument("--base", type=int, default=32)
ap.add_argument("--steps", type=int, default=8)
args = ap.parse_args()
gpu_lock.shrink(args, batch_size=1, patch=16, base=4, steps=2)


def convs(cin, cout):
    layers = []
    for i in range(3):
        layers += [nn.Conv3d(cin if i == 0 else cout, cout, 3, padding=1), nn.InstanceNorm3d(cout, affine=True),
                   nn.LeakyReLU(0.01)]
    return nn.Sequential(*layers)


class UNet3D(nn.Module):
    def __init__(self, base, classes=4):
        super().__init__()
        w = [base, base * 2, base * 4]
        self.enc = nn.ModuleList([convs(1, w[0]), convs(w[0], w[1]), convs(w[1], w[2])])
        self.up = nn.ModuleList([nn.ConvTranspose3d(w[2], w[1], 2, 2), nn.ConvTranspose3d(w[1], w[0], 2, 2)])
        self.dec = nn.ModuleList([convs(2 * w[1], w[1]), convs(2 * w[0], w[0])])
        self.out = nn.Conv3d(w[0], classes, 1)

    def forward(self, x):
        skips = []
        for i, enc in enumerate(self.enc):
            x = enc(x)
            if i < 2:
                skips.append(x)
                x = F.max_pool3d(x, 2)
        for up, dec in zip(self.up, self.dec):
            x = dec(torch.cat([up(x), skips.pop()], dim=1))
        return self.out(x)


def main():
    gpu_lock.acquire()
    device = gpu_lock.DEVICE
    torch.manual_seed(0)
    model = UNet3D(args.base).to(device)
    opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.99, nesterov=True)
    print("caching volumes", flush=True)
    time.sleep(3)
    p = args.patch
    for step in range(args.steps):
        time.sleep(0.2)
        x = torch.randn(args.batch_size, 1, p, p, p, device=device)
        y = torch.randint(4, (args.batch_size, p, p, p), device=device)
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        opt.zero_grad()
        print(f"step {step} dice+ce loss {loss.item():.4f}", flush=True)
    print("done")


if __name__ == "__main__":
    main()
