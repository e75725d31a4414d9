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

/// Keys and values of the log line. Of the caller `access` a tenant gets those about what is its own.
sm::Json event_json(const events::Event& event, const std::vector<log::Field>& fields);

/// The id of the latest event that `seen` means, of those up to `last`: what has come after a search up to
/// there is found by the next one. That of no event where there is none.
events::EventId latest_seen(store::EventQuery seen, events::EventId last, Backend& backend);

/// Which events a caller sees, and what of them. A tenant sees those of its partitions, and of ports that
/// were their members then, without what stands at the other end of a cable.
class EventView {
 public:
  /// As the caller's rights are now. Where an event does not know the partitions of a port, those of now
  /// count.
  EventView(access::Access access, const Backend& backend);

  /// The fields that the caller sees; nothing: it does not see the event.
  std::optional<std::vector<log::Field>> seen(const events::Event& event) const;
  /// A search for what the caller sees: the latest events of this subnet, or (nothing) of all. `list`: what
  /// is searched for beyond that, in a text that a tenant's searches are told apart by (EventQuery::asker);
  /// empty: they are not remembered. Good as long as this is.
  store::EventQuery query(const std::optional<std::string>& subnet, std::string_view list = {}) const;
  /// The caller is a tenant of the subnet; nothing: of one of them.
  bool is_of_tenant(const std::optional<std::string>& subnet) const;
  /// The caller is a tenant whose partitions have a port of the node, or would have it if it were there.
  bool is_own(const std::string& subnet, Guid node) const;

 private:
  struct Tenant {
    std::vector<std::string> partitions;
    std::set<sm::LinkEnd> ports;
    std::set<Guid> nodes;       ///< of the ports, and lost ones that its partitions name
    std::set<Guid> port_guids;  ///< of these ports
  };
  std::optional<store::AboutPartitions> about() const;
  std::string digest() const;
  static std::vector<log::Field> of_tenant(std::vector<log::Field> fields, const Tenant& tenant);
  std::optional<std::vector<log::Field>> seen_by(const Tenant& tenant, const events::MembersOf& members,
                                                 const std::vector<log::Field>& fields) const;

  access::Access access_;
  bool sees_process_ = false;
  std::vector<std::string> others_;  ///< subnets of which the caller sees all
  std::map<std::string, Tenant, std::less<>>
      tenants_;  ///< by subnet; where the caller is none there is no row
};

}  // namespace smd::api
