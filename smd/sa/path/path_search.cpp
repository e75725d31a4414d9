// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/path/path_search.h"

#include <algorithm>
#include <numeric>

namespace smd::sa {
namespace {

using Record = wire::PathRecord;

/// Pairs of LIDs of two ports: first those with the same offset at both ends, which spread best; then the
/// others.
struct LidPairs {
  unsigned sources, destinations, all, round;
  LidPairs(const EndPort& from, const EndPort& to)
      : sources(from.lids()),
        destinations(to.lids()),
        all(sources * destinations),
        round(std::lcm(sources, destinations)) {}
  Lid source(const EndPort& from, unsigned i) const {
    return Lid{static_cast<std::uint16_t>(from.lid.value() + i % sources)};
  }
  Lid destination(const EndPort& to, unsigned i) const {
    return Lid{static_cast<std::uint16_t>(to.lid.value() + (i + i / round) % destinations)};
  }
};

}  // namespace

void PathSearch::set_names(const PathEnds& from, const PathEnds& to) {
  from_name_ = from.name;
  to_name_ = to.name;
  elsewhere_ = to.elsewhere;
}

bool PathSearch::add(const EndPort& from, const EndPort& to) {
  if (!meets(life_of(from, to), query_.life)) return true;
  if (query_.independent) return add_independent(from, to);
  const LidPairs pairs(from, to);
  auto found = found_before();
  for (unsigned i = 0; i < pairs.all && found < query_.paths; ++i) {
    const auto record = path(from, to, pairs.source(from, i), pairs.destination(to, i), nullptr);
    if (!record) continue;
    if (!put(*record)) return false;
    ++found;
  }
  return true;
}

/// Paths that count against `paths`.
unsigned PathSearch::found_before() const { return query_.of_all ? static_cast<unsigned>(records_) : 0; }

bool PathSearch::put(const Record& record) {
  if (records_ == 0 && query_.one) {
    first_ = record;
    records_ = 1;
    return true;
  }
  if (query_.one) return true;
  if ((records_ + 1) * Record::kBytes > kLongestAnswer) return false;
  bytes_.resize((records_ + 1) * Record::kBytes);
  wire::encode_over(record, std::span(bytes_).last(Record::kBytes));
  ++records_;
  return true;
}

/// One after the other the path that shares the fewest links with those that were chosen before, for any
/// pair.
bool PathSearch::add_independent(const EndPort& from, const EndPort& to) {
  struct Candidate {
    Record record;
    std::vector<Step> steps;
  };
  std::vector<Candidate> left;
  const LidPairs pairs(from, to);
  for (unsigned i = 0; i < pairs.all; ++i) {
    Candidate one;
    const auto record = path(from, to, pairs.source(from, i), pairs.destination(to, i), &one.steps);
    if (!record) continue;
    one.record = *record;
    left.push_back(std::move(one));
  }
  for (auto found = found_before(); found < query_.paths && !left.empty(); ++found) {
    const auto best = std::ranges::min_element(left, {}, [this](const Candidate& one) {
      return std::ranges::count_if(
          one.steps, [this](const Step& step) { return std::ranges::find(used_, step) != used_.end(); });
    });
    if (!put(best->record)) return false;
    used_.insert(used_.end(), best->steps.begin(), best->steps.end());
    left.erase(best);
  }
  return true;
}

/// A packet that never leaves its port lives no time.
std::uint8_t PathSearch::life_of(const EndPort& from, const EndPort& to) const {
  return &from == &to ? 0 : ground_.settings.packet_life;
}

std::optional<wire::PathRecord> PathSearch::path(const EndPort& from, const EndPort& to, Lid slid, Lid dlid,
                                                 std::vector<Step>* steps) const {
  if ((query_.slid && *query_.slid != slid) || (query_.dlid && *query_.dlid != dlid)) return std::nullopt;
  const auto& directory = ground_.directory;
  const auto terms = Policy{}.path(directory, from, to, dlid, query_.wish);
  if (!terms || (query_.sl && *query_.sl != terms->sl)) return std::nullopt;
  const auto trip = round_trip(directory, from, to, slid, dlid);
  const auto& way = trip.there;
  if (!way) return std::nullopt;
  if (steps != nullptr) *steps = steps_between(directory, from, to, dlid);
  const auto mtu = limited(way->mtu, query_.mtu);
  const auto has = capped(way->rate, ground_.settings);
  const auto rate = limited(has, query_.rate);
  if (!mtu || !rate) return std::nullopt;
  // Who wants exactly this rate wants a link that has it, as OpenSM understands it.
  if (query_.rate && query_.rate->selector == wire::Selector::exactly && rate->code != has.code)
    return std::nullopt;
  if (query_.reversible && !trip.back) return std::nullopt;
  return Record{.service_id = query_.wish.service_id.value_or(0),
                .dgid = to_name_.value_or(directory.gid_of(to)),
                .sgid = from_name_.value_or(directory.gid_of(from)),
                .dlid = dlid,
                .slid = slid,
                .hop_limit = elsewhere_ ? std::uint8_t{255} : std::uint8_t{0},
                .reversible = trip.back,
                .paths = 0,
                .pkey = terms->pkey,
                .qos_class = query_.wish.qos_class.value_or(0),
                .sl = terms->sl,
                .mtu_selector = wire::Selector::exactly,
                .mtu = *mtu,
                .rate_selector = wire::Selector::exactly,
                .rate = rate->code,
                .life_selector = wire::Selector::exactly,
                .life = life_of(from, to)};
}

}  // namespace smd::sa
