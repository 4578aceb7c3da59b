"""Distil into a 350M GPT while a teacher process makes the labels."""
import argparse
import subprocess
import sys
import time

import torch

import gpu_lock
from gpt import GPT, count

ap = argparse.ArgumentParser()
ap.add_argument("--batch-size", type=int, default=32)
ap.add_argument("--seq-len", type=int, default=1024)
ap.add_argument("--n-layer", type=int, default=24)
ap.add_argument("--n-embd", type=int, default=1024)
ap.add_argument("--vocab-size", type=int, default=50304)
ap.add_argument("--max-steps", type=int, default=10)
ap.add_argument("--teacher-gb", type=float, default=50, help="0: labels come from a file")
args = ap.parse_args()
gpu_lock.shrink(args, batch_size=2, seq_len=16, n_layer=2, n_embd=64, vocab_size=500, max_steps=3)


def main():
    teacher = None
    if args.teacher_gb:
        teacher = subprocess.Popen([sys.executable, "label_server.py", "--gb", str(args.teacher_gb)],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   pass_fds=() if gpu_lock.fd is None else (gpu_lock.fd,))
    gpu_lock.acquire()
    device = gpu_lock.DEVICE
    if teacher:
        teacher.stdin.write("start\n")
        teacher.stdin.flush()
        if teacher.stdout.readline().strip() != "ready":
            raise SystemExit("teacher did not start")
        print("teacher is up", flush=True)
    time.sleep(1.5)
    torch.manual_seed(0)
    with torch.device(device):
        model = GPT(args.vocab_size, args.n_embd, args.n_layer, 16, args.seq_len)
    opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
    print(f"student: {count(model) / 1e6:.1f}M parameters", flush=True)
    time.sleep(1.5)
    for step in range(args.max_steps):
        time.sleep(0.1)
        x = torch.randint(args.vocab_size, (args.batch_size, args.seq_len), device=device)
        with torch.autocast(device, dtype=torch.bfloat16):
            _, loss = model(x, x.roll(-1, 1))
        loss.backward()
        opt.step()
        opt.zero_grad(set_to_none=True)
        print(f"step {step} loss {loss.item():.3f}", flush=True)
    if teacher:
        teacher.stdin.close()
        teacher.wait(timeout=10)
    print("done")


if __name__ == "__main__":
    main()
