"""ViT-B/16 training with a validation pass at the end of each epoch."""
import argparse
import time

import torch
import torch.nn.functional as F
import torchvision

import gpu_lock

ap = argparse.ArgumentParser()
ap.add_argument("--batch-size", type=int, default=64)
ap.add_argument("--eval-batch-size", type=int, default=1024)
ap.add_argument("--val-images", type=int, default=2048)
ap.add_argument("--epochs", type=int, default=1)
ap.add_argument("--steps-per-epoch", type=int, default=22)
ap.add_argument("--image-size", type=int, default=224)
ap.add_argument("--no-grad-eval", action="store_true")
args = ap.parse_args()
gpu_lock.shrink(args, batch_size=2, eval_batch_size=4, val_images=8, steps_per_epoch=2, image_size=32)


def validate(model, device):
    model.eval()
    correct = 0
    with torch.set_grad_enabled(not args.no_grad_eval):
        for start in range(0, args.val_images, args.eval_batch_size):
            x = torch.randn(args.eval_batch_size, 3, args.image_size, args.image_size, device=device)
            y = torch.randint(1000, (args.eval_batch_size,), device=device)
            correct += (model(x).argmax(-1) == y).sum().item()
            print(f"Test: [{start}/{args.val_images}]", flush=True)
    return correct / args.val_images


def main():
    gpu_lock.acquire()
    device = gpu_lock.DEVICE
    torch.manual_seed(0)
    model = torchvision.models.vit_b_16(weights=None, image_size=args.image_size).to(device)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for epoch in range(args.epochs):
        model.train()
        for step in range(args.steps_per_epoch):
            time.sleep(0.05)
            x = torch.randn(args.batch_size, 3, args.image_size, args.image_size, device=device)
            y = torch.randint(1000, (args.batch_size,), device=device)
            loss = F.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            if step % 5 == 0:
                print(f"Epoch: [{epoch}] [{step}/{args.steps_per_epoch}] loss: {loss.item():.4f}", flush=True)
        del x, y, loss
        acc = validate(model, device)
        print(f" * Acc@1 {acc:.3f}", flush=True)


if __name__ == "__main__":
    main()
