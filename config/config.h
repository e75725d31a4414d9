// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the operator wants, typed. A member is named as its key in smd.toml; defaults are those of a missing
// key.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/error.h"
#include "config/partitions_config.h"
#include "config/qos_config.h"
#include "mad/base/id.h"
#include "mad/base/link.h"
#include "mad/base/sl_files.h"
#include "mad/base/torus_conf.h"

namespace smd::config {

using Duration = std::chrono::nanoseconds;

enum class LogLevel : std::uint8_t { error, warn, info, debug };
enum class LogFormat : std::uint8_t { text, json };

/// [log]: of the whole process, not of one subnet.
struct LogConfig {
  LogLevel level = LogLevel::info;
  std::string target = "stderr";  ///< "stderr", "journal", or a file's path (with a '/')
  LogFormat format = LogFormat::text;
  std::vector<std::string> modules{};  ///< these modules' debug lines are written whatever `level` is
  std::vector<Guid> guids{};           ///< debug lines about these nodes or ports too
  friend bool operator==(const LogConfig&, const LogConfig&) = default;
};

/// A receiver of events.
struct WebhookConfig {
  std::string url{};                  ///< "https://HOST[:PORT]/PATH", or http
  std::string secret_file{};          ///< its content signs what is sent
  std::string ca_file{};              ///< PEM; empty: what the system trusts
  std::vector<std::string> events{};  ///< patterns of names; empty: all
  friend bool operator==(const WebhookConfig&, const WebhookConfig&) = default;
};

/// [api]: of the whole process.
struct ApiConfig {
  std::string socket{};                    ///< path of the Unix socket; empty: the usual place
  std::string listen{};                    ///< "ADDRESS:PORT"; empty: not on the network
  std::string cert{}, key{}, client_ca{};  ///< PEM files
  unsigned max_connections = 1'024;        ///< of the network
  std::vector<WebhookConfig> webhook{};    ///< each with a URL of its own
  friend bool operator==(const ApiConfig&, const ApiConfig&) = default;
};

/// [store]: of the whole process.
struct StoreConfig {
  std::string directory = "/var/lib/smd";     ///< state that survives a restart
  Duration retry = std::chrono::seconds(10);  ///< until what could not be written is tried again
  friend bool operator==(const StoreConfig&, const StoreConfig&) = default;
};

/// [sm]
struct SmConfig {
  std::uint8_t priority = 0;                      ///< of SMInfo, 0 to 15
  std::optional<std::uint8_t> master_priority{};  ///< shown while master, `priority` to 15; empty: `priority`
  std::vector<Guid> allowed_guids{};              ///< port GUIDs of SMs that are known here; empty: all are
  std::uint64_t subnet_prefix = 0xfe80000000000000;  ///< upper half of every GID
  bool force = false;        ///< be master while an unknown SM is (any, where none is named)
  std::string key_file{};    ///< file that holds the SM_Key; empty: sm_key's default
  std::uint64_t sm_key = 1;  ///< read from key_file, never printed; OpenSM's default is 1
  friend bool operator==(const SmConfig&, const SmConfig&) = default;
};

/// [keys]: files that hold secrets; what is in sm_key_file is SmConfig::sm_key.
struct KeysConfig {
  std::string sm_key_file{};                        ///< empty: [sm] key_file, or the default
  std::string sa_key_file{};                        ///< empty: the SM_Key counts
  std::optional<std::uint64_t> sa_key{};            ///< read from sa_key_file, never printed
  std::string m_key_file{};                         ///< empty: M_Keys are left as they are
  std::optional<std::uint64_t> m_key{};             ///< read from m_key_file, never printed
  std::uint8_t m_key_level = 1;                     ///< M_KeyProtectBits, 0 to 3
  Duration m_key_lease = std::chrono::seconds(60);  ///< M_KeyLeasePeriod, whole seconds; 0: for ever
  bool m_key_per_port = false;                      ///< each port's key is derived from m_key
  /// Of the file, with its form, where another SM's M_Keys are in force: ports may have keys by it, and none
  /// gets one. Never printed.
  std::optional<std::uint64_t> former_m_key{};
  bool former_per_port = false;
  std::string import_guid2mkey{};  ///< OpenSM's file; empty: none
  friend bool operator==(const KeysConfig&, const KeysConfig&) = default;
};

/// [mad]
struct MadConfig {
  std::uint32_t max_outstanding = 256;                ///< SMPs on the wire at once, 1 to 384
  std::uint32_t per_node = 16;                        ///< of them to one node, 1 to 384
  Duration timeout = std::chrono::milliseconds(200);  ///< between two tries; see retries
  std::uint32_t retries = 3;                        ///< 0 to 20; a request ends after timeout * (retries + 1)
  Duration slow_timeout = std::chrono::seconds(2);  ///< the same for nodes that answer, but later
  friend bool operator==(const MadConfig&, const MadConfig&) = default;
};

/// [sweep]
struct SweepConfig {
  Duration interval = std::chrono::seconds(10);  ///< between light sweeps; 0: none
  Duration settle =
      std::chrono::milliseconds(200);  ///< time in which events that follow one another are merged
  bool on_trap = true;                 ///< sweep when a trap says that something changed
  friend bool operator==(const SweepConfig&, const SweepConfig&) = default;
};

/// How soon a standby finds that its master is gone.
enum class HaProfile : std::uint8_t { normal, fast };

/// When a client is told of what it has changed, where standbys copy it.
enum class HaMode : std::uint8_t { async, sync, sync_strict };

/// Whose partitions a standby goes on with when it takes over.
enum class HaPolicy : std::uint8_t { replica, local };

/// [ha]
struct HaConfig {
  HaProfile profile = HaProfile::normal;  ///< what `poll` and `losses` are where they are empty
  std::optional<Duration> poll{};         ///< between two questions of a standby to its master
  std::optional<std::uint32_t> losses{};  ///< unanswered questions in a row until it takes over, 1 to 1000
  std::optional<Duration> quiet{};        ///< empty: by SubnetConfig::quiet()
  std::string listen{};                   ///< "ADDRESS:PORT" where standbys connect; empty: nowhere
  std::vector<std::string> peers{};       ///< "HOST:PORT" of the other SMs
  std::vector<std::string> etcd{};        ///< "https://HOST:PORT" of its members; empty: by peers
  std::string etcd_prefix = "/smd";       ///< of the keys in etcd
  HaMode mode = HaMode::async;
  HaPolicy policy = HaPolicy::replica;
  std::string cert{}, key{}, ca{};  ///< PEM files
  std::string psk_file{};           ///< instead of certificates
  std::vector<std::uint8_t> psk{};  ///< what is in it, never printed

  /// `poll`, or else by the profile: 50 ms (fast) or 300 ms.
  Duration poll_interval() const {
    const bool fast = profile == HaProfile::fast;
    return poll.value_or(std::chrono::milliseconds(fast ? 50 : 300));
  }
  /// Whether state is copied between SMs: `listen`, `peers` or `etcd` is configured.
  bool copies() const { return !listen.empty() || !peers.empty() || !etcd.empty(); }
  /// `losses`, or else by the profile: 3 (fast) or 4 unanswered questions in a row.
  std::uint32_t polls_lost() const { return losses.value_or(profile == HaProfile::fast ? 3 : 4); }
  friend bool operator==(const HaConfig&, const HaConfig&) = default;
};

/// What becomes of the forwarding tables of the previous master.
enum class AdoptRoutes : std::uint8_t { keep, repair, converge };

/// What becomes of adaptive routing that an SM of the switches' vendor left on.
enum class AdoptAdaptive : std::uint8_t { warn, disable };

/// What becomes of P_Keys that another SM left and no partition of the configuration has.
enum class ForeignPKeys : std::uint8_t { keep, remove };

/// [adopt]
struct AdoptConfig {
  AdoptRoutes routes = AdoptRoutes::keep;
  AdoptAdaptive adaptive_routing = AdoptAdaptive::warn;
  ForeignPKeys foreign_pkeys = ForeignPKeys::keep;
  std::string path_sl_file{};  ///< SLs that clients have from the SM before us; empty: not known
  std::shared_ptr<const base::PathSlFile> path_sl{};  ///< its contents; null: no file
  /// How long multicast LIDs without members stay as switches have them; 0: not at all.
  Duration grace = std::chrono::minutes(5);
  /// By the file's name: what it says counts once, when the fabric is taken over.
  friend bool operator==(const AdoptConfig& a, const AdoptConfig& b) {
    return a.routes == b.routes && a.adaptive_routing == b.adaptive_routing &&
           a.foreign_pkeys == b.foreign_pkeys && a.path_sl_file == b.path_sl_file && a.grace == b.grace;
  }
};

/// [lids]
struct LidsConfig {
  /// Each CA and router port gets 2^lmc LIDs, 0 to 7; nothing: as many as the fabric has when it is taken
  /// over.
  std::optional<std::uint8_t> lmc{};
  Lid first{1};                   ///< new LIDs are given from here
  Lid last = kLastUnicastLid;     ///< to here
  bool reassign = false;          ///< assign every LID again instead of keeping valid ones
  std::string import_guid2lid{};  ///< OpenSM's guid2lid, read when the store has no LIDs yet; empty: none
  friend bool operator==(const LidsConfig&, const LidsConfig&) = default;
};

/// [links]: what is written to PortInfo and SwitchInfo. Times are the wire's codes: 4.096 us * 2^code.
struct LinksConfig {
  Mtu mtu = Mtu::none;                   ///< largest MTU of a link; none: what both ends can
  std::uint8_t operational_vls = 0;      ///< most data VLs of a link: 1, 2, 4, 8, 15; 0: what both ends can
  LinkSpeed speed = LinkSpeed::unknown;  ///< fastest speed enabled; unknown: whatever is supported
  LinkWidth width = LinkWidth::unknown;  ///< widest width enabled; unknown: whatever is supported
  std::uint8_t packet_lifetime = 18;     ///< SwitchInfo.LifeTimeValue, 0 to 31; above 19: for ever
  std::uint8_t hoq_lifetime = 18;        ///< PortInfo.HOQLife of switch ports to switches, 0 to 31
  std::uint8_t leaf_hoq_lifetime = 16;   ///< the same of switch ports to CAs and routers
  std::uint8_t vl_stall_count = 7;       ///< PortInfo.VLStallCount of switch ports to switches, 1 to 7
  std::uint8_t leaf_vl_stall_count = 7;  ///< the same of switch ports to CAs and routers
  std::uint8_t subnet_timeout = 18;      ///< PortInfo.SubnetTimeOut, 0 to 31
  std::uint8_t local_phy_errors_threshold =
      8;                                      ///< PortInfo.LocalPhyErrors, the threshold of trap 129, 0 to 15
  std::uint8_t overrun_errors_threshold = 8;  ///< PortInfo.OverrunErrors, the threshold of trap 130, 0 to 15
  friend bool operator==(const LinksConfig&, const LinksConfig&) = default;
};

/// What clients do with the SL of a path.
enum class PathSl : std::uint8_t {
  fixed,  ///< some do not ask for it: routes are free of credit loops when every path uses the same SL
  asked,  ///< all ask the SA: paths may have SLs of their own
};

/// [routing]
struct RoutingConfig {
  std::vector<std::string> engines{"auto"};  ///< tried in this order, or "auto" alone; never empty
  std::vector<Guid> root_guids{};            ///< roots of the tree by node GUID; empty: found by smd
  std::string root_guids_file{};             ///< where root_guids came from, when the key named a file
  std::vector<Guid> compute_nodes{};         ///< by node or port GUID; not empty: all others are I/O nodes
  std::string compute_nodes_file{};
  std::vector<Guid> io_nodes{};  ///< by node or port GUID
  std::string io_nodes_file{};
  std::string tables_file{};  ///< file of the engine "file"; empty: none
  /// Its contents by switch; filled by the code that loads the configuration.
  std::shared_ptr<const std::map<Guid, std::shared_ptr<const std::vector<std::uint8_t>>>> loaded_tables{};
  std::string
      torus_file{};  ///< OpenSM's torus-2QoS.conf, of the engine "torus-2QoS"; empty: it finds the torus
  std::optional<base::TorusConf> torus{};  ///< its contents
  bool allow_credit_loops = false;         ///< install routes that can dead-lock
  PathSl path_sl = PathSl::fixed;
  /// How long ports of a switch are away until its paths may get other SLs for good; 0: never.
  Duration sl_keep = std::chrono::hours(24);
  std::uint32_t threads = 0;  ///< that compute; 0: as many as the machine has
  /// Quiet time after which repaired tables converge to the engine's own, step by step; 0: never.
  Duration converge_after = std::chrono::seconds(60);
  friend bool operator==(const RoutingConfig&, const RoutingConfig&) = default;
};

/// [multicast]
struct MulticastConfig {
  Mtu broadcast_mtu = Mtu::none;      ///< of the IPoIB broadcast group; none: the smallest of the ports'
  std::uint8_t broadcast_rate = 0;    ///< its rate, the wire's code; 0: the slowest of the ports'
  bool consolidate_ipv6_snm = false;  ///< IPv6 solicited-node groups have one multicast LID a partition
  friend bool operator==(const MulticastConfig&, const MulticastConfig&) = default;
};

/// By which router another subnet is reached.
struct PrefixRoute {
  std::optional<std::uint64_t> prefix{};  ///< of GIDs there; nothing: any
  std::optional<Guid> router{};           ///< a router's port; nothing: the first of the routers' ports
  friend bool operator==(const PrefixRoute&, const PrefixRoute&) = default;
};

/// [sa]
struct SaConfig {
  std::uint32_t queue = 4096;                  ///< requests that may wait, 64 to 1048576
  std::uint32_t per_source = 1024;             ///< of them from one LID, 1 to 1048576
  std::uint32_t groups_per_port = 4096;        ///< multicast groups that a port may be in, 1 to 65535
  std::uint32_t services_per_port = 1024;      ///< services that a port may offer, 1 to 65535
  std::uint32_t subscriptions_per_port = 256;  ///< of a port, 1 to 65535
  /// How long what a port has registered is kept while the port is silent; 0: not at all.
  Duration keep_silent = std::chrono::minutes(5);
  std::uint8_t max_rate =
      0;  ///< no path or new group is told to be faster, the wire's code; 0: as fast as it is
  std::vector<PrefixRoute> prefix_routes{};  ///< the first that suits counts
  friend bool operator==(const SaConfig&, const SaConfig&) = default;
};

/// [status]
struct StatusConfig {
  /// A fabric is 'reduced' where more of its adapters and routers than this are missing, in tenths of a
  /// percent.
  std::uint32_t hosts_missing = 20;
  friend bool operator==(const StatusConfig&, const StatusConfig&) = default;
};

/// [names]
struct NamesConfig {
  std::string map{};                    ///< node name map file, `0xguid "name"` a line; empty: none
  std::map<Guid, std::string> nodes{};  ///< what stands in it, by node GUID
  friend bool operator==(const NamesConfig&, const NamesConfig&) = default;
};

/// All that one manager needs: the file's tables with those of its [[subnet]] laid over them.
struct SubnetConfig {
  SourceFile source{};  ///< the file that this was read from
  std::string name{};   ///< empty: the port GUID is the name
  std::string port{};   ///< "mlx5_0" or "mlx5_0:1"; empty with no port_guid: the first usable port
  std::optional<Guid> port_guid{};  ///< instead of port
  SmConfig sm{};
  KeysConfig keys{};
  MadConfig mad{};
  SweepConfig sweep{};
  HaConfig ha{};
  AdoptConfig adopt{};
  LidsConfig lids{};
  LinksConfig links{};
  RoutingConfig routing{};
  MulticastConfig multicast{};
  PartitionsConfig partitions{};
  std::vector<NamedPorts> groups{};              ///< [[group]]
  std::vector<ConfiguredPartition> partition{};  ///< [[partition]]
  QosConfig qos{};
  SaConfig sa{};
  StatusConfig status{};
  NamesConfig names{};

  /// How long an SM that starts beside a master does not ask for the fabric; 0: it asks at once.
  Duration quiet() const {
    if (ha.quiet) return *ha.quiet;
    const bool pair = !sm.allowed_guids.empty() || !ha.peers.empty() || !ha.etcd.empty();
    return pair ? std::chrono::minutes(10) : Duration{};
  }
  friend bool operator==(const SubnetConfig&, const SubnetConfig&) = default;
};

struct Config {
  LogConfig log{};
  ApiConfig api{};
  StoreConfig store{};
  SubnetConfig base{};  ///< the file's tables outside [[subnet]], for subnets that the command line names
  std::vector<SubnetConfig> subnets{1};  ///< one for each [[subnet]], or a copy of `base`; never empty
  std::vector<ConfigError> warnings{};   ///< what was taken, and will not always be: keys by their old names
  friend bool operator==(const Config&, const Config&) = default;
};

/// The level as smd.toml has it.
constexpr std::string_view to_string(LogLevel level) {
  switch (level) {
    case LogLevel::error:
      return "error";
    case LogLevel::warn:
      return "warn";
    case LogLevel::info:
      return "info";
    case LogLevel::debug:
      return "debug";
  }
  return "unknown";
}

/// The format as smd.toml has it.
constexpr std::string_view to_string(LogFormat format) {
  switch (format) {
    case LogFormat::text:
      return "text";
    case LogFormat::json:
      return "json";
  }
  return "unknown";
}

}  // namespace smd::config
