"""Pretraining of a 5.8B GPT on one card, with gradient accumulation."""
import argparse
import time

import torch

import gpu_lock
from gpt import GPT, count

ap = argparse.ArgumentParser()
ap.add_argument("--micro-batch", type=int, default=1)
ap.add_argument("--accum", type=int, default=12)
ap.add_argument("--seq-len", type=int, default=512)
ap.add_argument("--n-layer", type=int, default=28)
ap.add_argument("--n-embd", type=int, default=4096)
ap.add_argument("--vocab-size", type=int, default=50304)
ap.add_argument("--max-steps", type=int, default=2)
ap.add_argument("--optimizer", choices=["adamw", "sgd"], default="adamw")
ap.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32", help="of weights and optimizer states")
args = ap.parse_args()
gpu_lock.shrink(args, seq_len=16, n_layer=2, n_embd=64, vocab_size=500, accum=2)


def main():
    gpu_lock.acquire()
    device = gpu_lock.DEVICE
    torch.manual_seed(0)
    torch.set_default_dtype(getattr(torch, args.dtype))
    with torch.device(device):
        model = GPT(args.vocab_size, args.n_embd, args.n_layer, 32, args.seq_len)
    print(f"built model: {count(model) / 1e9:.2f}B parameters", flush=True)
    if args.optimizer == "adamw":
        opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
    else:
        opt = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step in range(args.max_steps):
        total = 0.0
        for micro in range(args.accum):
            time.sleep(0.25)
            x = torch.randint(args.vocab_size, (args.micro_batch, args.seq_len), device=device)
            with torch.autocast(device, dtype=torch.bfloat16):
                _, loss = model(x, x.roll(-1, 1))
            (loss / args.accum).backward()
            total += loss.item() / args.accum
            print(f"step {step} micro {micro} loss {loss.item():.3f}", flush=True)
        del loss, x
        opt.step()
        opt.zero_grad(set_to_none=True)
        print(f"step {step} | train loss {total:.4f}", flush=True)


if __name__ == "__main__":
    main()
