"""1B language model; recent training states are kept at hand for rollback after a loss spike."""
import argparse
import copy
import time

import torch

import gpu_lock
from gpt import GPT, count

ap = argparse.ArgumentParser()
ap.add_argument("--batch-size", type=int, default=4)
ap.add_argument("--seq-len", type=int, default=512)
ap.add_argument("--n-layer", type=int, default=18)
ap.add_argument("--n-embd", type=int, default=2048)
ap.add_argument("--vocab-size", type=int, default=32000)
ap.add_argument("--max-steps", type=int, default=84)
ap.add_argument("--rollback-every", type=int, default=8)
ap.add_argument("--keep-last", type=int, default=10, help="training states to keep")
args = ap.parse_args()
gpu_lock.shrink(args, seq_len=16, n_layer=2, n_embd=64, vocab_size=500, max_steps=20)


def main():
    gpu_lock.acquire()
    device = gpu_lock.DEVICE
    torch.manual_seed(0)
    with torch.device(device):
        model = GPT(args.vocab_size, args.n_embd, args.n_layer, 16, args.seq_len)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
    print(f"{count(model) / 1e6:.0f}M parameters", flush=True)
    states = []
    for step in range(1, args.max_steps + 1):
        time.sleep(0.1)
        x = torch.randint(args.vocab_size, (args.batch_size, args.seq_len), device=device)
        with torch.autocast(device, dtype=torch.bfloat16):
            _, loss = model(x, x.roll(-1, 1))
        loss.backward()
        opt.step()
        opt.zero_grad(set_to_none=True)
        if step % 4 == 0:
            print(f"step {step} loss {loss.item():.3f}", flush=True)
        if step % args.rollback_every == 0:
            states.append((step, copy.deepcopy(model.state_dict()), copy.deepcopy(opt.state_dict())))
            if len(states) > args.keep_last:
                states.pop(0)
            print(f"rollback point at step {step}", flush=True)
    print("done")


if __name__ == "__main__":
    main()
