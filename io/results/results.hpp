#pragma once

/// Results of a study as plain data, the source of results files, reports and `inspect`.

#include "model/prediction.hpp"
#include "search/space.hpp"
#include "search/strategy.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace prismopt {

/// Population of quantiles in results files and JSON: a random sample of GPUs (fleet), or this cluster with known nodes.
constexpr std::string_view quantiles_of(bool nodes_known) { return nodes_known ? "this cluster" : "fleet"; }

/// Root attributes and /study. Only these may differ between runs of one study with other ranks or dates.
struct StudyInfo {
    std::string program_version;
    std::string commit;
    std::string created;  // ISO 8601, UTC
    std::string command_line;
    std::string job_id;  // of the batch system, or empty
    std::string scenario_path;
    std::string scenario_text;
    std::string scenario_name;
    bool nodes_known = false;  // of the cluster
    std::string strategy;
    std::uint64_t seed = 0;
    std::vector<int> held{1};  // parts of the space that these results cover, from 1 to `parts`
    int parts = 1;
    Outcome outcome;
};

struct ObjectiveInfo {
    std::string name;
    std::string units;
    std::string long_name;
};

/// One evaluated point at the highest rung it reached.
struct EvaluatedPoint {
    std::uint64_t index = 0;  // raw tuple
    Point point;              // label positions
    int rung = 0;             // 0: only bounded
    std::uint64_t draws = 0;
    std::vector<double> bounds;        // lower bounds of the objectives
    std::vector<Estimate> objectives;  // empty at rung 0
};

/// A member of the front, re-estimated on a fresh random stream (a provisional front: as the search saw it).
struct FrontPoint {
    std::uint64_t index = 0;
    Point point;
    bool dominated = false;            // by another member, after confirmation; kept and flagged
    std::vector<Estimate> objectives;  // confirmed
    Prediction prediction;             // confirmed
    // 95 % prediction limits of measured over predicted time; NaN if not computed (fronts of stopped searches):
    double model_low = std::numeric_limits<double>::quiet_NaN();
    double model_high = std::numeric_limits<double>::quiet_NaN();
    double model_fitted = 0.0;  // 1: from the fit to measured runs; 0: not (ModelInterval::fitted)
};

struct ProgressPoint {
    std::uint64_t evaluations = 0;
    std::uint64_t draws = 0;
    double hypervolume = 0.0;  // of the front so far, in the normalised box of the study
    double elapsed_s = 0.0;    // wall-clock time: differs between runs
};

struct RankWork {
    int rank = 0;
    std::uint64_t items = 0;
    double busy_s = 0.0;
    double idle_s = 0.0;
};

struct Results {
    StudyInfo study;
    std::vector<Axis> axes;
    std::uint64_t raw_tuples = 0;
    std::uint64_t feasible = 0;
    std::vector<Rejected> rejected;
    std::vector<ObjectiveInfo> objectives;
    std::vector<EvaluatedPoint> evaluations;  // all feasible points, in index order
    std::vector<FrontPoint> front;            // in order of the first objective
    bool provisional = false;                 // the search was stopped: the front so far, not confirmed
    std::vector<ProgressPoint> progress;
    std::vector<RankWork> ranks;
    int threads = 1;
    bool sealed = true;  // false: from a file without a checksum, so that damage may go undetected
};

}  // namespace prismopt
