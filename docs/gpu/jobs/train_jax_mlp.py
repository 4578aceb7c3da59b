"""Deep MLP regression in JAX with optax."""
import argparse
import os
import time

import gpu_lock

if gpu_lock.TINY:
    os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import jax.numpy as jnp
import optax

ap = argparse.ArgumentParser()
ap.add_argument("--layers", type=int, default=27)
ap.add_argument("--width", type=int, default=16384)
ap.add_argument("--batch-size", type=int, default=256)
ap.add_argument("--steps", type=int, default=30)
ap.add_argument("--optimizer", choices=["adam", "sgd"], default="adam")
args = ap.parse_args()
gpu_lock.shrink(args, layers=3, width=64, batch_size=8, steps=4)


def forward(params, x):
    for w in params:
        x = x + jnp.tanh(x @ w)
    return x


def loss_fn(params, x, y):
    return jnp.mean((forward(params, x) - y) ** 2)


def main():
    gpu_lock.acquire()
    print("devices:", jax.devices(), flush=True)
    init = jax.jit(lambda k: jax.random.normal(k, (args.width, args.width), jnp.float32) * 0.002)
    key = jax.random.PRNGKey(0)
    params = []
    for i in range(args.layers):
        key, sub = jax.random.split(key)
        params.append(init(sub))
        params[-1].block_until_ready()
        time.sleep(0.1)
    print(f"{args.layers * args.width ** 2 / 1e9:.2f}B parameters", flush=True)
    tx = optax.adam(1e-4) if args.optimizer == "adam" else optax.sgd(1e-4)
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
    print("done")


if __name__ == "__main__":
    main()
