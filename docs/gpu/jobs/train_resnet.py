"""ResNet-50 on random images with a consistency metric over a second view."""
import argparse
import time

import torch
import torch.nn.functional as F
import torchvision
from tqdm import tqdm

import gpu_lock

ap = argparse.ArgumentParser()
ap.add_argument("--batch-size", type=int, default=64)
ap.add_argument("--aux-batch-size", type=int, default=32)
ap.add_argument("--image-size", type=int, default=224)
ap.add_argument("--epochs", type=int, default=2)
ap.add_argument("--steps-per-epoch", type=int, default=40)
ap.add_argument("--aux-metric", choices=["tensor", "float", "off"], default="tensor")
ap.add_argument("--empty-cache", action="store_true", help="empty the allocator's cache after each epoch")
args = ap.parse_args()
gpu_lock.shrink(args, batch_size=2, aux_batch_size=2, image_size=64, steps_per_epoch=2)


def main():
    gpu_lock.acquire()
    device = gpu_lock.DEVICE
    torch.manual_seed(0)
    model = torchvision.models.resnet50(num_classes=1000).to(device)
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    s = args.image_size
    aux_history = []
    for epoch in range(args.epochs):
        model.train()
        bar = tqdm(range(args.steps_per_epoch), desc=f"epoch {epoch}", mininterval=1)
        for step in bar:
            time.sleep(0.1)
            x = torch.randn(args.batch_size, 3, s, s, device=device)
            y = torch.randint(1000, (args.batch_size,), device=device)
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
            opt.zero_grad()
            if args.aux_metric != "off":
                view = x[:args.aux_batch_size].flip(-1)
                aux = F.cross_entropy(model(view), y[:args.aux_batch_size])
                aux_history.append(aux if args.aux_metric == "tensor" else aux.item())
            if step % 10 == 0:
                mean = float(sum(aux_history[-10:]) / max(1, len(aux_history[-10:])))
                bar.set_postfix(loss=f"{loss.item():.3f}", aux=f"{mean:.3f}")
        del x, y, loss
        if args.empty_cache and device == "cuda":
            torch.cuda.empty_cache()
            time.sleep(0.3)
    print(f"finished, {len(aux_history)} aux values")


if __name__ == "__main__":
    main()
