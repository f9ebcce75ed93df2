#pragma once

/// Scenario: all inputs of a run, read from one TOML file and the built-in catalog.

#include "io/scenario/choices.hpp"
#include "io/scenario/constants/learned.hpp"
#include "io/scenario/local_updates_price.hpp"
#include "io/scenario/numerics.hpp"
#include "io/scenario/question.hpp"
#include "model/distribution/variability.hpp"
#include "model/job.hpp"
#include "model/plan/plan_axes.hpp"
#include "model/run/critical_batch.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace prismopt {

class Catalog;

/// A rung of successive halving: number of fleets (random samples of GPUs) and of steps drawn per fleet.
struct Rung {
    int fleets = 0;
    int steps = 0;
};

struct SearchSettings {
    std::string strategy = "auto";
    std::uint64_t max_evaluations = 0;  // maximum number of points to sample; 0: the strategy decides
    std::vector<Rung> rungs{
        {64, 2},
        {2048, 2}};         // rung 1, 2, ...; equal steps, growing fleets. The last: p99 limits of 1e5 plans
    Rung confirm{2048, 4};  // of the front, on an independent random stream
    double confidence = 0.95;  // simultaneous, of the exclusions of the whole study
    int space_part = 1;        // of the space, searched by this job
    int space_parts = 1;
    int replicas_simulated = 4;        // data-parallel replicas simulated in full per draw
    DollarsPerSecond gpu_price_limit;  // more expensive hardware variants are excluded; zero: no limit
    std::string runnable_by;           // the trainer whose plans are searched; empty: all plans
    // "cuda_graphs=attn": values of axes that pass the rules of that trainer on the axis
    std::vector<std::string> runs_too;
    int tune_points = 12;        // front points at which the strategy nlopt tunes hardware parameters
    int tune_evaluations = 200;  // per tuning run
    int tune_fleets = 0;         // fleets per evaluation of a tuning run; 0: noise-free times
};

/// [software]: a program of the catalog and its release.
struct SoftwareChoice {
    std::string name;      // empty: not given
    std::string release;   // empty: the newest
    bool assumed = false;  // init chose it: the job may have other software
};

/// [data]: what all phases are trained on.
struct DataSet {
    double samples = 0.0;                          // zero: not given
    std::shared_ptr<const SampleLengths> lengths;  // null: all samples fill their sequences
};

/// Networks that one machine is to serve, each by a plan of its own.
struct ServedNetworks {
    std::vector<std::vector<Phase>> phases;  // [network]
    std::vector<double> weights;             // [network]: runs, or a share of the GPU-hours
    bool by_share = false;

    bool empty() const { return phases.empty(); }
};

struct Scenario : Job {
    std::string path;
    std::string text;                          // the file as read, with the files that it names
    std::shared_ptr<const Catalog> catalog{};  // with the user's entries; null: the program's
    std::string name;
    std::uint64_t seed = 1;
    std::optional<std::chrono::sys_days> start;  // start date of the training, for dates in reports
    // The workload, its phases and the cluster of the job are the first if there are several.
    std::vector<Workload> workloads;  // choices of [space] workload, or [[workloads]]; empty: a single one
    // of [[workloads]]; empty: none, and the networks of [space] are alternatives for one job
    ServedNetworks served;
    std::string older_keys;  // warnings about deprecated keys; empty: none
    std::string units;       // warnings about quantities that are easily written in another unit; empty: none
    Numerics numerics;       // what number formats do to learning
    LocalUpdatesPrice local_updates;   // what local updates cost
    std::optional<Learning> learning;  // what the global batch of a phase costs
    Learned learned;  // of steps measured on the cluster, and applied to its constants; empty: nothing
    Variability variability;
    DataSet data;
    SoftwareChoice software;        // that of [software]; each cluster has what runs on it
    std::vector<Cluster> machines;  // of several [[cluster]]; empty: a single one
    // what the study chooses beside the plan; those of what is trained first
    std::vector<StudyChoice> choices;
    // one value of each choice; at least one variant, which is empty without choices
    std::vector<ChosenValues> variants;
    VariantCounts variant_counts{};  // of the scenario as written, without tuned hardware
    SpaceSettings space;
    std::vector<std::string> axes_of_software;  // of the space, whose values the software brought
    SpaceSettings levers{};    // values that the software offers; empty lists: the catalog does not say
    bool gives_order = false;  // whether the scenario states the order of the parallel dimensions
    std::vector<std::string> objectives;  // minimised, in this order
    std::optional<Question> question{};   // what to answer first
    SearchSettings search;
};

/// The catalog to which names of the scenario refer.
const Catalog& catalog_of(const Scenario& scenario);

/// Whether some choice of hardware has a price.
bool has_priced_hardware(const Scenario& scenario);

/// All clusters on which plans may run.
std::vector<const Cluster*> clusters(const Scenario& scenario);

/// All networks that plans may train.
std::vector<const Workload*> networks(const Scenario& scenario);
/// The phases of one of them, by its place there.
const std::vector<Phase>& phases_for(const Scenario& scenario, std::size_t network);
/// The phases of all of them.
std::vector<Phase> every_phase(const Scenario& scenario);

}  // namespace prismopt
