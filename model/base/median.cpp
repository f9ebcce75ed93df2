#include "model/base/median.hpp"

#include <boost/math/statistics/univariate_statistics.hpp>

namespace prismopt {

double median_of(std::vector<double> values) { return boost::math::statistics::median(values); }

}  // namespace prismopt
