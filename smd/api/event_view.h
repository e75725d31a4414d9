// SPDX-License-Identifier: Apache-2.0
#pragma once
// Events as a caller may see them, as JSON.

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "smd/access/access.h"
#include "smd/api/backend.h"
#include "smd/inventory/inventory.h"
#include "smd/report/json.h"

namespace smd::api {

/// "1764161024-17"
std::string to_text(events::EventId id);
/// Nothing: it is none.
std::optional<events::EventId> parse_event_id(std::string_view text);

/// The port, or (0) the node, that these keys of an event name, as "guid" and "port" or "peer_guid" and
/// "peer_port"; nothing: none.
std::optional<sm::LinkEnd> event_end(const std::vector<log::Field>& fields, std::string_view guid_key,
                                     std::string_view port_key);

/// Keys and values of the log line. Of the caller `access` a tenant gets those about what is its own.
sm::Json event_json(const events::Event& event, const std::vector<log::Field>& fields);

/// Which events a caller sees, and what of them. A tenant sees those of its partitions and of its members'
/// ports, without what stands at the other end of a cable.
class EventView {
 public:
  /// As the fabric and the caller's rights are now. What was a tenant's port in `before`, of the same rights,
  /// still is: so that it sees its port go.
  EventView(access::Access access, const Backend& backend, const EventView* before = nullptr);

  /// The fields that the caller sees; nothing: it does not see the event.
  std::optional<std::vector<log::Field>> seen(const events::Event& event) const;

 private:
  struct Tenant {
    std::vector<std::string> partitions;
    std::set<sm::LinkEnd> ports;
    std::set<Guid> nodes;  ///< of the ports, and lost ones that its partitions name
  };
  std::optional<std::vector<log::Field>> seen_by(const Tenant& tenant,
                                                 const std::vector<log::Field>& fields) const;

  access::Access access_;
  bool sees_process_ = false;
  std::map<std::string, Tenant, std::less<>>
      tenants_;  ///< by subnet; where the caller is none there is no row
};

}  // namespace smd::api
