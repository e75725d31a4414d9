// SPDX-License-Identifier: Apache-2.0
// What is wrong with [[qos.class]], qos.preset and with partitions that name classes.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "config/loader.h"
#include "config/qos_classes.h"
#include "config/scalars.h"
#include "config/suggest.h"
#include "config/toml_reader.h"

namespace smd::config {
namespace {

constexpr unsigned kLeastHigh = 50, kMostHigh = 99, kWholeLink = 100;

class ClassChecker {
 public:
  ClassChecker(const SubnetConfig& subnet, const std::string& toml_file)
      : subnet_(subnet),
        toml_file_(toml_file),
        blocks_(class_blocks(subnet)),
        classes_(qos_classes_of(subnet)) {
    for (const auto& one : classes_.all) names_.push_back(one.name);
  }

  std::vector<ConfigError> run() {
    if (!classes_.all.empty()) {
      check_count();
      check_names();
      check_low();
      check_high();
      check_sm();
    }
    for (std::size_t i = 0; i < subnet_.partition.size(); ++i) check_partition(i);
    if (!classes_.all.empty()) check_partition_file();
    return std::move(errors_);
  }

 private:
  /// Of a preset there is no line but its own, which the caller knows.
  void add(std::size_t index, std::string_view key, std::string found, std::string expected,
           std::string hint = {}) {
    const bool preset = subnet_.qos.preset != QosPreset::none;
    errors_.push_back({.file = toml_file_,
                       .line = preset ? 0 : blocks_[index].line.value,
                       .key = preset ? "qos.preset" : fmt::format("qos.class[{}].{}", index, key),
                       .found = std::move(found),
                       .expected = std::move(expected),
                       .hint = std::move(hint)});
  }

  void check_count() {
    if (subnet_.qos.preset != QosPreset::none) return;  // tenants beyond have the default class
    const bool implied = std::ranges::find(blocks_, true, &ConfiguredQosClass::standard) == blocks_.end();
    const auto count = blocks_.size() + (implied ? 1 : 0);
    if (count <= kMostClasses) return;
    add(blocks_.size() - 1, "name", fmt::format("{} classes", count),
        fmt::format("at most {} with the default class: each has an SL and a VL", kMostClasses));
  }

  void check_names() {
    std::map<unsigned, std::size_t> sls;
    std::size_t standard = blocks_.size();
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const auto& block = blocks_[i];
      for (std::size_t j = 0; j < i; ++j) {
        if (same_qos_name(blocks_[j].name, block.name))
          add(i, "name", toml_quoted(block.name),
              fmt::format("a name that differs in more than case and blanks from that of line {}",
                          blocks_[j].line.value));
      }
      if (!block.standard && same_qos_name(block.name, kStandardClass))
        add(i, "name", toml_quoted(block.name), "another name, or default = true in this block");
      if (block.standard && standard != blocks_.size())
        add(i, "default", "true",
            fmt::format("one default class; line {} has it", blocks_[standard].line.value));
      if (block.standard) standard = std::min(standard, i);
      if (block.standard || !block.sl) continue;
      const auto [at, fresh] = sls.emplace(*block.sl, i);
      if (!fresh)
        add(i, "sl", std::to_string(*block.sl),
            fmt::format("an SL that no other class has; line {} has it", blocks_[at->second].line.value));
    }
  }

  /// Shares of low priority have to leave something to those that have none.
  void check_low() {
    unsigned given = 0;
    std::size_t last = blocks_.size();
    bool elastic = std::ranges::find(blocks_, true, &ConfiguredQosClass::standard) == blocks_.end();
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const auto& block = blocks_[i];
      if (block.high_priority) continue;
      if (block.share || block.minimum) last = i;
      given += block.share.value_or(block.minimum.value_or(0));
      elastic = elastic || (!block.share && !block.minimum);
    }
    const auto most = elastic ? kWholeLink - 1 : kWholeLink;
    if (last == blocks_.size() || given <= most) return;
    add(last, blocks_[last].share ? "share" : "minimum", fmt::format("{} % of all classes together", given),
        elastic ? fmt::format("at most {} %, as a class without a share needs the rest", most)
                : fmt::format("at most {} %", most));
  }

  void check_high() {
    unsigned given = 0;
    std::size_t with = blocks_.size(), without = blocks_.size();
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const auto& block = blocks_[i];
      if (!block.high_priority) continue;
      auto& last = block.share || block.minimum ? with : without;
      last = i;
      given += block.share.value_or(block.minimum.value_or(0));
    }
    if (with == blocks_.size()) return;
    const auto* key = blocks_[with].share ? "share" : "minimum";
    if (without != blocks_.size())
      return add(without, "share", "\"unset\"",
                 fmt::format("a share, as line {} gives one: of the classes of high priority all or none",
                             blocks_[with].line.value));
    if (given < kLeastHigh || given > kMostHigh)
      add(with, key, fmt::format("{} % of high priority together", given),
          fmt::format("{} to {} %: arbitration lets high priority send a packet for each of low", kLeastHigh,
                      kMostHigh),
          given < kLeastHigh ? "leave it out: it has 50 % at most then" : "");
  }

  void check_sm() {
    std::size_t first = blocks_.size();
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      if (std::ranges::find(blocks_[i].ulps, kSmWord) == blocks_[i].ulps.end()) continue;
      if (first != blocks_.size())
        add(i, "ulps", "\"sm\"", fmt::format("it in one class; line {} has it", blocks_[first].line.value));
      first = std::min(first, i);
    }
  }

  void wrong_partition(std::size_t index, std::string_view key, std::string found, std::string expected,
                       std::string hint = {}) {
    errors_.push_back({.file = toml_file_,
                       .line = subnet_.partition[index].line.value,
                       .key = fmt::format("partition[{}].{}", index, key),
                       .found = std::move(found),
                       .expected = std::move(expected),
                       .hint = std::move(hint)});
  }

  void check_partition(std::size_t index) {
    const auto& block = subnet_.partition[index];
    if (!block.qos_class.empty()) {
      if (find_class(classes_.all, block.qos_class) == nullptr)
        return wrong_partition(index, "qos_class", toml_quoted(block.qos_class),
                               classes_.all.empty()
                                   ? "\"\", as no [[qos.class]] and no qos.preset is given"
                                   : fmt::format("the name of a class (\"{}\")", fmt::join(names_, "\", \"")),
                               did_you_mean(block.qos_class, names_));
      const auto* listed = class_of_partition(classes_, {}, block.name, block.pkey);
      if (!listed->standard && !same_qos_name(listed->name, block.qos_class))
        wrong_partition(index, "qos_class", toml_quoted(block.qos_class),
                        fmt::format("\"{}\", whose partitions have \"{}\"", listed->name, block.name));
    }
    if (classes_.all.empty()) {
      if (block.sl != 0 && !block.qos_class.empty())
        wrong_partition(index, "sl", std::to_string(block.sl), "only one of sl and qos_class");
      return;
    }
    if (block.sl != 0)
      wrong_partition(index, "sl", std::to_string(block.sl),
                      "no SL: classes have the SLs; qos_class names the partition's");
    for (std::size_t i = 0; i < block.groups.size(); ++i) {
      if (const auto& sl = block.groups[i].sl)
        wrong_partition(index, fmt::format("groups[{}].sl", i), std::to_string(*sl),
                        "\"auto\": classes have the SLs");
    }
  }

  void check_partition_file() {
    for (const auto& definition : subnet_.partitions.conf.definitions) {
      if (definition.settings.sl == Sl{0}) continue;
      errors_.push_back({.file = subnet_.partitions.file,
                         .line = definition.source.line,
                         .key = "sl",
                         .found = fmt::format("{}", definition.settings.sl),
                         .expected = "no SL: classes have the SLs; list the partition in a [[qos.class]]"});
    }
  }

  const SubnetConfig& subnet_;
  const std::string& toml_file_;
  std::vector<ConfiguredQosClass> blocks_;
  QosClasses classes_;
  std::vector<std::string> names_{};
  std::vector<ConfigError> errors_{};
};

/// The keys of [qos] about tables that are given, as "ca_vlarb_low".
std::vector<std::string> given_tables(const QosConfig& qos) {
  std::vector<std::string> given;
  for (const auto& [tables, prefix] : prefixed_tables(qos)) {
    if (tables->high_limit) given.push_back(fmt::format("{}high_limit", prefix));
    if (tables->vlarb_high) given.push_back(fmt::format("{}vlarb_high", prefix));
    if (tables->vlarb_low) given.push_back(fmt::format("{}vlarb_low", prefix));
    if (tables->sl2vl) given.push_back(fmt::format("{}sl2vl", prefix));
  }
  if (!qos.ports.empty()) given.emplace_back("ports");
  return given;
}

/// Other keys that say what classes say.
std::vector<std::string> given_policy(const QosConfig& qos) {
  std::vector<std::string> given;
  if (!qos.policy_file.empty()) given.emplace_back("policy_file");
  if (!qos.level.empty()) given.emplace_back("level");
  if (!qos.rule.empty()) given.emplace_back("rule");
  if (!qos.ulp.empty()) given.emplace_back("ulp");
  return given;
}

std::string sls_of(const QosClasses& classes) {
  std::string text;
  for (const auto& one : classes.all) text += fmt::format("{}{}", text.empty() ? "" : ", ", one.sl);
  return text;
}

}  // namespace

std::vector<ConfigError> check_qos_classes(const SubnetConfig& subnet, const std::string& toml_file) {
  if (subnet.qos.accepted) return {};
  return ClassChecker(subnet, toml_file).run();
}

/// Classes compute what these keys give.
void Loader::check_class_conflicts(const Layer& layer) {
  const auto& qos = layer.settings.subnet.qos;
  const auto classes = qos_classes_of(layer.settings.subnet);
  if (classes.all.empty()) return;
  const auto line_of = [&](std::string_view key) {
    const auto at = layer.places.find(key);
    return at != layer.places.end() ? at->second.line : 0;
  };
  const auto refuse = [&](const std::string& name, std::string_view allowed) {
    const auto key = "qos." + name;
    ConfigError error{.file = file_.string(), .key = layer.prefix + key};
    if (const auto at = layer.places.find(key); at != layer.places.end()) error = at->second;
    error.expected = allowed;
    if (std::ranges::find(qos_errors_, error) == qos_errors_.end()) qos_errors_.push_back(std::move(error));
  };
  const bool preset = qos.preset != QosPreset::none;
  const auto by = fmt::format("{} (line {})", preset ? "qos.preset" : "[[qos.class]]",
                              line_of(preset ? "qos.preset" : "qos.class"));
  for (const auto& name : given_tables(qos))
    refuse(name, fmt::format("no value: {} computes SLs, VLs and weights", by));
  for (const auto& name : given_policy(qos)) refuse(name, fmt::format("nothing: {} is the policy", by));
  if (preset && !qos.traffic_classes.empty()) refuse("preset", "\"none\" where there is a [[qos.class]]");
  if (qos.sm_sl == Sl{0}) return;
  const auto of_sm = std::ranges::find(classes.all, true, &QosClass::of_sm);
  if (of_sm != classes.all.end()) {
    refuse("sm_sl", fmt::format("0: the class \"{}\" has \"sm\"", of_sm->name));
  } else if (std::ranges::find(classes.all, qos.sm_sl, &QosClass::sl) == classes.all.end()) {
    refuse("sm_sl", fmt::format("an SL of a class ({})", sls_of(classes)));
  }
}

}  // namespace smd::config
