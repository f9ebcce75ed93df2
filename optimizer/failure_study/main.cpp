/// Effective training time and p99 training time against GPUs, checkpoint interval and spares: jobs/failure_study.

#include "io/plots/line_charts.hpp"
#include "io/results/posix_file.hpp"
#include "optimizer/failure_study/runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace prismopt {
namespace {

constexpr double day = 86400.0;
constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

std::string time_text(double s) { return s < 3600.0 ? fmt::format("{:.3g} min", s / 60.0) : fmt::format("{:.3g} h", s / 3600.0); }

std::string header(const std::string& first, const std::vector<std::string>& ticks)
{
    std::string text = "\n| " + first + " |";
    std::string rule = "\n|---|";
    for (const std::string& tick : ticks) {
        text += ' ' + tick + " |";
        rule += "---|";
    }
    return text + rule;
}

std::string cell(const std::optional<Prediction>& p)
{
    return p ? fmt::format(" {:.3f} / {:.1f} |", p->ettr, p->training.p99.value / day) : std::string(" - |");
}

class Report {
public:
    explicit Report(const Scenario& scenario) : scenario_(scenario), study_(scenario) {}

    std::string text()
    {
        std::string text = fmt::format(
            "# Failures and the training run\n\n"
            "Written by `bash jobs/failure_study` from `{}`: {} on {}, one plan on increasing numbers of GPUs, {} random\n"
            "samples of GPUs (fleets) with one history of failures each. ETTR: productive time over mean training time. p99: of "
            "the training time, over fleets and histories.\n"
            "The limitations in model/README.md, sections 8 and 9, apply.\n\n"
            "![ETTR and p99](failures.svg)\n",
            scenario_.path, scenario_.workload.name, scenario_.cluster.accelerator.name, scenario_.search.confirm.fleets);
        return text + sizes() + intervals() + spares() + causes() + clusters();
    }

    std::string picture() const { return charts_svg({ettr_, p99_, spares_}); }

private:
    /// By number of GPUs, with the scenario's own interval and spares.
    std::string sizes()
    {
        std::string text =
            "\n## Size of the job\n\n"
            "With the interval and spares of `[reliability]`. MTBF: mean time between unplanned failures. P(late): probability "
            "of missing the deadline of the scenario. For comparison with ETTR: Llama 3 405B had more than 90 % effective "
            "training time on\n"
            "16,384 GPUs (arXiv 2407.21783, section 3.3.4). Idle spares are not included in cost and energy if their number is "
            "unlimited.\n";
        text += header("GPUs", {"MTBF", "Young", "Daly", "optimal", "ETTR", "p50, days", "p99, days", "p99 / p50", "M USD at p99",
                                "GWh", "t CO2", "P(late)"});
        for (const int gpus : scenario_.space.gpus) {
            const auto p = study_.run(gpus, Seconds{}, as_configured);
            if (!p) {
                text += fmt::format("\n| {} | the run never ends |", gpus);
                continue;
            }
            const RunOutlook& run = p->run;
            text +=
                fmt::format("\n| {} | {} | {} | {} | {} | {:.3f} | {:.1f} | {:.1f} | {:.3f} | {:.1f} | {:.1f} | {:.0f} | {} |",
                            gpus, time_text(run.mean_time_between_failures_s), time_text(run.young_s), time_text(run.daly_s),
                            time_text(run.optimal_s), p->ettr, p->training.p50.value / day, p->training.p99.value / day,
                            p->training.p99.value / p->training.p50.value, p->cost_usd.value / 1e6, run.energy_j.value / 3.6e12,
                            run.carbon_kg.value / 1e3,
                            run.deadline.si > 0.0 ? fmt::format("{:.3f}", run.miss_probability.value) : "-");
        }
        return text + '\n';
    }

    std::string intervals()
    {
        std::vector<std::string> ticks;
        for (const Seconds interval : scenario_.space.checkpoint_interval) {
            ticks.push_back(interval.si > 0.0 ? time_text(interval.si) : "own");
        }
        std::string text =
            "\n## Checkpoint interval\n\n"
            "ETTR / p99 training time in days. Last columns: the interval of the list with the lowest p99, and the intervals of "
            "the formulas\n"
            "with their p99 relative to that lowest one.\n";
        std::vector<std::string> columns = ticks;
        columns.insert(columns.end(), {"best", "Young's", "Daly's", "optimal"});
        text += header("GPUs", columns);
        ettr_ = {"ETTR by checkpoint interval", ticks, {}, false};
        p99_ = {"p99 training time, days", ticks, {}, true};
        for (const int gpus : scenario_.space.gpus) {
            text += fmt::format("\n| {} |", gpus);
            ChartLine ettr{fmt::format("{} GPUs", gpus), {}};
            ChartLine p99 = ettr;
            double least = std::numeric_limits<double>::infinity();
            std::string best = "-";
            std::optional<Prediction> any;
            for (std::size_t i = 0; i < ticks.size(); ++i) {
                const auto p = study_.run(gpus, scenario_.space.checkpoint_interval[i], as_configured);
                text += cell(p);
                ettr.values.push_back(p ? p->ettr : nothing);
                p99.values.push_back(p ? p->training.p99.value / day : nothing);
                if (p && p->training.p99.value < least) {
                    least = p->training.p99.value;
                    best = ticks[i];
                }
                any = p ? p : any;
            }
            text += ' ' + best + " |";
            for (const double formula :
                 any ? std::vector{any->run.young_s, any->run.daly_s, any->run.optimal_s} : std::vector<double>{}) {
                const auto p = study_.run(gpus, Seconds{formula}, as_configured);
                text += p ? fmt::format(" {}: {:.3f} |", time_text(formula), p->training.p99.value / least) : std::string(" - |");
            }
            ettr_.lines.push_back(ettr);
            p99_.lines.push_back(p99);
        }
        return text + '\n';
    }

    std::string spares()
    {
        std::vector<std::string> ticks;
        for (const int count : scenario_.space.spares) {
            ticks.push_back(count == as_configured ? "own" : fmt::format("{}", count));
        }
        std::string text =
            "\n## Spare nodes\n\n"
            "ETTR / p99 training time in days by number of spare nodes; a repaired node returns as a spare. Last column: the "
            "number of the list\n"
            "with the lowest cost at p99, including the spares.\n";
        std::vector<std::string> columns = ticks;
        columns.emplace_back("cheapest");
        text += header("GPUs", columns);
        spares_ = {"ETTR by spare nodes", ticks, {}, false};
        for (const int gpus : scenario_.space.gpus) {
            text += fmt::format("\n| {} |", gpus);
            ChartLine ettr{fmt::format("{} GPUs", gpus), {}};
            double least = std::numeric_limits<double>::infinity();
            std::string best = "-";
            for (std::size_t i = 0; i < ticks.size(); ++i) {
                const auto p = study_.run(gpus, Seconds{}, scenario_.space.spares[i]);
                text += cell(p);
                ettr.values.push_back(p ? p->ettr : nothing);
                if (p && p->cost_usd.value < least) {
                    least = p->cost_usd.value;
                    best = ticks[i];
                }
            }
            text += ' ' + best + " |";
            spares_.lines.push_back(ettr);
        }
        return text + '\n';
    }

    /// At the middle one of the sizes.
    std::string causes()
    {
        const int gpus = scenario_.space.gpus[scenario_.space.gpus.size() / 2];
        const auto p = study_.run(gpus, Seconds{}, as_configured);
        if (!p) {
            return "";
        }
        constexpr double thousand_hours = 3.6e6;
        std::string text = fmt::format(
            "\n## Lost time by cause\n\nMean thousands of GPU-hours of a run on {} GPUs; {:.1f} more are lost to checkpoints.\n",
            gpus, p->run.checkpoint_gpu_s / thousand_hours);
        text += header("cause", {"times", "work done again", "detection and restart", "waiting for nodes"});
        for (const NamedLoss& row : p->run.losses) {
            text += fmt::format("\n| {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} |", row.name, row.loss.failures,
                                row.loss.rework_gpu_s / thousand_hours, row.loss.down_gpu_s / thousand_hours,
                                row.loss.waiting_gpu_s / thousand_hours);
        }
        return text + '\n';
    }

    /// The same mean rates with and without clusters.
    std::string clusters()
    {
        Reliability alike = scenario_.reliability;
        alike.node_cv = 0.0;
        for (Cause& cause : alike.causes) {
            cause.gaps = cause.planned ? cause.gaps : GapLaw{};
        }
        Reliability bursts = scenario_.reliability;
        for (Cause& cause : bursts.causes) {
            cause.gaps = cause.planned ? cause.gaps : GapLaw{GapFamily::weibull, 2.0};
        }
        std::string text =
            "\n## Clustering in time and by node\n\n"
            "The same rates: as a Poisson process on identical nodes, as in the scenario, and with Weibull gaps of cv 2 for "
            "every cause. ETTR / p99 days.\n";
        text += header("GPUs", {"Poisson", "scenario", "all in clusters"});
        for (const int gpus : scenario_.space.gpus) {
            text += fmt::format("\n| {} |", gpus);
            for (const Reliability& reliability : {alike, scenario_.reliability, bursts}) {
                text += cell(study_.run(gpus, reliability));
            }
        }
        return text + '\n';
    }

    const Scenario& scenario_;
    FailureStudy study_;
    Chart ettr_, p99_, spares_;
};

void run(const std::string& scenario_path, const std::string& folder)
{
    const Scenario scenario = read_scenario(scenario_path);
    Report report(scenario);
    replace_file(folder + "/failures.md", report.text());
    replace_file(folder + "/failures.svg", report.picture());
}

}  // namespace
}  // namespace prismopt

int main(int count, char** words)
{
    if (count != 3) {
        std::fputs("usage: failure_study SCENARIO FOLDER\n\nWrites failures.md and failures.svg there.\n", stderr);
        return 2;
    }
    try {
        prismopt::run(words[1], words[2]);
    } catch (const prismopt::InputError& error) {
        std::fprintf(stderr, "failure_study: %s\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "failure_study: %s\n", error.what());
        return 1;
    }
    return 0;
}
