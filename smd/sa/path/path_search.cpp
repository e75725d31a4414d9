// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/path/path_search.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "smd/sa/path/independent.h"
#include "smd/sa/registry/group_parameters.h"

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

PathSearch::PathSearch(const PathContext& context, PathQuery query, PathSide from, PathSide to)
    : context_(context),
      query_(std::move(query)),
      from_(std::move(from)),
      to_(std::move(to)),
      records_(Record::kBytes) {
  if (to_.size() == 0) from_at_ = from_.size();
}

PathSearch::~PathSearch() = default;

/// One of `paths` that are of all pairs together, or the one, ends the search.
bool PathSearch::ended() const {
  const bool enough = (query_.one && first_) || (query_.of_all && found_ >= query_.paths);
  return from_at_ >= from_.size() || enough || status_ != wire::kStatusOk;
}

bool PathSearch::go_on(Slice& slice) {
  while (!ended()) {
    if (slice.over()) return false;
    if (!in_pair_) begin_pair(slice);
    const bool done = !terms_ || look_at_pair(slice);
    if (!done) return false;
    in_pair_ = false;
    if (++to_at_ < to_.size()) continue;
    to_at_ = 0;
    ++from_at_;
  }
  return true;
}

/// What is the same for all LIDs of a pair.
void PathSearch::begin_pair(Slice& slice) {
  const auto& from = from_.port(from_at_);
  const auto& to = to_.port(to_at_);
  in_pair_ = true;
  lid_at_ = 0;
  if (!query_.of_all) found_ = 0;
  terms_.reset();
  if (++pairs_ > most_pairs_) status_ = wire::kSaNoResources;
  slice.spend(pkey_work(from.pkeys, to.pkeys));
  if (!is_shown(from, to)) return;
  terms_ = Policy{}.terms(context_.directory.snapshot().decided, from, to, query_.constraints);
  if (terms_ && !meets(life(*terms_), query_.life)) terms_.reset();
  back_.reset();
  if (!terms_ || !has_policy()) return;
  slice.spend(pkey_work(to.pkeys, from.pkeys));
  back_ = terms_of_way_back();
  if (!back_ && query_.reversible) terms_.reset();
}

bool PathSearch::has_policy() const { return context_.directory.snapshot().decided.qos_policy != nullptr; }

/// Ends that have a path share a partition: who is one of them sees the other.
bool PathSearch::is_shown(const EndPort& from, const EndPort& to) const {
  const auto& viewer = context_.viewer;
  return viewer.port() == &from || viewer.port() == &to || (viewer.sees(from) && viewer.sees(to));
}

/// A reversible path is one that the policy grants in both directions, with the same components of the
/// request; as OpenSM has it. What it is told is that of the way there.
std::optional<PathParameters> PathSearch::terms_of_way_back() const {
  const auto& from = from_.port(from_at_);
  const auto& to = to_.port(to_at_);
  auto terms = Policy{}.terms(context_.directory.snapshot().decided, to, from, query_.constraints);
  if (terms && !meets(life(*terms), query_.life)) terms.reset();
  return terms;
}

bool PathSearch::wants_more() const {
  return found_ < query_.paths && status_ == wire::kStatusOk && !(query_.one && first_);
}

/// False: the slice is over before the pair is done.
bool PathSearch::look_at_pair(Slice& slice) {
  if (query_.independent && !independent_) independent_ = std::make_unique<IndependentPaths>();
  const auto& from = from_.port(from_at_);
  const auto& to = to_.port(to_at_);
  const LidPairs pairs(from, to);
  for (; lid_at_ < pairs.all && wants_more(); ++lid_at_) {
    if (slice.over()) return false;
    if (++lid_pairs_ > kMostLidPairs) {
      status_ = wire::kSaNoResources;
      break;
    }
    const auto slid = pairs.source(from, lid_at_), dlid = pairs.destination(to, lid_at_);
    const bool named = (!query_.slid || *query_.slid == slid) && (!query_.dlid || *query_.dlid == dlid);
    slice.spend(named ? kPathWork : 1);
    if (!named) continue;
    std::vector<Step> steps;
    const auto record = path(slid, dlid, independent_ ? &steps : nullptr);
    if (record && independent_) independent_->add(*record, std::move(steps));
    if (record && !independent_) keep(*record);
  }
  return !independent_ || choose_independent(slice);
}

/// One after the other the path that shares the fewest links with those that were chosen before, for any
/// pair. False: the slice is over.
bool PathSearch::choose_independent(Slice& slice) {
  while (wants_more()) {
    if (slice.over()) return false;
    slice.spend(independent_->candidates());
    const auto best = independent_->choose();
    if (!best) break;
    keep(*best);
  }
  independent_->clear();
  return true;
}

void PathSearch::keep(const Record& record) {
  ++found_;
  if (query_.one) {
    first_ = record;
    return;
  }
  if (records_.bytes() + Record::kBytes > kLongestAnswer) {
    status_ = wire::kSaNoResources;
    return;
  }
  wire::encode_over(record, records_.add());
}

/// A packet that never leaves its port lives no time.
std::uint8_t PathSearch::life(const PathParameters& terms) const {
  if (&from_.port(from_at_) == &to_.port(to_at_)) return 0;
  return terms.packet_life.value_or(context_.settings.packet_life);
}

/// Within the limits of its level and of the request.
std::optional<PathSearch::Offer> PathSearch::offer(Way way, const PathParameters& terms) const {
  way.rate = capped(way.rate, context_.settings);
  if (terms.mtu_limit != Mtu::none) way.mtu = std::min(way.mtu, terms.mtu_limit);
  if (terms.rate_limit.code != 0 && terms.rate_limit.mbps < way.rate.mbps) way.rate = terms.rate_limit;
  const auto mtu = limited(way.mtu, query_.mtu);
  const auto rate = limited(way.rate, query_.rate);
  if (!mtu || !rate) return std::nullopt;
  // "Exactly this rate" means the rate of the links of the path, as in OpenSM.
  if (query_.rate && query_.rate->selector == wire::Selector::exactly && rate->code != way.rate.code)
    return std::nullopt;
  return Offer{.mtu = *mtu, .rate = *rate};
}

/// Links are alike in both directions: `way` is that there.
bool PathSearch::grants_way_back(const Way& way, Lid slid) const {
  const auto& directory = context_.directory;
  const auto& from = from_.port(from_at_);
  const auto& to = to_.port(to_at_);
  const auto sl = Policy{}.granted_sl(directory.snapshot().decided, *back_, query_.constraints.sl, to, slid);
  if (!sl || (directory.drops_sls() && !carries(directory, to, from, slid, *sl))) return false;
  return offer(way, *back_).has_value();
}

std::optional<wire::PathRecord> PathSearch::path(Lid slid, Lid dlid, std::vector<Step>* steps) const {
  const auto& directory = context_.directory;
  const auto& from = from_.port(from_at_);
  const auto& to = to_.port(to_at_);
  const auto sl =
      Policy{}.granted_sl(directory.snapshot().decided, *terms_, query_.constraints.sl, from, dlid);
  if (!sl) return std::nullopt;
  if (directory.drops_sls() && !carries(directory, from, to, dlid, *sl)) return std::nullopt;
  const auto trip = round_trip(directory, from, to, slid, dlid);
  if (!trip.there) return std::nullopt;
  const auto offered = offer(*trip.there, *terms_);
  if (!offered) return std::nullopt;
  const bool granted_back = !has_policy() || (back_ && grants_way_back(*trip.there, slid));
  const bool reversible = trip.back && granted_back;
  if (query_.reversible && !reversible) return std::nullopt;
  if (steps != nullptr) *steps = steps_between(directory, from, to, dlid);
  return Record{.service_id = query_.constraints.service_id.value_or(0),
                .dgid = to_.end(to_at_).name.value_or(directory.gid_of(to)),
                .sgid = from_.end(from_at_).name.value_or(directory.gid_of(from)),
                .dlid = dlid,
                .slid = slid,
                .hop_limit = to_.end(to_at_).elsewhere ? std::uint8_t{255} : std::uint8_t{0},
                .reversible = reversible,
                .paths = 0,
                .pkey = terms_->pkey,
                .qos_class = query_.constraints.qos_class.value_or(0),
                .sl = *sl,
                .mtu_selector = wire::Selector::exactly,
                .mtu = offered->mtu,
                .rate_selector = wire::Selector::exactly,
                .rate = offered->rate.code,
                .life_selector = wire::Selector::exactly,
                .life = life(*terms_)};
}

}  // namespace smd::sa
