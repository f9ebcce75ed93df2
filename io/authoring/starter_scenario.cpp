#include "io/authoring/starter_scenario.hpp"

#include "io/authoring/starter_machine.hpp"
#include "io/base/input_error.hpp"
#include "io/base/shell_word.hpp"
#include "io/scenario/catalog_facts.hpp"
#include "io/scenario/files/written_out.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "io/scenario/sections/software.hpp"
#include "io/toml/fields.hpp"
#include "io/trainers/trainer.hpp"
#include "model/network/network.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

namespace {

std::string list(const std::vector<int>& values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

/// Lines that say how the first tier joins `gpus` GPUs.
std::string topology_lines(const UsualCluster& usual, int gpus)
{
    if (usual.topology != Topology::torus) {
        return usual.topology == Topology::switched ? "" : fmt::format("topology = \"{}\"\n", name(usual.topology));
    }
    std::vector<int> shape(static_cast<std::size_t>(usual.axes), 1);
    for (int joined = 1; joined < gpus; joined *= 2) {
        *std::min_element(shape.begin(), shape.end()) *= 2;
    }
    std::vector<std::string_view> wrap;
    for (const int length : shape) {
        wrap.emplace_back(length >= usual.ring ? "true" : "false");
    }
    return fmt::format("topology = \"torus\"\nshape = {}   # chips along each axis\nwrap = [{}]\n", list(shape),
                       fmt::join(wrap, ", "));
}

/// Powers of two up to `most` that pass.
template <class Passes>
std::vector<int> powers_of_two(int most, Passes passes)
{
    std::vector<int> values;
    for (int value = 1; value <= most; value *= 2) {
        if (passes(value)) {
            values.push_back(value);
        }
    }
    return values;
}

/// Whole nodes of the cluster, of a half and a quarter of it.
std::vector<int> gpu_choices(int gpus, int node)
{
    std::vector<int> choices;
    for (const int part : {4, 2, 1}) {
        if (gpus % part == 0 && (gpus / part) % std::min(node, gpus) == 0) {
            choices.push_back(gpus / part);
        }
    }
    return choices;
}

/// Sequences that halves and quarters of the GPUs can share evenly: a power of two times what is odd in their number.
int batch_near(double sequences, int gpus)
{
    int odd = gpus;
    while (odd % 2 == 0) {
        odd /= 2;
    }
    return odd * static_cast<int>(std::exp2(std::max(0.0, std::round(std::log2(sequences / odd)))));
}

/// Measured on nodes of eight GPUs; a larger node has as many more parts that fail, a part of a node fails as the whole.
std::string failure_rate(int node)
{
    constexpr int measured_gpus = 8;
    constexpr double measured_per_day = 6.5e-3;  // 16,000 A100 of Meta's RSC-1, arXiv 2410.21680
    if (node <= measured_gpus) {
        return "node_failure_rate = \"6.5e-3 /day\"    # nodes of 8 GPUs: 16,000 A100, arXiv 2410.21680; replace with your own\n";
    }
    const double times = static_cast<double>(node) / measured_gpus;
    return fmt::format(
        "node_failure_rate = \"{:.4g} /day\"    # {:.3g} times that of nodes of 8 GPUs (6.5e-3 /day: 16,000 A100, arXiv "
        "2410.21680), for nodes of {}; replace with your own\n",
        measured_per_day * times, times, node);
}

/// Ways of sharing a sequence that is long for one GPU: Llama 3 shared 131,072 tokens among 16 (arXiv 2407.21783, table 4).
std::vector<int> context_choices(int sequence, int gpus)
{
    constexpr int longest_of_one = 32767;
    constexpr int tokens_of_one = 8192;
    return sequence <= longest_of_one ? std::vector<int>{}
                                      : powers_of_two(std::min(gpus, std::clamp(sequence / tokens_of_one, 8, 64)),
                                                      [&](int value) { return value == 1 || sequence % (2 * value) == 0; });
}

/// Axes on which trainers differ: what a scenario lists where plans are for one of them.
struct TrainerAxes {
    std::string trainer;
    std::string schedule;
    std::string sharding;
    std::string_view order;
};

std::string plain_schedules()
{
    std::vector<std::string> others = enum_names<Schedule>();
    std::erase_if(others, [](const std::string& name) { return name == "1f1b" || name == "interleaved"; });
    return fmt::format("schedule = [\"1f1b\", \"interleaved\"]   # also: {}\n", fmt::join(others, ", "));
}

constexpr std::string_view both_orders =
    "order = [\"tp-dp-pp\", \"tp-pp-dp\"]     # order of the parallel dimensions over the GPUs, innermost first\n";
constexpr std::string_view order_of_mixtures =
    "order = [\"tp-dp-pp\"]                 # the only one that trainers run with expert groups over replicas\n";

TrainerAxes any_trainer()
{
    return {"", plain_schedules(), "sharding = [\"zero1\"]                 # none, zero1, zero2, zero3\n", both_orders};
}

/// What a trainer runs.
TrainerAxes axes_for(const std::string& trainer)
{
    const std::array<TrainerAxes, 3> trainer_axes{{
        {"megatron", "schedule = [\"1f1b\", \"interleaved\"]   # the schedules of Megatron\n",
         "sharding = [\"zero1\"]                 # none, zero1, zero2, zero3 (Megatron FSDP)\n", both_orders},
        {"bridge", "schedule = [\"1f1b\", \"interleaved\"]   # the schedules of Megatron\n",
         "sharding = [\"zero1\"]                 # none, zero1\n", both_orders},
        {"torchtitan", "schedule = [\"1f1b\", \"interleaved\", \"zb_v\", \"dualpipe_v\"]   # also: gpipe, zb_h1, zb_h2\n",
         "sharding = [\"none\", \"zero2\", \"zero3\"]   # zero2 and zero3 (FSDP): without pipelines only\n",
         "order = [\"tp-dp-pp\"]                 # its device mesh puts stages outermost\n"},
    }};
    const auto* const found =
        std::find_if(trainer_axes.begin(), trainer_axes.end(), [&](const TrainerAxes& a) { return a.trainer == trainer; });
    return found == trainer_axes.end() ? any_trainer() : *found;
}

std::string recompute_axis(const StarterChoice& choice)
{
    return choice.trainer == "torchtitan" ? "recompute = [\"none\", \"full\"]\n"
                                          : "recompute = [\"none\", \"selective\", \"full\"]\n";
}

/// Tables are held once, over all GPUs; the rest is replicated.
std::string space_of_tables(const StarterChoice& choice, int node)
{
    const std::vector<int> gpus = gpu_choices(choice.gpus, node);
    std::vector<int> microbatches;
    for (auto count = gpus.rbegin(); count != gpus.rend(); ++count) {
        for (const int parts : {2, 1}) {
            const int share = choice.global_batch / *count / parts;
            if (share > 0 && choice.global_batch % (*count * parts) == 0 &&
                std::find(microbatches.begin(), microbatches.end(), share) == microbatches.end()) {
                microbatches.push_back(share);
            }
        }
    }
    return fmt::format(
        "[space]\ngpus = {}   # GPUs of the job\nep = {}   # GPUs that share the embedding tables: all of the job's\nmicrobatch "
        "= "
        "{}   # samples per microbatch and GPU\n{}",
        list(gpus), list(gpus), list(microbatches), axes_for(choice.trainer).sharding);
}

std::string space(const Workload& workload, const StarterChoice& choice, const std::string& sample, int node)
{
    if (workload.find<TablesBlock>() != nullptr) {
        return space_of_tables(choice, node);
    }
    const int sequence = choice.sequence;
    const int gpus = choice.gpus;
    const TrainerAxes own = axes_for(choice.trainer);
    const auto tp = powers_of_two(std::min(8, std::min(node, gpus)),
                                  [&](int value) { return node % value == 0 && workload.splits_by(value); });
    const bool one_stage = workload.find<ResidualConvolutionBlock>() != nullptr;  // skip connections do not cross stages
    const auto pp = powers_of_two(std::min({one_stage ? 1 : workload.layers(), gpus, 64}), [](int) { return true; });
    std::string text = "[space]\n";
    text += fmt::format("gpus = {}{}# GPUs of the job\n", list(gpu_choices(gpus, node)), "   ");
    text += fmt::format("tp = {}   # tensor-parallel degrees\n", list(tp));
    if (const auto cp = context_choices(sequence, gpus); !cp.empty()) {
        text += fmt::format("cp = {}   # context-parallel degrees: GPUs that share a sequence\n", list(cp));
    }
    text += fmt::format("pp = {}   # pipeline stages; data-parallel replicas follow: dp = gpus / (tp*cp*pp)\n", list(pp));
    if (workload.mixture()) {
        const auto ep = powers_of_two(std::min(64, gpus), [&](int value) { return workload.experts_divide(value); });
        text += fmt::format("ep = {}   # expert-parallel degrees\n", list(ep));
    }
    text += one_stage ? "" : "v = [1, 2, 4]                        # model chunks per pipeline rank, for interleaved\n";
    text += fmt::format("microbatch = [1, 2, 4]               # {}s per microbatch\n", sample);
    text += one_stage ? "" : own.schedule;
    text += recompute_axis(choice) + std::string(own.sharding);
    if (!one_stage) {
        text += workload.mixture() && own.order == both_orders ? order_of_mixtures : own.order;
    }
    if (workload.vocabulary > 0) {
        text += "split = [\"layers\", \"slots\"]          # slots: embedding and loss head count as a layer each\n";
    }
    return text;
}

/// Images without a vocabulary, sequences otherwise.
UsualSample sample_of(const ImportedNetwork& network)
{
    UsualSample sample;
    sample.name = network.workload.vocabulary > 0 ? "sequence" : "image";
    sample.tokens = network.tokens > 0 ? network.tokens : sample.tokens;
    return sample;
}

/// Of networks that are not trained on tokens of a text.
constexpr double usual_steps = 1e5;

/// The choice, with what it leaves to the network.
StarterChoice completed(StarterChoice choice, const Workload& workload, const UsualSample& usual)
{
    constexpr double tokens_a_step = 4.2e6;
    constexpr double tokens_a_parameter = 20.0;  // Hoffmann et al., arXiv 2203.15556
    if (choice.sequence == 0) {
        const auto positions = static_cast<unsigned>(workload.positions);  // learned ones bound the sequence
        choice.sequence = positions > 0 ? std::min(usual.tokens, static_cast<int>(std::bit_floor(positions))) : usual.tokens;
    }
    if (choice.global_batch == 0) {
        const double samples = usual.batch > 0 ? std::max(usual.batch, choice.gpus) : tokens_a_step / choice.sequence;
        choice.global_batch = batch_near(samples, choice.gpus);
    }
    if (choice.tokens == 0.0) {
        choice.tokens = workload.vocabulary > 0 ? tokens_a_parameter * parameters_of(network_of(workload))
                                                : usual_steps * choice.global_batch * choice.sequence;
    }
    return choice;
}

/// The choice, with names as the catalog writes them.
StarterChoice with_names_of(StarterChoice choice, const Catalog& catalog)
{
    if (!choice.imported) {
        choice.workload = chosen_name("workload", choice.workload, catalog.names(workloads_kind));
    }
    if (!choice.trainer.empty()) {
        choice.trainer = chosen_name("for", choice.trainer, trainer_names());
    }
    return choice;
}

/// The line that names the files with entries of the user; empty without such files.
std::string catalog_line(const std::vector<std::string>& files)
{
    std::vector<std::string> names;
    for (const std::string& file : files) {
        names.push_back(toml_string(file));
    }
    return files.empty() ? "" : fmt::format("catalog = [{}]   # entries beside those of the program\n", fmt::join(names, ", "));
}

/// What the options say of the software, and why it is that.
struct StarterSoftware {
    SoftwareChoice choice;
    std::string why;
};

StarterSoftware starter_software(const StarterChoice& choice, const std::string& accelerator, const Workload& workload,
                                 const Catalog& catalog)
{
    if (!choice.software.empty()) {
        const std::size_t colon = choice.software.find(':');
        const std::string name = chosen_name("software", choice.software.substr(0, colon), catalog.names(software_kind));
        return {{name, colon == std::string::npos ? "" : choice.software.substr(colon + 1), false}, "as given"};
    }
    if (!choice.trainer.empty()) {
        return {software_of_trainer(choice.trainer, catalog), fmt::format("of --for {}", choice.trainer)};
    }
    const PossibleSoftware first = plausible_software(accelerator, workload, catalog).front();
    return {{first.software.name, first.software.release, true}, first.reason};
}

std::string software_section(const StarterSoftware& software, const Catalog& catalog)
{
    const SoftwareEntry entry = catalog_software(software.choice.name, catalog);
    const PossibleSoftware chosen = software_of(software.choice, catalog);
    const int rows = chosen.stack.own || chosen.stack.borrowed ? 0 : rows_behind(chosen.stack.name);
    std::vector<std::string> others;
    for (const SoftwareRelease& release : entry.releases) {
        if (release.name != chosen.software.release) {
            others.push_back(release.name);
        }
    }
    std::string text = fmt::format("[software]\nname = \"{}\"   # {}; {}\n", entry.name, entry.about, software.why);
    if (!chosen.software.release.empty()) {
        text += fmt::format("release = \"{}\"   # also {}\n", chosen.software.release, fmt::join(others, ", "));
    }
    if (software.choice.assumed) {
        text += "assumed = true   # remove this line if it is your software, or name yours (prismopt init --list software)\n";
    }
    return text + fmt::format("# {}\n\n", rows > 0
                                              ? fmt::format("its constants are fitted to {} measured runs", rows)
                                              : "no measured run had it: its constants are assumptions, and intervals are wider");
}

}  // namespace

std::string starter_scenario(const StarterChoice& given, const Catalog& catalog)
{
    const StarterChoice named = with_names_of(given, catalog);
    const Workload workload = named.imported ? named.imported->workload : catalog_workload(named.workload, catalog);
    const UsualSample sample = named.imported ? sample_of(*named.imported) : usual_sample(named.workload, catalog);
    const StarterChoice choice = completed(named, workload, sample);
    const StarterMachine machine = starter_machine(choice, catalog);
    const UsualCluster& usual = machine.cluster;
    const bool one_node = choice.gpus <= usual.node_gpus;
    if (choice.gpus < 1 || (!one_node && choice.gpus % usual.node_gpus != 0)) {
        throw InputError(fmt::format("--gpus {} does not fill whole nodes of {} {}; give a multiple", choice.gpus,
                                     usual.node_gpus, machine.accelerator));
    }
    if (usual.topology == Topology::torus && one_node && !std::has_single_bit(static_cast<unsigned>(choice.gpus))) {
        throw InputError(
            fmt::format("--gpus {} is not a power of two, so init knows no slice of {} for it; give a power of two, and "
                        "change the shape of the first tier",
                        choice.gpus, machine.accelerator));
    }
    const std::string file = shell_word(choice.name + ".toml");
    std::string text = fmt::format(
        "# Which plan trains {} best on up to {} {}? Written by prismopt init; change what does not apply.\n#\n#   prismopt "
        "validate {}\n#   mpirun prismopt search {}\n\nname = \"{}\"\nseed = 1\n# start = 2027-01-15                  # first "
        "day of the training; reports then give completion dates\n{}\n",
        workload.name, choice.gpus, machine.accelerator, file, file, choice.name, catalog_line(given.catalog));
    text += given.imported ? workload_text(*given.imported) + "\n"
                           : fmt::format(
                                 "[workload]\nmodel = \"{}\"   # from the catalog; keys given here (hidden, layer, sequence, "
                                 "...) override it\n\n",
                                 choice.workload);
    const bool in_steps = given.tokens <= 0.0 && workload.vocabulary == 0;
    const std::string amount = in_steps ? fmt::format("steps = {:.0f}   # replace with your own", usual_steps)
                                        : fmt::format("tokens = {:.4g}{}", choice.tokens,
                                                      given.tokens > 0.0 ? "" : "   # 20 per parameter: arXiv 2203.15556");
    const std::string lengths = sample.name == "sequence" ? "" : fmt::format("   # tokens per {}", sample.name);
    const std::string millions =
        choice.sequence == 1 ? "" : fmt::format(": {:.3g} million tokens", 1e-6 * choice.global_batch * choice.sequence);
    text += fmt::format(
        "[[phase]]                            # one or more\n{}\nsequence_length = {}{}\nglobal_batch = {}   # "
        "{}s per "
        "optimizer step{}\n\n",
        amount, choice.sequence, lengths, choice.global_batch, sample.name, millions);
    text += software_section(starter_software(choice, machine.accelerator, workload, catalog), catalog);
    text += fmt::format("[cluster]\n{}accelerator = \"{}\"   # {}\ngpus = {}\n{}\n", machine.remark, machine.accelerator,
                        evidence_of(machine.accelerator, catalog), choice.gpus, machine.figures);
    text += bridge_lines(usual);
    if (!one_node) {
        text += fmt::format("[[cluster.tier]]\nname = \"node\"\nlink = \"{}\"\ngroup = {}   # GPUs per node\n{}\n",
                            usual.node_link, usual.node_gpus, topology_lines(usual, usual.node_gpus));
    }
    text += fmt::format(
        "[[cluster.tier]]                     # the last tier spans the whole cluster\nname = \"cluster\"\nlink = \"{}\"\n{}\n",
        one_node ? usual.node_link : usual.network_link,
        one_node ? topology_lines(usual, choice.gpus) : network_share_line(usual, catalog));
    text +=
        "[memory]\nheadroom = 0.05                      # share of the GPU memory that must stay free\n\n[variability]\nprofile "
        "= \"hpc-2024\"                 # from the catalog; distributions given here override it\n\n[reliability]\n";
    text += failure_rate(std::min(choice.gpus, usual.node_gpus));
    text +=
        "restart = \"10 min\"                   # assumption\ncheckpoint_interval = \"0 s\"          # \"0 s\": by Young's "
        "formula\ncheckpoint_write = \"30 s\"            # assumption; training stops meanwhile\n\n";
    text += space(workload, choice, sample.name, usual.node_gpus);
    text +=
        "\n[objectives]\nminimise = [\"training_time_p99\", \"cost\", \"gpus\"]\n\n[search]\nconfidence = 0.95                   "
        " # probability that no better plan was excluded, over the whole study\n";
    if (!choice.trainer.empty()) {
        text += fmt::format("runnable_by = \"{}\"{}# search only plans that this trainer can run\n", choice.trainer,
                            std::string(std::max<std::size_t>(1, 22 - choice.trainer.size()), ' '));
    }
    return text;
}

}  // namespace prismopt
