"""Mean IoU of a DeepLabV3 on random images (150 classes)."""
import argparse
import time

import torch
import torchvision
from tqdm import tqdm

import gpu_lock

ap = argparse.ArgumentParser()
ap.add_argument("--batch-size", type=int, default=16)
ap.add_argument("--crop", type=int, default=512)
ap.add_argument("--num-classes", type=int, default=150)
ap.add_argument("--images", type=int, default=800)
ap.add_argument("--keep", choices=["logits", "labels"], default="logits", help="what to hand to the metric")
args = ap.parse_args()
gpu_lock.shrink(args, batch_size=2, crop=64, images=6)


def mean_iou(preds, labels, n):
    ious = []
    for c in range(n):
        inter = union = 0
        for p, t in zip(preds, labels):
            p, t = p == c, t == c
            inter += (p & t).sum()
            union += (p | t).sum()
        ious.append((inter / union.clamp(min=1)).item())
    return sum(ious) / n


@torch.no_grad()
def main():
    gpu_lock.acquire()
    device = gpu_lock.DEVICE
    torch.manual_seed(0)
    model = torchvision.models.segmentation.deeplabv3_resnet50(
        weights=None, weights_backbone=None, num_classes=args.num_classes).to(device).eval()
    preds, labels = [], []
    for _ in tqdm(range(args.images // args.batch_size), desc="evaluating", mininterval=1):
        time.sleep(0.1)
        x = torch.randn(args.batch_size, 3, args.crop, args.crop, device=device)
        y = torch.randint(args.num_classes, (args.batch_size, args.crop, args.crop), device=device, dtype=torch.uint8)
        out = model(x)["out"]
        preds.append(out if args.keep == "logits" else out.argmax(1).to(torch.uint8))
        labels.append(y)
    if args.keep == "logits":
        preds = [p.argmax(1).to(torch.uint8) for p in preds]
    print(f"mIoU {mean_iou(preds[:10], labels[:10], min(args.num_classes, 20)):.4f}")


if __name__ == "__main__":
    main()
