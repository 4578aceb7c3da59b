"""LoRA fine-tuning of a causal LM with a large multilingual vocabulary."""
import argparse
import time

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, LlamaConfig

import gpu_lock

ap = argparse.ArgumentParser()
ap.add_argument("--batch-size", type=int, default=16)
ap.add_argument("--seq-len", type=int, default=2048)
ap.add_argument("--layers", type=int, default=16)
ap.add_argument("--hidden", type=int, default=2048)
ap.add_argument("--vocab-size", type=int, default=256000)
ap.add_argument("--lora-r", type=int, default=16)
ap.add_argument("--max-steps", type=int, default=12)
ap.add_argument("--grad-checkpointing", action="store_true")
args = ap.parse_args()
gpu_lock.shrink(args, batch_size=2, seq_len=16, layers=2, hidden=64, vocab_size=500, max_steps=2)


def main():
    gpu_lock.acquire()
    device = gpu_lock.DEVICE
    torch.manual_seed(0)
    config = LlamaConfig(hidden_size=args.hidden, num_hidden_layers=args.layers, vocab_size=args.vocab_size,
                         intermediate_size=args.hidden * 11 // 4, num_attention_heads=16, num_key_value_heads=16,
                         max_position_embeddings=args.seq_len, use_cache=False)
    with torch.device(device):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.to(device)
    if args.grad_checkpointing:
        model.gradient_checkpointing_enable()
        model.enable_input_require_grads()
    model = get_peft_model(model, LoraConfig(r=args.lora_r, lora_alpha=32, target_modules=["q_proj", "v_proj"],
                                             task_type="CAUSAL_LM"))
    model.print_trainable_parameters()
    model.train()
    opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=2e-4)
    print("tokenizing", flush=True)
    time.sleep(2.5)
    for step in range(args.max_steps):
        time.sleep(0.1)
        ids = torch.randint(args.vocab_size, (args.batch_size, args.seq_len), device=device)
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        opt.step()
        opt.zero_grad()
        print({"loss": round(loss.item(), 4), "step": step}, flush=True)
    print("training finished")


if __name__ == "__main__":
    main()
