#include "io/authoring/jobs/job_readers.hpp"
#include "io/authoring/jobs/megatron_readers.hpp"

#include "io/authoring/imported/architectures.hpp"
#include "io/base/input_error.hpp"
#include "model/base/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>

namespace prismopt {

namespace {

constexpr int most_layers = 10'000;

/// A list in Python of 0 and 1: "([0]*1+[1]*23)*2". `text`: the remainder of it.
std::optional<std::vector<bool>> list_of(std::string_view& text, int depth);

int leading_number(std::string_view& text)
{
    int number = 0;
    while (!text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) != 0 &&
           number < most_layers) {
        number = 10 * number + (text.front() - '0');
        text.remove_prefix(1);
    }
    return number;
}

std::optional<std::vector<bool>> factor_of(std::string_view& text, int depth)
{
    constexpr int deepest = 20;
    std::vector<bool> list;
    if (text.empty() || depth > deepest) {
        return std::nullopt;
    }
    if (text.front() == '(') {
        text.remove_prefix(1);
        const auto inner = list_of(text, depth + 1);
        if (!inner || text.empty() || text.front() != ')') {
            return std::nullopt;
        }
        list = *inner;
        text.remove_prefix(1);
    } else if (text.front() == '[') {
        text.remove_prefix(1);
        while (!text.empty() && text.front() != ']') {
            if (text.front() == '0' || text.front() == '1') {
                list.push_back(text.front() == '1');
            } else if (text.front() != ',') {
                return std::nullopt;
            }
            text.remove_prefix(1);
        }
        if (text.empty()) {
            return std::nullopt;
        }
        text.remove_prefix(1);
    } else {
        return std::nullopt;
    }
    while (!text.empty() && text.front() == '*') {
        text.remove_prefix(1);
        const int times = leading_number(text);
        if (list.size() * static_cast<std::size_t>(times) > most_layers) {
            return std::nullopt;
        }
        const std::vector<bool> once = list;
        list.clear();
        for (int i = 0; i < times; ++i) {
            list.insert(list.end(), once.begin(), once.end());
        }
    }
    return list;
}

std::optional<std::vector<bool>> list_of(std::string_view& text, int depth)
{
    auto list = factor_of(text, depth);
    while (list && !text.empty() && text.front() == '+') {
        text.remove_prefix(1);
        const auto next = factor_of(text, depth);
        if (!next || list->size() + next->size() > most_layers) {
            return std::nullopt;
        }
        list->insert(list->end(), next->begin(), next->end());
    }
    return list;
}

/// Which layers have experts.
std::vector<bool> layers_with_experts(JobSettings& s, int layers)
{
    std::string text = s.text("moe-layer-freq");
    std::erase_if(text, [](char c) { return c == ' ' || c == '"' || c == '\''; });
    std::vector<bool> has(static_cast<std::size_t>(layers), true);
    if (s.table().program == "Megatron-DeepSpeed") {  // the last layer of each interval
        const int interval = s.count("expert-interval");
        for (int layer = 0; layer < layers; ++layer) {
            has[static_cast<std::size_t>(layer)] = interval > 0 && (layer + 1) % interval == 0;
        }
        return has;
    }
    std::string_view rest = text;
    const bool number = !text.empty() && std::all_of(text.begin(), text.end(),
                                                     [](unsigned char c) { return std::isdigit(c) != 0; });
    if (number) {  // the first layer of each period (megatron/core/models/gpt/gpt_layer_specs.py)
        const int period = leading_number(rest);
        for (int layer = 0; layer < layers; ++layer) {
            has[static_cast<std::size_t>(layer)] = period > 0 && layer % period == 0;
        }
        return has;
    }
    const auto list = list_of(rest, 0);
    if (!list || !rest.empty()) {
        s.fail("moe-layer-freq", "is neither a number nor a list such as ([0]*1+[1]*23)", "correct it");
    }
    if (list->size() != has.size()) {
        s.fail("moe-layer-freq", fmt::format("has {} entries for {} layers", list->size(), layers),
               "give one entry per layer");
    }
    return *list;
}

/// The activation of NeMo 1, such as "fast-swiglu".
Activation nemo_activation(const std::string& name)
{
    constexpr std::array<Named<Activation>, 3> words{{{Activation::swiglu, "swiglu"},
                                                      {Activation::geglu, "geglu"},
                                                      {Activation::squared_relu, "squared"}}};
    return name == "relu" ? Activation::relu : first_named_in(name, words, Activation::gelu);
}

Activation activation_of(JobSettings& s)
{
    if (s.table().program == "NeMo 1") {
        return nemo_activation(s.text("activation"));
    }
    const bool swiglu = s.flag("swiglu");
    const bool squared = s.flag("squared-relu");
    const bool geglu = s.flag("quick-geglu");
    if (swiglu) {
        return Activation::swiglu;
    }
    if (squared) {
        return Activation::squared_relu;
    }
    return geglu ? Activation::geglu : Activation::gelu;
}

/// megatron/training/arguments.py: four times the hidden size, with SwiGLU two
/// thirds of that in multiples of 64.
int usual_feed_forward(int hidden, Activation activation)
{
    return activation == Activation::swiglu ? static_cast<int>(4.0 * hidden * 2.0 / 3.0 / 64.0) * 64
                                            : 4 * hidden;
}

/// Rows of the embedding: the vocabulary, in equal parts of whole multiples.
int padded_vocabulary(JobSettings& s, int tp)
{
    if (s.given("padded-vocab-size")) {
        return s.count("padded-vocab-size");
    }
    if (s.table().program == "Megatron-DeepSpeed" && s.given("pad-vocab-size-to")) {
        return s.count("pad-vocab-size-to");
    }
    if (!s.given("vocab-size")) {
        throw InputError(
            "no file states the size of the vocabulary, which comes from the tokenizer; add --set "
            "vocab-size=NUMBER");
    }
    const int vocabulary = s.count("vocab-size");
    if (s.table().program == "Megatron-Bridge") {
        return vocabulary;  // should_pad_vocab is false
    }
    const long multiple = static_cast<long>(s.count("make-vocab-size-divisible-by")) * tp;
    if (multiple <= 0) {
        s.fail("make-vocab-size-divisible-by", "is not positive", "correct it");
    }
    return static_cast<int>((vocabulary + multiple - 1) / multiple * multiple);
}

Biases biases_of(JobSettings& s)
{
    const bool none = s.flag("disable-bias-linear");
    const bool qkv = s.flag("add-qkv-bias");
    if (!none) {
        return Biases::all;
    }
    return qkv ? Biases::qkv : Biases::none;
}

BlockDescription latent_attention(JobSettings& s, int heads, AttentionKernel kernel)
{
    LatentAttentionBlock block;
    block.heads = heads;
    block.query_rank = s.given("q-lora-rank") ? s.count("q-lora-rank") : 0;
    block.key_value_rank = s.count("kv-lora-rank");
    block.plain = s.count("qk-head-dim");
    block.rotary = s.count("qk-pos-emb-head-dim");
    block.value = s.count("v-head-dim");
    block.kernel = kernel;
    s.flag("qk-layernorm");  // the norms of the ranks, which the block has
    return block;
}

BlockDescription attention(JobSettings& s, const Workload& w, const std::string& positions)
{
    const int heads = s.required("num-attention-heads");
    if (heads <= 0) {
        s.fail("num-attention-heads", "is not positive", "correct it");
    }
    const std::string backend = s.text("attention-backend");
    const bool plain = backend == "unfused" || backend == "local";
    const AttentionKernel kernel = plain ? AttentionKernel::plain : AttentionKernel::flash;
    if (s.flag("multi-latent-attention")) {
        return latent_attention(s, heads, kernel);
    }
    AttentionBlock block;
    block.heads = heads;
    block.kernel = kernel;
    // Programs without a flag beside the number.
    const bool flag = s.table().program == "NeMo 1" || s.table().program == "Megatron-DeepSpeed";
    const bool grouped = (flag || s.flag("group-query-attention")) && s.given("num-query-groups");
    const int groups = grouped ? s.count("num-query-groups") : heads;
    block.kv_heads = groups < heads ? groups : 0;
    const int head = s.given("kv-channels") ? s.count("kv-channels") : w.hidden / heads;
    block.head = head * heads == w.hidden ? 0 : head;
    block.positions = positions == "rope" ? Positions::rotary : Positions::none;
    block.bias = biases_of(s);
    block.query_key_norm = s.flag("qk-layernorm") ? QueryKeyNorm::head : QueryKeyNorm::none;
    if (s.given("window-size")) {
        const std::vector<std::string> ends = s.texts("window-size");
        const std::string first =
            ends.empty() ? "" : ends.front().substr(ends.front().find_first_not_of('('));
        block.window = std::max(0, std::atoi(first.c_str())) + 1;
    }
    return block;
}

BlockDescription experts(JobSettings& s, Activation activation, int feed_forward)
{
    ExpertsBlock block;
    block.count = s.count("num-experts");
    block.active = s.count("moe-router-topk");
    block.inner = s.count("moe-ffn-hidden-size", feed_forward, "ffn-hidden-size");
    block.shared =
        s.given("moe-shared-expert-intermediate-size") ? s.count("moe-shared-expert-intermediate-size") : 0;
    block.shared_gate = s.flag("moe-shared-expert-gate");
    block.latent = s.given("moe-latent-size") ? s.count("moe-latent-size") : 0;
    block.activation = activation;
    block.bias = !s.flag("disable-bias-linear");
    const bool drops = s.table().program == "Megatron-DeepSpeed" ? !s.flag("disable-moe-token-dropping")
                                                                 : s.given("moe-expert-capacity-factor");
    block.capacity = drops ? s.number("moe-expert-capacity-factor") : 0.0;
    if (s.given("moe-router-num-groups") && s.given("moe-router-group-topk")) {
        s.count("moe-router-num-groups");
        block.node_limit = s.count("moe-router-group-topk");
        s.assume("groups of experts lie on nodes (moe-router-group-topk)");
    }
    return block;
}

/// The precision of a recipe of Megatron-Bridge, such as "bf16_with_fp8_current_scaling_mixed".
Precision bridge_precision(const std::string& recipe)
{
    constexpr std::array<Named<Precision>, 5> words{{{Precision::mxfp8, "mxfp8"},
                                                     {Precision::fp8_current, "current"},
                                                     {Precision::fp8_delayed, "delayed"},
                                                     {Precision::fp8_blockwise, "subchannel"},
                                                     {Precision::nvfp4, "nvfp4"}}};
    return first_named_in(recipe, words, Precision::bf16);
}

Precision fp8_precision(const std::string& recipe)
{
    constexpr std::array<Named<Precision>, 3> recipes{{{Precision::mxfp8, "mxfp8"},
                                                       {Precision::fp8_blockwise, "blockwise"},
                                                       {Precision::fp8_delayed, "delayed"}}};
    return parse(recipe, recipes).value_or(Precision::fp8_current);
}

Optimizer optimizer_named(const std::string& name)
{
    if (name == "sgd") {
        return Optimizer::sgd;
    }
    if (name == "lion") {
        return Optimizer::lion;
    }
    return name.find("muon") != std::string::npos ? Optimizer::muon : Optimizer::adamw;
}

NumberType number_type_named(const std::string& name)
{
    // megatron/training/arguments.py, dtype_map; words of Megatron-Bridge have the types of PyTorch.
    constexpr std::array<Named<NumberType>, 6> types{{{NumberType::bf16, "bf16"},
                                                      {NumberType::bf16, "bfloat16"},
                                                      {NumberType::bf16, "fp16"},
                                                      {NumberType::bf16, "float16"},
                                                      {NumberType::int8, "fp8"},
                                                      {NumberType::int8, "uint8"}}};
    return parse(name.substr(name.find_last_of('.') + 1), types).value_or(NumberType::fp32);
}

}  // namespace

namespace {

/// "rope", "learned_absolute" or another type of Megatron's that has no parameters.
std::string position_embedding(JobSettings& s)
{
    const std::string given = s.text("position-embedding-type");
    if (s.flag("use-rotary-position-embeddings") || given == "mrope" || given == "yarn") {
        s.flag("no-position-embedding");
        return "rope";
    }
    const bool learned = given == "learned_absolute";
    if (!s.flag("no-position-embedding") || !learned) {
        return given;
    }
    // megatron/training/arguments.py, validate_args: the flag is accepted beside rope only.
    if (s.table().program == "Megatron-LM") {
        s.fail("no-position-embedding", "beside learned positions is refused by Megatron-LM",
               "give --position-embedding-type rope or none");
    }
    return "none";
}

}  // namespace

void describe_megatron_network(JobSettings& s, int tp, Workload& w)
{
    w.hidden = s.required("hidden-size");
    const int layers = s.required("num-layers");
    if (layers < 1 || layers > most_layers) {
        s.fail("num-layers", fmt::format("is not between 1 and {}", most_layers), "correct it");
    }
    if (w.hidden < 1) {
        s.fail("hidden-size", "is not positive", "correct it");
    }
    if (s.given("hybrid-layer-pattern") || s.given("hybrid-override-pattern")) {
        throw InputError(
            "hybrid-layer-pattern describes layers of several kinds, which import does not read; describe "
            "the network in "
            "[workload] (docs/networks.md), and give its plan by --design");
    }
    const Activation activation = activation_of(s);
    const int feed_forward =
        s.count("ffn-hidden-size", usual_feed_forward(w.hidden, activation), "from hidden-size");
    const std::string positions = position_embedding(s);
    std::string norm = s.text("normalization");
    std::transform(norm.begin(), norm.end(), norm.begin(), [](unsigned char c) { return std::tolower(c); });
    w.normalisation = norm.starts_with("rms") ? Normalisation::rms_norm : Normalisation::layer_norm;
    w.tied_embedding = !s.flag("untie-embeddings-and-output-weights");
    w.vocabulary = padded_vocabulary(s, tp);
    w.positions = positions == "learned_absolute" ? s.required("max-position-embeddings") : 0;
    const bool hidden_dropout = s.number("hidden-dropout") > 0.0;
    w.dropout = s.number("attention-dropout") > 0.0 || hidden_dropout;
    const BlockDescription mixer = attention(s, w, positions);
    const MlpBlock mlp{feed_forward, activation, !s.flag("disable-bias-linear")};
    const bool moe = s.given("num-experts") && s.count("num-experts") > 0;
    const std::vector<bool> has_experts =
        moe ? layers_with_experts(s, layers) : std::vector<bool>(static_cast<std::size_t>(layers), false);
    const BlockDescription routed = moe ? experts(s, activation, feed_forward) : BlockDescription{mlp};
    add_layers(
        w, layers, [&mixer](int) { return mixer; },
        [&](int layer) {
            return has_experts[static_cast<std::size_t>(layer)] ? routed : BlockDescription{mlp};
        });
    if (s.given("mtp-num-layers") && s.count("mtp-num-layers") > 0) {
        w.predictions = s.count("mtp-num-layers");
        w.prediction = {{w.sequence.back().kind, 1}};
    }
}

void read_megatron_precision(JobSettings& s, Workload& w)
{
    refuse_two_types(s);
    const bool half = s.flag("fp16");
    if (s.table().program == "Megatron-Bridge") {
        w.precision = bridge_precision(s.text("mixed-precision"));
        // FP8 recipes with current scaling keep the first and the last layer.
        if (w.precision == Precision::fp8_current) {
            w.wide.first = w.wide.last = 1;
        }
        return;
    }
    const std::string words = s.table().program == "NeMo 1" ? s.text("precision") : "";
    const bool sixteen = half || s.flag("bf16") || words.find("16") != std::string::npos;
    w.precision = sixteen ? Precision::bf16 : Precision::fp32;
    if (half || (words.find("16") != std::string::npos && words.find("bf16") == std::string::npos)) {
        s.assume("fp16 costs what bf16 costs");
    }
    const bool eight = s.table().program == "NeMo 1" ? s.flag("fp8") : s.given("fp8-format");
    if (eight) {
        s.text("fp8-format");
        w.precision = fp8_precision(s.text("fp8-recipe"));
    }
    if (s.given("fp4-format")) {
        s.text("fp4-format");
        w.precision = Precision::nvfp4;
    }
    if (s.flag("first-last-layers-bf16")) {
        w.wide.first = s.count("num-layers-at-start-in-bf16");
        w.wide.last = s.count("num-layers-at-end-in-bf16");
    }
}

void read_megatron_optimizer(JobSettings& s, Workload& w)
{
    OptimizerSettings& o = w.optimizer;
    o.kind = optimizer_named(s.text("optimizer"));
    const bool sixteen = s.flag("grad-reduce-in-bf16");
    s.flag("accumulate-allreduce-grads-in-fp32");
    if (sixteen) {
        o.gradients = NumberType::bf16;
        o.reduction = NumberType::bf16;
    }
    if (!s.flag("use-precision-aware-optimizer")) {
        return;
    }
    const auto type = [&s](const char* row) { return number_type_named(s.text(row)); };
    o.gradients = type("main-grads-dtype");
    o.states = type("exp-avg-dtype");
    if (type("exp-avg-sq-dtype") != o.states) {
        s.no_key("exp-avg-sq-dtype", "another type of the second moments than of the first");
    }
    if (type("main-params-dtype") == NumberType::bf16) {
        o.master = MasterCopy::bf16;
    }
}

}  // namespace prismopt
