#pragma once

/// Operators, the smallest parts of a network. Each defines, for a shape and degrees of parallelism, its
/// kernels and messages, its adjoint, its parameters, and the tensors saved for the backward pass. All else
/// is derived from lists of operators (model/network/passes.hpp). Formulas: docs/methods/network-model.md.
///
/// Order of tensor-parallel collectives: Shoeybi et al., arXiv 1909.08053, section 3, and Korthikanti
/// et al., arXiv 2205.05198, section 4.2.2. Widths are columns per token; bytes are those of 16-bit
/// numbers unless stated otherwise.

#include "model/network/calls.hpp"
#include "model/network/choices.hpp"
#include "model/network/extent.hpp"

#include <algorithm>
#include <variant>
#include <vector>

namespace prismopt {

inline constexpr double element_bytes = 2.0;  // of 16-bit numbers

/// Gradients of a product that a backward pass computes: of input and weights, or of the input only.
enum class Gradients { both, input };

/// Parameters on one GPU. Routed experts have fewer replicas than the rest, rows of sharded tables none.
struct Parameters {
    double all = 0.0;
    double expert = 0.0;         // part of `all`: in routed experts
    double tied = 0.0;           // part of `all`: in matrices that another operator also uses
    double rows = 0.0;           // part of `all`: in sharded tables, of which a step changes few rows
    double frozen = 0.0;         // part of `all` outside experts and tables: not trained
    double frozen_expert = 0.0;  // part of `expert`: not trained
    double ends = 0.0;           // part of `all`: in embedding and head
    double products = 0.0;       // part of `all`: of products in the precision of the workload
    double row_bytes = 0.0;      // of `rows`, which change as gradients come: no gradient buffers, no moments
    double saved_bytes = 0.0;    // by frozen ones that are stored in fewer than 16 bits
    // of trained matrices m x n, m <= n: m + 2 n, numbers of a projected state of rank 1 (GaLore)
    double projected = 0.0;

    double dense() const { return all - expert - rows; }
    /// Returns the parameters with gradient buffers that are reduced over replicas: neither
    /// frozen nor rows of sharded tables.
    Parameters trained() const
    {
        Parameters result{all - rows - frozen - frozen_expert, expert - frozen_expert,
                          frozen > 0.0 ? 0.0 : tied};
        result.ends = std::min(ends, result.all);
        result.projected = projected;
        return result;
    }
    Parameters times(int count) const
    {
        return {count * all,       count * expert,        count * tied,     count * rows,
                count * frozen,    count * frozen_expert, count * ends,     count * products,
                count * row_bytes, count * saved_bytes,   count * projected};
    }
    Parameters& operator+=(const Parameters& other)
    {
        all += other.all;
        expert += other.expert;
        tied += other.tied;
        rows += other.rows;
        frozen += other.frozen;
        frozen_expert += other.frozen_expert;
        ends += other.ends;
        products += other.products;
        row_bytes += other.row_bytes;
        saved_bytes += other.saved_bytes;
        projected += other.projected;
        return *this;
    }
};

/// Saved activations of one microbatch on one GPU. Sums: Korthikanti et al., eqs. 1-4; held ones: Qi et
/// al., arXiv 2401.10241, table 1.
struct Kept {
    double numbers = 0.0;  // 16-bit elements saved from forward to backward pass
    // part of `numbers`: read by products and activations, which may be stored in fewer bits
    double products = 0.0;
    double bytes = 0.0;         // further bytes, independent of the precision
    double recomputable = 0.0;  // part of `bytes` that recompute of the operator itself drops
    // From the gradient of the input to that of the weights: inputs of products, gradients of their outputs.
    double held_numbers = 0.0;
    double held_products = 0.0;  // part of `held_numbers`: inputs of products
    double workspace = 0.0;      // further bytes while the pass runs
    double logits = 0.0;         // inputs of the loss, which frameworks keep in different ways (MemoryRules)

    Kept& operator+=(const Kept& other);
};

/// Linear layer y = x W. Tensor parallelism divides W by columns, after a gather of the sequence; by rows,
/// before a sum; or not at all, with a share of the tokens per rank.
struct Linear {
    enum class Split { columns, rows, none };
    Width in;
    Width out;
    Split split = Split::columns;
    Place tokens = Place::sequence;  // with Split::none
    bool bias = false;
    bool keeps_input = true;  // false: another operator saves the same tensor
    bool wide = false;        // at least 16 bits, for any precision of the other products
    bool rounds = true;       // with tp_overlap, its messages are in rounds beside its product
    bool tied = false;        // W belongs to another operator
    bool counted = true;      // false: W is counted by another operator of the same layer
    bool alone = true;        // false: a parallel branch gathers its input, or sums its result
    double rows_each = 0.0;   // rows of x per sample; 0: one per token
    LayerStream stream{};
    bool shared_expert = false;
    ModuleSet modules{};
    bool frozen = false;
    // per weight, where frozen ones are stored in fewer than 16 bits; 0: as others
    double stored_bytes = 0.0;

    void forward(const Extent& layer, Calls& calls) const;
    void backward(const Extent& layer, Gradients gradients, Calls& calls) const;
    void weight_gradient(const Extent& layer, Calls& calls) const;
    Parameters parameters(const Extent& e) const;
    Kept kept(const Extent& layer) const;

private:
    double own_tokens(const Extent& e) const;
};

/// Linear layers of the routed experts, one product per expert.
struct GroupedLinear {
    Width in;
    Width out;
    Linear::Split split = Linear::Split::columns;  // by the GPUs that share an expert
    Routing routing;
    bool bias = false;
    bool keeps_input = true;
    bool wide = false;
    bool gated = false;  // its kernel may hold the gated activation beside it (SoftwareStack::fused_experts)
    ModuleSet modules{};
    bool frozen = false;
    double stored_bytes = 0.0;  // as in Linear

    void forward(const Extent& e, Calls& calls) const;
    void backward(const Extent& e, Gradients gradients, Calls& calls) const;
    void weight_gradient(const Extent& e, Calls& calls) const;
    Parameters parameters(const Extent& e) const;
    Kept kept(const Extent& e) const;

private:
    /// `casts`: operands that are cast for it; others were before.
    void product(const Extent& e, double m, double n, double k, double casts, Calls& calls) const;
    bool casts_beside(const Extent& e) const;
    double in_columns(const Extent& e) const
    {
        return split == Linear::Split::rows ? in.local(e.shape.etp) : in.whole();
    }
    double out_columns(const Extent& e) const
    {
        return split == Linear::Split::columns ? out.local(e.shape.etp) : out.whole();
    }
};

/// Attention core: products of queries with keys, softmax, and products with values.
struct Attention {
    double heads = 0.0;
    double key_heads = 0.0;
    double key_size = 0.0;  // per head
    double value_size = 0.0;
    bool causal = true;  // flash kernels skip the masked half
    AttentionKernel kernel = AttentionKernel::flash;
    double window = 0.0;  // most keys that a query attends to, its own included; 0: all
    double chunk = 0.0;   // tokens per chunk, within which a query attends; 0: all
    double chosen = 0.0;  // most keys that a query attends to, from any place; 0: all
    double others = 0.0;  // keys per sample of another sequence (cross attention); 0: of this one
    bool sinks = false;   // one weight per head beside the scores (gpt-oss)
    bool low = false;     // a fused kernel's products have 8 bits
    ModuleSet modules{};
    bool frozen = false;

    Width query() const { return Width::heads(heads, key_size); }
    Width key() const { return Width::heads(key_heads, key_size); }
    Width value() const { return Width::heads(key_heads, value_size); }
    Width output() const { return Width::heads(heads, value_size); }

    void forward(const Extent& e, Calls& calls) const;
    void backward(const Extent& e, Gradients gradients, Calls& calls) const;
    Parameters parameters(const Extent& e) const { return {.all = sinks ? heads / e.tp : 0.0}; }
    Kept kept(const Extent& e) const;

private:
    double keys_in_reach(const Extent& e) const;
    double keys_in_reach(double s) const;
    double keys_computed(const Extent& e) const;
    double keys_computed(double s) const;
    double keys_of_rows(const Extent& e) const;
    double keys_of_kernel(const Extent& e) const;
    double queries(const Extent& e) const;
    double traffic(const Extent& e) const;
    double flops(const Extent& e, double keys) const;
    double scores(const Extent& e) const;
    void unfused_softmax(const Extent& e, double traffic, Calls& calls) const;
    void exchange_keys(const Extent& e, double times, Calls& calls) const;
    void exchange_heads(const Extent& e, const std::vector<double>& numbers, Calls& calls) const;
    double numbers_of_keys(const Extent& e, const Width& width) const;
    double operands(const Extent& e) const;
};

/// Recurrence over the sequence with one state per head, computed chunk by chunk: state
/// space duality (Dao and Gu, arXiv
/// 2405.21060, section 6) or the delta rule in its WY form (Yang et al., arXiv 2412.06464, section 3.3).
/// Heads are divided by tensor parallelism, and by context parallelism between two exchanges.
struct Scan {
    enum class Rule { state_space, delta, delta_by_channel };
    Rule rule = Rule::state_space;
    double heads = 0.0;    // value heads
    double size = 0.0;     // value dimension of a head
    double groups = 0.0;   // key and query heads (B and C of a state space)
    double state = 0.0;    // rows of a head's state: its key dimension
    double chunk = 0.0;    // tokens; of a shorter sequence, all
    double weights = 0.0;  // trainable parameters per head
    ModuleSet modules{};
    bool frozen = false;

    Width values() const { return Width::heads(heads, size); }
    Width keys() const { return Width::heads(groups, state); }

    void forward(const Extent& e, Calls& calls) const;
    void backward(const Extent& e, Gradients gradients, Calls& calls) const;
    Parameters parameters(const Extent& e) const { return {.all = weights * heads / e.tp}; }
    Kept kept(const Extent& e) const;

private:
    struct Work {
        double flops = 0.0;    // per token
        double numbers = 0.0;  // 16-bit elements read and written, per token
    };
    double chunk_of(const Extent& e) const;
    Work once(const Extent& e) const;
    Work adjoint(const Extent& e) const;
    static void kernel(const Extent& e, const Work& work, double needed, double kernels, Calls& calls);
    void exchange_heads(const Extent& e, Calls& calls) const;
};

/// Convolution over positions, as an implicit matrix product (NVIDIA, "Convolutional Layers User's
/// Guide"); or depthwise, each column for itself, which streams through memory. Tensor parallelism
/// divides only depthwise convolutions.
struct Convolution {
    Width in;
    Width out;
    double taps = 1.0;         // input positions per result
    double inputs_each = 1.0;  // input positions per output position: its stride, squared in two dimensions
    bool by_depth = false;
    bool bias = false;
    bool keeps_input = true;
    bool wide = false;
    ModuleSet modules{};
    bool frozen = false;

    void forward(const Extent& e, Calls& calls) const;
    void backward(const Extent& e, Gradients gradients, Calls& calls) const;
    void weight_gradient(const Extent& e, Calls& calls) const;
    Parameters parameters(const Extent& e) const;
    Kept kept(const Extent& e) const;

private:
    void product(double m, double n, double k, Calls& calls) const;
};

/// Kernel that streams tensors through memory, by itself or fused with its neighbours.
struct Elementwise {
    Place place = Place::sequence;
    Width width;
    double forward_bytes = 0.0;  // memory traffic per column and token
    double backward_bytes = 0.0;
    double keeps = 0.0;         // saved elements of its input per column and token
    bool keeps_copies = false;  // saves the copies of tokens that return from experts
    double keeps_bytes = 0.0;   // further saved bytes: masks
    double weights = 0.0;       // trainable parameters per column
    bool keeps_low = false;     // what it saves may be stored in fewer bits
    bool fuses = false;         // with such an operator before or after it
    bool of_experts = false;    // between the products of gated experts
    Roof roof = Roof::memory;
    double launches = 1.0;
    double launches_of_counts = 0.0;  // further ones where the host reads how many tokens each expert gets
    Routing routing{};                // with Place::routed or keeps_copies
    LayerStream stream{};
    bool shared_expert = false;
    ModuleSet modules{};
    bool frozen = false;

    void forward(const Extent& e, Calls& calls) const;
    void backward(const Extent& e, Gradients gradients, Calls& calls) const;
    Parameters parameters(const Extent& e) const;
    Kept kept(const Extent& e) const;

private:
    void pass(const Extent& e, double bytes, Calls& calls) const;
};

/// Embedding lookup: rows of a table by index. Tensor-parallel ranks have a share of the rows, and sum.
struct Lookup {
    double rows = 0.0;
    double columns = 0.0;
    double positions = 0.0;    // rows of learned positions, on each rank
    double keeps_bytes = 0.0;  // per column and token
    bool tied = false;         // the table belongs to another operator
    bool frozen = false;

    void forward(const Extent& e, Calls& calls) const;
    void backward(const Extent& e, Gradients gradients, Calls& calls) const;
    Parameters parameters(const Extent& e) const;
    Kept kept(const Extent& e) const;
};

/// Sums of rows of many embedding tables, sharded over an expert-parallel group, which exchanges indices and
/// sums (Naumov et al., arXiv 1906.00091; MAD-Max, arXiv 2310.02784).
struct Tables {
    double tables = 0.0;
    double rows = 0.0;  // of all tables
    double columns = 0.0;
    double lookups = 0.0;  // rows read per sample, of all tables
    double number_bytes = 4.0;
    bool frozen = false;

    void forward(const Extent& e, Calls& calls) const;
    void backward(const Extent& e, Gradients gradients, Calls& calls) const;
    void weight_gradient(const Extent& e, Calls& calls) const;
    Parameters parameters(const Extent& e) const;
    Kept kept(const Extent& e) const;
};

/// Dot products of all pairs of a sample's vectors (interaction of arXiv 1906.00091).
struct PairProducts {
    double vectors = 0.0;
    double size = 0.0;

    void forward(const Extent& e, Calls& calls) const;
    void backward(const Extent& e, Gradients gradients, Calls& calls) const;
    Kept kept(const Extent& e) const;
};

/// Loss over the vocabulary.
struct Loss {
    Width vocabulary;
    double bytes = 0.0;  // moved per logit, forward and backward; 0: as much as the software stack's loss

    void forward(const Extent& e, Calls& calls) const;
    void backward(const Extent& e, Gradients gradients, Calls& calls) const;
    Kept kept(const Extent& e) const;

private:
    void pass(double share, const Extent& e, Calls& calls) const;
};

/// Exchange of tokens with experts, on their way to them or back.
struct TokenExchange {
    enum class Group { experts, expert_tensor };
    enum class Way { there, back };
    Group group = Group::experts;
    Way way = Way::there;
    double width = 0.0;
    Routing routing;
    bool wide = false;  // 16 bits, for any precision of the products
    ModuleSet modules{};

    void forward(const Extent& e, Calls& calls) const { exchange(e, way, calls); }
    /// The gradients of results go to the experts, those of their inputs come back.
    void backward(const Extent& e, Gradients /*gradients*/, Calls& calls) const
    {
        exchange(e, way == Way::there ? Way::back : Way::there, calls);
    }

private:
    void exchange(const Extent& e, Way direction, Calls& calls) const;
};

/// Work of an operator of a captured network, per sample at the captured shape.
struct RecordedWork {
    /// Memory traffic, in bytes for 16-bit elements.
    struct Traffic {
        double forward = 0.0;
        double backward = 0.0;
    };
    /// Product [m, k] times weights [k, n], `groups` times. A convolution is an implicit one: m positions of
    /// its result, k taps by channels.
    struct Product {
        double groups = 1.0;
        double m = 0.0;
        double n = 0.0;
        double k = 0.0;
        double input_rows = 0.0;  // rows of the input and its gradient: m, except for convolutions
        double input_columns = 0.0;
    };
    /// Product [m, k] times [k, n] of two activations.
    struct Scores {
        double groups = 1.0;
        double m = 0.0;
        double n = 0.0;
        double k = 0.0;
    };
    struct Heads {
        Attention attention;
        int queries = 0;
    };
    /// Rows of a table, summed to results.
    struct Rows {
        double columns = 0.0;
        double lookups = 0.0;
        double results = 0.0;
    };
};

/// Operator of a captured network (docs/captured-networks.md), not divided by tensor,
/// context and expert parallelism.
struct Recorded {
    using Traffic = RecordedWork::Traffic;
    using Product = RecordedWork::Product;
    using Scores = RecordedWork::Scores;
    using Heads = RecordedWork::Heads;
    using Rows = RecordedWork::Rows;

    std::variant<Traffic, Product, Scores, Heads, Rows> work;
    Parameters own{};
    double keeps = 0.0;        // saved elements
    double keeps_bytes = 0.0;  // further saved bytes: indices, masks
    ModuleSet modules{};
    bool frozen = false;

    void forward(const Extent& e, Calls& calls) const;
    void backward(const Extent& e, Gradients gradients, Calls& calls) const;
    void weight_gradient(const Extent& e, Calls& calls) const;
    Parameters parameters(const Extent& /*e*/) const { return own; }
    Kept kept(const Extent& e) const;
};

using Operator = std::variant<Linear, GroupedLinear, Attention, Scan, Convolution, Elementwise, Lookup,
                              Tables, PairProducts, Loss, TokenExchange, Recorded>;

}  // namespace prismopt
