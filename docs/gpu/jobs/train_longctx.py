"""GPT with a curriculum of growing context lengths."""
import argparse
import time

import torch

import gpu_lock
from gpt import GPT

ap = argparse.ArgumentParser()
ap.add_argument("--batch-size", type=int, default=6)
ap.add_argument("--seq-schedule", default="1024,2048,4096")
ap.add_argument("--steps-per-stage", type=int, default=14)
ap.add_argument("--attn", choices=["eager", "sdpa"], default="eager")
ap.add_argument("--n-layer", type=int, default=12)
ap.add_argument("--n-embd", type=int, default=1024)
ap.add_argument("--vocab-size", type=int, default=32000)
ap.add_argument("--grad-checkpointing", action="store_true")
args = ap.parse_args()
gpu_lock.shrink(args, batch_size=2, seq_schedule="16,32", n_layer=2, n_embd=64, vocab_size=500, steps_per_stage=2)


def main():
    gpu_lock.acquire()
    device = gpu_lock.DEVICE
    torch.manual_seed(0)
    stages = [int(s) for s in args.seq_schedule.split(",")]
    with torch.device(device):
        model = GPT(args.vocab_size, args.n_embd, args.n_layer, 16, max(stages), attn=args.attn,
                    grad_checkpointing=args.grad_checkpointing)
    opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
    step = 0
    for seq_len in stages:
        print(f"context length {seq_len}", flush=True)
        for _ in range(args.steps_per_stage):
            time.sleep(0.1)
            x = torch.randint(args.vocab_size, (args.batch_size, seq_len), device=device)
            with torch.autocast(device, dtype=torch.bfloat16):
                _, loss = model(x, x.roll(-1, 1))
            loss.backward()
            opt.step()
            opt.zero_grad(set_to_none=True)
            if step % 4 == 0:
                print(f"step {step} loss {loss.item():.3f}", flush=True)
            step += 1
    print("done")


if __name__ == "__main__":
    main()
