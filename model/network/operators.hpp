#pragma once

/// The smallest parts of a network. Each states once, for a shape and degrees of parallelism: its kernels and messages, its adjoint,
/// its parameters, and what it keeps for the backward pass. Everything else is derived from lists of them (model/network/passes.hpp).
///
/// Order of tensor parallel collectives: Shoeybi et al., arXiv 1909.08053, section 3, and Korthikanti et al., arXiv 2205.05198,
/// section 4.2.2. Widths are columns a token; bytes are of 16-bit numbers where nothing else is said.

#include "model/network/calls.hpp"
#include "model/network/choices.hpp"
#include "model/network/extent.hpp"

#include <algorithm>
#include <variant>
#include <vector>

namespace prismopt {

/// What a backward pass computes of a product.
enum class Gradients { both, input };

/// Numbers on one GPU. Routed experts' are replicated over fewer GPUs than the rest, rows of sharded tables not at all.
struct Parameters {
    double all = 0.0;
    double expert = 0.0;         // part of `all`: in routed experts
    double tied = 0.0;           // part of `all`: in matrices that another operator also uses
    double rows = 0.0;           // part of `all`: in sharded tables, of which a step changes few
    double frozen = 0.0;         // part of `all`, and of neither experts nor tables: not trained
    double frozen_expert = 0.0;  // part of `expert`: not trained
    double ends = 0.0;           // part of `all`: in embedding and head

    double dense() const { return all - expert - rows; }
    /// What has gradients in buffers of their own, reduced over replicas: neither frozen nor rows of sharded tables.
    Parameters trained() const
    {
        Parameters result{all - rows - frozen - frozen_expert, expert - frozen_expert, frozen > 0.0 ? 0.0 : tied};
        result.ends = std::min(ends, result.all);
        return result;
    }
    Parameters times(int count) const
    {
        return {count * all, count * expert, count * tied, count * rows, count * frozen, count * frozen_expert, count * ends};
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
        return *this;
    }
};

/// Of one microbatch on one GPU. Sums: Korthikanti et al., eqs. 1-4; held ones: Qi et al., arXiv 2401.10241, table 1.
struct Kept {
    double numbers = 0.0;       // 16-bit numbers kept from forward to backward
    double bytes = 0.0;         // beside them, whatever the precision
    double recomputable = 0.0;  // of `bytes`, what selective recompute computes again
    double held_numbers =
        0.0;  // from the gradient of the input to that of the weights: inputs of products, gradients of their outputs
    double workspace = 0.0;  // bytes beyond, while the pass runs

    Kept& operator+=(const Kept& other);
};

/// y = x W. How tensor parallelism divides W: by columns, after a gather of the sequence; by rows, before a sum; or not, on a share
/// of the tokens.
struct Linear {
    enum class Split { columns, rows, none };
    Width in;
    Width out;
    Split split = Split::columns;
    Place tokens = Place::sequence;  // of Split::none
    bool bias = false;
    bool keeps_input = true;  // false: another operator keeps the same tensor
    bool wide = false;        // at least 16 bits, whatever the precision of the other products
    bool tied = false;        // W is another operator's
    bool counted = true;      // false: W is there already, as that of an operator of the same layer
    bool alone = true;        // false: a branch beside it gathers its input, or takes its result into a sum
    double rows_each = 0.0;   // rows of x for each sample; 0: a token each
    bool shared_expert = false;
    bool frozen = false;

    void forward(const Extent& e, Calls& calls) const;
    void backward(const Extent& e, Gradients gradients, Calls& calls) const;
    void weight_gradient(const Extent& e, Calls& calls) const;
    Parameters parameters(const Extent& e) const;
    Kept kept(const Extent& e) const;

private:
    double own_tokens(const Extent& e) const;
};

/// One product for each routed expert, of the tokens that it gets.
struct GroupedLinear {
    Width in;
    Width out;
    Linear::Split split = Linear::Split::columns;  // by the GPUs that share an expert
    Routing routing;
    bool bias = false;
    bool keeps_input = true;
    bool frozen = false;

    void forward(const Extent& e, Calls& calls) const;
    void backward(const Extent& e, Gradients gradients, Calls& calls) const;
    void weight_gradient(const Extent& e, Calls& calls) const;
    Parameters parameters(const Extent& e) const;
    Kept kept(const Extent& e) const;

private:
    void product(const Extent& e, double m, double n, double k, Calls& calls) const;
    double in_columns(const Extent& e) const { return split == Linear::Split::rows ? in.local(e.shape.etp) : in.whole(); }
    double out_columns(const Extent& e) const { return split == Linear::Split::columns ? out.local(e.shape.etp) : out.whole(); }
};

/// Products of queries with keys, and of what comes of them with values.
struct Attention {
    double heads = 0.0;
    double key_heads = 0.0;
    double key_size = 0.0;  // of a head
    double value_size = 0.0;
    bool causal = true;  // flash kernels skip the masked half
    AttentionKernel kernel = AttentionKernel::flash;
    double window = 0.0;  // keys that a query sees at most, its own among them; 0: all
    double chunk = 0.0;   // ... those of its chunk of so many tokens; 0: all
    double others = 0.0;  // keys of another sequence, so many for each sample (cross attention); 0: of this one
    bool sinks = false;   // a weight for each head beside the scores (gpt-oss)
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
    double keys_computed(const Extent& e) const;
    double flops(const Extent& e, double keys) const;
    double scores(const Extent& e) const;
    void unfused_softmax(const Extent& e, double traffic, Calls& calls) const;
    void exchange_context(const Extent& e, double times, Calls& calls) const;
};

/// A recurrence over the sequence with a state for each head, computed chunk by chunk: state space duality (Dao and Gu, arXiv
/// 2405.21060, section 6) or the delta rule in its WY form (Yang et al., arXiv 2412.06464, section 3.3). Heads are divided by tensor
/// parallelism, and by context parallelism between two exchanges.
struct Scan {
    enum class Rule { state_space, delta, delta_by_channel };
    Rule rule = Rule::state_space;
    double heads = 0.0;    // of values
    double size = 0.0;     // of a head's values
    double groups = 0.0;   // heads of keys and queries (B and C of a state space)
    double state = 0.0;    // rows of a head's state: size of its keys
    double chunk = 0.0;    // tokens
    double weights = 0.0;  // trainable numbers a head
    bool frozen = false;

    Width values() const { return Width::heads(heads, size); }
    Width keys() const { return Width::heads(groups, state); }

    void forward(const Extent& e, Calls& calls) const;
    void backward(const Extent& e, Gradients gradients, Calls& calls) const;
    Parameters parameters(const Extent& e) const { return {.all = weights * heads / e.tp}; }
    Kept kept(const Extent& e) const;

private:
    struct Work {
        double flops = 0.0;    // a token
        double numbers = 0.0;  // 16-bit numbers read and written, a token
    };
    Work once() const;
    Work adjoint() const;
    void kernel(const Extent& e, const Work& work, double needed, Calls& calls) const;
    void exchange_heads(const Extent& e, Calls& calls) const;
};

/// A convolution over positions, as an implicit matrix product (NVIDIA, "Convolutional Layers User's Guide"); by depth: each column for
/// itself, which streams through memory. Tensor parallelism divides columns by depth only.
struct Convolution {
    Width in;
    Width out;
    double taps = 1.0;         // positions that a result reads
    double inputs_each = 1.0;  // positions of the input for each of the output: its stride, squared in two dimensions
    bool by_depth = false;
    bool bias = false;
    bool keeps_input = true;
    bool frozen = false;

    void forward(const Extent& e, Calls& calls) const;
    void backward(const Extent& e, Gradients gradients, Calls& calls) const;
    void weight_gradient(const Extent& e, Calls& calls) const;
    Parameters parameters(const Extent& e) const;
    Kept kept(const Extent& e) const;

private:
    void product(double m, double n, double k, Calls& calls) const;
};

/// A kernel, or one fused with its neighbours, that streams tensors through memory.
struct Elementwise {
    Place place = Place::sequence;
    Width width;
    double forward_bytes = 0.0;  // of memory traffic, by column and token
    double backward_bytes = 0.0;
    double keeps = 0.0;        // numbers by column and token, of its input
    double keeps_bytes = 0.0;  // beside them: masks
    double weights = 0.0;      // trainable, by column
    bool cheap = false;        // selective recompute computes it again rather than keep its output
    bool fuses = false;        // with such an operator before or after it
    Roof roof = Roof::memory;
    double launches = 1.0;
    Routing routing{};  // of Place::routed
    bool shared_expert = false;
    bool frozen = false;

    void forward(const Extent& e, Calls& calls) const;
    void backward(const Extent& e, Gradients gradients, Calls& calls) const;
    Parameters parameters(const Extent& e) const;
    Kept kept(const Extent& e) const;
};

/// Rows of a table, by index; tensor parallel members have a share of its rows, and sum.
struct Lookup {
    double rows = 0.0;
    double columns = 0.0;
    double positions = 0.0;    // rows of learned positions, which are added, on each member
    double keeps_bytes = 0.0;  // by column and token
    bool tied = false;         // the table is another operator's
    bool frozen = false;

    void forward(const Extent& e, Calls& calls) const;
    void backward(const Extent& e, Gradients gradients, Calls& calls) const;
    Parameters parameters(const Extent& e) const;
    Kept kept(const Extent& e) const;
};

/// Sums of rows of many tables, which the GPUs of an expert group have between them: indices go to the rows, sums come back (Naumov et
/// al., arXiv 1906.00091; MAD-Max, arXiv 2310.02784).
struct Tables {
    double tables = 0.0;
    double rows = 0.0;  // of all together
    double columns = 0.0;
    double lookups = 0.0;  // rows that a sample reads, of all tables
    double number_bytes = 4.0;
    bool frozen = false;

    void forward(const Extent& e, Calls& calls) const;
    void backward(const Extent& e, Gradients gradients, Calls& calls) const;
    void weight_gradient(const Extent& e, Calls& calls) const;
    Parameters parameters(const Extent& e) const;
    Kept kept(const Extent& e) const;

private:
    void exchange(const Extent& e, double bytes, bool exact, Calls& calls) const;
};

/// Products of all pairs of some vectors of a sample (dot interaction of arXiv 1906.00091).
struct PairProducts {
    double vectors = 0.0;
    double size = 0.0;

    void forward(const Extent& e, Calls& calls) const;
    void backward(const Extent& e, Gradients gradients, Calls& calls) const;
    Kept kept(const Extent& e) const;
};

/// The loss over the vocabulary: logits as 32-bit numbers, and 16-bit gradients of them.
struct Loss {
    Width vocabulary;

    void forward(const Extent& e, Calls& calls) const;
    void backward(const Extent& e, Gradients gradients, Calls& calls) const;
    Kept kept(const Extent& e) const;
};

/// Tokens on their way to experts or back; the same both ways.
struct TokenExchange {
    enum class Group { experts, expert_tensor };
    Group group = Group::experts;
    double width = 0.0;
    Routing routing;

    void forward(const Extent& e, Calls& calls) const;
    void backward(const Extent& e, Gradients gradients, Calls& calls) const;
};

/// What an operator of a captured network does, for one sample at the shape that was captured.
struct RecordedWork {
    /// What streams through memory. Bytes are of 16-bit numbers.
    struct Traffic {
        double forward = 0.0;
        double backward = 0.0;
    };
    /// [m, k] times weights [k, n], `groups` times. A convolution is an implicit one: m positions of its result, k taps by channels.
    struct Product {
        double groups = 1.0;
        double m = 0.0;
        double n = 0.0;
        double k = 0.0;
        double input_rows = 0.0;  // of the input and its gradient: m, except for convolutions
        double input_columns = 0.0;
    };
    /// [m, k] times [k, n], both of them activations.
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
    /// Rows of a table, added up to results.
    struct Rows {
        double columns = 0.0;
        double lookups = 0.0;
        double results = 0.0;
    };
};

/// An operator of a captured network (docs/captured-networks.md). Tensor, context and expert parallelism do not divide it.
struct Recorded {
    using Traffic = RecordedWork::Traffic;
    using Product = RecordedWork::Product;
    using Scores = RecordedWork::Scores;
    using Heads = RecordedWork::Heads;
    using Rows = RecordedWork::Rows;

    std::variant<Traffic, Product, Scores, Heads, Rows> work;
    Parameters own{};
    double keeps = 0.0;        // numbers
    double keeps_bytes = 0.0;  // beside them: indices, masks
    bool cheap = false;        // selective recompute computes it again rather than keep its output
    bool frozen = false;

    void forward(const Extent& e, Calls& calls) const;
    void backward(const Extent& e, Gradients gradients, Calls& calls) const;
    void weight_gradient(const Extent& e, Calls& calls) const;
    Parameters parameters(const Extent& /*e*/) const { return own; }
    Kept kept(const Extent& e) const;
};

using Operator = std::variant<Linear, GroupedLinear, Attention, Scan, Convolution, Elementwise, Lookup, Tables, PairProducts,
                              Loss, TokenExchange, Recorded>;

}  // namespace prismopt
