#!/usr/bin/env python3
"""Reads tests/data/stories/stories.gguf back and evaluates it in float64, the plain way.

Independent of the training script: needs numpy alone, and follows the format and the model's
formulas step by step. Prints the perplexity of the held-out stories and a greedy continuation, and
writes both to stories.tokens.json, where the tests find them.

    python3 scripts/check_tiny_model.py [folder]
"""
import json
import pathlib
import struct
import sys

import numpy as np

SPACE, CONTEXT, PROMPT, COUNT = "\u2581", 256, "Once upon a time", 80


class Reader:
    """Metadata and dequantised tensors of a GGUF file."""

    SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}

    def __init__(self, path):
        self.bytes, self.at = path.read_bytes(), 0
        magic, version, tensors, keys = self.take("<4sIQQ")
        assert magic == b"GGUF" and version == 3
        self.metadata = {self.string(): self.value(self.take("<I")[0]) for _ in range(keys)}
        records = []
        for _ in range(tensors):
            name, (dimensions,) = self.string(), self.take("<I")
            extents = self.take(f"<{dimensions}Q")
            records.append((name, extents[::-1], *self.take("<IQ")))
        start = (self.at + 31) // 32 * 32
        self.tensors = {name: self.tensor(shape, kind, start + offset) for name, shape, kind, offset in records}

    def take(self, form):
        self.at += struct.calcsize(form)
        return struct.unpack_from(form, self.bytes, self.at - struct.calcsize(form))

    def string(self):
        length, = self.take("<Q")
        self.at += length
        return self.bytes[self.at - length:self.at].decode()

    def value(self, kind):
        if kind == 8:
            return self.string()
        if kind == 9:
            element, count = self.take("<IQ")
            return [self.value(element) for _ in range(count)]
        return self.take(self.SCALARS[kind])[0]

    def tensor(self, shape, kind, at):
        count = int(np.prod(shape))
        if kind == 0:
            return np.frombuffer(self.bytes, "<f4", count, at).reshape(shape).astype(np.float64)
        assert kind == 8, "only F32 and Q8_0 are expected"
        blocks = np.frombuffer(self.bytes, np.dtype([("scale", "<f2"), ("codes", "i1", 32)]), count // 32, at)
        return (blocks["scale"].astype(np.float64)[:, None] * blocks["codes"]).reshape(shape)


class Tokenizer:
    """The "llama" kind: of all adjacent pairs that form a token, the one with the best score is merged first."""

    def __init__(self, metadata):
        self.tokens = metadata["tokenizer.ggml.tokens"]
        self.scores, self.types = metadata["tokenizer.ggml.scores"], metadata["tokenizer.ggml.token_type"]
        self.ids = {token: id for id, token in enumerate(self.tokens) if self.types[id] == 1}
        self.bos, self.eos = metadata["tokenizer.ggml.bos_token_id"], metadata["tokenizer.ggml.eos_token_id"]

    def encode(self, text):
        """The text's tokens with BOS in front. Tokens hold no line end, so that lines can be merged separately."""
        ids = [self.bos]
        for index, line in enumerate((" " + text).replace(" ", SPACE).split("\n")):
            ids += [self.ids.get("\n", 3 + 10)] * (index > 0) + self.line(line)
        return ids

    def line(self, line):
        symbols = list(line)
        while True:
            best, at = max(((self.scores[self.ids[left + right]], -at)
                            for at, (left, right) in enumerate(zip(symbols, symbols[1:]))
                            if left + right in self.ids), default=(None, None))
            if best is None:
                break
            symbols[-at:-at + 2] = [symbols[-at] + symbols[-at + 1]]
        return [id for symbol in symbols
                for id in ([self.ids[symbol]] if symbol in self.ids else [3 + byte for byte in symbol.encode()])]

    def decode(self, ids):
        out = b""
        for id in ids:
            if self.types[id] == 6:
                out += bytes([int(self.tokens[id][3:5], 16)])
            elif self.types[id] == 1:
                out += self.tokens[id].replace(SPACE, " ").encode()
        return out.decode(errors="replace")


def norm(x, weight, epsilon):
    return x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + epsilon) * weight


def rotate(x, base):
    """RoPE on the pairs (0, 1), (2, 3) ... of x [tokens heads head_width]; the token index is the position."""
    tokens, _, width = x.shape
    angle = np.arange(tokens)[:, None] * base ** (-np.arange(0, width, 2) / width)
    cos, sin, out = np.cos(angle)[:, None], np.sin(angle)[:, None], np.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
    out[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos
    return out


def logits_of(file, tokens):
    """Logits [tokens vocabulary] of one sequence from an empty cache."""
    hyper = {key.removeprefix("llama."): value for key, value in file.metadata.items() if key.startswith("llama.")}
    heads, kv_heads = hyper["attention.head_count"], hyper["attention.head_count_kv"]
    epsilon, base = hyper["attention.layer_norm_rms_epsilon"], hyper.get("rope.freq_base", 10000.0)
    count, w = len(tokens), file.tensors
    future = np.triu(np.full((count, count), -np.inf), 1)
    x = w["token_embd.weight"][tokens]
    for layer in range(hyper["block_count"]):
        n = norm(x, w[f"blk.{layer}.attn_norm.weight"], epsilon)
        q, k, v = (n @ w[f"blk.{layer}.attn_{part}.weight"].T for part in "qkv")
        q, k = rotate(q.reshape(count, heads, -1), base), rotate(k.reshape(count, kv_heads, -1), base)
        v = v.reshape(count, kv_heads, -1)
        mixed = np.empty_like(q)
        for head in range(heads):
            group = head // (heads // kv_heads)
            scores = q[:, head] @ k[:, group].T / np.sqrt(q.shape[-1]) + future
            weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
            mixed[:, head] = weights / weights.sum(axis=-1, keepdims=True) @ v[:, group]
        x = x + mixed.reshape(count, -1) @ w[f"blk.{layer}.attn_output.weight"].T
        n = norm(x, w[f"blk.{layer}.ffn_norm.weight"], epsilon)
        gate, up = (n @ w[f"blk.{layer}.ffn_{part}.weight"].T for part in ("gate", "up"))
        x = x + (gate / (1 + np.exp(-gate)) * up) @ w[f"blk.{layer}.ffn_down.weight"].T
    output = w.get("output.weight", w["token_embd.weight"])
    return norm(x, w["output_norm.weight"], epsilon) @ output.T


def perplexity(file, tokenizer, text):
    """Windows of 256 tokens, each begun with BOS; the second half of each is scored."""
    tokens, losses = tokenizer.encode(text), []
    windows = len(tokens) // CONTEXT
    for window in range(windows):
        original = tokens[window * CONTEXT:(window + 1) * CONTEXT]
        logits = logits_of(file, [tokenizer.bos] + original[1:])[CONTEXT // 2:CONTEXT - 1]
        logits -= logits.max(axis=-1, keepdims=True)
        targets = original[CONTEXT // 2 + 1:]
        losses += list(np.log(np.exp(logits).sum(axis=-1)) - logits[np.arange(len(targets)), targets])
    losses = np.array(losses)
    value = np.exp(losses.mean())
    return value, value * np.sqrt(((losses ** 2).mean() - losses.mean() ** 2) / (len(losses) - 1)), windows


def greedy(file, prompt, count):
    """The ids, and the smallest lead that a chosen token had over the next best."""
    ids, lead = list(prompt), np.inf
    for _ in range(count):
        logits = logits_of(file, ids)[-1]
        second, first = np.sort(logits)[-2:]
        lead = min(lead, first - second)
        ids.append(int(logits.argmax()))
    return ids[len(prompt):], lead


def main(folder):
    file = Reader(folder / "stories.gguf")
    tokenizer = Tokenizer(file.metadata)
    prompt = tokenizer.encode(PROMPT)
    ids, lead = greedy(file, prompt, COUNT)
    text = (folder / "stories-heldout.txt").read_text()
    value, error, windows = perplexity(file, tokenizer, text)
    print(f"parameters {sum(w.size for w in file.tensors.values())}, "
          f"{(folder / 'stories.gguf').stat().st_size} bytes")
    print(f"perplexity of the held-out stories {value:.4f} +/- {error:.5f} over {windows} windows of {CONTEXT}")
    print(f"greedy (smallest lead {lead:.3f}):\n{PROMPT}{tokenizer.decode(ids)}")
    (folder / "stories.tokens.json").write_text(json.dumps({
        "prompt": PROMPT, "prompt_ids": prompt, "greedy_ids": ids, "perplexity": round(float(value), 6),
        "windows": windows, "context": CONTEXT}) + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else
         pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "stories")
