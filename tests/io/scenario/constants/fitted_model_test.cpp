#include "io/scenario/constants/fitted_model.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "io/toml/catalog_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

namespace prismopt {
namespace {

TEST(FittedModel, NamesEntriesOfTheCatalog)
{
    const FittedModel model = fitted_model();
    std::vector<std::string> known = catalog_accelerators();
    for (const auto& more : {catalog_stacks(), catalog_links(), catalog_libraries()}) {
        known.insert(known.end(), more.begin(), more.end());
    }
    EXPECT_GE(model.constants.size(), 24U);
    EXPECT_LE(model.constants.size(), 300U);
    for (const FittedConstant& constant : model.constants) {
        EXPECT_FALSE(constant.entries.empty());
        for (const std::string& entry : constant.entries) {
            EXPECT_NE(std::find(known.begin(), known.end(), entry), known.end()) << entry;
        }
    }
}

/// As the fit wrote them beside the shares, in [NAME.efficiency]; declared accelerators have none.
TEST(FittedModel, HasTheRowsOfEachAccelerator)
{
    const FittedModel model = fitted_model();
    int fitted = 0;
    int declared = 0;
    for (const EmbeddedFile& file : catalog_files()) {
        std::istringstream lines(file.name == "accelerators.toml" ? file.text : "");
        std::string accelerator;
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with('[')) {
                accelerator = line.substr(1, line.find_first_of(".]") - 1);
            } else if (line.starts_with("gemm = ")) {
                const auto rows = line.find(" to ", line.find("fitted 2"));  // a mean of relatives is of none
                const int written = rows == std::string::npos ? 0 : std::stoi(line.substr(rows + 4));
                EXPECT_EQ(rows_on(model, accelerator), written) << accelerator;
                if (written > 0) {
                    ++fitted;
                } else {
                    ++declared;
                }
            }
        }
    }
    EXPECT_GE(fitted, 8);
    EXPECT_EQ(static_cast<std::size_t>(fitted + declared), catalog_accelerators().size());
    EXPECT_EQ(rows_on(model, "abacus"), 0);
}

/// The error that an accelerator declares is that of its measured runs: it must not stay what was
/// assumed before there were any.
TEST(FittedModel, AcceleratorsWithTenRowsDeclareTheirOwnError)
{
    const FittedModel model = fitted_model();
    int measured = 0;
    for (const std::string& name : catalog_accelerators()) {
        if (rows_on(model, name) >= 10) {
            EXPECT_LE(catalog_accelerator(name).model_error, 0.1) << name;
            ++measured;
        }
    }
    EXPECT_GE(measured, 10);
}

/// A covariance: symmetric, and no correlation beyond one (entries are written with three digits).
TEST(FittedModel, HasACovariance)
{
    const FittedModel model = fitted_model();
    const std::size_t n = model.constants.size();
    ASSERT_EQ(model.covariance.size(), n * n);
    for (std::size_t i = 0; i < n; ++i) {
        EXPECT_GT(model.covariance[i * n + i], 0.0);
        for (std::size_t j = 0; j < i; ++j) {
            EXPECT_EQ(model.covariance[i * n + j], model.covariance[j * n + i]);
            EXPECT_LE(std::abs(model.covariance[i * n + j]),
                      1.01 * std::sqrt(model.covariance[i * n + i] * model.covariance[j * n + j]));
        }
    }
    ASSERT_EQ(model.scatter.size(), static_cast<std::size_t>(run_kinds));
    for (const double scatter : model.scatter) {
        EXPECT_GT(scatter, 0.0);
        EXPECT_LT(scatter, 0.5);
    }
}

/// Each row of the fit was held out once, and is less well predicted than by the fit in the mean.
TEST(FittedModel, HasTheErrorsOfHeldOutFamilies)
{
    const FittedModel model = fitted_model();
    int rows = 0;
    double fitted = 0.0;
    double held_out = 0.0;
    for (const HeldOutErrors& family : model.held_out) {
        EXPECT_GT(family.rows, 0) << family.source;
        EXPECT_LE(family.held_out.inside, 1.0) << family.source;
        rows += family.rows;
        fitted += family.rows * family.fitted.error;
        held_out += family.rows * family.held_out.error;
    }
    EXPECT_EQ(rows, model.rows);
    EXPECT_GT(held_out, fitted);
}

/// What a run is: of a torus, then of its network, then of its precision.
TEST(FittedModel, KnowsKindsOfRuns)
{
    Cluster nodes;
    nodes.tiers.emplace_back();
    Cluster torus = nodes;
    torus.tiers.front().topology = Topology::torus;
    for (const auto& [network, kind] : {std::pair{"llama3-8b", RunKind::dense},
                                        {"mixtral-8x7b", RunKind::moe},
                                        {"nemotron-3-nano-30b-a3b", RunKind::hybrid},
                                        {"gpt-oss-20b", RunKind::hybrid},
                                        {"bert-large", RunKind::encoder},
                                        {"t5-v1.1-large", RunKind::encoder},
                                        {"sd2-unet", RunKind::encoder},
                                        {"dlrm-dcnv2", RunKind::recommendation}}) {
        EXPECT_EQ(kind_of(catalog_workload(network), nodes), kind) << network;
        EXPECT_EQ(kind_of(catalog_workload(network), torus), RunKind::torus) << network;
    }
    Workload low = catalog_workload("llama3-8b");
    low.precision = Precision::fp8;
    EXPECT_EQ(kind_of(low, nodes), RunKind::low_precision);
}

}  // namespace
}  // namespace prismopt
