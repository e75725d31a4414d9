// SPDX-License-Identifier: Apache-2.0
#pragma once
// One load of a configuration: the document replaces the defaults, table by table.

#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/load.h"
#include "config/schema.h"
#include "config/value.h"

namespace smd::config {

/// Settings, with the position of each value that was set.
struct Layer {
  Settings settings{};
  std::string prefix{};                                      ///< "subnet[0]." inside a [[subnet]]
  std::map<std::string, ConfigError, std::less<>> places{};  ///< by "lids.lmc"; only file, line, key, found
  std::set<std::string, std::less<>> broken{};  ///< tables with a wrong value, which are not checked further
};

/// The value of a key under its old name as a value of the key's name of today.
Value as_now(const Renamed& old, Value value);

class Loader {
 public:
  /// `context` and `schema` outlive the loader.
  Loader(std::filesystem::path file, const ConfigContext& context, const Schema& schema);

  /// Reads the whole file, in any order of its tables. `all_was_read` is false where lines could not be read:
  /// a key may be missing for that reason, so only keys that were read are checked. `root` outlives
  /// `check_whole`.
  void read_document(const Value& root, bool all_was_read);
  /// One KEY=VALUE of the command line; it counts for the process and for every subnet.
  void read_override(std::string_view text);
  /// Checks what no single key shows: ranges that are empty, names given twice.
  void check_whole();

  /// What was read; the loader is empty afterwards. Of use only while there are no errors but those of the
  /// policies: where there are such of partitions or groups, subnets have no policy, and
  /// PartitionsConfig::refused says why; where they are of QoS alone, subnets have no QoS policy, and
  /// QosConfig::refused says why.
  Config take();
  /// What is wrong, in the order in which it was found; `without_policy`: only what is not of the policy.
  std::vector<ConfigError> take_errors(bool without_policy);

 private:
  Spot spot(std::string key);
  void read_table(const Value& table, std::string_view name, Layer& into);
  void read_key(const Value& value, std::string_view table, const Spot& at, Layer& into);
  void read_subnets(const Value& list);
  void read_subnet(const Value& table, std::size_t index);
  void read_subnet_item(const Value& item, const Spot& at, Layer& layer);
  bool refuse_override(std::string_view path, const Value& value, const Spot& at);
  void unknown_key(const Value& value, std::string_view table, const Spot& at, bool in_subnet);
  void unknown_table(const Value& value, const Spot& at, bool in_subnet);
  void unknown_array(const Value& value, std::string_view table, const Spot& at, bool in_subnet);
  std::string hint_for_array(std::string_view table, const std::string& name, bool in_subnet) const;
  std::string hint_for_heading(const std::string& name, bool in_subnet, bool arrays_only) const;
  std::string hint_for_key(std::string_view table, std::string_view name) const;
  void refuse_policies();
  void warn_of_unused_policy_file();
  void set(const Key& key, const Value& value, const Spot& at, Layer& into);
  void warn_of(const Renamed& old, const Value& value, const Spot& at);
  void check_lids(const Layer& layer);
  void check_routing(const Layer& layer);
  void check_engine_options();
  void check_keys(const Layer& layer);
  void check_priorities(const Layer& layer);
  void check_api(const Layer& layer);
  void check_replica(const Layer& layer);
  void check_replica_key(const Layer& layer);
  void warn_of_one_way_copy(const Layer& layer);
  void warn_of(const Layer& layer, std::string_view key, std::string what, std::string hint);
  void check_etcd(const Layer& layer, bool certificates);
  void check_partitions(const Layer& layer);
  void check_qos_policies(const Layer& layer);
  void check_class_conflicts(const Layer& layer);
  void check_subnets();
  /// Of an error of this layer whose key is one outside of [[subnet]]: its key in the layer, and its line.
  void put_at_its_place(const Layer& layer, ConfigError& error) const;
  void complain(const Layer& layer, std::string_view key, std::string expected, std::string_view found = {});

  const Schema& schema_;
  std::filesystem::path file_;
  const ConfigContext& context_;
  const Value* root_ = nullptr;
  bool all_was_read_ = true;
  std::vector<ConfigError> errors_;
  std::vector<ConfigError> policy_errors_;  ///< of partitions and groups
  std::vector<ConfigError> qos_errors_;     ///< of [qos]
  std::vector<ConfigError> warnings_;
  Layer base_;
  std::vector<Layer> subnets_;
};

}  // namespace smd::config
