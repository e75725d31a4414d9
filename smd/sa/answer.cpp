// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/answer.h"

#include <algorithm>
#include <array>

#include "mad/wire/class_port_info.h"
#include "mad/wire/sa/path_record.h"
#include "mad/wire/sa/records.h"
#include "mad/wire/sa/trace_record.h"
#include "smd/sa/fast_path.h"
#include "smd/sa/path/multicast_path.h"
#include "smd/sa/path/path_query.h"
#include "smd/sa/record_kind.h"

namespace smd::sa {
namespace {

using wire::Method;

/// Bits of ClassPortInfo.CapabilityMask: notices are sent to subscribers; and of this class:
/// PortInfoRecords by some bits of their capability mask, multicast groups, MultiPathRecord. Bit 8 would say
/// that there are all optional records, 0x16 and 0x3B among them.
constexpr std::uint16_t kNotices = 0x0002, kMaskMatch = 0x2000, kMulticast = 0x0200, kMultiPath = 0x0400;
/// Bits of CapabilityMask2, as libopensm numbers them: MulticastFDBTop, alias GUIDs, whole PortInfoRecords,
/// extended speeds, services of groups, PortInfoRecords by some bits of CapabilityMask2, send-only full
/// members, 2X width and HDR.
constexpr std::uint32_t kCapability2 =
    1U << 3 | 1U << 5 | 1U << 6 | 1U << 7 | 1U << 8 | 1U << 10 | 1U << 12 | 1U << 13 | 1U << 15;
constexpr std::uint8_t kResponseTime = 0x12;  ///< 1 s: what clients of the SA are used to wait

Answer class_port_info(const Request& request) {
  if (request.mad.method != Method::get) return refuse(wire::kStatusBadMethodAttribute);
  const wire::ClassPortInfo info{
      .base_version = 1,
      .class_version = wire::kSaClassVersion,
      .capability_mask = kNotices | kMaskMatch | kMulticast | kMultiPath,
      .capability_mask2 = kCapability2,
      .resp_time = kResponseTime,
      .redirect_qp = 1,  // without a LID nothing is redirected; clients find here what OpenSM tells them
      .redirect_qkey = kQp1QKey,
      .trap_qkey = kQp1QKey};
  const auto bytes = wire::encoded(info);
  return {.status = wire::kStatusOk, .record_bytes = 0, .records = {bytes.begin(), bytes.end()}};
}

bool is_multi_path(const Request& request) {
  return request.mad.attribute == wire::MultiPathRecord::kRecord && request.mad.method == Method::get_multi;
}

/// The question is a PathRecord by either number.
bool is_trace(const Request& request) {
  return (request.mad.attribute == wire::TraceRecord::kRecord ||
          request.mad.attribute == wire::PathRecord::kRecord) &&
         request.mad.method == Method::get_trace_table;
}

/// What clients ask for most.
bool is_one_path(const Request& request) {
  return request.has_known_version() && request.mad.attribute == wire::PathRecord::kRecord &&
         request.mad.method == Method::get && !is_to_group(request);
}

/// A table that the Snapshot alone makes, for all with the same P_Keys. It is kept, as is that it is too long
/// to be told.
bool is_whole_table(const Request& request) {
  constexpr std::array kTables{wire::NodeRecordId::kRecord, wire::PortInfoRecordId::kRecord,
                               wire::SwitchInfoRecordId::kRecord, wire::LinkRecord::kRecord};
  return request.has_known_version() && request.mad.method == Method::get_table &&
         request.sa.component_mask == 0 && std::ranges::find(kTables, request.mad.attribute) != kTables.end();
}

/// What is refused before it is looked at; kStatusOk: nothing.
std::uint16_t refusal_of(const Directory* directory, const Request& request, const RecordKind* kind) {
  const auto& mad = request.mad;
  if (!request.has_known_version()) return wire::kStatusBadVersion;
  const bool paths = mad.attribute == wire::PathRecord::kRecord;
  const bool known = kind != nullptr || paths || mad.attribute == wire::ClassPortInfo::kAttribute;
  const bool asks = mad.method == Method::get || mad.method == Method::get_table;
  if (!asks && mad.method != Method::set && mad.method != Method::remove && mad.method != Method::get_multi &&
      mad.method != Method::get_trace_table) {
    return wire::kStatusBadMethod;
  }
  if (!is_multi_path(request) && !is_trace(request) && (!known || !asks))
    return wire::kStatusBadMethodAttribute;
  if (mad.attribute == wire::ClassPortInfo::kAttribute) return wire::kStatusOk;
  if (directory == nullptr) return wire::kStatusBusy;  // the fabric is not up yet: ask again
  const bool denied = kind != nullptr && kind->trusted_only && request.sa.sm_key == 0;
  return denied ? wire::kSaRequestInvalid : wire::kStatusOk;
}

using Begun = std::variant<Found, std::unique_ptr<Search>>;

Begun begun(PathsOf paths) {
  if (!paths) return refused(paths.error());
  return std::move(*paths);
}

}  // namespace

/// The search may begin for one question and end for another: nothing of it is of one of them.
class TableCache::Table {
 public:
  Table(const AnswerContext& context, const RecordKind& kind, const Request& request,
        const RequestContext& asking)
      : question_(request.bytes.begin(), request.bytes.end()),
        request_(*Request::parse(question_)),
        search_(std::make_unique<RecordSearch>(*context.directory, no_registry_, kind, request_, asking)) {}
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  bool go_on(Slice& slice) {
    if (!search_) return true;
    if (!search_->go_on(slice)) return false;
    found_ = search_->take();
    search_.reset();
    return true;
  }
  const Found& found() const { return found_; }
  std::size_t bytes() const { return search_ ? search_->bytes() : 0; }

 private:
  std::vector<std::uint8_t> question_;
  Request request_;
  Registry no_registry_;
  std::unique_ptr<RecordSearch> search_;
  Found found_;
};

namespace {

/// A question for a table that others may ask for, too.
class SharedTable final : public Search {
 public:
  explicit SharedTable(std::shared_ptr<TableCache::Table> table) : table_(std::move(table)) {}
  bool go_on(Slice& slice) override { return table_->go_on(slice); }
  Found take() override { return table_->found(); }
  std::size_t bytes() const override { return table_->bytes(); }

 private:
  std::shared_ptr<TableCache::Table> table_;
};

}  // namespace

std::shared_ptr<TableCache::Table> TableCache::find(const Key& key) const {
  const auto found = tables_.find(key);
  return found != tables_.end() ? found->second : nullptr;
}

void TableCache::put(const Key& key, std::shared_ptr<Table> table) {
  constexpr std::size_t kMost = 16;
  if (tables_.size() < kMost || tables_.contains(key)) tables_.insert_or_assign(key, std::move(table));
}

bool is_question(const Request& request) {
  const auto method = request.mad.method;
  return request.mad.mgmt_class == wire::MgmtClass::sa && !wire::is_response(method) &&
         wire::response_to(method) != Method::none;
}

bool has_wrong_key(const Request& request, const Settings& settings) {
  return request.sa.sm_key != 0 && request.sa.sm_key != settings.sm_key;
}

std::variant<Found, std::unique_ptr<Search>> search_for(const AnswerContext& context, const Request& request,
                                                        const RequestContext& asking) {
  const auto* kind = find_kind(request.mad.attribute);
  const auto refusal = refusal_of(context.directory, request, kind);
  if (refusal != wire::kStatusOk) return refused(refusal);
  if (request.mad.attribute == wire::ClassPortInfo::kAttribute) return found(class_port_info(request));
  const auto& directory = *context.directory;
  const auto viewer = Viewer::of_fabric(directory, asking.lid, request.sa.sm_key != 0);
  const PathContext paths{directory, context.registry, context.settings, viewer};
  if (is_multi_path(request)) return begun(multi_path_records(paths, request));
  if (is_trace(request)) return begun(trace_records(paths, request));
  if (request.mad.attribute == wire::PathRecord::kRecord) {
    if (!is_to_group(request)) return begun(path_records(paths, request));
    return found(multicast_path(directory, context.registry, request, directory.by_lid(asking.lid)));
  }
  if (!is_whole_table(request) || !viewer.is_one_of_many()) {
    return std::make_unique<RecordSearch>(directory, context.registry, *kind, request, asking);
  }
  const TableCache::Key key{request.mad.attribute, viewer.port() != nullptr ? viewer.port()->pkeys : nullptr};
  auto table = context.tables.find(key);
  if (!table) {
    table = std::make_shared<TableCache::Table>(context, *kind, request, asking);
    context.tables.put(key, table);
  }
  return std::make_unique<SharedTable>(std::move(table));
}

bool answer(const AnswerContext& context, std::span<const std::uint8_t> mad, const RequestContext& asking,
            Slice slice, std::vector<std::uint8_t>& out) {
  const auto request = Request::parse(mad);
  if (!request || !is_question(*request) || has_wrong_key(*request, context.settings)) return false;
  if (context.directory != nullptr && is_one_path(*request)) {
    const auto viewer = Viewer::of_fabric(*context.directory, asking.lid, request->sa.sm_key != 0);
    const auto path =
        one_path({*context.directory, context.registry, context.settings, viewer}, *request, slice);
    if (!path) return false;
    std::array<std::uint8_t, wire::PathRecord::kBytes> record{};
    if (*path) wire::encode_over(**path, record);
    const auto told = std::span(record).first(*path ? record.size() : 0);
    reply(*request, *path ? wire::kStatusOk : path->error(), told.size(), told, out);
    return true;
  }
  auto begun = search_for(context, *request, asking);
  if (auto* search = std::get_if<std::unique_ptr<Search>>(&begun)) {
    if (!(*search)->go_on(slice)) return false;
    begun = (*search)->take();
  }
  const auto& found = std::get<Found>(begun);
  reply(*request, found.status, found.record_bytes, found.records(), out);
  return true;
}

bool answer(const Directory* directory, const Registry& registry, const Settings& settings,
            std::span<const std::uint8_t> mad, const RequestContext& asking, TableCache& tables,
            std::vector<std::uint8_t>& out) {
  return answer({directory, registry, settings, tables}, mad, asking, Slice::endless(), out);
}

std::optional<std::vector<std::uint8_t>> answer(const Directory* directory, const Registry& registry,
                                                const Settings& settings, std::span<const std::uint8_t> mad,
                                                const RequestContext& asking) {
  std::vector<std::uint8_t> out;
  TableCache tables;
  if (!answer(directory, registry, settings, mad, asking, tables, out)) return std::nullopt;
  return out;
}

}  // namespace smd::sa
