#pragma once

/// Shares, probabilities and changes in percent, for people. What is not 0 or 100 %
/// is not rounded to look like it.

#include <string>

namespace prismopt {

/// A share of a whole with these decimals: "41.3 %"; "<0.1 %" and ">99.9 %" where
/// rounding would claim none or all.
std::string percent_text(double share, int decimals = 1);
/// The same without the sign, for columns whose head has it; "-" where there is no value.
std::string percent_figure(double share, int decimals = 1);

/// A probability as a share of some hundred draws, which prove neither 0 nor 1: "<1 %", "34 %", ">99 %".
std::string chance_text(double probability);
std::string chance_figure(double probability);

/// A probability of which small values matter: "0.39 %", "5.6 %", "34 %", "99.8 %".
std::string probability_text(double probability);

/// A relative difference: "+2.41 %".
std::string change_text(double difference, int decimals = 1);

/// A relative amount of any size, with significant digits: "0.513 %", "12.5 %".
std::string relative_text(double amount, int digits = 3);

}  // namespace prismopt
