// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state of a subnet as rows of kinds: how two states differ, and the state that rows are.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "smd/store/kinds.h"
#include "smd/store/subnet_states.h"

namespace smd::replica {

using store::Cells;
using store::Change;
using store::Kept;
using store::Position;

/// Rows of one kind that are to be as this says.
struct KindChanges {
  std::string kind;  ///< its table's name
  std::vector<Change> changes;
};
using Changes = std::vector<KindChanges>;

/// Rows by kind and key, also of kinds that this program does not know.
using Rows = std::map<Cells, Cells>;
using Image = std::map<std::string, Rows, std::less<>>;

/// By kind: a number that is the same for the same rows, whatever their order. Kinds without rows have none.
using Digests = std::map<std::string, std::uint64_t, std::less<>>;

/// What makes a copy of `before` one of `now`; unknown kinds included, the replica's position not. Pure.
Changes difference(const Kept& before, const Kept& now);
/// The rows that are named, of all kinds.
std::size_t row_count(const Changes& changes);
/// Puts the changes into `image`.
void apply_changes(Changes changes, Image& image);
/// The image of a state: what difference() makes of nothing.
Image image_of(const Kept& kept);

/// `before` with the known states and the carried rows of the image; states of which no kind is in `changed`
/// stay the same pointers, and so does the replica's position. Of a kind in `changed` the rows that are there
/// have changed, as the image has them; without a row, any may have. The error names the kind of a row that
/// makes no sense. Pure.
std::expected<Kept, std::string> state_of(const Image& image, const Changes& changed, const Kept& before);

/// Of all kinds of the image, also of those that this program does not know. Pure; O(rows).
Digests digests(const Image& image);
/// As digests(image_of(kept)), without making the image.
Digests digests(const Kept& kept);
/// Kinds of which the two differ, in order.
std::vector<std::string> differing(const Digests& a, const Digests& b);

/// Whether this program has a kind of that name.
bool is_known(std::string_view kind);

}  // namespace smd::replica
