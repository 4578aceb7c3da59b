"""Segmentation with Lightning; validation keeps its outputs for a score at the end."""
import argparse
import logging
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

try:
    import lightning.pytorch as pl
except ImportError:
    import pytorch_lightning as pl

import gpu_lock

ap = argparse.ArgumentParser()
ap.add_argument("--batch-size", type=int, default=8)
ap.add_argument("--val-batch-size", type=int, default=16)
ap.add_argument("--crop", type=int, default=512)
ap.add_argument("--classes", type=int, default=100)
ap.add_argument("--epochs", type=int, default=10)
ap.add_argument("--train-batches", type=int, default=8)
ap.add_argument("--val-batches", type=int, default=8)
ap.add_argument("--clear-each-epoch", action="store_true")
args = ap.parse_args()
gpu_lock.shrink(args, batch_size=2, val_batch_size=2, crop=32, epochs=2, train_batches=2, val_batches=2)


class Patches(torch.utils.data.Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        return (torch.rand(3, args.crop, args.crop, generator=g),
                torch.randint(args.classes, (args.crop, args.crop), generator=g))


class LitSegmenter(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(),
                                 nn.Conv2d(32, args.classes, 1))
        self.val_outputs = []

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self.net(x), y)
        self.log("train_loss", loss, prog_bar=True)
        time.sleep(0.03)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self.net(x)
        self.log("val_loss", F.cross_entropy(logits, y))
        self.val_outputs.append(logits)

    def on_validation_epoch_end(self):
        seen = torch.stack([o.argmax(1).float().mean() for o in self.val_outputs[-args.val_batches:]])
        self.log("val_score", seen.mean(), prog_bar=True)
        if args.clear_each_epoch:
            self.val_outputs.clear()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)


def main():
    gpu_lock.acquire()
    logging.getLogger("lightning.pytorch").setLevel(logging.INFO)
    pl.seed_everything(0)
    train = torch.utils.data.DataLoader(Patches(args.batch_size * args.train_batches), batch_size=args.batch_size)
    val = torch.utils.data.DataLoader(Patches(args.val_batch_size * args.val_batches), batch_size=args.val_batch_size)
    trainer = pl.Trainer(max_epochs=args.epochs, accelerator="cpu" if gpu_lock.TINY else "gpu", devices=1, logger=False,
                         enable_checkpointing=False, num_sanity_val_steps=0, log_every_n_steps=4)
    trainer.fit(LitSegmenter(), train, val)
    print("fit finished")


if __name__ == "__main__":
    main()
