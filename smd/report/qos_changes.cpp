// SPDX-License-Identifier: Apache-2.0
#include "smd/report/qos_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace smd::sm::inline reports {
namespace {

/// The name of a class, or an SL without one.
using ClassKey = std::pair<std::string, Sl>;
using Standings = std::map<ClassKey, QosStanding>;

ClassKey key_of(const QosUse& use) { return {use.name, use.name.empty() ? use.of_class : Sl{}}; }

/// Adds what the SLs of a standing have at one kind of port.
void add_kind(QosStanding& into, const QosKindView& kind, std::set<Vl>& vls, bool first) {
  double share = 0;
  for (const auto& lane : kind.lanes) {
    if (std::ranges::find(into.sls, lane.sl) == into.sls.end()) continue;
    into.dropped |= !lane.vl;
    if (lane.vl) vls.insert(*lane.vl);
    share += lane.share;
  }
  into.share_least = first ? share : std::min(into.share_least, share);
  into.share_most = std::max(into.share_most, share);
}

Standings standings_of(const QosExplanation& explanation) {
  Standings found;
  for (const auto& [sl, use] : explanation.uses) {
    auto& into = found[key_of(use)];
    into.sls.push_back(sl);
    if (use.name.empty()) into.by.insert(into.by.end(), use.by.begin(), use.by.end());
  }
  for (auto& [key, into] : found) {
    std::set<Vl> vls;
    for (const auto& kind : explanation.kinds) add_kind(into, kind, vls, &kind == explanation.kinds.data());
    into.vls.assign(vls.begin(), vls.end());
  }
  return found;
}

/// As it is shown.
long long tenths(double share) { return std::llround(1000 * share); }

bool stand_alike(const QosStanding& a, const QosStanding& b) {
  return a.sls == b.sls && a.vls == b.vls && a.dropped == b.dropped && a.by == b.by &&
         tenths(a.share_least) == tenths(b.share_least) && tenths(a.share_most) == tenths(b.share_most);
}

template <class Item>
bool holds_all(const std::vector<Item>& whole, const std::vector<Item>& part) {
  return std::ranges::all_of(part,
                             [&](const Item& one) { return std::ranges::find(whole, one) != whole.end(); });
}

std::vector<std::string> warnings_of(const QosExplanation& explanation) {
  auto found = explanation.warnings;
  for (const auto& kind : explanation.kinds) {
    for (const auto& warning : kind.warnings)
      found.push_back(kind.first.empty() ? fmt::format("{}: {}", kind.names, warning)
                                         : fmt::format("{} (first {}): {}", kind.names, kind.first, warning));
  }
  return found;
}

Json standing_json(const std::optional<QosStanding>& standing) {
  if (!standing) return {};
  JsonArray sls, vls;
  for (const auto sl : standing->sls) sls.emplace_back(sl.value());
  for (const auto vl : standing->vls) vls.emplace_back(vl.value());
  return Json(JsonObject{{"sls", std::move(sls)},
                         {"vls", std::move(vls)},
                         {"dropped", standing->dropped},
                         {"share_least", standing->share_least},
                         {"share_most", standing->share_most},
                         {"by", strings_json(standing->by)}});
}

}  // namespace

QosChanges qos_changes(const QosExplanation& before, const QosExplanation& after) {
  QosChanges found{.pending = after.pending, .warnings = warnings_of(after)};
  auto was = standings_of(before), is = standings_of(after);
  std::set<ClassKey> keys;
  for (const auto* all : {&was, &is}) {
    for (const auto& [key, standing] : *all) keys.insert(key);
  }
  for (const auto& key : keys) {
    const auto old = was.find(key), next = is.find(key);
    const bool both = old != was.end() && next != is.end();
    if (both && stand_alike(old->second, next->second)) continue;
    QosChange change{.name = key.first};
    if (old != was.end()) change.before = std::move(old->second);
    if (next != is.end()) change.after = std::move(next->second);
    found.classes.push_back(std::move(change));
  }
  return found;
}

bool moves_paths(const QosChanges& changes) {
  return std::ranges::any_of(changes.classes, [](const QosChange& one) {
    if (!one.before) return false;
    if (!one.after) return one.before->sls != std::vector{Sl{0}};  // all that is in no class has SL 0
    if (one.after->dropped && !one.before->dropped) return true;
    return !holds_all(one.after->sls, one.before->sls) || !holds_all(one.after->by, one.before->by);
  });
}

Json qos_changes_json(const QosChanges& changes) {
  JsonArray classes;
  for (const auto& one : changes.classes)
    classes.push_back(Json(JsonObject{{"class", one.name.empty() ? Json{} : Json(one.name)},
                                      {"before", standing_json(one.before)},
                                      {"after", standing_json(one.after)}}));
  return Json(JsonObject{{"classes", std::move(classes)},
                         {"pending", strings_json(changes.pending)},
                         {"warnings", strings_json(changes.warnings)}});
}

}  // namespace smd::sm::inline reports
