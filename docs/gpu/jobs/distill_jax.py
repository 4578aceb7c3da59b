"""Student MLP in JAX, labels from a teacher process on the same card."""
import argparse
import os
import subprocess
import sys
import time

import gpu_lock

if gpu_lock.TINY:
    os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import optax

ap = argparse.ArgumentParser()
ap.add_argument("--layers", type=int, default=10)
ap.add_argument("--width", type=int, default=16384)
ap.add_argument("--batch-size", type=int, default=256)
ap.add_argument("--steps", type=int, default=20)
ap.add_argument("--teacher-gb", type=float, default=50, help="0: labels come from a file")
args = ap.parse_args()
gpu_lock.shrink(args, layers=3, width=64, batch_size=8, steps=4)


def loss_fn(params, x, y):
    for w in params:
        x = x + jnp.tanh(x @ w)
    return jnp.mean((x - y) ** 2)


def main():
    teacher = None
    if args.teacher_gb:
        teacher = subprocess.Popen([sys.executable, "label_server.py", "--gb", str(args.teacher_gb)],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   pass_fds=() if gpu_lock.fd is None else (gpu_lock.fd,))
    gpu_lock.acquire()
    if teacher:
        teacher.stdin.write("start\n")
        teacher.stdin.flush()
        if teacher.stdout.readline().strip() != "ready":
            raise SystemExit("teacher did not start")
        print("teacher is up", flush=True)
    time.sleep(1.0)
    print("devices:", jax.devices(), flush=True)
    init = jax.jit(lambda k: jax.random.normal(k, (args.width, args.width), jnp.float32) * 0.002)
    key = jax.random.PRNGKey(0)
    params = []
    for i in range(args.layers):
        key, sub = jax.random.split(key)
        params.append(init(sub))
        params[-1].block_until_ready()
        time.sleep(0.1)
    print(f"student: {args.layers * args.width ** 2 / 1e9:.2f}B parameters", flush=True)
    tx = optax.adam(1e-4)
    opt_state = tx.init(params)
    jax.block_until_ready(opt_state)

    def step_fn(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = tx.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    step_fn = jax.jit(step_fn, donate_argnums=(0, 1))
    for step in range(args.steps):
        key, k1, k2 = jax.random.split(key, 3)
        x = jax.random.normal(k1, (args.batch_size, args.width))
        y = jax.random.normal(k2, (args.batch_size, args.width))
        params, opt_state, loss = step_fn(params, opt_state, x, y)
        time.sleep(0.05)
        if step % 5 == 0:
            print(f"step {step} loss {float(loss):.4f}", flush=True)
    if teacher:
        teacher.stdin.close()
        teacher.wait(timeout=10)
    print("done")


if __name__ == "__main__":
    main()
