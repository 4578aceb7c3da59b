"""Causal LM with the Hugging Face Trainer, token accuracy as the evaluation metric."""
import argparse
import tempfile
import time

import torch
from transformers import AutoModelForCausalLM, LlamaConfig, Trainer, TrainingArguments

import gpu_lock

ap = argparse.ArgumentParser()
ap.add_argument("--batch-size", type=int, default=8)
ap.add_argument("--eval-batch-size", type=int, default=16)
ap.add_argument("--eval-samples", type=int, default=1600)
ap.add_argument("--seq-len", type=int, default=512)
ap.add_argument("--vocab-size", type=int, default=32000)
ap.add_argument("--max-steps", type=int, default=24)
ap.add_argument("--eval-steps", type=int, default=16)
ap.add_argument("--argmax-metrics", action="store_true", help="reduce logits to predictions batch by batch")
args = ap.parse_args()
gpu_lock.shrink(args, batch_size=2, eval_batch_size=2, eval_samples=6, seq_len=16, vocab_size=300, max_steps=4, eval_steps=2)


class RandomTokens(torch.utils.data.Dataset):
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        time.sleep(0.003)
        ids = torch.randint(args.vocab_size, (args.seq_len,))
        return {"input_ids": ids, "labels": ids.clone()}


def compute_metrics(pred):
    p = pred.predictions
    if p.ndim == 3:
        p = p.argmax(-1)
    return {"accuracy": float((p[:, :-1] == pred.label_ids[:, 1:]).mean())}


def main():
    gpu_lock.acquire()
    config = LlamaConfig(hidden_size=512, intermediate_size=1408, num_hidden_layers=8, num_attention_heads=8,
                         num_key_value_heads=8, vocab_size=args.vocab_size, max_position_embeddings=args.seq_len,
                         use_cache=False)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    with tempfile.TemporaryDirectory() as out:
        targs = TrainingArguments(output_dir=out, per_device_train_batch_size=args.batch_size,
                                  per_device_eval_batch_size=args.eval_batch_size, max_steps=args.max_steps,
                                  eval_strategy="steps", eval_steps=args.eval_steps, logging_steps=4,
                                  save_strategy="no", report_to="none", use_cpu=gpu_lock.TINY)
        trainer = Trainer(model=model, args=targs, train_dataset=RandomTokens(1000),
                          eval_dataset=RandomTokens(args.eval_samples), compute_metrics=compute_metrics,
                          preprocess_logits_for_metrics=(lambda logits, labels: logits.argmax(-1))
                          if args.argmax_metrics else None)
        trainer.train()
    print("done")


if __name__ == "__main__":
    main()
