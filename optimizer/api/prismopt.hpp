#pragma once

/// prismopt as a library: what its commands do, for programs. docs/library.md shows it in use.
///
///     const Scenario scenario = changed(read_scenario("small.toml"), {{"cluster.gpus", "128"}});
///     const PlanPrediction of = predict(plan_with(scenario, "gpus=128 tp=2 pp=4 schedule=1f1b"));
///     std::printf("%g s\n", of.prediction.step.p99.value);
///
/// - Values: scenarios, plans, predictions, results and shortlists are structs, which copy what they hold.
///   What is costly to prepare is a class (ScenarioPredictor, PlanPredictor, PlanChoice, StudyLaunches,
///   JobWatch), which keeps copies of its inputs.
/// - Units: SI without prefixes (seconds, bytes, joules, bytes per second), GPU-seconds and US dollars. A
///   double says its unit in its name (`step_s`, `cost_usd`) or comment; types of model/base/units.hpp hold
///   it as `.si`. Shares and probabilities are from 0 to 1.
/// - Errors: InputError if an input is wrong. For scenarios and other TOML files it has place, reason
///   and remedy as members; what() has them for all inputs. InfeasiblePlan where only a feasible plan
///   will do; Stopped if a Pause ends the work; std::runtime_error if the machine fails (a full disk).
///   That a plan is infeasible is not an error but a value, Infeasible, with its Reason and facts;
///   values that would make it feasible are in PlanPrediction::changes. That no plan of a space is
///   feasible is an error, NoFeasiblePlan.
/// - Threads: there is no global state. Different objects may be used at the same time by different
///   threads; one object by one thread at a time, unless it is const. HDF5 is the exception: only one
///   thread of a process may search, resume or open results at a time. Draws use OMP_NUM_THREADS threads;
///   results do not depend on their number.
/// - MPI is not started: a program is a team of one rank. One that runs a search on many ranks creates
///   Communicator::world() first in main(), and calls run_study() on all of them.
/// - Signals are left alone. StudyOptions::stop and max_time end a search with a complete checkpoint;
///   StudyEnd::complete reports it.
/// - Warnings go to standard error, or to StudyOptions::message; LogReceiver
///   receives those of other functions.

#include "io/words/infeasible_text.hpp"
#include "optimizer/api/components.hpp"
#include "optimizer/api/explain.hpp"
#include "optimizer/api/exports.hpp"
#include "optimizer/api/imports.hpp"
#include "optimizer/api/improve.hpp"
#include "optimizer/api/job_changes.hpp"
#include "optimizer/api/measuring_folder.hpp"
#include "optimizer/api/pairs.hpp"
#include "optimizer/api/plans.hpp"
#include "optimizer/api/predict.hpp"
#include "optimizer/api/prediction_text.hpp"
#include "optimizer/api/reports.hpp"
#include "optimizer/api/results.hpp"
#include "optimizer/api/scenarios.hpp"
#include "optimizer/api/search.hpp"
#include "optimizer/api/sensitivity.hpp"
#include "optimizer/api/shortlist.hpp"
#include "optimizer/api/watch.hpp"
#include "optimizer/program/log.hpp"
#include "optimizer/program/release.hpp"
