#include "io/authoring/starter_scenario.hpp"

#include "io/authoring/starter_machine.hpp"
#include "io/authoring/starter_space.hpp"
#include "io/base/input_error.hpp"
#include "io/base/shell_word.hpp"
#include "io/scenario/catalog_facts.hpp"
#include "io/scenario/constants/fitted_model.hpp"
#include "io/scenario/files/written_out.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "io/scenario/sections/software.hpp"
#include "io/toml/fields.hpp"
#include "io/trainers/trainer.hpp"
#include "model/network/network.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

using namespace literals;

namespace {

std::string list(const std::vector<int>& values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

/// Lines that say how the first tier joins `gpus` GPUs.
std::string topology_lines(const UsualCluster& usual, int gpus)
{
    if (usual.topology != Topology::torus) {
        return usual.topology == Topology::switched
                   ? ""
                   : fmt::format("topology = \"{}\"\n", name(usual.topology));
    }
    std::vector<int> shape(static_cast<std::size_t>(usual.axes), 1);
    for (int joined = 1; joined < gpus; joined *= 2) {
        *std::min_element(shape.begin(), shape.end()) *= 2;
    }
    std::vector<std::string_view> wrap;
    for (const int length : shape) {
        wrap.emplace_back(length >= usual.ring ? "true" : "false");
    }
    return fmt::format("topology = \"torus\"\nshape = {}   # chips along each axis\nwrap = [{}]\n",
                       list(shape), fmt::join(wrap, ", "));
}

/// Sequences that halves and quarters of the GPUs can share evenly: a power of two
/// times what is odd in their number.
int batch_near(double sequences, int gpus)
{
    const int odd = odd_factor(gpus);
    return odd * static_cast<int>(std::exp2(std::max(0.0, std::round(std::log2(sequences / odd)))));
}

/// Sequences that three quarters, three eighths, ... of the GPUs can share as well, at least so
/// many: with fewer, pipelines of some sizes would have too few microbatches for interleaving, and
/// the sizes could not be compared.
int shared_batch(double sequences, int gpus)
{
    constexpr int quarters = 3;
    constexpr int largest_odd = 15;
    const int of_gpus = odd_factor(gpus);
    const int odd = of_gpus <= largest_odd ? std::lcm(of_gpus, quarters) : quarters;
    return odd * static_cast<int>(std::exp2(std::max(0.0, std::ceil(std::log2(sequences / odd)))));
}

/// Nearly a published batch, which decides what is learned: it changes by a twentieth at most, so that the
/// largest part of the GPUs can share it evenly. 15,356 sequences become 15,360, as 15 times 1,024.
int batch_near_published(double sequences, int gpus)
{
    constexpr double most_change = 0.05;
    const auto nearest = [sequences](int share) {
        return share * static_cast<int>(std::max(1.0, std::round(sequences / share)));
    };
    int share = odd_factor(gpus);
    while (2.0 * share <= sequences) {
        share *= 2;
    }
    while (share % 2 == 0 && std::abs(nearest(share) - sequences) > most_change * sequences) {
        share /= 2;
    }
    return nearest(share);
}

/// Measured on nodes of eight GPUs; a larger node has as many more parts that fail, a
/// part of a node fails as the whole.
std::string failure_rate(int node)
{
    constexpr int measured_gpus = 8;
    constexpr double measured_per_day = 6.5e-3;  // 16,000 A100 of Meta's RSC-1, arXiv 2410.21680
    if (node <= measured_gpus) {
        return "node_failure_rate = \"6.5e-3 /day\"    # nodes of 8 GPUs: 16,000 A100, arXiv 2410.21680; "
               "replace with your own\n";
    }
    const double times = static_cast<double>(node) / measured_gpus;
    return fmt::format(
        "node_failure_rate = \"{:.4g} /day\"    # {:.3g} times that of nodes of 8 GPUs (6.5e-3 /day: 16,000 "
        "A100, arXiv "
        "2410.21680), for nodes of {}; replace with your own\n",
        measured_per_day * times, times, node);
}

/// Interruptions of 54 days on 2,048 nodes of 8 GPUs, arXiv 2407.21783, table 5: of what is repaired, and of
/// what is not. With repairs, spare nodes make a difference.
std::string failure_causes(int node)
{
    constexpr double measured_gpus = 8.0;
    // per node and day: 148 + 72 + 19 + 17 + 6 + 6, 35 + 7, 32 + 3 + 3 + 2 + 2 + 2 + 2
    constexpr double hardware = 3.22e-3;
    constexpr double software = 0.57e-3;  // 54 + 7 + 2
    const double times = std::max(1.0, node / measured_gpus);
    return fmt::format(
        "[[reliability.cause]]\nname = \"hardware\"\nrate = \"{:.4g} per node-day\"    # GPUs, network and "
        "hosts: 54 days on "
        "2,048 nodes of 8 "
        "GPUs, arXiv 2407.21783, table 5{}; replace with your own\ndetection = \"5 min\"                  # "
        "assumption\nrestart "
        "= \"10 "
        "min\"                   # assumption\nrepair = \"1.5 day\"                   # assumption: until "
        "the node is back\n\n"
        "[[reliability.cause]]\nname = \"software\"\nrate = \"{:.4g} per node-day\"   # the same\ndetection "
        "= \"10 min\"         "
        "        # "
        "assumption\nrestart = \"10 min\"                   # assumption\n\n",
        hardware * times, times > 1.0 ? fmt::format(", {:.3g} times that", times) : "", software * times);
}

std::string question_section(const std::vector<std::string>& lines)
{
    return fmt::format("\n[question]                           # what the report answers first\n{}\n",
                       fmt::join(lines, "\n"));
}

/// Images without a vocabulary, sequences otherwise.
UsualSample sample_of(const ImportedNetwork& network)
{
    UsualSample sample;
    sample.name = network.workload.vocabulary > 0 ? "sequence" : "image";
    if (network.tokens > 0) {
        sample.tokens = network.tokens;
    }
    return sample;
}

constexpr Bytes most_of_cards = 50_GB;  // RTX 6000 Ada, A40, L40S

/// Of networks that are not trained on tokens of a text.
constexpr double usual_steps = 1e5;

/// The batch of the published training or, where there is none, about four million tokens.
int usual_batch(const StarterChoice& choice, const Workload& workload,
                const std::optional<PublishedBatch>& published)
{
    constexpr double tokens_per_step = 4.2e6;
    if (published) {
        // networks without a vocabulary share the batch among all of their GPUs
        const int least = workload.vocabulary > 0 ? 1 : choice.gpus;
        return batch_near_published(std::max<double>(published->samples, least), choice.gpus);
    }
    const double samples = tokens_per_step / choice.sequence;
    return choice.question.empty() ? batch_near(samples, choice.gpus) : shared_batch(samples, choice.gpus);
}

/// Tokens of a sequence that the choice leaves to the network.
int usual_sequence(const Workload& workload, const UsualSample& usual)
{
    const auto positions = static_cast<unsigned>(workload.positions);  // learned ones bound the sequence
    return positions > 0 ? std::min(usual.tokens, static_cast<int>(std::bit_floor(positions))) : usual.tokens;
}

/// The choice, which has a sequence length, with what else it leaves to the network.
StarterChoice completed(StarterChoice choice, const Workload& workload,
                        const std::optional<PublishedBatch>& published)
{
    constexpr double tokens_a_parameter = 20.0;  // Hoffmann et al., arXiv 2203.15556
    if (choice.global_batch == 0) {
        choice.global_batch = usual_batch(choice, workload, published);
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
    return files.empty() ? ""
                         : fmt::format("catalog = [{}]   # entries beside those of the program\n",
                                       fmt::join(names, ", "));
}

/// What the options say of the software, and why it is that.
struct StarterSoftware {
    SoftwareChoice choice;
    std::string why;
};

StarterSoftware starter_software(const StarterChoice& choice, const std::string& accelerator,
                                 const Workload& workload, const Catalog& catalog)
{
    if (!choice.software.empty()) {
        const std::size_t colon = choice.software.find(':');
        const std::string name =
            chosen_name("software", choice.software.substr(0, colon), catalog.names(software_kind));
        const SoftwareChoice named{name, colon == std::string::npos ? "" : choice.software.substr(colon + 1),
                                   false};
        const std::string trainer = software_of(named, catalog).software.trainer;
        if (!choice.trainer.empty() && trainer != choice.trainer) {
            throw InputError(fmt::format(
                "--software {} is {}, but --for {} limits plans to what {} runs; leave one of the two out",
                choice.software, trainer.empty() ? "exported to no trainer" : "run by " + trainer,
                choice.trainer, choice.trainer));
        }
        return {named, "as given"};
    }
    if (!choice.trainer.empty()) {
        return {software_of_trainer(choice.trainer, catalog), fmt::format("of --for {}", choice.trainer)};
    }
    const PossibleSoftware first = plausible_software(accelerator, workload, catalog).front();
    return {{first.software.name, first.software.release, true}, first.reason};
}

/// The trainer that --for names, or that the software is; empty: any.
std::string trainer_of(const StarterChoice& choice, const StarterSoftware& software, const Catalog& catalog)
{
    return choice.trainer.empty() ? software_of(software.choice, catalog).software.trainer : choice.trainer;
}

/// Whether the fit has one share of matrix products for this stack and others.
bool shares_constants(const std::string& stack)
{
    const FittedModel fitted = fitted_model();
    return std::any_of(fitted.constants.begin(), fitted.constants.end(), [&stack](const FittedConstant& c) {
        return c.key == "gemm" && c.entries.size() > 1 &&
               std::find(c.entries.begin(), c.entries.end(), stack) != c.entries.end();
    });
}

/// Whose the constants of software are that no measured run had.
std::string lender_of(const SoftwareStack& stack, const std::string& program)
{
    if (stack.borrowed && stack.name != program) {
        return "those of " + stack.name;
    }
    return stack.borrowed && shares_constants(stack.name) ? "shared with software that was measured"
                                                          : "assumptions";
}

/// Where the constants of a release come from.
std::string origin_of(const SoftwareStack& stack, const SoftwareRelease& release, const std::string& program)
{
    const int rows = stack.own ? 0 : rows_behind(release);
    if (rows > 0) {
        return fmt::format("its constants are fitted to {} measured runs{}", rows,
                           stack.borrowed ? "; intervals are as wide as without" : "");
    }
    return fmt::format("no measured run had it: its constants are {}, and intervals are wider",
                       lender_of(stack, program));
}

std::string software_section(const StarterSoftware& software, const Catalog& catalog)
{
    const SoftwareEntry entry = catalog_software(software.choice.name, catalog);
    const PossibleSoftware chosen = software_of(software.choice, catalog);
    std::vector<std::string> others;
    for (const SoftwareRelease& release : entry.releases) {
        if (release.name != chosen.software.release) {
            others.push_back(release.name);
        }
    }
    std::string text =
        fmt::format("[software]\nname = \"{}\"   # {}; {}\n", entry.name, entry.about, software.why);
    if (!chosen.software.release.empty()) {
        text +=
            fmt::format("release = \"{}\"   # also {}\n", chosen.software.release, fmt::join(others, ", "));
    }
    if (software.choice.assumed) {
        text +=
            "assumed = true   # remove this line if it is your software, or name yours (prismopt init --list "
            "software)\n";
    }
    return text + fmt::format("# {}\n\n", origin_of(chosen.stack, release_of(entry, software.choice.release),
                                                    entry.name));
}

/// Cards with little memory fine-tune.
std::string method_lines(const Workload& workload, Bytes memory)
{
    return memory.si > most_of_cards.si || workload.vocabulary == 0
               ? ""
               : "# method = \"lora\"                    # adapters instead of all parameters: "
                 "docs/networks.md\n"
                 "# adapter_rank = 16\n"
                 "# frozen_storage = \"nf4\"             # frozen weights in 4 bits (QLoRA)\n";
}

void refuse_unknown_slices(int gpus, const StarterMachine& machine)
{
    if (machine.cluster.topology != Topology::torus) {
        return;
    }
    const int slice = machine.cluster.node_gpus;
    if (gpus > slice && gpus % slice != 0) {
        throw InputError(fmt::format("--gpus {} does not fill whole slices of {} {}; give a multiple", gpus,
                                     slice, machine.accelerator));
    }
    if (gpus <= slice && !std::has_single_bit(static_cast<unsigned>(gpus))) {
        throw InputError(fmt::format(
            "--gpus {} is not a power of two, so init knows no slice of {} for it; give a power of two, and "
            "change the shape of the first tier",
            gpus, machine.accelerator));
    }
}

/// The choice, with a number of GPUs and the tokens of a sequence.
StarterChoice with_sizes(StarterChoice choice, int gpus, int sequence)
{
    choice.gpus = gpus;
    choice.sequence = sequence;
    return choice;
}

/// Throws InputError for counts that no job has.
void refuse_nonsense(const StarterChoice& given)
{
    if (given.gpus < 1) {
        throw InputError({}, fmt::format("{} GPUs are not a cluster", given.gpus), "give at least 1");
    }
    if (given.sequence < 0 || given.global_batch < 0 || given.node_gpus < 0 || !(given.tokens >= 0.0)) {
        throw InputError({}, "sequence length, global batch, tokens and GPUs per node cannot be negative",
                         "give positive numbers, or 0 for the usual ones");
    }
}

std::string head_of(const StarterChoice& choice, const Workload& workload, const StarterMachine& machine)
{
    const std::string file = shell_word(choice.name + ".toml");
    const std::string start = choice.start.empty() ? "# start = 2027-01-15" : "start = " + choice.start;
    return fmt::format(
        "# Which plan trains {} best on up to {} {}? Written by prismopt init; change what does not apply.\n"
        "#\n#   prismopt validate {}\n#   mpirun prismopt search {}\n\n"
        "name = \"{}\"\nseed = 1\n"
        "{:<36} # first day of the training; reports then give completion dates\n"
        "{}\n",
        workload.name, choice.gpus, machine.accelerator, file, file, choice.name, start,
        catalog_line(choice.catalog));
}

std::string workload_section(const StarterChoice& choice, const Workload& workload, Bytes memory)
{
    if (choice.imported) {
        return workload_text(*choice.imported) + "\n";
    }
    const std::string keys = choice.workload_keys.empty()
                                 ? method_lines(workload, memory)
                                 : fmt::format("{}\n", fmt::join(choice.workload_keys, "\n"));
    return fmt::format(
        "[workload]\nmodel = \"{}\"   # from the catalog; keys given here (hidden, layer, sequence, ...) "
        "override it\n{}\n",
        choice.workload, keys);
}

/// "62.9 million tokens", and where the batch is from.
std::string batch_note(const StarterChoice& choice, const std::optional<PublishedBatch>& published)
{
    constexpr double million = 1e6;
    const auto tokens_text = [&choice](double samples) {
        return fmt::format("{:.3g} million tokens", samples * choice.sequence / million);
    };
    std::string note = choice.sequence == 1 ? "" : ": " + tokens_text(choice.global_batch);
    if (published && !published->source.empty()) {
        note += fmt::format("; the published training had up to {} ({})", tokens_text(published->samples),
                            published->source);
    }
    return note;
}

/// `given`: what the user chose of `choice`, which is complete.
std::string phase_section(const StarterChoice& given, const StarterChoice& choice, const Workload& workload,
                          const UsualSample& sample, const std::optional<PublishedBatch>& published)
{
    const bool counts_steps = given.tokens <= 0.0 && workload.vocabulary == 0;
    const std::string source = given.tokens > 0.0 ? "" : "   # 20 per parameter: arXiv 2203.15556";
    std::string amount = given.amount;
    if (amount.empty() && counts_steps) {
        amount = fmt::format("steps = {:.0f}   # replace with your own", usual_steps);
    } else if (amount.empty()) {
        amount = fmt::format("tokens = {:.4g}{}", choice.tokens, source);
    }
    const std::string lengths =
        sample.name == "sequence" ? "" : fmt::format("   # tokens per {}", sample.name);
    return fmt::format(
        "[[phase]]                            # one or more\n{}\n"
        "sequence_length = {}{}\n"
        "global_batch = {}   # {}s per optimizer step{}\n\n",
        amount, choice.sequence, lengths, choice.global_batch, sample.name, batch_note(choice, published));
}

/// `spares`: nodes beside those of the choice.
std::string cluster_section(const StarterChoice& choice, const StarterMachine& machine,
                            const UnitsInUse& units, int spares, const Catalog& catalog)
{
    const UsualCluster& usual = machine.cluster;
    const std::string sizes =
        spares > 0 ? fmt::format("{}, and {} spare nodes", choice.gpus, spares) : units.note;
    const std::string note = sizes.empty() ? "" : "   # " + sizes;
    std::string text =
        fmt::format("[cluster]\n{}accelerator = \"{}\"   # {}\ngpus = {}{}\n{}\n", machine.remark,
                    machine.accelerator, evidence_of(machine.accelerator, catalog),
                    choice.gpus + spares * units.unit, note, machine.figures);
    text += bridge_lines(usual);
    const bool one_node = choice.gpus <= units.unit;
    if (!one_node) {
        text += fmt::format(
            "[[cluster.tier]]\nname = \"node\"\nlink = \"{}\"\ngroup = {}   # GPUs per node\n{}\n",
            usual.node_link, units.unit, topology_lines(usual, units.unit));
    }
    return text + fmt::format(
                      "[[cluster.tier]]                     # the last tier spans the whole cluster\n"
                      "name = \"cluster\"\nlink = \"{}\"\n{}\n",
                      one_node ? usual.node_link : usual.network_link,
                      one_node ? topology_lines(usual, choice.gpus) : network_share_line(usual, catalog));
}

/// What most studies leave as it is. `node`: GPUs that fail together; `asks`: answers of questions
/// need failures by their causes.
std::string usual_sections(int node, bool asks)
{
    const std::string failures =
        asks ? "" : failure_rate(node) + "restart = \"10 min\"                   # assumption\n";
    const std::string causes = asks ? failure_causes(node) : "";
    return fmt::format(
        "[memory]\n"
        "probability = 0.9                    # with which plans must fit, given the error of predicted "
        "peaks\n\n"
        "[variability]\n"
        "profile = \"hpc-2024\"                 # from the catalog; distributions given here override it\n\n"
        "[reliability]\n{}"
        "checkpoint_interval = \"0 s\"          # \"0 s\": by Young's formula\n"
        "checkpoint_write = \"30 s\"            # assumption; training stops meanwhile\n\n{}",
        failures, causes);
}

std::string power_section(const std::string& electricity_price)
{
    return electricity_price.empty()
               ? ""
               : fmt::format(
                     "[power]\nelectricity_price = \"{}\"    # added to the cost; leave it out if gpu_price "
                     "includes it\n\n",
                     electricity_price);
}

/// A placeholder of a price ranks no plan.
std::string objectives_section(bool priced)
{
    return fmt::format("\n[objectives]\nminimise = [\"training_time_p99\", \"{}\", \"gpus\"]\n",
                       priced ? "cost" : "gpu_hours");
}

std::string search_section(const std::string& trainer)
{
    std::string text =
        "\n[search]\nconfidence = 0.95                    # probability that no better plan was excluded, "
        "over the whole study\n";
    if (!trainer.empty()) {
        const std::string blanks(std::max<std::size_t>(1, 22 - trainer.size()), ' ');
        text += fmt::format("runnable_by = \"{}\"{}# search only plans that this trainer can run\n", trainer,
                            blanks);
    }
    return text;
}

}  // namespace

std::string starter_scenario(const StarterChoice& given, const Catalog& catalog)
{
    refuse_nonsense(given);
    const StarterChoice named = with_names_of(given, catalog);
    const Workload workload =
        named.imported ? named.imported->workload : catalog_workload(named.workload, catalog);
    const UsualSample sample =
        named.imported ? sample_of(*named.imported) : usual_sample(named.workload, catalog);
    const StarterMachine machine = starter_machine(named, catalog);
    refuse_unknown_slices(named.gpus, machine);
    const Accelerator accelerator = catalog_accelerator(machine.accelerator, catalog);
    const UnitsInUse units = units_in_use(named, machine.cluster);
    const int sequence = named.sequence > 0 ? named.sequence : usual_sequence(workload, sample);
    const auto published = named.imported ? std::nullopt : published_batch(named.workload, sequence, catalog);
    const StarterChoice choice = completed(with_sizes(named, units.gpus, sequence), workload, published);
    const StarterSoftware software = starter_software(choice, machine.accelerator, workload, catalog);
    const bool asks = !choice.question.empty();
    const std::vector<int> spares = asks ? spare_choices(units, machine.cluster) : std::vector<int>{};

    std::string text = head_of(choice, workload, machine);
    text += workload_section(choice, workload, accelerator.memory);
    text += phase_section(given, choice, workload, sample, published);
    text += software_section(software, catalog);
    text += cluster_section(choice, machine, units, spares.empty() ? 0 : spares.back(), catalog);
    text += usual_sections(std::min(choice.gpus, units.unit), asks);
    text += power_section(choice.electricity_price);
    text += starter_space({.workload = workload,
                           .choice = choice,
                           .units = units,
                           .sample = sample.name,
                           .software = software.choice.name,
                           .trainer = trainer_of(choice, software, catalog),
                           .spares = spares,
                           .offloads =
                               accelerator.host_link.si > 0.0 && accelerator.host_memory_bandwidth.si > 0.0},
                          catalog);
    text += objectives_section(machine.priced);
    text += asks ? question_section(choice.question) : "";
    return text + search_section(choice.trainer);
}

}  // namespace prismopt
