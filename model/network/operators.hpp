#pragma once

/// The smallest parts of a network. Each states once, for a shape and degrees of parallelism: its kernels and messages, its adjoint,
/// its parameters, and what it keeps for the backward pass. Everything else is derived from lists of them (model/network/passes.hpp).
///
/// Order of tensor parallel collectives: Shoeybi et al., arXiv 1909.08053, section 3, and Korthikanti et al., arXiv 2205.05198,
/// section 4.2.2. Widths are columns a token; bytes are of 16-bit numbers where nothing else is said.

#include "model/network/calls.hpp"
#include "model/network/choices.hpp"
#include "model/network/extent.hpp"

#include <variant>
#include <vector>

namespace prismopt {

/// What a backward pass computes of a product.
enum class Gradients { both, input };

/// Trainable numbers on one GPU. Routed experts' are replicated over fewer GPUs than the rest.
struct Parameters {
    double all = 0.0;
    double expert = 0.0;  // part of `all`: in routed experts
    double tied = 0.0;    // part of `all`: in matrices that another operator also uses

    double dense() const { return all - expert; }
    Parameters& operator+=(const Parameters& other)
    {
        all += other.all;
        expert += other.expert;
        tied += other.tied;
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

    Width query() const { return Width::heads(heads, key_size); }
    Width key() const { return Width::heads(key_heads, key_size); }
    Width value() const { return Width::heads(key_heads, value_size); }
    Width output() const { return Width::heads(heads, value_size); }

    void forward(const Extent& e, Calls& calls) const;
    void backward(const Extent& e, Gradients gradients, Calls& calls) const;
    Kept kept(const Extent& e) const;

private:
    double work(const Extent& e) const;
    double scores(const Extent& e) const;
    void unfused_softmax(const Extent& e, double traffic, Calls& calls) const;
    void exchange_context(const Extent& e, double times, Calls& calls) const;
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

    void forward(const Extent& e, Calls& calls) const;
    void backward(const Extent& e, Gradients gradients, Calls& calls) const;
    Parameters parameters(const Extent& e) const;
    Kept kept(const Extent& e) const;
};

/// Rows of a table, by index; tensor parallel members have a share of its rows, and sum.
struct Lookup {
    double rows = 0.0;
    double columns = 0.0;
    double keeps_bytes = 0.0;  // by column and token

    void forward(const Extent& e, Calls& calls) const;
    void backward(const Extent& e, Gradients gradients, Calls& calls) const;
    Parameters parameters(const Extent& e) const;
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

using Operator = std::variant<Linear, GroupedLinear, Attention, Elementwise, Lookup, Loss, TokenExchange>;

}  // namespace prismopt
