// SPDX-License-Identifier: Apache-2.0
#pragma once
// What of the fabric is shown to who asks.

#include "smd/sa/directory.h"

namespace smd::sa {

/// Which ports a request may see: the requester's own and those that share a partition with it; all, where it
/// shows the SM_Key or its port is not known. As OpenSM does it. Not thread-safe.
class Viewer {
 public:
  /// One that sees all.
  Viewer() = default;
  /// `port`: null where it is not known. `trusted`: it has shown the SM_Key.
  Viewer(const EndPort* port, bool trusted) : port_(trusted ? nullptr : port) {}
  /// What is shown of nodes, links and paths: all as long as no partition is configured, whatever another SM
  /// has left in the tables. `directory` outlives the viewer.
  static Viewer of_fabric(const Directory& directory, Lid lid, bool trusted);

  /// Null: it sees all.
  const EndPort* port() const { return port_; }
  /// Whether records of this port are shown.
  bool sees(const EndPort& port) const { return port_ == nullptr || &port == port_ || shares(port.pkeys); }
  /// Any port, also one between switches: by its own table.
  bool sees(const sm::Node& node, PortNum number) const;
  /// Whether all with the same table see the same, itself included.
  bool is_one_of_many() const { return port_ == nullptr || shares(port_->pkeys); }

 private:
  bool shares(const HeldPKeys* keys) const;

  const EndPort* port_ = nullptr;
  const Directory* directory_ = nullptr;  ///< null: of any port its own table counts
  // Equal tables are one in memory (directory.cpp): most ports are like the one before.
  mutable const HeldPKeys* last_ = nullptr;
  mutable bool shown_ = true;
};

}  // namespace smd::sa
