// SPDX-License-Identifier: Apache-2.0
#pragma once
// The kinds of records that show what the fabric is. Each in a file of its own.

#include "smd/sa/record_kind.h"

namespace smd::sa {

RecordKind node_records();         ///< of each end port
RecordKind port_info_records();    ///< of end ports, and of all ports of switches; without the M_Key
RecordKind switch_info_records();  ///< switches
RecordKind lft_records();          ///< of switches, in blocks of 64 LIDs
RecordKind mft_records();          ///< of switches, in blocks of 32 MLIDs for 16 ports
RecordKind sm_info_records();      ///< of this SM and of those that answered the last sweep; without SM_Keys
RecordKind link_records();         ///< each direction of a link is a record
RecordKind guid_info_records();    ///< of end ports, in blocks of 8 GUIDs
RecordKind pkey_records();         ///< in blocks of 32 keys; trusted only
RecordKind sl_to_vl_records();     ///< of pairs of ports
RecordKind vl_arbitration_records();  ///< of ports, in parts of 32 entries
/// MCMemberRecord, by the registry.
RecordKind member_records();
RecordKind service_records();  ///< ServiceRecord, by the registry
RecordKind inform_records();   ///< InformInfoRecord, by the registry

}  // namespace smd::sa
