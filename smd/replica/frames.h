// SPDX-License-Identifier: Apache-2.0
#pragma once
// What two ends of a replica say to each other, and its bytes. docs/replica-protocol.md has the layout.

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "smd/replica/call.h"
#include "smd/replica/image.h"

namespace smd::replica {

/// Of this program.
inline constexpr std::uint16_t kVersion = 4;
/// The lowest version whose readers understand what this program sends.
inline constexpr std::uint16_t kMinReader = 1;
/// Each mastership adds one to the epoch: a larger one is of no SM, and the next one would begin at 0 again.
inline constexpr std::uint64_t kLargestEpoch = std::uint64_t{1} << 62U;

/// The first frame of either end.
struct Hello {
  std::uint16_t version = kVersion, min_reader = kMinReader;
  std::string subnet;  ///< as its configuration names it
  Guid port{};         ///< of its SM; 0: not known yet
  std::string program;
  friend bool operator==(const Hello&, const Hello&) = default;
};

/// Asks for the stream from here on.
struct Resume {
  Position have{};          ///< on the disk
  Guid source{};            ///< the SM whose position that is
  Position snapshot{};      ///< one that has come in part; epoch 0: none
  std::uint32_t chunk = 0;  ///< the first of its chunks that is missing
  friend bool operator==(const Resume&, const Resume&) = default;
};

/// What the sender is, and where its stream stands: once a second, and when it changes.
struct Role {
  bool master = false;
  Guid port{};
  Position latest{};
  friend bool operator==(const Role&, const Role&) = default;
};

/// A part of the whole state. From a standby (since version 2) of what clients had registered with it while
/// it was master of another part of the fabric.
struct SnapshotChunk {
  Position of{};
  Guid source{};
  std::uint32_t index = 0, count = 1;
  Changes rows;
};

/// One committed change.
struct Transaction {
  Position at{};
  Guid source{};
  Changes changes;
};

/// All up to here is on the disk.
struct Ack {
  Position at{};
  friend bool operator==(const Ack&, const Ack&) = default;
};

/// A change of a lower epoch is not taken.
struct Refuse {
  std::uint64_t epoch = 0;  ///< that of the replica
  Guid port{};              ///< of the SM that refuses; 0: of one that is gone, whose copy stands in etcd
  bool master = false;      ///< which is master itself, of another part of the fabric
  friend bool operator==(const Refuse&, const Refuse&) = default;
};

struct DigestsAt {
  Position at{};
  Digests digests;
  friend bool operator==(const DigestsAt&, const DigestsAt&) = default;
};

using Frame =
    std::variant<Hello, Resume, Role, SnapshotChunk, Transaction, Ack, Refuse, DigestsAt, Call, CallAnswer>;
using Bytes = std::vector<std::uint8_t>;

/// The bytes of a frame as they are sent: the length in 4 bytes, then the frame.
Bytes encode(const Frame& frame);

/// Takes bytes as they come and gives frames. Memory is proportional to what has come, not to what a length
/// says.
class FrameReader {
 public:
  /// Takes bytes that the other end has sent; next() looks at them.
  void add(std::span<const std::uint8_t> bytes);
  /// The next whole frame; nothing where there is none yet. After an error there is no way back: the end is
  /// to be closed.
  std::expected<std::optional<Frame>, std::string> next();
  /// The next whole frame is there and so large that next() takes long.
  bool is_large() const;

 private:
  Bytes bytes_;
  std::size_t at_ = 0;
};

}  // namespace smd::replica
