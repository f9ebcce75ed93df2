#include "io/report/network_size.hpp"

#include "io/report/network_json.hpp"

#include "model/network/network.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace prismopt {

namespace {

std::string length_text(const NetworkSize& size)
{
    if (size.unit == "token") {
        return fmt::format(", with {} tokens per sequence", size.sequence);
    }
    return size.sequence == 1 ? "" : fmt::format(", with {} tokens per sample", size.sequence);
}

}  // namespace

NetworkSize network_size(const Workload& workload, int sequence)
{
    const Network network = network_of(workload);
    const bool tokens = workload.vocabulary > 0;
    const double flops = model_flops_per_sequence(network, sequence);
    return {workload.name,
            parameters_of(network),
            active_parameters_of(network),
            trained_parameters_of(network),
            tokens ? flops / sequence : flops,
            tokens ? "token" : "sample",
            sequence,
            workload.task};
}

std::string network_text(const NetworkSize& size)
{
    const std::string active =
        size.active < size.parameters ? fmt::format(" ({:.4g} active per {})", size.active, size.unit) : "";
    const bool some = trains(size.task) && size.trained < size.parameters;
    const std::string trained = some ? fmt::format(", {:.4g} of them trained", size.trained) : "";
    return fmt::format("network {}: {:.4g} parameters{}{}; {:.4g} FLOPs per {} in {}{}\n", size.name,
                       size.parameters, active, trained, size.flops, size.unit, name(size.task),
                       length_text(size));
}

nlohmann::json network_json(const NetworkSize& size)
{
    return {{"name", size.name},
            {"parameters", size.parameters},
            {"active_parameters", size.active},
            {"trained_parameters", size.trained},
            {"flops_per_" + size.unit, size.flops},
            {"sequence_length", size.sequence},
            {"task", name(size.task)}};
}

}  // namespace prismopt
