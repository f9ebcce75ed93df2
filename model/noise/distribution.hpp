#pragma once

/// Families of duration factors. Each is a law of mean one, positive, truncated at a cap, and known by its quantile
/// function; the sampler sees only the tables compiled from them (model/noise/quantile_table.hpp).

#include <string>
#include <variant>
#include <vector>

namespace prismopt {

struct Constant {};
struct Normal {
    double cv = 0.0;
};
struct LogNormal {
    double cv = 0.0;
};
struct Gamma {
    double cv = 0.0;
};
/// A pool of measured durations in any unit; only ratios matter.
struct Empirical {
    std::vector<double> values;
};

using Family = std::variant<Constant, Normal, LogNormal, Gamma, Empirical>;

/// With `probability` the factor is drawn around (1 + excess) instead of 1: a rare slow GPU or link.
struct SlowMode {
    double probability = 0.0;
    double excess = 0.0;
};

struct Law {
    Family family = Constant{};
    SlowMode slow;
    double cap = 20.0;   // longest factor that the mean-one family may take before truncation (a watchdog ends longer ones)
    std::string source;  // where the figures are from; goes into results and reports
};

/// Quantile of the truncated, normalised law (longer and non-positive draws are set to the limits) at lower probability p, or at upper (survival) probability p when `upper`:
/// tails keep their digits. Mean over p is one. Throws std::domain_error when p is outside (0, 1).
class LawQuantile {
public:
    explicit LawQuantile(const Law& law);
    double operator()(double p, bool upper) const;
    bool constant() const;

private:
    double raw(double p, bool upper) const;
    double component(double p, bool upper) const;
    double component_survival(double x) const;

    Law law_;
    std::vector<double> sorted_;  // of an empirical family, mean one
    double mean_ = 1.0;           // of the truncated law
};

}  // namespace prismopt
