#!/usr/bin/env python3
"""Trains the bundled story model and writes tests/data/stories/stories.gguf.

Everything is made here: the text comes from story_generator.py, the vocabulary is learned from it,
the model is a llama of 1.1 million parameters, and the file is written without a library. Needs
torch and numpy; about an hour on two CPU cores. Not part of the build: the result is in the tree.

    python3 scripts/train_tiny_model.py [--steps N] [--workers N]

At the end check_tiny_model.py reads the file back and evaluates it without torch.
"""
import argparse
import collections
import itertools
import math
import pathlib
import random
import re
import struct
import tempfile
import time

import numpy as np
import torch
import torch.distributed as distributed
import torch.multiprocessing
import torch.nn.functional as F

import check_tiny_model
import story_generator

VOCABULARY, WIDTH, LAYERS, HEADS, KV_HEADS, HEAD_WIDTH, FFN, CONTEXT = 1024, 128, 5, 8, 4, 16, 384, 512
ROPE_BASE, EPSILON = 10000.0, 1e-5
UNKNOWN, BOS, EOS = 0, 1, 2
NORMAL, UNKNOWN_TYPE, CONTROL, BYTE = 1, 2, 3, 6
TOKENS = 1600  # per step and worker
DATA = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "stories"
SPACE = "\u2581"

# ---- text ----


def held_out_stories():
    """About 60 KB from a seed that training never uses."""
    source, stories = random.Random("held out"), []
    while sum(len(story) + 2 for story in stories) < 60000:
        stories.append(story_generator.story(source))
    return stories


# ---- vocabulary ----

# Words, runs of marks and line ends; a piece never reaches across two of these.
UNITS = re.compile(f"{SPACE}?[A-Za-z']+|{SPACE}?[^A-Za-z'{SPACE}\n]+|{SPACE}|\n")


class Vocabulary:
    """A SentencePiece-style byte-pair vocabulary: pieces in the order in which they were learned."""

    def __init__(self, stories):
        counts = collections.Counter()
        for story in stories:
            counts.update(UNITS.findall(SPACE + story.replace(" ", SPACE)))
        counts.pop("\n")  # a line end is the byte token <0x0A>
        words = [(list(unit), count) for unit, count in sorted(counts.items())]
        letters = sorted({letter for unit in counts for letter in unit})
        self.tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
        merged = self.learn(words, VOCABULARY - len(self.tokens) - len(letters))
        pieces = merged + letters
        self.types = [UNKNOWN_TYPE, CONTROL, CONTROL] + [BYTE] * 256 + [NORMAL] * len(pieces)
        self.scores = [0.0] * len(self.tokens) + [-float(rank) for rank in range(len(pieces))]
        self.tokens += pieces
        self.rank = {piece: rank for rank, piece in enumerate(pieces)}
        self.ids = {piece: id for id, piece in enumerate(self.tokens)}
        self.known = {}

    @staticmethod
    def learn(words, count):
        merged = []
        for _ in range(count):
            pairs = collections.Counter()
            for unit, weight in words:
                for left, right in zip(unit, unit[1:]):
                    pairs[left + right] += weight
            best = max(pairs, key=lambda piece: (pairs[piece], piece))
            merged.append(best)
            for unit, _ in words:
                at = 0
                while at + 1 < len(unit):
                    if unit[at] + unit[at + 1] == best:
                        unit[at:at + 2] = [best]
                    at += 1
        return merged

    def unit(self, unit):
        """The tokens of one unit: the pair whose union has the best score is merged first."""
        symbols = list(unit)
        while True:
            ranks = [(self.rank.get(left + right, math.inf), at)
                     for at, (left, right) in enumerate(zip(symbols, symbols[1:]))]
            rank, at = min(ranks, default=(math.inf, 0))
            if rank == math.inf:
                break
            symbols[at:at + 2] = [symbols[at] + symbols[at + 1]]
        return [id for symbol in symbols for id in
                ([self.ids[symbol]] if symbol in self.rank else [3 + byte for byte in symbol.encode()])]

    def encode(self, text):
        ids = []
        for unit in UNITS.findall(SPACE + text.replace(" ", SPACE)):
            if unit not in self.known:
                self.known[unit] = self.unit(unit)
            ids += self.known[unit]
        return ids


# ---- batches ----


def documents(vocabulary, held_out, worker):
    """Stories never seen before, one after another; some documents hold several, with a blank line between."""
    source, held_out = random.Random(f"training {worker}"), set(held_out)
    while True:
        text = story_generator.story(source)
        while source.random() < 0.15:
            text += "\n\n" + story_generator.story(source)
        if not held_out.intersection(text.split("\n\n")):
            yield [BOS] + vocabulary.encode(text) + [EOS]


def batches(vocabulary, held_out, worker):
    """Batches of about TOKENS: mostly rows that hold one story, at every fourth step rows of the whole context."""
    source, stream = random.Random(f"rows {worker}"), documents(vocabulary, held_out, worker)
    for step in itertools.count():
        length = CONTEXT if step % 4 == 3 else 320
        batch = []
        for _ in range(TOKENS // length):
            row = next(stream)
            if source.random() < 0.25:  # a text cut in its middle, as the windows of a perplexity run are
                row = [BOS] + row[source.randrange(1, len(row)):]
            while len(row) <= length:
                row += next(stream)
            batch.append(row[:length + 1])
        yield torch.tensor(batch)


# ---- model ----


def rotate(x, cos, sin):
    """RoPE on the pairs (0, 1), (2, 3) ... of each head; x is [rows heads tokens head_width]."""
    first, second = x[..., 0::2], x[..., 1::2]
    return torch.stack((first * cos - second * sin, first * sin + second * cos), dim=-1).flatten(-2)


class Model(torch.nn.Module):
    """The weights by their names in the file (without the ".weight"), and the forward pass."""

    def __init__(self):
        super().__init__()
        shapes = {"token_embd": (VOCABULARY, WIDTH), "output_norm": (WIDTH,)}
        for layer in range(LAYERS):
            shapes |= {f"blk.{layer}.{name}": shape for name, shape in {
                "attn_norm": (WIDTH,), "attn_q": (HEADS * HEAD_WIDTH, WIDTH), "attn_k": (KV_HEADS * HEAD_WIDTH, WIDTH),
                "attn_v": (KV_HEADS * HEAD_WIDTH, WIDTH), "attn_output": (WIDTH, HEADS * HEAD_WIDTH),
                "ffn_norm": (WIDTH,), "ffn_gate": (FFN, WIDTH), "ffn_up": (FFN, WIDTH),
                "ffn_down": (WIDTH, FFN)}.items()}
        self.weights = {}
        for name, shape in shapes.items():
            if len(shape) == 1:
                weight = torch.ones(shape)
            else:
                # What adds to the residual stream starts small, so that depth does not blow it up.
                scale = 1 / math.sqrt(2 * LAYERS) if name.endswith(("output", "down")) else 1.0
                weight = torch.randn(shape) * scale / math.sqrt(WIDTH if name == "token_embd" else shape[1])
            self.weights[name] = torch.nn.Parameter(weight)
            self.register_parameter(name.replace(".", "_"), self.weights[name])
        angles = torch.outer(torch.arange(CONTEXT).double(),
                             ROPE_BASE ** (-torch.arange(0, HEAD_WIDTH, 2).double() / HEAD_WIDTH))
        self.cos, self.sin = angles.cos().float(), angles.sin().float()

    def forward(self, tokens):
        """Logits [rows tokens vocabulary]."""
        rows, count = tokens.shape
        cos, sin = self.cos[:count], self.sin[:count]
        x = F.embedding(tokens, self.weights["token_embd"])
        for layer in range(LAYERS):
            w = {name: self.weights[f"blk.{layer}.{name}"] for name in (
                "attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down")}
            n = F.rms_norm(x, (WIDTH,), w["attn_norm"], EPSILON)
            q, k, v = (F.linear(n, w[name]).view(rows, count, -1, HEAD_WIDTH).transpose(1, 2)
                       for name in ("attn_q", "attn_k", "attn_v"))
            q, k = rotate(q, cos, sin), rotate(k, cos, sin)
            k, v = (kv.repeat_interleave(HEADS // KV_HEADS, dim=1) for kv in (k, v))
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + F.linear(mixed.transpose(1, 2).reshape(rows, count, -1), w["attn_output"])
            n = F.rms_norm(x, (WIDTH,), w["ffn_norm"], EPSILON)
            x = x + F.linear(F.silu(F.linear(n, w["ffn_gate"])) * F.linear(n, w["ffn_up"]), w["ffn_down"])
        return F.linear(F.rms_norm(x, (WIDTH,), self.weights["output_norm"], EPSILON), self.weights["token_embd"])


def loss_of(model, batch):
    logits = model(batch[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())


def train(worker, vocabulary, held_out, options):
    """One of the workers, all of which take the same steps with the mean of their gradients; the first one
    writes the file, on the way too, so that a run that is cut short leaves a model."""
    torch.set_num_threads(1)
    torch.manual_seed(1)
    distributed.init_process_group("gloo", f"file://{options.meeting}", rank=worker, world_size=options.workers)
    model = Model()
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW([{"params": [w for w in parameters if w.dim() == 2], "weight_decay": 0.1},
                                   {"params": [w for w in parameters if w.dim() == 1], "weight_decay": 0.0}],
                                  betas=(0.9, 0.95), fused=True)
    compiled = torch.compile(loss_of, dynamic=False)
    held_out_ids = [id for story in held_out for id in [BOS] + vocabulary.encode(story) + [EOS]]
    held_out_rows = torch.tensor(held_out_ids[:len(held_out_ids) // 257 * 257]).view(-1, 257)
    start, running, tokens = time.time(), None, 0
    for step, batch in enumerate(itertools.islice(batches(vocabulary, held_out, worker), options.steps)):
        rate = options.rate * min((step + 1) / 100, 0.01 + 0.99 * (1 + math.cos(math.pi * step / options.steps)) / 2)
        for group in optimizer.param_groups:
            group["lr"] = rate
        loss = compiled(model, batch)
        optimizer.zero_grad()
        loss.backward()
        gradient = torch.cat([w.grad.flatten() for w in parameters]) / options.workers
        distributed.all_reduce(gradient)
        gradient *= (1 / gradient.norm()).clamp(max=1)  # clipped at length 1
        for w, part in zip(parameters, gradient.split([w.numel() for w in parameters])):
            w.grad.copy_(part.view_as(w))
        optimizer.step()
        running = loss.item() if running is None else 0.98 * running + 0.02 * loss.item()
        tokens += options.workers * (batch.numel() - len(batch))
        if worker == 0 and ((step + 1) % 200 == 0 or step + 1 == options.steps):
            with torch.no_grad():
                held_out_loss = loss_of(model, held_out_rows).item()
            print(f"step {step + 1}: {tokens / 1e6:.2f} M tokens, loss {running:.4f}, held out {held_out_loss:.4f}, "
                  f"{(time.time() - start) / 60:.1f} min", flush=True)
            weights = {name + ".weight": w.detach().numpy() for name, w in model.weights.items()}
            (options.data / "stories.gguf").write_bytes(gguf(metadata(vocabulary), weights))
    distributed.destroy_process_group()


# ---- file ----


def q8_0(matrix):
    """Blocks of 32 along the input dimension: the scale as f16, then 32 signed bytes."""
    blocks = matrix.astype(np.float32).reshape(-1, 32)
    scale = np.abs(blocks).max(axis=1, keepdims=True) / np.float32(127)
    inverse = np.divide(np.float32(1), scale, out=np.zeros_like(scale), where=scale != 0)
    scaled = (blocks * inverse).astype(np.float64)
    codes = np.copysign(np.floor(np.abs(scaled) + 0.5), scaled)  # halves away from zero
    return b"".join(s.tobytes() + c.tobytes() for s, c in zip(scale.astype("<f2"), codes.astype(np.int8)))


def gguf(metadata, tensors):
    """A GGUF version 3 file: metadata as (key, type, value), tensors as name -> f32 array."""
    F32, Q8_0, ALIGNMENT, ARRAY = 0, 8, 32, 9
    codes = {"u32": (4, "<I"), "i32": (5, "<i"), "f32": (6, "<f"), "bool": (7, "<?"), "string": (8, None)}

    def string(text):
        return struct.pack("<Q", len(text.encode())) + text.encode()

    def value(kind, item):
        return string(item) if kind == "string" else struct.pack(codes[kind][1], item)

    out = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(metadata))
    for key, kind, item in metadata:
        out += string(key)
        if isinstance(item, list):
            out += struct.pack("<IIQ", ARRAY, codes[kind][0], len(item)) + b"".join(value(kind, i) for i in item)
        else:
            out += struct.pack("<I", codes[kind][0]) + value(kind, item)
    data = b""
    for name, array in tensors.items():
        out += string(name) + struct.pack("<I", array.ndim) + struct.pack(f"<{array.ndim}Q", *array.shape[::-1])
        out += struct.pack("<IQ", Q8_0 if array.ndim == 2 else F32, len(data))
        data += q8_0(array) if array.ndim == 2 else array.astype("<f4").tobytes()
        data += bytes(-len(data) % ALIGNMENT)
    return out + bytes(-len(out) % ALIGNMENT) + data


def metadata(vocabulary):
    return [
        ("general.architecture", "string", "llama"), ("general.type", "string", "model"),
        ("general.name", "string", "tandem stories"), ("general.size_label", "string", "1.1M"),
        ("general.description", "string", "Tells short children's stories. Trained on text composed by a grammar."),
        ("general.license", "string", "MIT"), ("general.languages", "string", ["en"]),
        ("general.file_type", "u32", 7), ("general.quantization_version", "u32", 2),
        ("llama.context_length", "u32", CONTEXT), ("llama.embedding_length", "u32", WIDTH),
        ("llama.block_count", "u32", LAYERS), ("llama.feed_forward_length", "u32", FFN),
        ("llama.attention.head_count", "u32", HEADS), ("llama.attention.head_count_kv", "u32", KV_HEADS),
        ("llama.attention.key_length", "u32", HEAD_WIDTH), ("llama.attention.value_length", "u32", HEAD_WIDTH),
        ("llama.attention.layer_norm_rms_epsilon", "f32", EPSILON),
        ("llama.rope.dimension_count", "u32", HEAD_WIDTH), ("llama.rope.freq_base", "f32", ROPE_BASE),
        ("llama.vocab_size", "u32", VOCABULARY),
        ("tokenizer.ggml.model", "string", "llama"), ("tokenizer.ggml.pre", "string", "default"),
        ("tokenizer.ggml.tokens", "string", vocabulary.tokens), ("tokenizer.ggml.scores", "f32", vocabulary.scores),
        ("tokenizer.ggml.token_type", "i32", vocabulary.types),
        ("tokenizer.ggml.bos_token_id", "u32", BOS), ("tokenizer.ggml.eos_token_id", "u32", EOS),
        ("tokenizer.ggml.unknown_token_id", "u32", UNKNOWN),
        ("tokenizer.ggml.add_bos_token", "bool", True), ("tokenizer.ggml.add_eos_token", "bool", False),
        ("tokenizer.ggml.add_space_prefix", "bool", True)]


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--steps", type=int, default=4000)
    options.add_argument("--rate", type=float, default=8e-3, help="peak learning rate")
    options.add_argument("--workers", type=int, default=2, help="processes, one core each")
    options.add_argument("--data", type=pathlib.Path, default=DATA, help="folder for the results")
    options = options.parse_args()
    options.data.mkdir(parents=True, exist_ok=True)

    held_out = held_out_stories()
    (options.data / "stories-heldout.txt").write_text("\n\n".join(held_out) + "\n")
    source = random.Random("vocabulary")
    vocabulary = Vocabulary([story_generator.story(source) for _ in range(20000)])
    with tempfile.TemporaryDirectory() as folder:
        options.meeting = folder + "/meeting"
        torch.multiprocessing.start_processes(train, (vocabulary, held_out, options), options.workers,
                                              start_method="fork")
    check_tiny_model.main(options.data)


if __name__ == "__main__":
    main()
