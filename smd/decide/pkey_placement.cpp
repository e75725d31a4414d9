// SPDX-License-Identifier: Apache-2.0
#include "smd/decide/pkey_placement.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "smd/sweep/pkeys.h"

namespace smd::sm::inline decisions {
namespace {

using Index = std::optional<std::size_t>;

class Placer {
 public:
  explicit Placer(const PlacementInput& in) : in_(in), chosen_(in.keys.size()) {
    placed_.table.resize(in.held.size());
    for (const auto index : in.kept) placed_.table[index] = in.held[index];
  }

  Placement run() {
    if (in_.held.empty()) return all_left_out();
    leave_out_excess();
    const auto displaced = give_index0();
    give_known();
    if (displaced != PKey{}) give_new(displaced, true);
    for (std::size_t i = 0; i < in_.keys.size(); ++i) {
      if (!chosen_[i]) give_new(in_.keys[i].key, held_index(in_.keys[i].key) == Index(0));
    }
    return std::move(placed_);
  }

 private:
  Placement all_left_out() {
    for (const auto& wanted : in_.keys) placed_.left_out.push_back(wanted.key);
    return std::move(placed_);
  }

  static bool is_first(const WantedKey& wanted) {
    return wanted.index0 || wanted.key.same_partition(kDefaultPKey);
  }

  /// What a table that is full has no room for: new keys, then those that the port has, the last ones first;
  /// the default key and the one at index 0 stay.
  void leave_out_excess() {
    const auto room = in_.held.size() - in_.kept.size();
    auto excess = in_.keys.size() - std::min(in_.keys.size(), room);
    for (const bool known : {false, true}) {
      for (std::size_t i = in_.keys.size(); i-- > 0 && excess > 0;) {
        const auto& wanted = in_.keys[i];
        if (chosen_[i] || is_first(wanted) || known_index(wanted.key).has_value() != known) continue;
        chosen_[i] = true;
        --excess;
      }
    }
    for (std::size_t i = 0; i < in_.keys.size(); ++i) {
      if (chosen_[i]) placed_.left_out.push_back(in_.keys[i].key);
    }
  }

  bool wants(PKey key) const { return std::ranges::find(in_.keys, key, &WantedKey::key) != in_.keys.end(); }

  /// The same key, or the other membership of its partition where that is not wanted as well.
  bool stands_for(PKey there, PKey key) const {
    return there == key || (there.same_partition(key) && !wants(there));
  }

  Index held_index(PKey key) const {
    const auto exact = std::ranges::find(in_.held, key);
    const auto at = exact != in_.held.end()
                        ? exact
                        : std::ranges::find_if(in_.held, [&](PKey there) { return stands_for(there, key); });
    return at != in_.held.end() ? Index(static_cast<std::size_t>(at - in_.held.begin())) : std::nullopt;
  }

  Index stored_index(PKey key) const {
    Index found;
    for (const auto& [there, index] : in_.stored) {
      if (index >= in_.held.size() || !stands_for(there, key)) continue;
      if (!found || there == key) found = index;
    }
    return found;
  }

  /// A port in service has the other membership there, by us: full and limited change in one Set, wherever
  /// this one was once.
  bool turns_in_place(PKey key, std::size_t index) const {
    const auto there = in_.held[index];
    return in_.in_service && there != key &&
           std::ranges::find(in_.stored, std::pair(there, static_cast<std::uint16_t>(index))) !=
               in_.stored.end();
  }

  /// Where the key was; nothing where the port has never had it.
  Index known_index(PKey key) const {
    const auto held = held_index(key);
    const auto stored = stored_index(key);
    const bool stays_first = in_.in_service && held == Index(0);
    if (stays_first || (in_.held_first && held) || (held && turns_in_place(key, *held))) return held;
    const bool usable = stored && !(in_.in_service && *stored == 0);
    return usable ? stored : held;
  }

  bool place(std::size_t i, std::size_t index) {
    if (placed_.table[index] != PKey{}) return false;
    placed_.table[index] = in_.keys[i].key;
    chosen_[i] = true;
    return true;
  }

  /// The key that is to be at index 0: the one that was told to, else where the key there goes the other one
  /// of its partition or the default key, else in a port that is not in service the one that was there, the
  /// default key, or the first. Returns a key of others that gives way.
  PKey give_index0() {
    const auto told = std::ranges::find(in_.keys, true, &WantedKey::index0);
    if (told != in_.keys.end()) {
      const auto displaced = std::exchange(placed_.table[0], PKey{});
      place(static_cast<std::size_t>(told - in_.keys.begin()), 0);
      return displaced;
    }
    if (!in_.reindex && loses_index0()) {
      const auto key = other_key_of(in_.held[0]);
      if (const auto next = key ? key : default_key()) place(*next, 0);
      return {};
    }
    if (!in_.reindex && (in_.in_service || placed_.table[0] != PKey{})) return {};
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < in_.keys.size() && !best && !in_.reindex; ++i) {
      if (!chosen_[i] && stored_index(in_.keys[i].key) == Index(0)) best = i;
    }
    if (!best) best = default_key();
    for (std::size_t i = 0; i < in_.keys.size() && !best; ++i) {
      if (!chosen_[i] && held_index(in_.keys[i].key) == Index(0)) best = i;
    }
    for (std::size_t i = 0; i < in_.keys.size() && !best; ++i) {
      if (!chosen_[i] && !known_index(in_.keys[i].key)) best = i;
    }
    if (!best) return {};
    const auto displaced = std::exchange(placed_.table[0], PKey{});
    place(*best, 0);
    return displaced;
  }

  /// A port in service whose key at index 0 goes. Its management packets have P_Key 0 from then on, which no
  /// SA answers. Of both keys of a partition the other one is elsewhere, and does not take this one's place.
  bool loses_index0() const {
    if (!in_.in_service || in_.held[0] == PKey{} || placed_.table[0] != PKey{}) return false;
    for (std::size_t i = 0; i < in_.keys.size(); ++i) {
      if (!chosen_[i] && known_index(in_.keys[i].key) == Index(0)) return false;
    }
    return true;
  }

  /// The key of the same partition that stays where a port with both keys loses this one.
  Index other_key_of(PKey gone) const {
    for (std::size_t i = 0; i < in_.keys.size(); ++i) {
      if (!chosen_[i] && in_.keys[i].key.same_partition(gone)) return i;
    }
    return std::nullopt;
  }

  /// The first key of the default partition that has no place yet, as a number of `in_.keys`.
  Index default_key() const {
    for (std::size_t i = 0; i < in_.keys.size(); ++i) {
      if (!chosen_[i] && in_.keys[i].key.same_partition(kDefaultPKey)) return i;
    }
    return std::nullopt;
  }

  /// Keys that the port has had go where they were. Of two that were at one index the one that is there
  /// stays.
  void give_known() {
    for (const bool there_now : {true, false}) {
      for (std::size_t i = 0; i < in_.keys.size(); ++i) {
        if (chosen_[i]) continue;
        const auto index = known_index(in_.keys[i].key);
        if (index && (!there_now || held_index(in_.keys[i].key) == index)) place(i, *index);
      }
    }
  }

  bool was_used(std::size_t index) const {
    return std::ranges::any_of(in_.stored, [&](const auto& row) { return row.second == index; });
  }

  /// A free index below `end`: never used, else without a key now, else with one that goes away.
  Index free_index(std::size_t end) const {
    Index empty, freed;
    for (std::size_t i = in_.in_service ? 1 : 0; i < end; ++i) {
      if (placed_.table[i] != PKey{}) continue;
      const bool in_use = in_.held[i] != PKey{};
      if (!in_use && !was_used(i)) return i;
      if (!in_use && !empty) empty = i;
      if (in_use && !freed) freed = i;
    }
    return empty ? empty : freed;
  }

  /// `displaced` from index 0: in the same block where there is room, so that one Set does both.
  void give_new(PKey key, bool displaced) {
    auto index = stored_index(key);
    if (!displaced || index == Index(0) || (index && placed_.table[*index] != PKey{})) index.reset();
    if (!index && displaced) index = free_index(std::min(in_.held.size(), kPKeysOfBlock));
    if (!index) index = free_index(in_.held.size());
    // Rather than not at all.
    if (!index && key.same_partition(kDefaultPKey) && placed_.table[0] == PKey{}) index = 0;
    if (index) {
      placed_.table[*index] = key;
    } else {
      placed_.left_out.push_back(key);
    }
  }

  const PlacementInput& in_;
  Placement placed_{};
  std::vector<bool> chosen_;
};

}  // namespace

Placement place_keys(const PlacementInput& in) { return Placer(in).run(); }

}  // namespace smd::sm::inline decisions
