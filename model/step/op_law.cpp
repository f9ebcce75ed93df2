#include "model/step/op_law.hpp"

#include <cmath>

namespace prismopt {

namespace {

/// Sums of variances and third central moments along a chain of independent kernels.
struct Spread {
    double variance = 0.0;
    double third = 0.0;

    void add(double count, KernelClass kind, double seconds, const ResidualMoments& residual)
    {
        const double deviation = seconds * residual.cv[static_cast<std::size_t>(kind)];
        variance += count * deviation * deviation;
        third += count * deviation * deviation * deviation * residual.skewness[static_cast<std::size_t>(kind)];
    }
    double deviation() const { return std::sqrt(variance); }
    double skewness() const { return variance > 0.0 ? third / (variance * deviation()) : 0.0; }
};

/// Calls visit(count, cost) for the parts of a pass.
template <class Visit>
void for_parts(const ChunkPass& pass, Visit&& visit)
{
    visit(static_cast<double>(pass.layers), pass.layer);
    for (const PassCost* part : {pass.embedding, pass.head}) {
        if (part != nullptr) {
            visit(1.0, *part);
        }
    }
}

double relative(double deviation, double mean) { return mean > 0.0 ? deviation / mean : 0.0; }

}  // namespace

double ChunkPass::compute_s() const
{
    double sum = 0.0;
    for_parts(*this, [&sum](double count, const PassCost& part) { sum += count * part.compute_s; });
    return sum;
}

double ChunkPass::communication_s() const
{
    double sum = 0.0;
    for_parts(*this, [&sum](double count, const PassCost& part) { sum += count * part.communication_s; });
    return sum;
}

double segment_cv(const PartCost& part, const ResidualMoments& residual)
{
    double deviations = 0.0;
    for (const PassCost* pass : {&part.forward, &part.backward}) {
        for (const Segment& segment : pass->segments) {
            Spread spread;
            for (const Kernel& kernel : segment) {
                spread.add(1.0, kernel.kind, kernel.seconds, residual);
            }
            deviations += spread.deviation();
        }
    }
    return relative(deviations, part.forward.compute_s + part.backward.compute_s);
}

OpLaw compose(const ChunkPass& pass, double transfer_s, const ResidualMoments& residual, const WidthTables& width)
{
    Spread compute;
    Spread communication;
    for_parts(pass, [&](double count, const PassCost& part) {
        for (const Segment& segment : part.segments) {
            for (const Kernel& kernel : segment) {
                compute.add(count, kernel.kind, kernel.seconds, residual);
            }
        }
        for (const double seconds : part.collectives_s) {
            communication.add(count, KernelClass::tp_collective, seconds, residual);
        }
    });
    OpLaw law;
    const double compute_s = pass.compute_s();
    const double communication_s = pass.communication_s();
    const double cv = relative(compute.deviation(), compute_s);
    const BarrierMoments& largest = width.barrier[NoiseTables::standard_index(cv, compute.skewness())];
    law.compute_s = static_cast<float>(compute_s);
    law.compute_cv = static_cast<float>(cv * largest.deviation);
    law.compute_law = NoiseTables::standard_index(law.compute_cv, largest.skewness);
    law.communication_s = static_cast<float>(communication_s);
    law.communication_cv = static_cast<float>(relative(communication.deviation(), communication_s));
    law.communication_law = NoiseTables::standard_index(law.communication_cv, communication.skewness());
    law.transfer_s = static_cast<float>(transfer_s);
    return law;
}

}  // namespace prismopt
