// SPDX-License-Identifier: Apache-2.0
#include "smd/policy/qos_json.h"

#include <utility>

#include "smd/policy/json_values.h"

namespace smd::policy {
namespace {

namespace json = boost::json;
using config::QosRanges;

json::array ranges_json(const QosRanges& ranges) {
  json::array list;
  for (const auto& range : ranges) list.push_back(json::array{range.first, range.last});
  return list;
}

QosRanges ranges_at(const json::value& object, const char* key) {
  QosRanges ranges;
  for (const auto& item : object.at(key).as_array()) {
    const auto& pair = item.as_array();
    const auto first = json::value_to<std::uint64_t>(pair.at(0));
    const auto last = json::value_to<std::uint64_t>(pair.at(1));
    if (last < first) throw std::out_of_range(key);
    ranges.push_back({first, last});
  }
  return ranges;
}

json::array texts_json(const std::vector<std::string>& texts) {
  json::array list;
  for (const auto& text : texts) list.emplace_back(text);
  return list;
}

std::vector<std::string> texts_at(const json::value& object, const char* key) {
  return json::value_to<std::vector<std::string>>(object.at(key));
}

/// Stores of earlier releases lack the key.
std::vector<std::string> optional_texts_at(const json::value& object, const char* key) {
  return object.as_object().contains(key) ? texts_at(object, key) : std::vector<std::string>{};
}

/// Into the object itself: each item has one place.
void put_source(json::object& object, const config::QosSource& source) {
  object["origin"] = std::to_underlying(source.origin);
  object["line"] = source.line;
}

config::QosSource qos_source_at(const json::value& object) {
  return {.origin = static_cast<config::PolicyOrigin>(number_at<std::uint8_t>(object, "origin", 3)),
          .line = number_at<unsigned>(object, "line", 0xffffffff)};
}

json::object group_json(const config::QosGroup& group) {
  json::array names;
  for (const auto& name : group.port_names) names.push_back(json::array{name.node, name.port});
  json::object object{{"name", group.name},
                      {"use", group.use},
                      {"port_guids", ranges_json(group.port_guids)},
                      {"port_names", std::move(names)},
                      {"partitions", texts_json(group.partitions)},
                      {"pkeys", ranges_json(group.pkeys)},
                      {"cas", group.cas},
                      {"switches", group.switches},
                      {"routers", group.routers},
                      {"self", group.self}};
  put_source(object, group.source);
  return object;
}

config::QosGroup group_at(const json::value& from) {
  config::QosGroup group{.name = text_at(from, "name"),
                         .use = text_at(from, "use"),
                         .port_guids = ranges_at(from, "port_guids"),
                         .partitions = texts_at(from, "partitions"),
                         .pkeys = ranges_at(from, "pkeys"),
                         .cas = from.at("cas").as_bool(),
                         .switches = from.at("switches").as_bool(),
                         .routers = from.at("routers").as_bool(),
                         .self = from.at("self").as_bool(),
                         .source = qos_source_at(from)};
  for (const auto& name : from.at("port_names").as_array())
    group.port_names.push_back(
        {.node = json::value_to<std::string>(name.at(0)), .port = json::value_to<unsigned>(name.at(1))});
  return group;
}

json::object level_json(const config::QosLevel& level) {
  json::object object{{"name", level.name},
                      {"use", level.use},
                      {"sl", level.sl.value()},
                      {"mtu_limit", std::to_underlying(level.mtu_limit)},
                      {"rate_limit", level.rate_limit},
                      {"path_bits", ranges_json(level.path_bits)},
                      {"pkeys", ranges_json(level.pkeys)}};
  if (level.packet_life) object["packet_life"] = *level.packet_life;
  put_source(object, level.source);
  return object;
}

config::QosLevel level_at(const json::value& from) {
  config::QosLevel level{.name = text_at(from, "name"),
                         .use = text_at(from, "use"),
                         .sl = Sl{number_at<std::uint8_t>(from, "sl", 15)},
                         .mtu_limit = static_cast<Mtu>(number_at<std::uint8_t>(from, "mtu_limit", 5)),
                         .rate_limit = number_at<std::uint8_t>(from, "rate_limit", 63),
                         .path_bits = ranges_at(from, "path_bits"),
                         .pkeys = ranges_at(from, "pkeys"),
                         .source = qos_source_at(from)};
  if (from.as_object().contains("packet_life"))
    level.packet_life = number_at<std::uint8_t>(from, "packet_life", 63);
  return level;
}

json::object rule_json(const config::QosRule& rule) {
  json::object object{{"use", rule.use},
                      {"level", rule.level},
                      {"source_groups", texts_json(rule.source_groups)},
                      {"destination_groups", texts_json(rule.destination_groups)},
                      {"source_ports", ports_json(rule.source_ports)},
                      {"destination_ports", ports_json(rule.destination_ports)},
                      {"qos_classes", ranges_json(rule.qos_classes)},
                      {"service_ids", ranges_json(rule.service_ids)},
                      {"pkeys", ranges_json(rule.pkeys)}};
  if (rule.no_service) object["no_service"] = true;
  if (!rule.partitions.empty()) object["partitions"] = texts_json(rule.partitions);
  put_source(object, rule.source);
  return object;
}

config::QosRule rule_at(const json::value& from) {
  return {.use = text_at(from, "use"),
          .source_groups = texts_at(from, "source_groups"),
          .destination_groups = texts_at(from, "destination_groups"),
          .source_ports = ports_of(from.at("source_ports")),
          .destination_ports = ports_of(from.at("destination_ports")),
          .qos_classes = ranges_at(from, "qos_classes"),
          .service_ids = ranges_at(from, "service_ids"),
          .no_service = from.as_object().contains("no_service"),
          .pkeys = ranges_at(from, "pkeys"),
          .partitions = optional_texts_at(from, "partitions"),
          .level = text_at(from, "level"),
          .source = qos_source_at(from)};
}

json::object ulp_json(const config::QosUlp& ulp) {
  json::object object{{"name", ulp.name},
                      {"by", std::to_underlying(ulp.by)},
                      {"ranges", ranges_json(ulp.ranges)},
                      {"ports", ports_json(ulp.ports)},
                      {"sl", ulp.sl.value()}};
  put_source(object, ulp.source);
  return object;
}

config::QosUlp ulp_at(const json::value& from) {
  constexpr auto kLastKey = std::to_underlying(config::QosUlpKey::source_target);
  return {.name = text_at(from, "name"),
          .by = static_cast<config::QosUlpKey>(number_at<std::uint8_t>(from, "by", kLastKey)),
          .ranges = ranges_at(from, "ranges"),
          .ports = ports_of(from.at("ports")),
          .sl = Sl{number_at<std::uint8_t>(from, "sl", 15)},
          .source = qos_source_at(from)};
}

json::object class_json(const config::QosClass& one) {
  json::object object{{"name", one.name},
                      {"sl", one.sl.value()},
                      {"high", one.high},
                      {"default", one.standard},
                      {"of_sm", one.of_sm},
                      {"share", one.share},
                      {"partitions", texts_json(one.partitions)}};
  put_source(object, one.source);
  return object;
}

config::QosClass class_at(const json::value& from) {
  return {.name = text_at(from, "name"),
          .sl = Sl{number_at<std::uint8_t>(from, "sl", 15)},
          .high = from.at("high").as_bool(),
          .standard = from.at("default").as_bool(),
          .of_sm = from.at("of_sm").as_bool(),
          .share = number_at<std::uint32_t>(from, "share", config::kWholeShare),
          .partitions = texts_at(from, "partitions"),
          .source = qos_source_at(from)};
}

template <class Item, class Write>
json::array list_json(const std::vector<Item>& items, Write write) {
  json::array list;
  for (const auto& item : items) list.push_back(write(item));
  return list;
}

template <class Item, class Read>
void read_list(const json::value& from, const char* key, Read read, std::vector<Item>& into) {
  for (const auto& item : from.at(key).as_array()) into.push_back(read(item));
}

}  // namespace

json::object qos_json(const config::QosPolicy& policy) {
  json::object object{{"file", policy.file},
                      {"groups", list_json(policy.groups, group_json)},
                      {"levels", list_json(policy.levels, level_json)},
                      {"rules", list_json(policy.rules, rule_json)},
                      {"ulps", list_json(policy.ulps, ulp_json)}};
  if (policy.default_ulp) {
    json::object standard{{"sl", policy.default_ulp->sl.value()}};
    put_source(standard, policy.default_ulp->source);
    object["default"] = std::move(standard);
  }
  if (!policy.classes.empty()) {
    object["classes"] = list_json(policy.classes, class_json);
    object["class_high_limit"] = policy.class_high_limit;
    if (policy.class_high_share != 0) object["class_high_share"] = policy.class_high_share;
    if (policy.tenants_equal) object["tenants_equal"] = true;
  }
  return object;
}

config::QosPolicy qos_policy_at(const json::value& from) {
  config::QosPolicy policy{.file = text_at(from, "file")};
  read_list(from, "groups", group_at, policy.groups);
  read_list(from, "levels", level_at, policy.levels);
  read_list(from, "rules", rule_at, policy.rules);
  read_list(from, "ulps", ulp_at, policy.ulps);
  if (from.as_object().contains("default")) {
    const auto& standard = from.at("default");
    policy.default_ulp = {.sl = Sl{number_at<std::uint8_t>(standard, "sl", 15)},
                          .source = qos_source_at(standard)};
  }
  if (from.as_object().contains("classes")) {
    read_list(from, "classes", class_at, policy.classes);
    policy.class_high_limit = number_at<std::uint8_t>(from, "class_high_limit", 255);
    if (from.as_object().contains("class_high_share"))  // not of an earlier smd
      policy.class_high_share = number_at<std::uint8_t>(from, "class_high_share", 100);
    policy.tenants_equal = from.as_object().contains("tenants_equal");
    if (policy.classes.empty() || policy.classes.size() > 15) throw std::out_of_range("classes");
  }
  if (const auto found = check_qos_policy(policy, false); !found.errors.empty())
    throw std::invalid_argument(to_string(found.errors.front()));
  return policy;
}

}  // namespace smd::policy
