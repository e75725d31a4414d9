// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kinds of records that show what the fabric is. Each in a file of its own.

#include "smd/sa/record_kind.h"

namespace smd::sa {

RecordKind node_records();
RecordKind port_info_records();
RecordKind switch_info_records();
RecordKind lft_records();
RecordKind mft_records();
RecordKind sm_info_records();
RecordKind link_records();
RecordKind guid_info_records();
RecordKind pkey_records();
RecordKind sl_to_vl_records();
RecordKind vl_arbitration_records();
/// What clients have registered.
RecordKind member_records();
RecordKind service_records();
RecordKind inform_records();

}  // namespace smd::sa
