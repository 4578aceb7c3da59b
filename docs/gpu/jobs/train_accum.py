"""350M GPT with gradient accumulation and a second-order penalty over the window of micro-batches."""
import argparse
import time

import torch

import gpu_lock
from gpt import GPT

ap = argparse.ArgumentParser()
ap.add_argument("--batch-size", type=int, default=2)
ap.add_argument("--seq-len", type=int, default=1024)
ap.add_argument("--accum-steps", type=int, default=56)
ap.add_argument("--n-layer", type=int, default=24)
ap.add_argument("--n-embd", type=int, default=1024)
ap.add_argument("--vocab-size", type=int, default=50304)
ap.add_argument("--micro-steps", type=int, default=64, help="micro-batches in all")
ap.add_argument("--retain-graph", action=argparse.BooleanOptionalAction, default=True)
args = ap.parse_args()
gpu_lock.shrink(args, seq_len=16, n_layer=2, n_embd=64, vocab_size=500, accum_steps=4, micro_steps=8)


def main():
    gpu_lock.acquire()
    device = gpu_lock.DEVICE
    torch.manual_seed(0)
    with torch.device(device):
        model = GPT(args.vocab_size, args.n_embd, args.n_layer, 16, args.seq_len)
    opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
    window = []
    for micro in range(1, args.micro_steps + 1):
        time.sleep(0.2)
        x = torch.randint(args.vocab_size, (args.batch_size, args.seq_len), device=device)
        with torch.autocast(device, dtype=torch.bfloat16):
            _, loss = model(x, x.roll(-1, 1))
        (loss / args.accum_steps).backward(retain_graph=args.retain_graph)
        window.append(loss)
        if micro % 4 == 0:
            print(f"micro {micro} loss {loss.item():.4f}", flush=True)
        if micro % args.accum_steps == 0:
            opt.step()
            opt.zero_grad(set_to_none=True)
            print(f"update {micro // args.accum_steps}: window mean {torch.stack(window).mean().item():.4f}", flush=True)
            window.clear()
            del loss
    print("done")


if __name__ == "__main__":
    main()
