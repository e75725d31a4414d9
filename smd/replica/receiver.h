// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a standby makes of the frames that come. Pure.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "smd/replica/frames.h"

namespace smd::replica {

/// A copy of a master's rows, which outlives connections.
class Receiver {
 public:
  /// `have`: what this SM's own disk has.
  explicit Receiver(const Kept& have);

  /// Where the stream is to go on.
  Resume resume() const;
  /// What came of a frame.
  enum class Took : std::uint8_t {
    nothing,
    part,     ///< of a snapshot
    changed,  ///< the image is that of another position
    refused   ///< its epoch is lower than ours
  };
  /// The error says what is wrong with the stream: it is to be begun anew, with resume().
  std::expected<Took, std::string> take(SnapshotChunk chunk);
  /// The same of a transaction, which must follow position(); an earlier one of the same source is `nothing`.
  std::expected<Took, std::string> take(Transaction transaction);
  /// The same position with other rows: their kinds. The copy counts as none from then on.
  std::vector<std::string> compare(const DigestsAt& digests);

  /// All of it, for work on another thread. What is left here has the same position() and source(), and takes
  /// nothing until what was lent is assigned to it.
  Receiver lend() { return std::move(*this); }

  const Image& image() const { return image_; }
  std::size_t rows() const;  ///< of all kinds of image()
  Position position() const { return position_; }
  Guid source() const { return source_; }
  /// What has changed since the last call, for state_of().
  Changes take_changed();
  /// What take_changed() gave was not kept: these kinds count as changed until they are.
  void touch_again(const Changes& changes);
  /// All kinds count as changed: the image is the state, whatever has been made of it.
  void touch_all();
  /// What comes next is a whole snapshot.
  void forget() { position_ = {}, staging_ = {}; }

 private:
  struct Staging {
    Position of{};
    Guid source{};
    std::uint32_t next = 0, count = 0;  ///< of the chunks
    Image image;
  };
  void touch(const Changes& changes);

  Image image_;
  Position position_{};
  Guid source_{};
  std::uint64_t fence_ = 0;  ///< no lower epoch is taken
  Staging staging_;
  /// Rows of a kind that have changed; nothing: any of them.
  using ChangedRows = std::optional<std::set<Cells>>;
  std::map<std::string, ChangedRows> changed_;
};

}  // namespace smd::replica
