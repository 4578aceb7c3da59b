"""350M GPT with Accelerate choosing the batch size."""
import argparse
import time

import torch
from accelerate import Accelerator
from accelerate.utils import find_executable_batch_size

import gpu_lock
from gpt import GPT

ap = argparse.ArgumentParser()
ap.add_argument("--batch-size", type=int, default=256, help="first try; halved until it fits")
ap.add_argument("--seq-len", type=int, default=1024)
ap.add_argument("--n-layer", type=int, default=24)
ap.add_argument("--n-embd", type=int, default=1024)
ap.add_argument("--vocab-size", type=int, default=50304)
ap.add_argument("--max-steps", type=int, default=10)
args = ap.parse_args()
gpu_lock.shrink(args, batch_size=2, seq_len=16, n_layer=2, n_embd=64, vocab_size=500, max_steps=3)


def main():
    gpu_lock.acquire()
    torch.manual_seed(0)
    accelerator = Accelerator(mixed_precision="bf16", cpu=gpu_lock.TINY)
    tries = [args.batch_size]

    def halve():
        tries.append(tries[-1] // 2)
        return tries[-1]

    def train(batch_size):
        accelerator.print(f"trying batch size {batch_size}", flush=True)
        accelerator.free_memory()
        time.sleep(0.8)
        with torch.device(accelerator.device):
            model = GPT(args.vocab_size, args.n_embd, args.n_layer, 16, args.seq_len)
        opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
        model, opt = accelerator.prepare(model, opt)
        for step in range(args.max_steps):
            time.sleep(0.1)
            x = torch.randint(args.vocab_size, (batch_size, args.seq_len), device=accelerator.device)
            with accelerator.autocast():
                _, loss = model(x, x.roll(-1, 1))
            accelerator.backward(loss)
            opt.step()
            opt.zero_grad()
            accelerator.print(f"step {step} loss {loss.item():.3f}", flush=True)
        return batch_size

    used = find_executable_batch_size(train, starting_batch_size=args.batch_size, reduce_batch_size_fn=halve)()
    accelerator.print(f"done with batch size {used}")


if __name__ == "__main__":
    main()
