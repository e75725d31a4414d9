// SPDX-License-Identifier: Apache-2.0
#pragma once
// What clients had registered with the master of one part of a split fabric, on its way through etcd to the
// master of the whole.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "smd/etcd/agent.h"
#include "smd/etcd/client.h"
#include "smd/etcd/layout.h"

namespace smd::etcd {

/// Writes the frames of one snapshot, and then the mark that they are all there. They go from etcd after a
/// day, should no master take them.
class LeftWriter {
 public:
  /// `port`: of the SM that leaves them.
  LeftWriter(Layout layout, Guid port, ClientPtr client)
      : layout_(std::move(layout)), port_(port), client_(std::move(client)) {}

  /// The frames in their order, the first one has the index 0. That of the last frame ends when all of it is
  /// in etcd.
  Answered<bool> add(BytesPtr frame, Opened opened);
  /// Ends what is under way; no frame can be added after it.
  void close() { client_->close(); }

 private:
  Answered<bool> begin();
  Answered<bool> write();

  Layout layout_;
  Guid port_{};
  ClientPtr client_;
  std::int64_t lease_ = 0;
  Transaction batch_{};
  std::size_t bytes_ = 0;  ///< of batch_
};

/// The frames that `port` has left. None where there are not `count` whole ones: they make no sense.
Answered<std::vector<Bytes>> read_left(ClientPtr client, Layout layout, Guid port, std::uint64_t count);

/// Takes them out of etcd, while `epoch` is the value of that key.
Transaction erasure_of_left(const Layout& layout, Guid port, std::string epoch);

}  // namespace smd::etcd
