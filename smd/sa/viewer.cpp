// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/viewer.h"

#include "smd/sa/policy.h"

namespace smd::sa {

Viewer Viewer::of_fabric(const Directory& directory, Lid lid, bool trusted) {
  const auto& part = directory.snapshot().decided.partitions;
  if (!part || !part->managed) return {};
  Viewer viewer(directory.by_lid(lid), trusted);
  viewer.directory_ = &directory;
  return viewer;
}

bool Viewer::sees(const sm::Node& node, PortNum number) const {
  if (port_ == nullptr || (port_->node == &node && port_->port == number)) return true;
  return shares(directory_ != nullptr ? directory_->pkeys_of(node, number)
                                      : node.ports[number.value()].held<wire::PKeyTable>().get());
}

/// A port whose table is not known is shown.
bool Viewer::shares(const HeldPKeys* keys) const {
  if (keys == nullptr) return true;
  if (keys == last_) return shown_;
  last_ = keys;
  shown_ = share_pkey(port_->pkeys, keys);
  return shown_;
}

}  // namespace smd::sa
