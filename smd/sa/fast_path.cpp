// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/fast_path.h"

#include "mad/wire/class_port_info.h"
#include "mad/wire/sa/path_record.h"
#include "mad/wire/sa/records.h"
#include "smd/sa/path/multicast_path.h"

namespace smd::sa {

bool is_fast(const Request& request) {
  const bool gets = is_question(request) && request.mad.method == wire::Method::get;
  if (!gets || !request.has_known_version()) return false;
  using Path = wire::PathRecord;
  switch (request.mad.attribute) {
    case wire::ClassPortInfo::kAttribute:
      return true;
    case wire::NodeRecordId::kRecord:
    case wire::PortInfoRecordId::kRecord:
      return request.has(0);
    case Path::kRecord:
      return (request.has(Path::kSgid) || request.has(Path::kSlid)) &&
             (request.has(Path::kDgid) || request.has(Path::kDlid)) && !is_to_group(request);
    default:
      return false;
  }
}

void FastPath::answer(std::vector<mad::Received>& batch, const mad::Transport::Reply& reply) {
  const auto context = context_.get();
  if (!context) return;
  TableCache none;
  const bool counts = clock_ != nullptr && counts_;
  const auto come = counts ? clock_->now() : mad::TimePoint{};
  std::erase_if(batch, [&](const mad::Received& mad) {
    if (mad.error != 0) return false;
    const auto request = Request::parse(mad.bytes);
    if (!request || !is_fast(*request)) return false;
    const RequestContext asking{.lid = mad.from.lid};
    const sa::AnswerContext from{context->directory.get(), *context->registry, context->settings, none};
    const bool answered =
        sa::answer(from, mad.bytes, asking, Slice(kFastPathWork), bytes_) && reply(bytes_, back_to(mad.from));
    if (answered && counts)
      counts_->at_receiver.answered(request->mad.attribute, request->mad.method, status_of(bytes_),
                                    clock_->now() - come);
    return answered;
  });
}

}  // namespace smd::sa
