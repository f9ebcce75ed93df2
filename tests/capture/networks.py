"""Networks of which tests/capture/capture_network_test.py knows the counts."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class SelfAttention(nn.Module):
    def __init__(self, hidden, heads, positions, dropout):
        super().__init__()
        self.heads = heads
        self.dropout = dropout
        self.query_key_value = nn.Linear(hidden, 3 * hidden)
        self.output = nn.Linear(hidden, hidden)
        self.register_buffer("mask", torch.tril(torch.ones(positions, positions)) == 0)

    def forward(self, x):
        batch, tokens, hidden = x.shape
        query, key, value = (part.view(batch, tokens, self.heads, hidden // self.heads).transpose(1, 2)
                             for part in self.query_key_value(x).split(hidden, dim=2))
        scores = query @ key.transpose(-2, -1) / math.sqrt(hidden // self.heads)
        scores = scores.masked_fill(self.mask[:tokens, :tokens], float("-inf"))
        probabilities = F.dropout(F.softmax(scores, dim=-1), self.dropout, self.training)
        return self.output((probabilities @ value).transpose(1, 2).contiguous().view(batch, tokens, hidden))


class Block(nn.Module):
    def __init__(self, hidden, heads, positions, dropout):
        super().__init__()
        self.attention_norm = nn.LayerNorm(hidden)
        self.attention = SelfAttention(hidden, heads, positions, dropout)
        self.mlp_norm = nn.LayerNorm(hidden)
        self.mlp = nn.Sequential(nn.Linear(hidden, 4 * hidden), nn.GELU(), nn.Linear(4 * hidden, hidden))

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        return x + self.mlp(self.mlp_norm(x))


class GPT(nn.Module):
    def __init__(self, layers=3, hidden=32, heads=4, positions=64, vocabulary=500, dropout=0.0):
        super().__init__()
        self.words = nn.Embedding(vocabulary, hidden)
        self.positions = nn.Embedding(positions, hidden)
        self.blocks = nn.ModuleList(Block(hidden, heads, positions, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(hidden)
        self.head = nn.Linear(hidden, vocabulary, bias=False)
        self.head.weight = self.words.weight

    def forward(self, tokens):
        x = self.words(tokens) + self.positions.weight[:tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class FusedAttention(nn.Module):
    """Queries with more heads than keys are left to PyTorch 2.5 and later."""

    def __init__(self, hidden=32, heads=4, causal=True):
        super().__init__()
        self.heads = heads
        self.causal = causal
        self.projection = nn.Linear(hidden, 3 * hidden, bias=False)

    def forward(self, x):
        batch, tokens, _ = x.shape
        query, key, value = self.projection(x).view(batch, tokens, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if hasattr(F, "scaled_dot_product_attention"):
            return F.scaled_dot_product_attention(query, key, value, is_causal=self.causal)
        return F._scaled_dot_product_attention(query, key, value, is_causal=self.causal)[0]


class Bottleneck(nn.Module):
    def __init__(self, channels, inner, stride, widened):
        super().__init__()
        self.reduce = nn.Conv2d(channels, inner, 1, bias=False)
        self.reduce_norm = nn.BatchNorm2d(inner)
        self.middle = nn.Conv2d(inner, inner, 3, stride=stride, padding=1, bias=False)
        self.middle_norm = nn.BatchNorm2d(inner)
        self.widen = nn.Conv2d(inner, widened, 1, bias=False)
        self.widen_norm = nn.BatchNorm2d(widened)
        self.shortcut = None
        if stride > 1 or channels != widened:
            self.shortcut = nn.Sequential(nn.Conv2d(channels, widened, 1, stride=stride, bias=False), nn.BatchNorm2d(widened))

    def forward(self, x):
        y = F.relu(self.reduce_norm(self.reduce(x)))
        y = F.relu(self.middle_norm(self.middle(y)))
        y = self.widen_norm(self.widen(y))
        return F.relu(y + (x if self.shortcut is None else self.shortcut(x)))


class ResNet(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 7, stride=2, padding=3)
        self.stages = nn.Sequential(nn.Sequential(Bottleneck(16, 8, 1, 32), Bottleneck(32, 8, 1, 32), Bottleneck(32, 8, 1, 32)),
                                    nn.Sequential(Bottleneck(32, 16, 2, 64), Bottleneck(64, 16, 1, 64)))
        self.classify = nn.Linear(64, classes)

    def forward(self, x):
        x = self.stages(F.max_pool2d(F.relu(self.stem(x)), 2))
        return self.classify(x.mean(dim=(2, 3)))


class DLRM(nn.Module):
    """arXiv 1906.00091."""

    def __init__(self, rows=(1000, 200, 30), columns=16, bottom=(13, 32, 16), top=(22, 32, 1)):
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(count, columns, mode="sum") for count in rows)
        self.bottom = self.multilayer(bottom)
        self.top = self.multilayer(top)

    @staticmethod
    def multilayer(widths):
        return nn.Sequential(*(layer for pair in zip(widths, widths[1:]) for layer in (nn.Linear(*pair), nn.ReLU())))

    def forward(self, dense, indices):
        x = self.bottom(dense)
        vectors = torch.stack([x, *(table(indices[:, place]) for place, table in enumerate(self.tables))], dim=1)
        first, second = torch.tril_indices(vectors.shape[1], vectors.shape[1], offset=-1)
        pairs = (vectors @ vectors.transpose(1, 2))[:, first, second]
        return self.top(torch.cat([x, pairs], dim=1))


class Level(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.convolution = nn.Conv1d(channels, channels, 3, padding=1)

    def forward(self, x):
        return F.silu(self.convolution(x))


class UNet(nn.Module):
    """Its down path leaves results that the up path reads."""

    def __init__(self, channels=4):
        super().__init__()
        self.down = nn.ModuleList(Level(channels) for _ in range(2))
        self.up = nn.ModuleList(Level(channels) for _ in range(2))
        self.rise = nn.ConvTranspose1d(channels, 2 * channels, 2, stride=2, groups=2)

    def forward(self, x):
        left = []
        for level in self.down:
            x = level(x)
            left.append(x)
        for level in self.up:
            x = level(x + left.pop())
        return self.rise(x)


class Looped(nn.Module):
    """Its loop also runs operators outside of its layers."""

    def __init__(self, sums, layers=4):
        super().__init__()
        self.sums = sums
        self.entry = Level(4)
        self.layers = nn.ModuleList(Level(4) for _ in range(layers))

    def forward(self, x):
        x = self.entry(x)
        angles = torch.arange(float(x.shape[-1]))
        for layer in self.layers:
            x = x + layer(x) if self.sums == "after" else layer(x * angles.cos())
        return x.tanh()


class SharedLayers(nn.Module):
    def __init__(self, times=3):
        super().__init__()
        self.times = times
        self.layer = Level(4)
        self.experts = nn.Parameter(torch.zeros(2, 4, 8))
        self.idle = nn.Parameter(torch.zeros(5))

    def forward(self, x):
        for _ in range(self.times):
            x = self.layer(x)
        return torch.einsum("bct,ecd->betd", x, self.experts)


class Unusual(nn.Module):
    """A Fourier transform, which is not understood, and operators without meta kernels in some versions of PyTorch."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        y = self.linear(x)
        return torch.fft.rfft(y).abs(), torch.cdist(y, y), torch.histc(y, 8)


class Adapted(nn.Module):
    """A frozen product and a low-rank adapter beside it (Hu et al., arXiv 2106.09685)."""

    def __init__(self, hidden=16, rank=2):
        super().__init__()
        self.base = nn.Linear(hidden, hidden).requires_grad_(False)
        self.down = nn.Linear(hidden, rank, bias=False)
        self.up = nn.Linear(rank, hidden, bias=False)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


class GroupedQueries(nn.Module):
    """Keys and values of a few heads, repeated for all queries."""

    def __init__(self, how, hidden=32, heads=4, key_heads=2):
        super().__init__()
        self.how, self.heads, self.key_heads = how, heads, key_heads
        self.size = hidden // heads
        self.queries = nn.Linear(hidden, hidden)
        self.keys = nn.Linear(hidden, key_heads * self.size)
        self.values = nn.Linear(hidden, key_heads * self.size)

    def repeated(self, x):
        times = self.heads // self.key_heads
        if self.how == "method":
            return x.repeat_interleave(times, dim=-3)
        if self.how == "sizes":
            return torch.repeat_interleave(x, torch.tensor([times] * self.key_heads), dim=1, output_size=self.heads)
        if self.how == "tensor":
            return torch.repeat_interleave(x, torch.tensor([times] * self.key_heads), dim=1)
        return torch.repeat_interleave(input=x, repeats=times, dim=1)

    def forward(self, x):
        def by_head(y):
            return y.unflatten(2, (-1, self.size)).transpose(1, 2)

        keys = self.repeated(by_head(self.keys(x)))
        values = self.repeated(by_head(self.values(x)))
        scores = (by_head(self.queries(x)) @ keys.transpose(2, 3) / self.size**0.5).softmax(3)
        return (scores @ values).transpose(1, 2).flatten(2)


class ReadsValues(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.how = how

    def forward(self, x):
        if self.how == "condition":
            return x + 1 if x.sum() > 0 else x
        if self.how == "mask":
            return x[x > 0]
        return x.nonzero()


class WithoutGradients(nn.Module):
    """forward() disables gradients, as code for inference does; `part` only in the first half."""

    def __init__(self, how, part=False):
        super().__init__()
        self.mode = {"no_grad": torch.no_grad, "inference_mode": torch.inference_mode, "set_grad_enabled": lambda: torch.set_grad_enabled(False)}
        self.how, self.part = how, part
        self.first, self.second = nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x):
        with self.mode[self.how]():
            x = torch.relu(self.first(x))
            if not self.part:
                return torch.relu(self.second(x))
        return torch.relu(self.second(x))


class RoutedExperts(nn.Module):
    """Experts that loop over the tokens which chose them, in the forms of public networks."""

    def __init__(self, how, width=8, experts=4, active=2):
        super().__init__()
        self.how, self.active = how, active
        self.gate = nn.Linear(width, experts, bias=False)
        self.experts = nn.ModuleList([nn.Linear(width, width, bias=False) for _ in range(experts)])

    def forward(self, x):
        x = x.flatten(0, -2)
        weights, chosen = torch.topk(self.gate(x).softmax(-1), self.active)
        return getattr(self, "by_" + self.how)(x, weights, chosen, torch.zeros_like(x))

    def by_where(self, x, weights, chosen, out):
        for number, expert in enumerate(self.experts):
            token, place = torch.where(chosen == number)
            out[token] += expert(x[token]) * weights[token, place, None]
        return out

    def by_counts(self, x, weights, chosen, out):
        counts = torch.bincount(chosen.flatten(), minlength=len(self.experts)).tolist()
        for number, expert in enumerate(self.experts):
            if counts[number] == 0:
                continue
            token, place = torch.where(chosen == number)
            out[token] += expert(x[token]) * weights[token, place, None]
        return out

    def by_unique(self, x, weights, chosen, out):
        for number in torch.unique(chosen.flatten()):
            mask = chosen == int(number.item())
            if not mask.any():
                continue
            token = mask.any(dim=-1).nonzero(as_tuple=False).squeeze(-1)
            if token.numel() > 0:
                out.index_add_(0, token, self.experts[int(number.item())](x[token]))
        return out

    def by_flags(self, x, weights, chosen, out):
        flags = nn.functional.one_hot(chosen, num_classes=len(self.experts)).permute(2, 1, 0)
        for number, expert in enumerate(self.experts):
            place, token = torch.where(flags[number])
            out.index_add_(0, token, expert(x[None, token].reshape(-1, x.shape[-1])) * weights[token, place, None])
        return out

    def by_hits(self, x, weights, chosen, out):
        flags = nn.functional.one_hot(chosen, num_classes=len(self.experts)).permute(2, 1, 0)
        for number in torch.greater(flags.sum(dim=(-1, -2)), 0).nonzero():
            place, token = torch.where(flags[number].squeeze(0))
            out.index_add_(0, token, self.experts[number](x[token]) * weights[token, place, None])
        return out

    def by_mask(self, x, weights, chosen, out):
        for number, expert in enumerate(self.experts):
            mask = (chosen == number).any(-1)
            out[mask] += expert(x[mask])
        return out


def example_inputs():
    return {"tokens": torch.zeros(1, 48, dtype=torch.int64)}
