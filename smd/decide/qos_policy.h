// SPDX-License-Identifier: Apache-2.0
#pragma once
// The QoS policy for a fabric: port groups are resolved, and rules are ready to be matched.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/qos_policy.h"
#include "mad/base/id.h"
#include "mad/base/rate.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline decisions {

struct Stored;

struct PartitionPart;

/// A class of ports that are in the same groups, numbered from 0. Class 0 is in none.
using QosPortClass = std::uint32_t;

/// What a request for a path says of QoS; what its component mask leaves out is not there.
struct QosRequest {
  std::optional<std::uint16_t> qos_class{};
  std::optional<std::uint64_t> service_id{};
  std::optional<PKey> pkey{};
  /// It has that P_Key itself; else it is the one that the path will have.
  bool names_pkey = true;
};

/// What a level gives its paths.
struct QosTerms {
  Sl sl{};
  Mtu mtu_limit = Mtu::none;  ///< none: no limit
  StaticRate rate_limit{};    ///< code 0: no limit
  std::optional<std::uint8_t> packet_life{};
  config::QosRanges pkeys{};  ///< ascending; empty: any
  friend bool operator==(const QosTerms& a, const QosTerms& b) {
    return a.sl == b.sl && a.mtu_limit == b.mtu_limit && a.rate_limit.code == b.rate_limit.code &&
           a.packet_life == b.packet_life && a.pkeys == b.pkeys;
  }
};

/// Sets of rules, a bit for each, in words.
using QosWord = std::uint64_t;

/// For each value of one criterion the rules that it passes.
class QosAxis {
 public:
  /// `words` are those of a set of rules.
  explicit QosAxis(std::size_t words = 0) : words_(words) {}
  /// The next rule has these ranges; empty ones do not ask. `none`: it passes requests without a value only.
  void add(const config::QosRanges& ranges, bool none = false) { rules_.push_back({ranges, none}); }
  /// After the last rule.
  void finish();
  /// The set of rules for a value, or for a request that has none.
  const QosWord* row(const std::optional<std::uint64_t>& value) const;

 private:
  struct Asked {
    config::QosRanges ranges;
    bool none = false;
  };
  std::size_t words_ = 0;
  std::vector<Asked> rules_;           ///< until finish()
  std::vector<std::uint64_t> starts_;  ///< of the intervals between which nothing changes, ascending from 0
  std::vector<QosWord> rows_;          ///< of each interval
  std::vector<QosWord> without_;       ///< the rules that do not ask
};

/// Rules against requests, by bits: each class of ports and each value of a criterion has the set of rules
/// that it passes.
class QosMatcher {
 public:
  struct Rule {
    config::QosRanges qos_classes{}, service_ids{}, pkeys{};  ///< empty: not asked
    /// Passes requests only that name a P_Key and no ServiceID, as IPoIB's do.
    bool no_service = false;
    std::uint32_t terms = 0;
  };

  QosMatcher() = default;
  /// `classes` is how many there are; all of them pass all rules until `exclude` is called.
  QosMatcher(const std::vector<Rule>& rules, std::vector<QosTerms> terms,
             std::optional<std::uint32_t> standard, std::size_t classes);
  /// Paths from (or to) ports of this class never match the rule.
  void exclude_source(std::size_t rule, QosPortClass ports) { clear(sources_, rule, ports); }
  void exclude_target(std::size_t rule, QosPortClass ports) { clear(targets_, rule, ports); }

  /// Of the first rule that matches, else the standard; null where there is none.
  const QosTerms* match(QosPortClass source, QosPortClass target, const QosRequest& request) const;
  /// How many rules there are.
  std::size_t rules() const { return of_rules_.size(); }

 private:
  void clear(std::vector<QosWord>& rows, std::size_t rule, QosPortClass ports) const;

  std::vector<std::uint32_t> of_rules_;  ///< indexes of their terms
  std::vector<QosTerms> terms_;
  std::optional<std::uint32_t> standard_;
  std::size_t words_ = 0;
  std::vector<QosWord> sources_, targets_;  ///< a set for each class
  QosAxis qos_classes_, service_ids_, pkeys_;
  std::vector<QosWord> of_the_path_;  ///< rules that pass requests which do not name a P_Key
};

/// An item of the policy that means nothing in this fabric, now.
struct QosPending {
  config::QosSource source;
  std::string item;  ///< as the policy has it
  std::string reason;
  friend bool operator==(const QosPending&, const QosPending&) = default;
};

struct QosPolicyPart {
  struct PortOfClass {
    PeerPort at;
    QosPortClass ports = 0;
    friend bool operator==(const PortOfClass&, const PortOfClass&) = default;
  };
  std::shared_ptr<const config::QosPolicy> policy;  ///< never null
  std::vector<PortOfClass> ports;                   ///< end ports of other classes than 0, ascending
  QosMatcher matcher;                               ///< made of the two
  std::vector<QosPending> pending;                  ///< in the order of the policy
  friend bool operator==(const QosPolicyPart& a, const QosPolicyPart& b) {
    return a.ports == b.ports && a.pending == b.pending && *a.policy == *b.policy;
  }
};

/// Pure. `partitions` may be null: all ports are members of the default partition. The ports of partitions
/// are those that `partitions` has. `stored`: as port_views() takes it.
QosPolicyPart resolve_qos_policy(const Subnet& subnet, std::shared_ptr<const config::QosPolicy> policy,
                                 const config::PortGroups& groups, const PartitionPart* partitions,
                                 const Stored* stored = nullptr);

}  // namespace smd::sm::inline decisions
