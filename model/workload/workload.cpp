#include "model/workload/workload.hpp"

namespace prismopt {

double Workload::layer_parameters() const
{
    const double h = hidden;
    const double kv = h * kv_heads / heads;
    const double matrices = activation == Activation::swiglu ? 3.0 : 2.0;
    const double norms = normalisation == Normalisation::layer_norm ? 4.0 * h : 2.0 * h;
    // GELU networks of the GPT family carry biases, SwiGLU ones do not.
    const double biases = activation == Activation::gelu ? 2.0 * h + 2.0 * kv + feed_forward + h : 0.0;
    return 2.0 * h * h + 2.0 * h * kv + matrices * h * feed_forward + norms + biases;
}

double Workload::parameters() const
{
    const double embedding = static_cast<double>(vocabulary) * hidden;
    return layers * layer_parameters() + (tied_embedding ? 1.0 : 2.0) * embedding;
}

}  // namespace prismopt
