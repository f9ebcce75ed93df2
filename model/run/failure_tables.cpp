#include "model/run/failure_tables.hpp"

#include "model/noise/distribution.hpp"

namespace prismopt {

namespace {

/// Neither truncated nor raised, as factors of durations are: a gap may be as short as it likes.
QuantileTable table_of(const Family& family) { return QuantileTable(functions_of(family).quantile); }

}  // namespace

const QuantileTable& FailureTables::gaps(const GapLaw& law)
{
    if (law.family == GapFamily::exponential) {
        return *exponential_;
    }
    const std::pair key{law.family, law.cv};
    const auto found = gaps_.find(key);
    if (found != gaps_.end()) {
        return found->second;
    }
    const auto table = [&law] {
        switch (law.family) {
            case GapFamily::gamma: return table_of(Gamma{law.cv});
            case GapFamily::weibull: return table_of(Weibull{law.cv});
            default: return QuantileTable([](double, bool) { return 1.0; });
        }
    };
    return gaps_.emplace(key, table()).first->second;
}

const QuantileTable& FailureTables::repair(double cv)
{
    const auto found = repair_.find(cv);
    return found != repair_.end() ? found->second : repair_.emplace(cv, table_of(LogNormal{cv})).first->second;
}

const QuantileTable& FailureTables::node_rate(double cv) { return gaps({GapFamily::gamma, cv}); }

}  // namespace prismopt
