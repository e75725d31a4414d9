// SPDX-License-Identifier: Apache-2.0
#pragma once
// What clients have registered: multicast groups and their members, services, and subscriptions. A value: a
// change makes a new version, and readers keep the one that they have.

#include <compare>
#include <cstdint>
#include <memory>

#include "mad/base/gid.h"
#include "mad/base/id.h"
#include "mad/base/link.h"
#include "mad/wire/sa/inform_info.h"
#include "mad/wire/sa/service_record.h"
#include "smd/base/shared_map.h"

namespace smd::sa {

using sm::SharedMap;

/// What all packets of a group have in common. Names and codes are those of MCMemberRecord.
struct GroupParameters {
  std::uint32_t qkey = 0;
  PKey pkey{};
  Mtu mtu = Mtu::none;
  std::uint8_t rate = 0;  ///< IBA's code of static rates
  std::uint8_t life = 0;  ///< 4.096 us * 2^n
  Sl sl{};
  std::uint8_t traffic_class = 0, hop_limit = 0;
  std::uint32_t flow_label = 0;
  friend bool operator==(const GroupParameters&, const GroupParameters&) = default;
};

struct Group {
  Lid mlid{};  ///< several groups may have one
  GroupParameters terms{};
  bool well_known = false;    ///< made by the SM; stays without members
  std::uint32_t members = 0;  ///< ports, whatever their part is
  std::uint32_t keepers = 0;  ///< of them those without which the group ends: full and send-only full
  friend bool operator==(const Group&, const Group&) = default;
};

struct MemberKey {
  Mgid group{};
  Guid port{};  ///< lower half of PortGID: of a port, or one of its aliases
  friend auto operator<=>(const MemberKey&, const MemberKey&) = default;
};

struct Member {
  std::uint8_t join_state = 0;  ///< wire::kFullMember and so on, never 0
  bool proxy = false;           ///< another port has joined for it
  Guid joined_by{};             ///< that port, whose share of the SA it takes; 0: it is the member's
  /// A full or send-only-full member: the group lives as long as it has one.
  bool keeps() const { return (join_state & 0b1001) != 0; }
  /// Packets of the group are delivered to it.
  bool receives() const { return (join_state & 0b0011) != 0; }
  friend bool operator==(const Member&, const Member&) = default;
};

/// What names a service: an ID at a port in a partition.
struct ServiceKey {
  std::uint64_t id = 0;
  Gid gid{};
  PKey pkey{};
  friend auto operator<=>(const ServiceKey&, const ServiceKey&) = default;
};

struct Service {
  wire::ServiceRecord record{};  ///< as it was registered; its lease is the whole one
  Guid owner{};                  ///< the port that registered it
  /// Unix time in seconds at which it ends; 0: it has no end.
  std::int64_t ends = 0;
  friend bool operator==(const Service&, const Service&) = default;
};

/// One subscription (InformInfo). Two subscriptions of a port differ in at least one of these.
struct SubscriptionKey {
  Guid port{};  ///< the subscriber
  Gid gid{};    ///< notices of this port only; zero: those of the LID range
  Lid lid_begin{}, lid_end{};
  std::uint8_t is_generic = 0;
  std::uint16_t type = 0, trap = 0;
  std::uint32_t producer = 0;
  std::uint32_t qp = 0;  ///< where reports go to
  friend auto operator<=>(const SubscriptionKey&, const SubscriptionKey&) = default;
};

struct Subscription {
  std::uint16_t number = 0;        ///< of the subscriber's subscriptions
  std::uint8_t response_time = 0;  ///< how long it may take to answer, 4.096 us * 2^n
  friend bool operator==(const Subscription&, const Subscription&) = default;
};

/// A port whose clients have registered with this SM, or were asked to since it is master: it needs no
/// further ClientReregister.
struct Client {
  friend bool operator==(const Client&, const Client&) = default;
};

/// A place in the table of a port's GUIDs, from 1 on: 0 is the port's own.
struct AliasKey {
  Guid port{};
  std::uint16_t index = 0;
  friend auto operator<=>(const AliasKey&, const AliasKey&) = default;
};

/// How much of the SA's memory a port has taken.
struct Uses {
  std::uint32_t groups = 0, services = 0, subscriptions = 0;
  friend bool operator==(const Uses&, const Uses&) = default;
};

class Registry {
 public:
  using Groups = SharedMap<Mgid, Group>;
  using Members = SharedMap<MemberKey, Member>;
  using Services = SharedMap<ServiceKey, Service>;
  using Subscriptions = SharedMap<SubscriptionKey, Subscription>;
  using Clients = SharedMap<Guid, Client>;
  using Aliases = SharedMap<AliasKey, Guid>;

  const Groups& groups() const { return groups_; }
  /// By group, then by port.
  const Members& members() const { return members_; }
  const Services& services() const { return services_; }
  /// By subscriber.
  const Subscriptions& subscriptions() const { return subscriptions_; }
  const Clients& clients() const { return clients_; }
  /// GUIDs that ports have in addition to their own, by port.
  const Aliases& aliases() const { return aliases_; }
  /// The owner of an alias; null: none.
  const AliasKey* by_alias(Guid alias) const { return by_alias_.find(alias); }
  /// The port that goes by this GUID: its own, or an alias.
  Guid port_of(Guid guid) const {
    const auto* key = by_alias(guid);
    return key != nullptr ? key->port : guid;
  }
  /// How many groups have each multicast LID that is in use, ascending.
  const SharedMap<Lid, std::uint32_t>& mlids() const { return mlids_; }
  /// Ports that have groups, services or subscriptions.
  const SharedMap<Guid, Uses>& users() const { return uses_; }
  /// Of the port, or of the port that has the alias; 0 where it has nothing.
  Uses uses(Guid port) const {
    const auto* found = uses_.find(port_of(port));
    return found != nullptr ? *found : Uses{};
  }
  /// Differs whenever aliases do; of one process.
  std::uint64_t alias_version() const { return alias_version_; }
  /// Differs whenever groups or members do; of one process.
  std::uint64_t multicast_version() const { return multicast_version_; }
  /// Differs whenever anything does.
  std::uint64_t version() const { return version_; }

  /// Calls fn(port, member) for the members of a group.
  template <class Fn>
  void for_each_member(const Mgid& group, Fn&& fn) const {
    for (auto row = members_.lower_bound({group, Guid{}}); row != members_.end() && row->first.group == group;
         ++row) {
      fn(row->first.port, row->second);
    }
  }

  /// A new group without members, or other terms of one that is there.
  void put_group(const Mgid& mgid, Lid mlid, const GroupParameters& terms, bool well_known);
  /// Removes the group with all its members.
  void drop_group(const Mgid& mgid);
  /// Adds or replaces a member; the group is there, the state is not 0.
  void put_member(const MemberKey& key, const Member& member);
  /// Ignored where it is not there, as by all drop functions.
  void drop_member(const MemberKey& key);
  /// Adds or replaces the service.
  void put_service(const ServiceKey& key, Service service);
  void drop_service(const ServiceKey& key);  ///< also counts it off its owner
  /// Adds or replaces the subscription.
  void put_subscription(const SubscriptionKey& key, const Subscription& subscription);
  void drop_subscription(const SubscriptionKey& key);  ///< also counts it off its port
  /// Adds the port to clients(); ignored where it is there.
  void put_client(Guid port);
  void drop_client(Guid port);  ///< takes it out of clients()
  void forget_clients();        ///< makes clients() empty
  /// Adds or replaces an alias; no other port has the GUID.
  void put_alias(const AliasKey& key, Guid alias);
  void drop_alias(const AliasKey& key);  ///< the GUID is free again

  friend bool operator==(const Registry& a, const Registry& b) {
    return a.groups_ == b.groups_ && a.members_ == b.members_ && a.services_ == b.services_ &&
           a.subscriptions_ == b.subscriptions_ && a.clients_ == b.clients_ && a.aliases_ == b.aliases_;
  }

 private:
  void count(const MemberKey& key, const Member& member, int by);
  void use(Guid port, std::uint32_t Uses::* what, int by);
  void changed_multicast();

  Groups groups_;
  Members members_;
  SharedMap<Lid, std::uint32_t> mlids_;
  SharedMap<Guid, Uses> uses_;
  Services services_;
  Subscriptions subscriptions_;
  Clients clients_;
  Aliases aliases_;
  SharedMap<Guid, AliasKey> by_alias_;
  std::uint64_t multicast_version_ = 0, alias_version_ = 0, version_ = 0;
};

using RegistryPtr = std::shared_ptr<const Registry>;  ///< never null

}  // namespace smd::sa
