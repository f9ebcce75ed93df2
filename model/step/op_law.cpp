#include "model/step/op_law.hpp"

#include <cmath>

namespace prismopt {

namespace {

double relative(double deviation, double mean) { return mean > 0.0 ? deviation / mean : 0.0; }
double skewness(double third, double variance) { return variance > 0.0 ? third / (variance * std::sqrt(variance)) : 0.0; }

}  // namespace

OpLaw compose(const PassCost& cost, double transfer_s, const WidthTables& width)
{
    OpLaw law;
    const double cv = relative(std::sqrt(cost.compute_variance), cost.compute_s);
    const int one = NoiseTables::standard_index(cv, skewness(cost.compute_third, cost.compute_variance));
    const BarrierMoments& largest = width.barrier[one];
    law.compute_s = static_cast<float>(cost.compute_s);
    law.compute_cv = static_cast<float>(cv * largest.deviation);
    law.compute_law = NoiseTables::standard_index(law.compute_cv, largest.skewness);
    law.communication_s = static_cast<float>(cost.communication_s);
    law.communication_cv = static_cast<float>(relative(std::sqrt(cost.communication_variance), cost.communication_s));
    law.communication_law =
        NoiseTables::standard_index(law.communication_cv, skewness(cost.communication_third, cost.communication_variance));
    law.transfer_s = static_cast<float>(transfer_s);
    return law;
}

}  // namespace prismopt
