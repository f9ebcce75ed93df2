#include "model/numerics/training.hpp"

#include "model/base/random.hpp"
#include "model/numerics/formats/exponential.hpp"
#include "model/numerics/linear.hpp"
#include "model/numerics/random_tensor.hpp"

#include <algorithm>
#include <cmath>

namespace prismopt {

namespace {

constexpr std::uint32_t data_tensor = 1000;  // after those of the weights
constexpr double first_decay = 0.9;          // of Adam's moments: Kingma and Ba, arXiv 1412.6980
constexpr double second_decay = 0.999;
constexpr double epsilon = 1e-8;

/// Weights that moments still give to their initial zeros.
struct Remains {
    double first = 1.0;
    double second = 1.0;
};

/// A tensor of weights with its gradient and Adam's moments.
struct Parameter {
    Matrix<float> weights;
    Matrix<float> gradient;
    std::vector<double> first;
    std::vector<double> second;

    Parameter(std::size_t rows, std::size_t columns, double deviation, std::uint32_t tensor,
              std::uint64_t seed)
        : weights(random_tensor({.seed = seed, .tensor = tensor, .factor = deviation}, rows, columns)),
          gradient(rows, columns), first(rows * columns), second(rows * columns)
    {
    }

    void step(const Remains& remains, double rate, double gradient_scale)
    {
        for (std::size_t i = 0; i < first.size(); ++i) {
            const double g = gradient.values()[i] * gradient_scale;
            first[i] = first_decay * first[i] + (1.0 - first_decay) * g;
            second[i] = second_decay * second[i] + (1.0 - second_decay) * g * g;
            const double change =
                first[i] / (1.0 - remains.first) / (std::sqrt(second[i] / (1.0 - remains.second)) + epsilon);
            weights.values()[i] = static_cast<float>(weights.values()[i] - rate * change);
        }
    }
};

void add(Matrix<float>& a, const Matrix<float>& b)
{
    for (std::size_t i = 0; i < a.values().size(); ++i) {
        a.values()[i] += b.values()[i];
    }
}

/// Weights of a layer of attention, and what its forward pass keeps.
struct Layer {
    std::vector<Parameter> projections;  // queries, keys, values, output
    Matrix<float> input;
    std::vector<Matrix<float>> projected;  // queries, keys, values
    Matrix<float> attended;
};

class Network {
public:
    Network(const TrainingShape& shape, const TrainingChoice& choice)
        : shape_(shape), choice_(choice), arithmetic_(choice.format, choice.arithmetic),
          tokens_(parameter(shape.vocabulary, shape.width, 1.0)),
          positions_(parameter(shape.sequence, shape.width, 1.0)),
          head_(parameter(shape.vocabulary, shape.width, inner_deviation()))
    {
        for (Layer& layer : layers_) {
            for (int i = 0; i < 4; ++i) {
                layer.projections.push_back(parameter(shape.width, shape.width, inner_deviation()));
            }
        }
    }

    /// One step of training. `data`: [sequence][position]. Returns the loss.
    double step(const std::vector<std::vector<std::size_t>>& data)
    {
        Matrix<float> x = embed(data);
        for (Layer& layer : layers_) {
            x = forward(layer, std::move(x));
        }
        Matrix<float> logits = linear_output<Emulated>({x, head_.weights, {}}, arithmetic_);
        const double loss = differentiate_loss(logits, data);
        Matrix<float> gradient = backward(head_, std::move(x), std::move(logits));
        for (std::size_t i = layers_.size(); i-- > 0;) {
            gradient = backward(layers_[i], std::move(gradient));
        }
        differentiate_embedding(gradient, data);
        // The pass differentiates the sum over tokens, which keeps small gradients
        // within fp16, as a loss scale does.
        remains_.first *= first_decay;
        remains_.second *= second_decay;
        for (Parameter* of : parameters()) {
            of->step(remains_, shape_.learning_rate, 1.0 / static_cast<double>(judged()));
            if (choice_.master == MasterWeights::as_stored) {
                round_elements(of->weights, choice_.format.stored, {}, {});
            }
        }
        return loss;
    }

    std::vector<float> weights()
    {
        std::vector<float> all;
        for (const Parameter* of : parameters()) {
            all.insert(all.end(), of->weights.values().begin(), of->weights.values().end());
        }
        return all;
    }

private:
    double inner_deviation() const { return 1.0 / std::sqrt(static_cast<double>(shape_.width)); }
    Parameter parameter(std::size_t rows, std::size_t columns, double deviation)
    {
        return {rows, columns, deviation, next_tensor_++, choice_.weight_seed};
    }
    std::vector<Parameter*> parameters()
    {
        std::vector<Parameter*> all{&tokens_, &positions_, &head_};
        for (Layer& layer : layers_) {
            for (Parameter& of : layer.projections) {
                all.push_back(&of);
            }
        }
        return all;
    }
    std::size_t first_judged() const { return shape_.sequence / 2; }
    std::size_t judged() const { return shape_.batch * (shape_.sequence - first_judged()); }

    Matrix<float> embed(const std::vector<std::vector<std::size_t>>& data) const
    {
        Matrix<float> x(shape_.batch * shape_.sequence, shape_.width);
        for (std::size_t row = 0; row < x.rows(); ++row) {
            const std::size_t at = row % shape_.sequence;
            const auto token = tokens_.weights.row(data[row / shape_.sequence][at]);
            const auto position = positions_.weights.row(at);
            for (std::size_t d = 0; d < shape_.width; ++d) {
                x.row(row)[d] = token[d] + position[d];
            }
        }
        arithmetic_.stored(x, {});
        return x;
    }

    AttentionInputs<float> inputs_of(const Layer& layer, std::size_t sequence, Matrix<float> gradient) const
    {
        const std::size_t first = sequence * shape_.sequence;
        return {layer.projected[0].rows_from(first, shape_.sequence),
                layer.projected[1].rows_from(first, shape_.sequence),
                layer.projected[2].rows_from(first, shape_.sequence), std::move(gradient), true};
    }

    Matrix<float> forward(Layer& layer, Matrix<float> x) const
    {
        layer.projected.clear();
        for (int i = 0; i < 3; ++i) {
            layer.projected.push_back(
                linear_output<Emulated>({x, layer.projections[i].weights, {}}, arithmetic_));
        }
        layer.attended = Matrix<float>(x.rows(), x.columns());
        for (std::size_t s = 0; s < shape_.batch; ++s) {
            const AttentionInputs<float> in =
                inputs_of(layer, s, Matrix<float>(shape_.sequence, shape_.width));
            layer.attended.set_rows(s * shape_.sequence,
                                    emulated_output(in, choice_.kernel, choice_.tile, arithmetic_));
        }
        Matrix<float> y =
            linear_output<Emulated>({layer.attended, layer.projections[3].weights, {}}, arithmetic_);
        add(y, x);
        arithmetic_.stored(y, {});
        layer.input = std::move(x);
        return y;
    }

    /// Sets the gradient of the weights; returns that of the input.
    Matrix<float> backward(Parameter& of, Matrix<float> input, Matrix<float> output_gradient) const
    {
        LinearGradients<float> gradients = linear_gradients<Emulated>(
            {std::move(input), of.weights, std::move(output_gradient)}, arithmetic_);
        of.gradient = std::move(gradients.weights);
        return std::move(gradients.x);
    }

    Matrix<float> backward(Layer& layer, Matrix<float> gradient) const
    {
        const Matrix<float> of_attended = backward(layer.projections[3], layer.attended, gradient);
        std::array<Matrix<float>, 3> of_projected;
        of_projected.fill(Matrix<float>(gradient.rows(), gradient.columns()));
        for (std::size_t s = 0; s < shape_.batch; ++s) {
            const std::size_t first = s * shape_.sequence;
            const AttentionOutputs<float> of =
                emulated_attention(inputs_of(layer, s, of_attended.rows_from(first, shape_.sequence)),
                                   choice_.kernel, choice_.tile, arithmetic_);
            of_projected[0].set_rows(first, of.q_gradient);
            of_projected[1].set_rows(first, of.k_gradient);
            of_projected[2].set_rows(first, of.v_gradient);
        }
        for (std::size_t i = 0; i < of_projected.size(); ++i) {
            add(gradient, backward(layer.projections[i], layer.input, std::move(of_projected[i])));
        }
        arithmetic_.stored(gradient, {});
        return gradient;
    }

    /// Replaces logits by the gradient of the summed loss; returns the mean loss.
    double differentiate_loss(Matrix<float>& logits, const std::vector<std::vector<std::size_t>>& data) const
    {
        double loss = 0.0;
        for (std::size_t row = 0; row < logits.rows(); ++row) {
            const auto values = logits.row(row);
            const std::size_t next = row % shape_.sequence + 1;
            if (next < first_judged() || next == shape_.sequence) {
                std::fill(values.begin(), values.end(), 0.0F);
                continue;
            }
            const std::size_t target = data[row / shape_.sequence][next];
            const float largest = *std::max_element(values.begin(), values.end());
            double sum = 0.0;
            for (const float x : values) {
                sum += exponential(x - largest);
            }
            loss += std::log(sum) - (values[target] - largest);
            for (float& x : values) {
                x = static_cast<float>(exponential(x - largest) / sum);
            }
            values[target] -= 1.0F;
        }
        arithmetic_.stored(logits, {});
        return loss / static_cast<double>(judged());
    }

    void differentiate_embedding(const Matrix<float>& gradient,
                                 const std::vector<std::vector<std::size_t>>& data)
    {
        for (Parameter* of : {&tokens_, &positions_}) {
            std::fill(of->gradient.values().begin(), of->gradient.values().end(), 0.0F);
        }
        for (std::size_t row = 0; row < gradient.rows(); ++row) {
            const std::size_t at = row % shape_.sequence;
            const auto token = tokens_.gradient.row(data[row / shape_.sequence][at]);
            const auto position = positions_.gradient.row(at);
            for (std::size_t d = 0; d < shape_.width; ++d) {
                token[d] += gradient.row(row)[d];
                position[d] += gradient.row(row)[d];
            }
        }
    }

    TrainingShape shape_;
    TrainingChoice choice_;
    Emulated arithmetic_;
    Remains remains_;
    std::uint32_t next_tensor_ = 0;
    Parameter tokens_;
    Parameter positions_;
    Parameter head_;
    std::array<Layer, 2> layers_;
};

/// Random tokens, then the same again.
std::vector<std::vector<std::size_t>> batch_of(const TrainingShape& shape, int step, std::uint64_t seed)
{
    std::vector<std::vector<std::size_t>> data(shape.batch, std::vector<std::size_t>(shape.sequence));
    const std::size_t period = shape.sequence / 2;
    for (std::size_t s = 0; s < shape.batch; ++s) {
        for (std::size_t at = 0; at < shape.sequence; ++at) {
            const auto words = philox(
                seed, {static_cast<std::uint32_t>(s), static_cast<std::uint32_t>(at % period),
                       static_cast<std::uint32_t>(step), use(Stream::tensors, Purpose::search, data_tensor)});
            data[s][at] = words[0] % shape.vocabulary;
        }
    }
    return data;
}

}  // namespace

std::vector<TrainingState> train(const TrainingShape& shape, const TrainingChoice& choice,
                                 const std::vector<int>& steps, std::uint64_t data_seed)
{
    Network network(shape, choice);
    std::vector<TrainingState> states;
    int done = 0;
    for (const int until : steps) {
        double loss = 0.0;
        const int first = done;
        while (done < until) {
            ++done;
            loss += network.step(batch_of(shape, done, data_seed));
        }
        states.push_back({done, loss / std::max(done - first, 1), network.weights()});
    }
    return states;
}

}  // namespace prismopt
