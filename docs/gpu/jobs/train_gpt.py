"""Pretrain a 350M GPT on random tokens."""
import argparse
import time

import torch

import gpu_lock
from gpt import GPT, count

ap = argparse.ArgumentParser()
ap.add_argument("--batch-size", type=int, default=16)
ap.add_argument("--seq-len", type=int, default=1024)
ap.add_argument("--n-layer", type=int, default=24)
ap.add_argument("--n-embd", type=int, default=1024)
ap.add_argument("--vocab-size", type=int, default=50304)
ap.add_argument("--lr", type=float, default=3e-4)
ap.add_argument("--max-steps", type=int, default=10)
ap.add_argument("--grad-checkpointing", action="store_true")
ap.add_argument("--mem-fraction", type=float, default=None, help="share of the card this process may use")
args = ap.parse_args()
gpu_lock.shrink(args, batch_size=2, seq_len=32, n_layer=2, n_embd=64, vocab_size=500, max_steps=3)


def main():
    gpu_lock.acquire()
    device = gpu_lock.DEVICE
    torch.manual_seed(1337)
    if args.mem_fraction and device == "cuda":
        torch.cuda.set_per_process_memory_fraction(args.mem_fraction)
    with torch.device(device):
        model = GPT(args.vocab_size, args.n_embd, args.n_layer, 16, args.seq_len,
                    grad_checkpointing=args.grad_checkpointing)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.95), weight_decay=0.1)
    print(f"number of parameters: {count(model) / 1e6:.2f}M", flush=True)
    print(f"tokens per iteration will be: {args.batch_size * args.seq_len:,}", flush=True)
    shards = []
    for i in range(4):
        time.sleep(0.7)
        shards.append(torch.randint(args.vocab_size, (2_000_000,)))
        print(f"loaded shard {i}: {shards[-1].numel():,} tokens", flush=True)
    data = torch.cat(shards)
    for step in range(args.max_steps):
        t0 = time.time()
        ix = torch.randint(data.numel() - args.seq_len - 1, (args.batch_size,))
        x = torch.stack([data[i:i + args.seq_len] for i in ix]).to(device)
        y = torch.stack([data[i + 1:i + 1 + args.seq_len] for i in ix]).to(device)
        time.sleep(0.1)
        with torch.autocast(device, dtype=torch.bfloat16):
            logits, loss = model(x, y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        opt.zero_grad(set_to_none=True)
        print(f"iter {step}: loss {loss.item():.4f}, time {(time.time() - t0) * 1000:.0f}ms", flush=True)
    print("done")


if __name__ == "__main__":
    main()
