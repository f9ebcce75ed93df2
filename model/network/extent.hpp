#pragma once

/// Extent of one microbatch on one GPU of a plan: degrees of parallelism, tokens, and widths of tensors.

#include "model/plan/plan.hpp"
#include "model/plan/sample_lengths.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace prismopt {

/// A plan and phase as the costs of a layer see them: what no layer's cost depends on has its default, so
/// that plans which differ only in that share costs.
struct LayerShape : ParallelPlan {
    int sequence = 0;  // tokens
    int batch = 0;     // sequences of a step
    /// Tokens of microbatches whose samples differ in length, for the time of passes: memory is that of full
    /// sequences. Null: all fill their sequences. Must outlive the shape.
    const LengthMix* lengths = nullptr;

    LayerShape with_full_sequences() const
    {
        LayerShape full = *this;
        full.lengths = nullptr;
        return full;
    }
    auto operator<=>(const LayerShape&) const = default;
};
/// Returns the shape for a plan, a sequence length and a global batch in sequences (layer_cost.cpp).
LayerShape layer_shape(const ParallelPlan& plan, int sequence, int batch);

/// Columns of a tensor under tensor parallelism. They are divided in groups that stay whole (heads),
/// with at least one group per GPU.
class Width {
public:
    Width() = default;
    Width(double columns) : groups_of_columns_{{{columns, 1.0}}} {}
    static Width heads(double count, double size)
    {
        Width width;
        width.groups_of_columns_[0] = {count, size};
        return width;
    }
    /// Returns a width padded to a multiple of `step` on each of several members.
    static Width padded(double columns, double step)
    {
        Width width(columns);
        width.step_ = step;
        return width;
    }
    friend Width operator+(Width a, const Width& b)
    {
        for (const ColumnGroups& own_groups : b.groups_of_columns_) {
            if (own_groups.groups > 0.0) {
                *std::find_if(a.groups_of_columns_.begin(), a.groups_of_columns_.end(),
                              [](const ColumnGroups& own) { return own.groups == 0.0; }) = own_groups;
            }
        }
        return a;
    }

    double whole() const { return local(1.0); }
    /// Returns the columns on one of `members`.
    double local(double members) const
    {
        double columns = 0.0;
        for (const ColumnGroups& own_groups : groups_of_columns_) {
            columns +=
                own_groups.groups > 0.0 ? std::max(1.0, own_groups.groups / members) * own_groups.size : 0.0;
        }
        return step_ > 0.0 && members > 1.0 ? step_ * std::ceil(columns / step_) : columns;
    }

private:
    struct ColumnGroups {
        double groups = 0.0;
        double size = 1.0;
    };
    std::array<ColumnGroups, 4> groups_of_columns_{};
    double step_ = 0.0;
};

/// Distribution of a tensor's tokens and columns over GPUs.
enum class Place {
    sequence,  // all columns; of a tp-th of the tokens with sequence parallelism, else of all tokens
    columns,   // this GPU's columns of all tokens
    own,       // all columns of a tp-th of the tokens
    routed     // all columns of the tokens routed to this GPU's experts
};

/// Work on tokens of the most loaded GPU of an expert-parallel group beyond the mean.
struct Surplus {
    double share = 0.0;      // of all its work
    double most = no_limit;  // upper limit over its mean, set by a capacity

    static constexpr double no_limit = std::numeric_limits<double>::infinity();
};

/// Routing parameters of a mixture of experts. docs/methods/experts.md.
struct Routing {
    double experts = 0.0;    // E, routed
    double active = 0.0;     // k, per token
    double imbalance = 1.0;  // tokens of the most loaded expert group over the mean
    double capacity = 0.0;   // limit of tokens per expert over the mean, the rest is dropped; 0: no limit
    double nodes = 0.0;      // most nodes that a token is sent to; 0: no limit

    /// Returns the tokens of the most loaded GPU over the mean, on any number of GPUs.
    double kept() const { return capacity > 0.0 ? std::min(capacity, imbalance) : imbalance; }
};

/// Tokens of a layer that an operator works on. In a layer with two streams each has weights of its own, and
/// attention joins them (Esser et al., arXiv 2403.03206, section 4).
struct LayerStream {
    enum class Of { both, first, second };
    Of of = Of::both;
    double second = 0.0;  // tokens per sample of the second stream
};

/// Tokens of one microbatch on one GPU. The shape must outlive it.
struct Extent {
    const LayerShape& shape;
    double sequence;  // tokens per sequence at this place of the network
    double tokens;    // b s / cp
    double tp;
    // GPUs that share the work outside the products: tp with sequence parallelism, else 1
    double sequence_split;

    /// `share`: tokens here per token of the phase's sequence.
    explicit Extent(const LayerShape& computed, double share = 1.0)
        : shape(computed), sequence(share * computed.sequence),
          tokens(computed.microbatch * sequence / computed.cp *
                 (computed.lengths != nullptr ? computed.lengths->tokens : 1.0)),
          tp(computed.tp), sequence_split(computed.shares_tokens() ? tp : 1.0)
    {
    }

    /// Returns the extent of one stream of a layer.
    Extent of(const LayerStream& stream) const
    {
        switch (stream.of) {
            case LayerStream::Of::first: return beside(sequence - stream.second);
            case LayerStream::Of::second: return beside(stream.second);
            case LayerStream::Of::both: break;
        }
        return *this;
    }

    /// Returns the extent of another sequence with this number of tokens per sample; 0: this extent.
    Extent beside(double other_sequence) const
    {
        Extent result = *this;
        if (other_sequence > 0.0) {
            result.sequence = other_sequence;
            result.tokens = shape.microbatch * other_sequence / shape.cp;
        }
        return result;
    }

    /// Returns the mean over tokens of `of_length(tokens of the sample)`.
    template <class OfLength>
    double mean_over_lengths(OfLength&& of_length) const
    {
        if (shape.lengths == nullptr) {
            return of_length(sequence);
        }
        double sum = 0.0;
        for (const LengthShare& of : shape.lengths->lengths) {
            sum += of.share * of_length(of.tokens * sequence / shape.sequence);
        }
        return sum;
    }
    /// Whether samples share a sequence.
    bool shares_sequences() const { return shape.lengths != nullptr && shape.lengths->shares_sequences; }

    /// Returns the tokens of the most loaded GPU over the mean; a group of ep GPUs has at most ep
    /// times the mean on one of them.
    double load(const Routing& r) const
    {
        return std::min(r.kept(), std::max(1.0, static_cast<double>(shape.ep)));
    }
    /// Returns the share of the most loaded GPU's tokens beyond the mean, which varies with the load
    /// (model/distribution/chain_distribution.hpp).
    Surplus surplus(const Routing& r) const
    {
        const bool drops = r.capacity > 0.0 && r.imbalance > 1.0;
        return {1.0 - 1.0 / load(r), drops ? (r.capacity - 1.0) / (r.imbalance - 1.0) : Surplus::no_limit};
    }

    /// Returns whether the host must know how many tokens go where: not with a capacity, to which experts are
    /// padded, nor with kernels that send tokens by themselves (Megatron-Core,
    /// transformer/moe/token_dispatcher.py).
    bool host_reads_counts(const Routing& r) const
    {
        return r.capacity == 0.0 &&
               (shape.dispatch == Dispatch::of_stack || shape.dispatch == Dispatch::all_to_all);
    }
    /// Tokens that one GPU routes.
    double own() const { return tokens / tp; }
    /// Token copies that one GPU sends.
    double copies(const Routing& r) const { return own() * r.active; }
    /// Token copies on the most loaded GPU, gathered over the GPUs that share an expert.
    double fullest(const Routing& r) const { return copies(r) * load(r) * shape.etp; }
    double local_experts(const Routing& r) const { return r.experts / shape.ep; }

    /// Returns the elements of a tensor on one GPU.
    double numbers(Place place, const Width& width, const Routing& r = {}) const
    {
        switch (place) {
            case Place::sequence: return tokens * width.whole() / sequence_split;
            case Place::columns: return tokens * width.local(tp);
            case Place::own: return own() * width.whole();
            case Place::routed: break;
        }
        return fullest(r) * width.local(shape.etp);
    }
};

}  // namespace prismopt
