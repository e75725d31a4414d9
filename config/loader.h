// SPDX-License-Identifier: Apache-2.0
#pragma once
// One load of a configuration: its document laid over the defaults, table by table.

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

/// Settings, and where each key that was set has its value.
struct Layer {
  Settings settings{};
  std::string prefix{};                                      ///< "subnet[0]." inside a [[subnet]]
  std::map<std::string, ConfigError, std::less<>> places{};  ///< by "lids.lmc"; only file, line, key, found
  std::set<std::string, std::less<>> broken{};  ///< tables with a wrong value: of them no more can be said
};

class Loader {
 public:
  Loader(std::filesystem::path file, const ConfigContext& context);

  void read_document(const Value& root);
  void read_override(std::string_view text);
  /// What no single key shows: ranges that are empty, names given twice. Where lines could not be read a key
  /// may be missing that somebody wrote (`all_was_read` is false): then only what stands there is judged.
  void check_whole(bool all_was_read);

  Config take();
  std::vector<ConfigError>& errors() { return errors_; }

 private:
  Spot spot(std::string key);
  void read_table(const Value& table, std::string_view name, Layer& into);
  void read_key(const Value& value, std::string_view table, const Spot& at, Layer& into);
  void read_subnets(const Value& list);
  void read_subnet(const Value& table, std::size_t index);
  void unknown_table(const Value& value, const Spot& at, bool in_subnet);
  std::string hint_for_key(std::string_view table, std::string_view name) const;
  void set(const Key& key, const Value& value, const Spot& at, Layer& into);
  void warn_of(const Renamed& old, const Value& value, const Spot& at);
  void check_lids(const Layer& layer, bool all_was_read);
  void check_routing(const Layer& layer);
  void check_keys(const Layer& layer);
  void check_subnets(bool all_was_read);
  void complain(const Layer& layer, std::string_view key, std::string expected, std::string_view found = {});

  Schema schema_ = make_schema();
  std::filesystem::path file_;
  const ConfigContext& context_;
  std::vector<ConfigError> errors_;
  std::vector<ConfigError> warnings_;
  Layer base_;
  std::vector<Layer> subnets_;
};

}  // namespace smd::config
