"""LoRA adapters of causal language models: continued pre-training, and fine-tuning on items of a
benchmark or on conversations.

Needs the extra `finetune` (peft, transformers, torch). No telemetry is sent, and nothing is downloaded unless
the model is a hub name.
"""
