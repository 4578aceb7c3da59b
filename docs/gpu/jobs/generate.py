"""Batched text generation with a 2.7B Llama-style model."""
import argparse
import time

import torch
from transformers import AutoModelForCausalLM, LlamaConfig

import gpu_lock

ap = argparse.ArgumentParser()
ap.add_argument("--batch-size", type=int, default=2048)
ap.add_argument("--prompt-len", type=int, default=64)
ap.add_argument("--max-new-tokens", type=int, default=256)
ap.add_argument("--layers", type=int, default=16)
ap.add_argument("--hidden", type=int, default=4096)
args = ap.parse_args()
gpu_lock.shrink(args, batch_size=4, prompt_len=8, max_new_tokens=6, layers=2, hidden=256)


def main():
    gpu_lock.acquire()
    device = gpu_lock.DEVICE
    torch.manual_seed(0)
    heads = args.hidden // 128
    config = LlamaConfig(hidden_size=args.hidden, num_hidden_layers=args.layers, vocab_size=32000,
                         intermediate_size=args.hidden * 2, num_attention_heads=heads, num_key_value_heads=heads,
                         max_position_embeddings=4096, bos_token_id=None, eos_token_id=None, pad_token_id=0)
    with torch.device(device):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.to(device).eval()
    print(f"model ready, {sum(p.numel() for p in model.parameters()) / 1e9:.2f}B parameters", flush=True)
    prompts = torch.randint(1, 32000, (args.batch_size, args.prompt_len), device=device)
    t0 = time.time()
    out = model.generate(prompts, attention_mask=torch.ones_like(prompts), max_new_tokens=args.max_new_tokens,
                         do_sample=False)
    dt = time.time() - t0
    new = (out.shape[1] - args.prompt_len) * args.batch_size
    print(f"generated {new} tokens in {dt:.1f}s ({new / dt:.0f} tok/s)")


if __name__ == "__main__":
    main()
