#include "optimizer/parallel/work_item.hpp"

#include "optimizer/parallel/bytes.hpp"

namespace prismopt {

namespace {

Packer& operator<<(Packer& out, const Bound& bound) { return out << bound.index << bound.objectives; }
Unpacker& operator>>(Unpacker& in, Bound& bound) { return in >> bound.index >> bound.objectives; }

Packer& operator<<(Packer& out, const Rejected& rejected)
{
    return out << rejected.reason << rejected.count << rejected.miss << rejected.nearest;
}
Unpacker& operator>>(Unpacker& in, Rejected& rejected)
{
    return in >> rejected.reason >> rejected.count >> rejected.miss >> rejected.nearest;
}

template <class T>
void put_list(Packer& out, const std::vector<T>& values)
{
    out << static_cast<std::uint64_t>(values.size());
    for (const T& value : values) {
        out << value;
    }
}

template <class T>
std::vector<T> get_list(Unpacker& in)
{
    std::uint64_t count = 0;
    in >> count;
    std::vector<T> values;
    for (std::uint64_t i = 0; i < count; ++i) {
        T value{};
        in >> value;
        values.push_back(std::move(value));
    }
    return values;
}

}  // namespace

Message encode(const WorkItem& item)
{
    Packer out;
    out << static_cast<std::uint8_t>(item.index());
    if (const auto* range = std::get_if<SweepRange>(&item)) {
        out << range->begin << range->end << range->keep << range->again << range->limits;
    } else {
        const auto& block = std::get<DrawBlock>(item);
        out << block.points << block.range << block.source.purpose << block.source.round;
    }
    return out.take();
}

WorkItem decode_item(const Message& bytes)
{
    Unpacker in(bytes);
    std::uint8_t kind = 0;
    in >> kind;
    if (kind == 0) {
        SweepRange range;
        in >> range.begin >> range.end >> range.keep >> range.again >> range.limits;
        return range;
    }
    DrawBlock block;
    in >> block.points >> block.range >> block.source.purpose >> block.source.round;
    return block;
}

Message encode(const std::vector<PhaseDraws>& draws)
{
    Packer out;
    out << static_cast<std::uint64_t>(draws.size());
    for (const PhaseDraws& of_point : draws) {
        put_list(out, of_point);
    }
    return out.take();
}

std::vector<PhaseDraws> decode_draws(const Message& bytes)
{
    Unpacker in(bytes);
    std::uint64_t points = 0;
    in >> points;
    std::vector<PhaseDraws> draws;
    for (std::uint64_t i = 0; i < points; ++i) {
        draws.push_back(get_list<std::vector<double>>(in));
    }
    return draws;
}

Message encode(const Answer& answer)
{
    Packer out;
    out << static_cast<std::uint8_t>(answer.index());
    if (const auto* sweep = std::get_if<Sweep>(&answer)) {
        out << sweep->range.begin << sweep->range.end << sweep->range.again << sweep->excluded << sweep->left_out << sweep->floor;
        put_list(out, sweep->feasible);
        put_list(out, sweep->rejected);
    } else {
        const auto& evaluation = std::get<Evaluation>(answer);
        out << evaluation.index << evaluation.rung << evaluation.draws << evaluation.objectives << evaluation.source.purpose
            << evaluation.source.round;
    }
    return out.take();
}

Answer decode_answer(std::span<const std::byte> bytes)
{
    Unpacker in(bytes);
    std::uint8_t kind = 0;
    in >> kind;
    if (kind == 0) {
        Sweep sweep;
        in >> sweep.range.begin >> sweep.range.end >> sweep.range.again >> sweep.excluded >> sweep.left_out >> sweep.floor;
        sweep.feasible = get_list<Bound>(in);
        sweep.rejected = get_list<Rejected>(in);
        return sweep;
    }
    Evaluation evaluation;
    in >> evaluation.index >> evaluation.rung >> evaluation.draws >> evaluation.objectives >> evaluation.source.purpose >>
        evaluation.source.round;
    return evaluation;
}

}  // namespace prismopt
