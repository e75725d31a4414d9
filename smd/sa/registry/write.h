// SPDX-License-Identifier: Apache-2.0
#pragma once
// Requests that change the registry. Pure: the same registry, fabric and request give the same answer and
// the same new registry, on any thread.

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smd/registry/registry.h"
#include "smd/sa/directory.h"
#include "smd/sa/registry/group_terms.h"
#include "smd/sa/registry/liveness.h"
#include "smd/sa/request.h"
#include "smd/sa/settings.h"

namespace smd::sa {

/// Why a request was not granted, for the client (status) and for the operator (the rest).
struct Refusal {
  std::uint16_t status = 0;
  std::string_view component;  ///< as MCMemberRecord and so on name it
  std::string wanted, has;     ///< may be empty
  std::string_view why;
};

/// What was `wanted` of the component and what it `has`, in words; both may be empty.
inline Refusal make_refusal(std::string_view component, std::string wanted, std::string has,
                            std::string_view why, std::uint16_t status = wire::kSaRequestInvalid) {
  return {.status = status,
          .component = component,
          .wanted = std::move(wanted),
          .has = std::move(has),
          .why = why};
}

/// A refusal as it is logged: the requester and the request.
struct Refused {
  std::string_view what;  ///< "join", "leave", "offer", ...
  Guid node, port;        ///< 0 where not known
  std::string name;
  PortNum number;
  Lid from;           ///< where the request came from
  std::string about;  ///< the group, or the service
  Refusal refusal;
};

/// A group that came or went.
struct GroupEvent {
  Mgid mgid;
  Lid mlid;
  bool created = false;
  std::string_view why;     ///< of one that went
  PKey pkey{};              ///< of its partition
  bool configured = false;  ///< partitions say that it is there, or said so
};

/// What happened while a batch of requests was looked at.
struct Effects {
  std::vector<Refused> refused;
  std::vector<GroupEvent> groups;
  std::vector<TermsKept> terms_kept;     ///< of refresh(): groups that wait for their last member
  std::vector<TermsKept> terms_applied;  ///< groups that had waited; `members` is of that time
  sm::GroupSls dropped_groups;           ///< of refresh(): groups whose packets are dropped
};

/// A change in hand.
struct Writing {
  const Directory& directory;
  const Settings& settings;
  Registry& registry;
  Effects& effects;
  std::int64_t now = 0;          ///< Unix time in seconds
  Liveness* liveness = nullptr;  ///< of refresh(); null: ports that are not found have left
};

/// Whose request it is.
struct Requester {
  const EndPort* port = nullptr;  ///< where it came from; null: a LID of no port
  Lid lid;
  bool trusted = false;  ///< shows the SM_Key
  std::uint32_t qp = 1;  ///< from which it came: reports go there
};

/// True of requests that write() answers.
bool is_write(const Request& request);
/// Carries it out in `writing.registry`; another attribute: kStatusBadMethodAttribute.
Answer write(Writing& writing, const Requester& requester, const Request& request);

/// After a sweep: what ports had registered that are gone ends, and the groups that smd itself makes are as
/// the ports are now.
void refresh(Writing& writing);

/// After we became master: clients() becomes empty where the registry may lack what they registered with
/// another SM.
void take_over(Writing& writing);

/// Ports whose clients have to register again, and can be asked to: what they had registered is not known.
std::vector<Guid> to_ask(const Writing& writing);

}  // namespace smd::sa
