#include "io/results/results_file.hpp"
#include "io/base/input_error.hpp"

#include "io/base/checksum.hpp"
#include "io/results/hdf5_file.hpp"
#include "io/results/plan_results.hpp"
#include "io/words/rejected_text.hpp"
#include "tests/io/full_disk.hpp"
#include "tests/io/sample_results.hpp"
#include "tests/io/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>
#include <tuple>

namespace prismopt {

bool operator==(const Estimate& a, const Estimate& b)
{
    return a.value == b.value && a.low == b.low && a.high == b.high &&
           a.simultaneous_low == b.simultaneous_low && a.simultaneous_high == b.simultaneous_high;
}

namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string content(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void put(const std::string& path, const std::string& bytes)
{
    std::ofstream file(path, std::ios::binary);
    file << bytes;
}

std::string refusal(const std::string& path)
{
    try {
        read_results(path);
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

void expect_equal(const StudyInfo& a, const StudyInfo& b)
{
    EXPECT_EQ(a.build, b.build);
    EXPECT_EQ(a.created, b.created);
    EXPECT_EQ(a.command_line, b.command_line);
    EXPECT_EQ(a.job_id, b.job_id);
    EXPECT_EQ(a.scenario_path, b.scenario_path);
    EXPECT_EQ(a.scenario_text, b.scenario_text);
    EXPECT_EQ(a.default_order, b.default_order);
    EXPECT_EQ(a.scenario_name, b.scenario_name);
    EXPECT_EQ(a.learned, b.learned);
    EXPECT_EQ(a.learned_digest, b.learned_digest);
    EXPECT_EQ(a.nodes_known, b.nodes_known);
    EXPECT_EQ(a.strategy, b.strategy);
    EXPECT_EQ(a.seed, b.seed);
    EXPECT_EQ(a.held, b.held);
    EXPECT_EQ(a.space_parts, b.space_parts);
    EXPECT_EQ(a.outcome.method, b.outcome.method);
    EXPECT_EQ(a.outcome.complete, b.outcome.complete);
    EXPECT_EQ(a.outcome.end, b.outcome.end);
    EXPECT_EQ(a.outcome.proved, b.outcome.proved);
    EXPECT_EQ(a.outcome.confidence, b.outcome.confidence);
    EXPECT_EQ(a.outcome_text, b.outcome_text);
    EXPECT_EQ(a.outcome.pruned, b.outcome.pruned);
    EXPECT_EQ(a.outcome.evaluated, b.outcome.evaluated);
    EXPECT_EQ(a.outcome.open, b.outcome.open);
    EXPECT_EQ(a.outcome.unchecked, b.outcome.unchecked);
    EXPECT_EQ(a.outcome.excluded_by, b.outcome.excluded_by);
}

void expect_equal(const FrontPoint& a, const FrontPoint& b)
{
    EXPECT_EQ(a.index, b.index);
    EXPECT_EQ(a.point, b.point);
    EXPECT_EQ(a.dominated, b.dominated);
    EXPECT_EQ(a.objectives, b.objectives);
    EXPECT_EQ(a.prediction.draws, b.prediction.draws);
    EXPECT_EQ(a.prediction.gpus, b.prediction.gpus);
    EXPECT_EQ(a.prediction.memory.stage, b.prediction.memory.stage);
    for (const auto& column : plan_results<Estimate>()) {
        EXPECT_EQ(column.of(a), column.of(b)) << column.name;
    }
    for (const auto& column : plan_results<double>()) {
        EXPECT_EQ(column.of(a), column.of(b)) << column.name;
    }
    for (const auto& column : plan_results<std::vector<double>>()) {
        EXPECT_EQ(column.of(a), column.of(b)) << column.name;
    }
}

void expect_equal_space(const Results& a, const Results& b)
{
    ASSERT_EQ(a.axes.size(), b.axes.size());
    for (std::size_t i = 0; i < a.axes.size(); ++i) {
        EXPECT_EQ(a.axes[i].name, b.axes[i].name);
        EXPECT_EQ(a.axes[i].ordered, b.axes[i].ordered);
        EXPECT_EQ(a.axes[i].labels, b.axes[i].labels);
    }
    EXPECT_EQ(a.raw_tuples, b.raw_tuples);
    EXPECT_EQ(a.feasible, b.feasible);
    ASSERT_EQ(a.rejected.size(), b.rejected.size());
    for (std::size_t i = 0; i < a.rejected.size(); ++i) {
        EXPECT_EQ(a.rejected[i].reason, b.rejected[i].reason);
        EXPECT_EQ(a.rejected[i].count, b.rejected[i].count);
        EXPECT_EQ(a.rejected[i].miss, b.rejected[i].miss);
        EXPECT_EQ(a.rejected[i].nearest, b.rejected[i].nearest);
    }
}

void expect_equal_evaluations(const Results& a, const Results& b)
{
    ASSERT_EQ(a.objectives.size(), b.objectives.size());
    for (std::size_t k = 0; k < a.objectives.size(); ++k) {
        EXPECT_EQ(a.objectives[k].name, b.objectives[k].name);
        EXPECT_EQ(a.objectives[k].units, b.objectives[k].units);
        EXPECT_EQ(a.objectives[k].long_name, b.objectives[k].long_name);
    }
    ASSERT_EQ(a.evaluations.size(), b.evaluations.size());
    for (std::size_t i = 0; i < a.evaluations.size(); ++i) {
        EXPECT_EQ(a.evaluations[i].index, b.evaluations[i].index);
        EXPECT_EQ(a.evaluations[i].point, b.evaluations[i].point);
        EXPECT_EQ(a.evaluations[i].rung, b.evaluations[i].rung);
        EXPECT_EQ(a.evaluations[i].draws, b.evaluations[i].draws);
        EXPECT_EQ(a.evaluations[i].bounds, b.evaluations[i].bounds);
        EXPECT_EQ(a.evaluations[i].objectives, b.evaluations[i].objectives);
    }
}

void expect_equal_conduct(const Results& a, const Results& b)
{
    EXPECT_EQ(a.provisional, b.provisional);
    ASSERT_EQ(a.progress.size(), b.progress.size());
    for (std::size_t i = 0; i < a.progress.size(); ++i) {
        EXPECT_EQ(a.progress[i].evaluations, b.progress[i].evaluations);
        EXPECT_EQ(a.progress[i].draws, b.progress[i].draws);
        EXPECT_EQ(a.progress[i].hypervolume, b.progress[i].hypervolume);
        EXPECT_EQ(a.progress[i].elapsed_s, b.progress[i].elapsed_s);
    }
    EXPECT_EQ(a.legs, b.legs);
    ASSERT_EQ(a.ranks.size(), b.ranks.size());
    for (std::size_t i = 0; i < a.ranks.size(); ++i) {
        EXPECT_EQ(a.ranks[i].rank, b.ranks[i].rank);
        EXPECT_EQ(a.ranks[i].items, b.ranks[i].items);
        EXPECT_EQ(a.ranks[i].busy_s, b.ranks[i].busy_s);
        EXPECT_EQ(a.ranks[i].idle_s, b.ranks[i].idle_s);
        EXPECT_EQ(a.ranks[i].wall_s, b.ranks[i].wall_s);
        EXPECT_EQ(a.ranks[i].activity_s, b.ranks[i].activity_s);
    }
    EXPECT_EQ(a.threads, b.threads);
}

void expect_equal(const Results& a, const Results& b)
{
    expect_equal(a.study, b.study);
    expect_equal_space(a, b);
    expect_equal_evaluations(a, b);
    ASSERT_EQ(a.front.size(), b.front.size());
    for (std::size_t i = 0; i < a.front.size(); ++i) {
        expect_equal(a.front[i], b.front[i]);
    }
    expect_equal_conduct(a, b);
}

TEST(ResultsFile, GivesBackWhatWasWritten)
{
    const TemporaryFolder folder;
    Results results = sample_results();
    results.study.outcome.unchecked = 17;
    results.study.outcome.excluded_by = {11, 6, 5, 4};
    results.study.outcome.method = SearchMethod::evolution;
    results.study.outcome.complete = true;
    results.study.outcome.end = SearchEnd::no_gain;
    write_results(results, folder.file("sample.h5"));
    expect_equal(read_results(folder.file("sample.h5")), results);
    EXPECT_EQ(folder.entries(), 1U);
}

/// A file keeps facts and their sentence; of older files there is the sentence alone.
TEST(ResultsFile, GivesBackTheFactsOfTheNearestMiss)
{
    const TemporaryFolder folder;
    Results results = sample_results();
    const Infeasible why{Conflict::tp_and_nodes, {{FactKey::tp, 12}, {FactKey::node_gpus, 8}}};
    results.rejected.back().nearest = facts_json({why, "gpus=24 tp=12"});
    write_results(results, folder.file("sample.h5"));
    const Results back = read_results(folder.file("sample.h5"));
    expect_equal(back, results);
    const auto miss = nearest_miss(back.rejected.back());
    ASSERT_TRUE(miss);
    EXPECT_EQ(miss->why.conflict, why.conflict);
    EXPECT_EQ(miss->why.facts, why.facts);
    EXPECT_FALSE(nearest_miss(back.rejected.front())) << "a sentence";
}

TEST(ResultsFile, GivesBackPlansThatMayNotFit)
{
    const TemporaryFolder folder;
    Results results = sample_results();
    results.may_not_fit = {
        .outcome = "proved complete, 2 evaluated", .proved = true, .limit = 0.9, .evaluated = 2, .plans = {}};
    results.may_not_fit.plans = {results.front.front()};
    results.may_not_fit.plans.front().index = 7;
    results.may_not_fit.plans.front().prediction.fit_probability = 0.64;
    write_results(results, folder.file("a.h5"));
    const MayNotFit read = read_results(folder.file("a.h5")).may_not_fit;
    EXPECT_EQ(read.outcome, results.may_not_fit.outcome);
    EXPECT_TRUE(read.proved);
    EXPECT_EQ(read.evaluated, 2U);
    EXPECT_EQ(read.limit, 0.9);
    ASSERT_EQ(read.plans.size(), 1U);
    expect_equal(read.plans.front(), results.may_not_fit.plans.front());
}

TEST(ResultsFile, GivesBackWhichPlansMayBeTheBest)
{
    const TemporaryFolder folder;
    Results results = sample_results();
    results.posterior.linearisation_error = 0.01;
    results.posterior.plans = {{7, 8192, 0, 4e6, false, 0.25, 0.5, 0.03, 0.9, 2, 1.0, 3e6, 5e6},
                               {21, 8192, 0, 3e6, true, 0.75, 0.5, 0.01, 1.0, 1, 0.75, 2e6, 4e6}};
    write_results(results, folder.file("sample.h5"));
    const Posterior read = read_results(folder.file("sample.h5")).posterior;
    EXPECT_EQ(read.linearisation_error, 0.01);
    ASSERT_EQ(read.plans.size(), 2U);
    const auto members = [](const PlanChance& p) {
        return std::tuple(p.index, p.gpus, p.objective, p.value, p.drawn, p.best, p.best_without_discrepancy,
                          p.regret, p.fits, p.shortlist, p.cover, p.low, p.high);
    };
    EXPECT_EQ(members(read.plans[0]), members(results.posterior.plans[0]));
    EXPECT_EQ(members(read.plans[1]), members(results.posterior.plans[1]));
    results.posterior.plans[1].best = 1.5;
    write_results(results, folder.file("wrong.h5"));
    EXPECT_THROW(read_results(folder.file("wrong.h5")), InputError);
}

TEST(ResultsFile, RefusesControlCharactersInItsTexts)
{
    const TemporaryFolder folder;
    const auto refused = [&](const std::function<void(Results&)>& change) {
        Results results = sample_results();
        change(results);
        write_results(results, folder.file("sample.h5"));
        return refusal(folder.file("sample.h5"));
    };
    EXPECT_THAT(refused([](Results& r) { r.study.scenario_name = "evil\ntouch"; }),
                AllOf(HasSubstr("attribute scenario_name"), HasSubstr("evil\\u000Atouch"),
                      HasSubstr("U+000A (line break)")));
    EXPECT_THAT(refused([](Results& r) { r.study.outcome_text = "\x1b[2J"; }), HasSubstr("U+001B (escape)"));
    EXPECT_THAT(refused([](Results& r) { r.rejected.front().nearest = "a\tb"; }),
                HasSubstr("dataset rejected_nearest"));
    EXPECT_EQ(refused([](Results& r) { r.study.scenario_text = "# a text\n# of\ttwo lines\r\n"; }),
              "no error");
}

TEST(ResultsFile, GivesBackAnEmptyStudy)
{
    const TemporaryFolder folder;
    write_results(Results{}, folder.file("empty.h5"));
    expect_equal(read_results(folder.file("empty.h5")), Results{});
}

TEST(ResultsFile, GivesBackAFrontWithoutDistributionsAndPointsWithoutBounds)
{
    const TemporaryFolder folder;
    Results results = sample_results();
    results.front[1].prediction.step.quantiles.clear();
    results.evaluations[2].bounds.clear();
    write_results(results, folder.file("sample.h5"));
    expect_equal(read_results(folder.file("sample.h5")), results);
}

TEST(ResultsFile, GivesBackManyPoints)
{
    const TemporaryFolder folder;
    Results results = sample_results();
    const EvaluatedPoint point = results.evaluations[1];
    results.raw_tuples = 200'000;
    for (std::uint64_t index = 31; index < 200'000; ++index) {  // compressed, in several chunks
        results.evaluations.push_back(point);
        results.evaluations.back().index = index;
        results.evaluations.back().bounds[0] = static_cast<double>(index);
    }
    write_results(results, folder.file("many.h5"));
    const Results read = read_results(folder.file("many.h5"));
    ASSERT_EQ(read.evaluations.size(), results.evaluations.size());
    for (std::size_t i = 0; i < results.evaluations.size(); i += 997) {
        EXPECT_EQ(read.evaluations[i].index, results.evaluations[i].index);
        EXPECT_EQ(read.evaluations[i].bounds, results.evaluations[i].bounds);
    }
}

TEST(ResultsFile, HasEqualBytesForEqualResultsWheneverItIsWritten)
{
    const TemporaryFolder folder;
    write_results(sample_results(), folder.file("a.h5"));
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // HDF5's object times count seconds
    write_results(sample_results(), folder.file("b.h5"));
    EXPECT_EQ(content(folder.file("a.h5")), content(folder.file("b.h5")));
}

TEST(ResultsFile, KeepsTheFormerFileWhenTheDiskIsFull)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("sample.h5");
    put(path, "former");
    {
        const FullDisk full(4096);
        try {
            write_results(sample_results(), path);
            ADD_FAILURE() << "written to a full disk";
        } catch (const std::runtime_error& error) {
            EXPECT_THAT(error.what(), AllOf(HasSubstr(path), HasSubstr("File too large")));
        }
    }
    EXPECT_EQ(content(path), "former");
    EXPECT_EQ(folder.entries(), 1U);
    write_results(sample_results(), path);
    expect_equal(read_results(path), sample_results());
}

TEST(ResultsFile, NamesAFolderThatIsMissing)
{
    const TemporaryFolder folder;
    try {
        write_results(sample_results(), folder.file("none/sample.h5"));
        ADD_FAILURE() << "written to a folder that does not exist";
    } catch (const std::runtime_error& error) {
        EXPECT_THAT(error.what(), AllOf(HasSubstr("none/sample.h5"), HasSubstr("No such file or directory")));
    }
}

TEST(ResultsFile, DoesNotReplaceAFolder)
{
    const TemporaryFolder folder;
    std::filesystem::create_directory(folder.file("sample.h5"));
    EXPECT_THROW(write_results(sample_results(), folder.file("sample.h5")), std::runtime_error);
    EXPECT_EQ(folder.entries(), 1U);
}

TEST(ResultsFile, RefusesWhatIsNoResultsFile)
{
    const TemporaryFolder folder;
    EXPECT_THAT(refusal(folder.file("none.h5")), AllOf(HasSubstr("none.h5"), HasSubstr("No such file")));
    put(folder.file("empty.h5"), "");
    EXPECT_THAT(refusal(folder.file("empty.h5")), HasSubstr("is not a results file"));
    put(folder.file("text.h5"), "name = \"a scenario\"\n");
    EXPECT_THAT(refusal(folder.file("text.h5")), HasSubstr("is not a results file"));
    std::filesystem::create_directory(folder.file("folder.h5"));
    EXPECT_THAT(refusal(folder.file("folder.h5")), HasSubstr("is not a results file"));
}

TEST(ResultsFile, RefusesAFileThatIsCutShort)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("sample.h5");
    write_results(sample_results(), path);
    const std::string whole = content(path);
    for (std::size_t size = 64; size < whole.size(); size += whole.size() / 97) {
        put(path, whole.substr(0, size));
        EXPECT_THAT(refusal(path), AllOf(HasSubstr(path), HasSubstr("truncated"))) << size;
    }
}

TEST(ResultsFile, RefusesEachDamagedByte)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("sample.h5");
    write_results(sample_results(), path);
    const std::string whole = content(path);
    const auto damaged = [&](std::size_t byte, int bits) {
        std::string bytes = whole;
        bytes[byte] = static_cast<char>(bytes[byte] ^ bits);
        put(path, bytes);
        EXPECT_NE(refusal(path), "no error") << byte;
    };
    for (std::size_t byte = 0; byte < 600; ++byte) {
        damaged(byte, 1 << (byte % 8));
    }
    for (std::size_t byte = 600; byte < whole.size(); byte += 1 + whole.size() / 499) {
        damaged(byte, 0xFF);
    }
    put(path, whole + '\0');
    EXPECT_THAT(refusal(path), HasSubstr("bytes follow"));
    put(path, whole);
    expect_equal(read_results(path), sample_results());
}

TEST(ResultsFile, ReadsFilesOfBeforeWithoutTheirChecksum)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("sample.h5");
    write_results(sample_results(), path);
    EXPECT_TRUE(read_results(path).sealed);
    put(path, content(path).substr(seal_bytes));
    const Results read = read_results(path);
    EXPECT_FALSE(read.sealed);
    expect_equal(read, sample_results());
}

TEST(ResultsFile, KeepsTheOrderThatWasTheDefault)
{
    const TemporaryFolder folder;
    Results results = sample_results();
    results.study.default_order = PlacementOrder::tp_pp_dp;
    write_results(results, folder.file("sample.h5"));
    EXPECT_EQ(read_results(folder.file("sample.h5")).study.default_order, PlacementOrder::tp_pp_dp);
}

/// What no search writes; the reader names the dataset.
TEST(ResultsFile, RefusesValuesOutOfRange)
{
    const TemporaryFolder folder;
    const auto error_of = [&](const std::function<void(Results&)>& spoil) {
        Results results = sample_results();
        spoil(results);
        write_results(results, folder.file("spoilt.h5"));
        return refusal(folder.file("spoilt.h5"));
    };
    const double nan = std::nan("");
    EXPECT_EQ(error_of([](Results&) {}), "no error");
    EXPECT_THAT(error_of([](Results& r) { r.evaluations[1].rung = -1; }), HasSubstr("/evaluations/rung"));
    EXPECT_THAT(error_of([](Results& r) { r.evaluations[1].rung = 1 << 30; }),
                HasSubstr("/evaluations/rung"));
    EXPECT_THAT(error_of([](Results& r) { r.evaluations[2].index = 32; }),
                HasSubstr("/evaluations/evaluation"));
    EXPECT_THAT(error_of([](Results& r) { r.evaluations[2].index = 7; }),
                HasSubstr("/evaluations/evaluation"));
    EXPECT_THAT(error_of([](Results& r) { r.evaluations[1].objectives[0].value = -1.0; }),
                HasSubstr("objective_training_time_p99"));
    EXPECT_THAT(error_of([&](Results& r) { r.evaluations[1].objectives[0].value = nan; }),
                HasSubstr("objective_training_time_p99"));
    EXPECT_THAT(error_of([](Results& r) { r.evaluations[2].objectives[0].low = 1e9; }),
                HasSubstr("objective_training_time_p99"));
    EXPECT_THAT(error_of([](Results& r) { r.front[0].prediction.gpus = -8; }),
                HasSubstr("/front/total_gpus"));
    EXPECT_THAT(error_of([](Results& r) { r.front[0].index = 32; }), HasSubstr("/front/evaluation"));
    EXPECT_THAT(error_of([&](Results& r) { r.front[1].prediction.training.p99.value = nan; }),
                HasSubstr("/front/training_time_p99"));
    EXPECT_THAT(error_of([](Results& r) { r.front[0].prediction.mfu = 3.0; }), HasSubstr("/front/mfu"));
    EXPECT_THAT(error_of([](Results& r) { r.front[0].model_low = 5.0; }), HasSubstr("point 30 of /front"));
    EXPECT_THAT(error_of([](Results& r) { r.front[0].prediction.gpus = 8192 / 2; }),
                HasSubstr("point 30 of /front"));
    EXPECT_THAT(error_of([](Results& r) { r.front[0].prediction.memory.stage = 20'000; }),
                HasSubstr("point 30 of /front"));
    EXPECT_THAT(error_of([](Results& r) { r.front[0].prediction.gpu_price_usd_per_h = 0.0; }),
                HasSubstr("point 30 of /front"));
    EXPECT_THAT(error_of([&](Results& r) { r.front[1].prediction.mfu = nan; }), HasSubstr("/front/mfu"));
    EXPECT_THAT(error_of([](Results& r) { r.front[1].prediction.ettr = 7.0; }), HasSubstr("/front/ettr"));
    EXPECT_THAT(error_of([](Results& r) { r.front[1].prediction.step.quantiles[3] = 1e6; }),
                HasSubstr("/front/step_time_quantile"));
    EXPECT_THAT(error_of([&](Results& r) { r.front[1].prediction.step.quantiles[3] = nan; }),
                HasSubstr("/front/step_time_quantile"));
    EXPECT_THAT(error_of([](Results& r) { r.front[0].prediction.training.p99.value *= 1.1; }),
                HasSubstr("/front/training_time_p99"));
    EXPECT_THAT(error_of([](Results& r) { r.front[0].prediction.step.mean.low = 1e6; }),
                HasSubstr("/front/step_time_mean"));
    EXPECT_THAT(error_of([](Results& r) { r.front[0].prediction.run.energy_j.low = -1.0; }),
                HasSubstr("/front/energy"));
    EXPECT_THAT(error_of([](Results& r) { r.evaluations[2].bounds[0] = 1e300; }),
                HasSubstr("objective_training_time_p99_bound"));
    EXPECT_THAT(error_of([&](Results& r) { r.front[0].prediction.gpu_price_usd_per_h = nan; }),
                HasSubstr("point 30 of /front"));
    EXPECT_THAT(error_of([&](Results& r) { r.front[1].prediction.run.rework_s = nan; }),
                HasSubstr("point 21 of /front"));
    for (const auto& column : plan_results<Estimate>()) {
        EXPECT_THAT(error_of([&](Results& r) { column.of(r.front[1]) = Estimate::exact(1e300); }),
                    HasSubstr(std::string(column.name)));
        EXPECT_THAT(error_of([&](Results& r) { column.of(r.front[1]).high = 1e300; }),
                    HasSubstr(std::string(column.name)));
    }
    for (const auto& column : plan_results<double>()) {
        EXPECT_THAT(error_of([&](Results& r) { column.of(r.front[1]) = 1e300; }),
                    HasSubstr(std::string(column.name)));
        EXPECT_THAT(error_of([&](Results& r) { column.of(r.front[1]) = -1e300; }),
                    HasSubstr(std::string(column.name)));
    }
    EXPECT_THAT(error_of([](Results& r) { r.rejected[0].count = 33; }), HasSubstr("/space/rejected_count"));
    EXPECT_THAT(error_of([](Results& r) { r.feasible = 33; }), HasSubstr("feasible"));
    EXPECT_THAT(error_of([](Results& r) { r.study.outcome.confidence = 7.0; }), HasSubstr("confidence"));
    EXPECT_THAT(error_of([](Results& r) { r.study.held = {5}; }), HasSubstr("part"));
    EXPECT_THAT(error_of([](Results& r) { r.threads = 0; }), HasSubstr("threads"));
    EXPECT_THAT(error_of([](Results& r) { r.ranks[1].busy_s = -1.0; }), HasSubstr("/ranks/busy"));
    EXPECT_THAT(error_of([](Results& r) { r.objectives[1].name = "miss_probability"; }),
                HasSubstr("objective_miss_probability"));
}

TEST(ResultsFile, RefusesOtherHdf5FilesAndNewerSchemas)
{
    const TemporaryFolder folder;
    const auto save = [&](const Hdf5Object& root) {
        const std::vector<std::byte> image = root.image();
        put(folder.file("other.h5"), std::string(reinterpret_cast<const char*>(image.data()), image.size()));
        return refusal(folder.file("other.h5"));
    };
    {
        const Hdf5Object root = Hdf5Object::create_in_memory();
        EXPECT_THAT(save(root), HasSubstr("not a results file of prismopt"));
        root.set<std::string>("filetype", "statepoint");
        EXPECT_THAT(save(root), HasSubstr("not a results file of prismopt"));
    }
    const Hdf5Object root = Hdf5Object::create_in_memory();
    root.set<std::string>("filetype", "prismopt results");
    root.set<std::string>("program_version", "9.9");
    root.set<std::string>("git_commit", "0123abc");
    root.set_list<std::int32_t>("schema_version", {results_schema_major + 1, 0});
    EXPECT_THAT(save(root), AllOf(HasSubstr("schema version 2"), HasSubstr("prismopt 9.9 (0123abc)")));
}

TEST(ResultsFile, RefusesAFileThatLacksAGroup)
{
    const TemporaryFolder folder;
    const Hdf5Object root = Hdf5Object::create_in_memory();
    root.set<std::string>("filetype", "prismopt results");
    root.set_list<std::int32_t>("schema_version", {results_schema_major, results_schema_minor + 1});
    const std::vector<std::byte> image = root.image();
    put(folder.file("bare.h5"), std::string(reinterpret_cast<const char*>(image.data()), image.size()));
    EXPECT_THAT(refusal(folder.file("bare.h5")),
                AllOf(HasSubstr("is damaged"), HasSubstr("program_version")));
}

}  // namespace

}  // namespace prismopt
