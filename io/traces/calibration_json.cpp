#include "io/traces/calibration_json.hpp"

#include "io/words/calibration_text.hpp"
#include "io/words/trace_text.hpp"
#include "model/calibration/fit/goodness.hpp"

#include <nlohmann/json.hpp>

#include <cmath>

namespace prismopt {

namespace {

using Json = nlohmann::ordered_json;

constexpr int quantile_steps = 200;  // quantiles at 0.5 %, 1 %, ..., 99.5 %

template <class Quantile>
Json quantiles(const Quantile& quantile)
{
    Json list = Json::array();
    for (int i = 1; i < quantile_steps; ++i) {
        list.push_back(quantile(static_cast<double>(i) / quantile_steps));
    }
    return list;
}

Json to_json(const Component& c)
{
    if (c.unknown) {
        return {{"name", c.name}, {"unknown", unknown_text(*c.unknown)}};
    }
    return {{"name", c.name},
            {"standard_deviation", std::sqrt(c.variance)},
            {"low", std::sqrt(c.low)},
            {"high", std::sqrt(c.high)},
            {"draws", c.units}};
}

Json to_json(const DistributionFit& fit)
{
    const DistributionQuantile distribution(fit.distribution);
    return {{"family", fit.family},
            {"cv", distribution.moments().cv()},
            {"values", fit.values},
            {"ks", fit.ks},
            {"quantiles", quantiles([&](double p) { return distribution(p, false); })}};
}

Json to_json(const FittedExponent& e)
{
    return {{"kind", e.kind}, {"stage", e.stage}, {"exponent", e.exponent}, {"low", e.low}, {"high", e.high}};
}

Json to_json(const SlowShare& slow)
{
    return {{"key", slow.key}, {"slow", slow.slow}, {"all", slow.all},
            {"low", slow.low}, {"high", slow.high}, {"excess", slow.excess}};
}

Json to_json(const CauseFit& cause)
{
    return {{"name", cause.name},
            {"count", cause.count},
            {"per_node_day", cause.per_node_day},
            {"low", cause.low},
            {"high", cause.high},
            {"rate_cv", cause.rate_cv},
            {"gap_cv", cause.gap_cv},
            {"clustered", cause.clustered},
            {"repair_s", cause.repair_s},
            {"repair_cv", cause.repair_cv}};
}

template <class Rows>
Json rows(const Rows& rows)
{
    Json list = Json::array();
    for (const auto& row : rows) {
        list.push_back(to_json(row));
    }
    return list;
}

}  // namespace

std::string calibration_json(const Calibration& c, const std::vector<double>& composed_s,
                             const FailureFit& failures, const std::vector<Fault>& excluded_events)
{
    Json json{{"source", c.source},
              {"operations", c.operations},
              {"recorded", c.recorded},
              {"steps", c.steps.size()},
              {"warm_up_steps", c.warm_up.size()},
              {"other_steps", c.others.size()},
              {"components", rows(c.components)},
              {"communication", rows(c.communication)}};
    json["microbatch_exponents"] = rows(c.exponents);
    json["distributions"] = Json::object();
    for (const CalibratedDistribution& distribution : c.distributions) {
        json["distributions"][distribution.key] = to_json(distribution.fit);
    }
    json["from_profile"] = Json::object();
    for (const LeftToProfile& left : c.left) {
        json["from_profile"][left.key] = not_fitted_text(left.why);
    }
    json["kinds"] = Json::array();
    for (const Signature& s : c.signatures) {
        Json kind{{"name", s.name},
                  {"mean_s", s.mean_s},
                  {"spread", s.spread},
                  {"own", s.own},
                  {"waiting", s.waiting}};
        if (s.kernel) {
            kind["class"] = name(*s.kernel);
        }
        if (s.fit.values > 0) {
            kind["distribution"] = to_json(s.fit);
        }
        json["kinds"].push_back(kind);
    }
    json["slow"] = Json::array();
    for (const SlowUnit& slow : c.slow) {
        json["slow"].push_back({{"name", slow.name}, {"excess", slow.excess}, {"p", slow.probability}});
    }
    json["slow_shares"] = rows(c.slow_shares);
    json["notes"] = Json::array();
    for (const CalibrationNote& note : c.notes) {
        json["notes"].push_back(note_text(note));
    }
    if (c.drift.found) {
        json["drift"] = {{"cv", c.drift.cv}, {"time_s", c.drift.time_s}};
    }
    if (!composed_s.empty()) {
        json["step_quantiles_s"] = quantiles([&](double p) { return quantile_of(composed_s, p); });
    }
    if (!failures.causes.empty()) {
        json["failures"] = {{"node_cv", failures.node_cv},
                            {"together", failures.together},
                            {"causes", rows(failures.causes)}};
        json["failures"]["excluded"] = Json::array();
        for (const Fault& events : excluded_events) {
            json["failures"]["excluded"].push_back({{"reason", fault_text(events)}, {"count", events.count}});
        }
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';  // file names may not be UTF-8
}

}  // namespace prismopt
