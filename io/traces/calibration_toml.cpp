#include "io/traces/calibration_toml.hpp"

#include "io/base/control_characters.hpp"
#include "io/base/percent.hpp"
#include "io/words/calibration_text.hpp"
#include "io/words/trace_text.hpp"
#include "model/base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace prismopt {

using namespace literals;

namespace {

/// Of a file's name, or an operation's: no quotes, no control characters.
std::string plain(const std::string& text)
{
    std::string result = blank_controls(text);
    for (char& c : result) {
        if (c == '"' || c == '\\') {
            c = '?';
        }
    }
    return result;
}
std::string quoted(const std::string& text) { return '"' + plain(text) + '"'; }

struct FamilyText {
    std::string operator()(const Constant& /*unused*/) const { return "family = \"constant\""; }
    std::string operator()(const Normal& f) const { return of_cv("normal", f.cv); }
    std::string operator()(const LogNormal& f) const { return of_cv("lognormal", f.cv); }
    std::string operator()(const Gamma& f) const { return of_cv("gamma", f.cv); }
    std::string operator()(const Weibull& f) const { return of_cv("weibull", f.cv); }
    std::string operator()(const ShiftedGamma& f) const
    {
        return fmt::format("{}, shift = {:.6g}", of_cv("shifted-gamma", f.cv), f.shift);
    }
    std::string operator()(const StudentT& f) const
    {
        return fmt::format("family = \"student-t\", degrees_of_freedom = {:.6g}, scale = {:.6g}",
                           f.degrees_of_freedom, f.scale);
    }
    std::string operator()(const GeneralizedExtremeValue& f) const
    {
        return fmt::format("family = \"gev\", shape = {:.6g}, scale = {:.6g}", f.shape, f.scale);
    }
    std::string operator()(const Empirical& f) const
    {
        std::string text = "family = \"empirical\", values = [";
        for (std::size_t i = 0; i < f.values.size(); ++i) {
            text += fmt::format("{}{:.5g}", i == 0 ? "" : ", ", f.values[i]);
        }
        return text + "]";
    }
    std::string operator()(const Mixture& f) const
    {
        std::string text = "family = \"mixture\", parts = [";
        for (std::size_t i = 0; i < f.components.size(); ++i) {
            const MixtureComponent& component = f.components[i];
            text += fmt::format("{}{{ weight = {:.9g}, at = {:.6g}, {} }}", i == 0 ? "" : ", ",
                                component.weight, component.at, std::visit(*this, component.family));
        }
        return text + "]";
    }
    std::string operator()(const ParetoTail& f) const
    {
        const std::string core = f.core.components.size() == 1
                                     ? std::visit(*this, f.core.components.front().family)
                                     : (*this)(f.core);
        return fmt::format(
            "family = \"pareto-tail\", core = {{ {} }}, tail_probability = {:.6g}, shape = {:.6g}, "
            "tail_scale = {:.6g}",
            core, f.probability, f.shape, f.scale);
    }
    static std::string of_cv(const char* name, double cv)
    {
        return fmt::format("family = \"{}\", cv = {:.6g}", name, cv);
    }
};

constexpr double largest_drift = 0.1;  // that a scenario takes
constexpr double largest_rate_cv = 3.0;

std::string component_lines(const std::vector<Component>& components, const char* of)
{
    std::string text =
        fmt::format("# Standard deviation of log durations of {}, with 95 % confidence intervals:\n", of);
    for (const Component& c : components) {
        if (c.unknown) {
            text += fmt::format("#   {:<11} unknown: {}\n", c.name, unknown_text(*c.unknown));
            continue;
        }
        text += fmt::format("#   {:<11} {:>7}  ({} to {}; {} draws)\n", c.name,
                            relative_text(std::sqrt(c.variance)), relative_text(std::sqrt(c.low)),
                            relative_text(std::sqrt(c.high)), c.units);
    }
    return text;
}

std::string claim(const DistributionFit& fit)
{
    if (fit.values == 0 || fit.family == "constant") {
        return "";
    }
    if (fit.tried.empty() && fit.family != "empirical") {
        return fmt::format(
            "# standard deviation of the component above, {} values; the family is an assumption",
            fit.values);
    }
    std::string text = fmt::format("# KS {:.3f}, {} values", fit.ks, fit.values);
    if (fit.claims_to < 0.999) {
        text += fit.claims_to < 0.5 ? ": too few to characterise the tail"
                                    : fmt::format(": no evidence beyond p{:.3g}", 100.0 * fit.claims_to);
    }
    if (!far_tail_holds(fit.beyond, fit.values)) {
        text += fmt::format(
            "; its far tail does not fit: it predicts {:.2g} values where the ten longest are", fit.beyond);
    }
    if (!spread_holds(fit.spread, fit.values)) {
        text += fmt::format("; its cv is {:.2g} times that of the values", fit.spread);
    }
    return text;
}

std::string tried_line(const DistributionFit& fit)
{
    std::string text;
    for (const FamilyFit& tried : fit.tried) {
        text += fmt::format("{}{} {:.3f}{}", text.empty() ? "" : ", ", tried.family, tried.ks,
                            tried.fits ? "" : " (rejected)");
    }
    return text;
}

void write_counts(std::string& text, const Calibration& c)
{
    text += fmt::format("# Written by prismopt calibrate from {}: {} operations of {} steps",
                        quoted(c.source), c.operations, c.steps.size());
    text += c.recorded > c.operations ? fmt::format(" (evenly sampled from {} recorded)", c.recorded) : "";
    text += c.warm_up.empty() ? "" : fmt::format("; {} warm-up steps are excluded", c.warm_up.size());
    text += c.others.empty()
                ? ""
                : fmt::format("; {} steps with other operations are excluded from compute", c.others.size());
    text += ".\n";
    if (few_steps(c)) {
        text += fmt::format(
            "# Only {} of {} steps have the same operations: the components of compute are poorly "
            "determined.\n",
            c.steps.size() - c.others.size(), c.steps.size());
    }
    if (c.drift.found) {
        text += fmt::format(
            "# Drift of the job's speed, for [reliability]: drift = {{ cv = {:.4g}, time = \"{:.4g} s\" }}. "
            "common_compute "
            "includes it too,\n# as quantiles of steps require; run times count it once, because factors "
            "drawn anew in each step "
            "average out.\n",
            std::min(largest_drift, c.drift.cv), c.drift.time_s);
    }
}

std::string signature_line(const Signature& s)
{
    std::string text = fmt::format("# {}: mean {:.4g} ms", quoted(s.name), 1e3 * s.mean_s);
    if (s.spread > 0.0) {
        text += fmt::format(", spread {} ({} without position, worker and step)", relative_text(s.spread),
                            relative_text(s.own));
    }
    if (s.fit.values > 0) {
        text += fmt::format(", {}, KS {:.3f}, {} values", s.fit.family, s.fit.ks, s.fit.values);
    }
    text += s.spread > 0.0 && !s.in_class ? "; not in the distribution of a class" : "";
    return text + (s.waiting > 0.0
                       ? fmt::format("; {} more was waiting for the peer\n", relative_text(s.waiting))
                       : "\n");
}

/// "microbatch_exponent = { forward = [0.9, 1.1], backward = [0.9, 1.1] }"
std::string exponents_line(const MicrobatchExponents& exponents)
{
    std::vector<std::string> passes;
    for (const auto& [name, list] :
         {std::pair{"forward", &exponents.forward}, std::pair{"backward", &exponents.backward}}) {
        if (!list->empty()) {
            passes.push_back(fmt::format("{} = [{:.3f}]", name, fmt::join(*list, ", ")));
        }
    }
    return fmt::format("microbatch_exponent = {{ {} }}  # from the first stage to the last\n",
                       fmt::join(passes, ", "));
}

}  // namespace

std::string distribution_toml(const Distribution& distribution)
{
    constexpr double usual_cap = 20.0;
    std::string text = "{ " + std::visit(FamilyText{}, distribution.family);
    if (distribution.slow.probability > 0.0) {
        text += fmt::format(", slow_probability = {:.6g}, slow_excess = {:.6g}",
                            distribution.slow.probability, distribution.slow.excess);
    }
    if (distribution.cap != usual_cap) {
        text += fmt::format(", cap = {:.6g}", distribution.cap);
    }
    return text + (distribution.source.empty() ? "" : ", source = " + quoted(distribution.source)) + " }";
}

std::string variability_toml(const Calibration& c, const std::string& profile)
{
    std::string text;
    write_counts(text, c);
    if (!c.components.empty()) {
        text += component_lines(c.components, "compute");
    }
    if (!c.communication.empty()) {
        text += component_lines(c.communication, "transfers and collectives");
    }
    for (const SlowUnit& slow : c.slow) {
        text += fmt::format("# Slow: {} takes {} longer than its peers' median{}\n", quoted(slow.name),
                            relative_text(slow.excess),
                            slow.probability > 0.0 ? fmt::format(" (p = {:.1g})", slow.probability) : "");
    }
    for (const FittedExponent& e : c.exponents) {
        text += fmt::format(
            "# Exponent of the microbatch factor: {}, stage {}: {:.3f} ({:.3f} to {:.3f}, 95 %)\n",
            quoted(e.kind), e.stage, e.exponent, e.low, e.high);
    }
    for (const SlowShare& slow : c.slow_shares) {
        text += fmt::format("# Slow {}s: {} of {}, a share of {} ({} to {}, 95 %), on average {} slower\n",
                            slow.key, slow.slow, slow.all, relative_text(slow.share()),
                            relative_text(slow.low), relative_text(slow.high), relative_text(slow.excess));
    }
    for (const CalibrationNote& note : c.notes) {
        text += "# Note: " + plain(note_text(note)) + "\n";
    }
    for (const Signature& s : c.signatures) {
        text += signature_line(s);
    }
    for (const LeftToProfile& left : c.left) {
        text += fmt::format("# From the profile: {}: {}\n", left.key, quoted(not_fitted_text(left.why)));
    }
    text += fmt::format(
        "[variability]\nprofile = \"{}\"  # from the catalog, for everything not measured below\n", profile);
    std::string residual;
    for (const CalibratedDistribution& distribution : c.distributions) {
        const bool inner = distribution.key.starts_with("residual.");
        std::string& section = inner ? residual : text;
        const std::string tried = tried_line(distribution.fit);
        section += tried.empty() ? "" : "# KS of the families, best first: " + tried + "\n";
        section += (inner ? distribution.key.substr(9) : distribution.key) + " = " +
                   distribution_toml(distribution.fit.distribution) + "  " + claim(distribution.fit);
        while (section.back() == ' ') {
            section.pop_back();
        }
        section += '\n';
        if (distribution.key == "microbatch" && !c.microbatch_exponent.none()) {
            section += exponents_line(c.microbatch_exponent);
        }
        if (distribution.key == residual_key(KernelClass::dp_collective)) {
            section +=
                "# If layers gather their parameters one by one (FSDP, ZeRO-2 and 3), this holds for those "
                "collectives, too:\n";
            section += fmt::format("# {} = {}\n", name(KernelClass::sharded_collective),
                                   distribution_toml(distribution.fit.distribution));
        }
    }
    return text + (residual.empty() ? "" : "\n[variability.residual]\n" + residual);
}

std::string reliability_toml(const FailureFit& fit, const std::vector<Fault>& excluded, const DriftFit& drift,
                             const std::string& source)
{
    std::string text = fmt::format(
        "# Written by prismopt calibrate from {}: {} nodes over {:.4g} days; {} outages start together with "
        "another.\n",
        quoted(source), fit.watch.nodes, fit.watch.seconds / (1_day).si, fit.together);
    for (const Fault& events : excluded) {
        text += fmt::format("# Excluded: {} {}, the first in line {}.\n", events.count, fault_text(events),
                            events.first_line);
    }
    text +=
        "[reliability]\ncheckpoint_interval = \"0 s\"  # not in the data: Young's formula\ncheckpoint_write "
        "= \"30 s\"    # not "
        "in the data: an example\n";
    text +=
        fmt::format("node_cv = {:.4g}  # of the failure rates of the nodes\n", std::min(10.0, fit.node_cv));
    if (drift.found) {
        text += fmt::format("drift = {{ cv = {:.4g}, time = \"{:.4g} s\" }}\n",
                            std::min(largest_drift, drift.cv), drift.time_s);
    }
    for (const CauseFit& cause : fit.causes) {
        text += fmt::format(
            "\n[[reliability.cause]]  # {} outages: {:.3g} to {:.3g} per 1000 node-days (95 %)\nname = {}\n",
            cause.count, 1e3 * cause.low, 1e3 * cause.high, quoted(cause.name));
        text += fmt::format("rate = \"{:.4g} per 1000 node-days\"\n", 1e3 * cause.per_node_day);
        text += fmt::format("rate_cv = {:.3g}  # what these outages leave open\n",
                            std::min(largest_rate_cv, cause.rate_cv));
        if (cause.clustered) {
            text += fmt::format(
                "gaps = \"gamma\"\ngap_cv = {:.3g}\ngap_nodes = {}  # a job on fewer nodes sees fewer "
                "failures of each burst\n",
                std::min(10.0, cause.gap_cv), fit.watch.nodes);
        }
        text += "restart = \"10 min\"  # not in the data: an example\n";
        if (cause.repair_s > 0.0) {
            text += fmt::format("repair = \"{:.4g} h\"\nrepair_cv = {:.3g}\n", cause.repair_s / (1_h).si,
                                std::clamp(cause.repair_cv, 0.01, 10.0));
        }
        text += fmt::format("source = {}\n", quoted("prismopt calibrate, " + source));
    }
    return text;
}

}  // namespace prismopt
