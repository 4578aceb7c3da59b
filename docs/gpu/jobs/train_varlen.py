"""GPT on documents of differing lengths, padded to the longest of each batch."""
import argparse
import random
import time

import torch

import gpu_lock
from gpt import GPT, count

ap = argparse.ArgumentParser()
ap.add_argument("--batch-size", type=int, default=8)
ap.add_argument("--max-len", type=int, default=16384, help="cut documents to this many tokens")
ap.add_argument("--n-layer", type=int, default=24)
ap.add_argument("--n-embd", type=int, default=1024)
ap.add_argument("--vocab-size", type=int, default=50304)
ap.add_argument("--max-steps", type=int, default=55)
ap.add_argument("--grad-checkpointing", action="store_true")
ap.add_argument("--skip-oom", action="store_true", help="go on with the next batch when one does not fit")
args = ap.parse_args()
gpu_lock.shrink(args, batch_size=2, max_len=64, n_layer=2, n_embd=64, vocab_size=500, max_steps=40)


def document_lengths(n):
    rng = random.Random(7)
    lens = [rng.choice(range(256, 1025, 128)) for _ in range(n)]
    lens[34 * args.batch_size + 1] = 15872
    return lens


def train_step(model, opt, x, y):
    with torch.autocast(gpu_lock.DEVICE, dtype=torch.bfloat16):
        _, loss = model(x, y)
    loss.backward()
    opt.step()
    opt.zero_grad(set_to_none=True)
    return loss.item()


def main():
    gpu_lock.acquire()
    device = gpu_lock.DEVICE
    torch.manual_seed(0)
    with torch.device(device):
        model = GPT(args.vocab_size, args.n_embd, args.n_layer, 16, args.max_len,
                    grad_checkpointing=args.grad_checkpointing)
    opt = torch.optim.AdamW(model.parameters(), lr=2e-4)
    lens = document_lengths(args.max_steps * args.batch_size)
    print(f"{count(model) / 1e6:.1f}M parameters, {len(lens)} documents", flush=True)
    skipped = 0
    for step in range(args.max_steps):
        batch = lens[step * args.batch_size:(step + 1) * args.batch_size]
        longest = min(max(batch), args.max_len)
        time.sleep(0.08)
        x = torch.randint(args.vocab_size, (args.batch_size, longest), device=device)
        failed, loss = False, None
        try:
            loss = train_step(model, opt, x, x.roll(-1, 1))
        except torch.OutOfMemoryError:
            if not args.skip_oom:
                raise
            failed = True
        if failed:
            opt.zero_grad(set_to_none=True)
            torch.cuda.empty_cache()
            skipped += 1
            print(f"| WARNING: ran out of memory at update {step}, skipping batch", flush=True)
            continue
        if step % 5 == 0:
            print(f"step {step} loss {loss:.3f} len {longest}", flush=True)
    print(f"done, skipped {skipped}")


if __name__ == "__main__":
    main()
