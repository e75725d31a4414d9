// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which of libibmad's fields is which of ours. Each row of a table of mad/wire stands here, or its reason why
// not.

#include <infiniband/mad.h>

#include <array>
#include <string_view>

#include "mad/wire/attributes.h"
#include "mad/wire/class_port_info.h"
#include "mad/wire/mad.h"
#include "mad/wire/performance_lanes.h"
#include "mad/wire/performance_optional.h"

namespace smd::conformance {

/// A field of one number.
struct Same {
  std::string_view ours;
  MAD_FIELDS theirs;
};

/// A field that libibmad cannot judge by mad_get_field; `reason` says what judges it.
struct Apart {
  std::string_view ours, reason;
};

inline constexpr std::string_view kBlock = "libibmad has the whole table as bytes: compared as such";
inline constexpr std::string_view kNone = "this libibmad has none";

template <class A>
struct Libibmad;

template <>
struct Libibmad<wire::NodeInfo> {
  static constexpr std::array same{Same{"BaseVersion", IB_NODE_BASE_VERS_F},
                                   Same{"ClassVersion", IB_NODE_CLASS_VERS_F},
                                   Same{"NodeType", IB_NODE_TYPE_F},
                                   Same{"NumPorts", IB_NODE_NPORTS_F},
                                   Same{"SystemImageGUID", IB_NODE_SYSTEM_GUID_F},
                                   Same{"NodeGUID", IB_NODE_GUID_F},
                                   Same{"PortGUID", IB_NODE_PORT_GUID_F},
                                   Same{"PartitionCap", IB_NODE_PARTITION_CAP_F},
                                   Same{"DeviceID", IB_NODE_DEVID_F},
                                   Same{"Revision", IB_NODE_REVISION_F},
                                   Same{"LocalPortNum", IB_NODE_LOCAL_PORT_F},
                                   Same{"VendorID", IB_NODE_VENDORID_F}};
  static constexpr std::array<Apart, 0> apart{};
};

template <>
struct Libibmad<wire::PortCounters> {
  static constexpr std::array same{Same{"PortSelect", IB_PC_PORT_SELECT_F},
                                   Same{"CounterSelect", IB_PC_COUNTER_SELECT_F},
                                   Same{"SymbolErrorCounter", IB_PC_ERR_SYM_F},
                                   Same{"LinkErrorRecoveryCounter", IB_PC_LINK_RECOVERS_F},
                                   Same{"LinkDownedCounter", IB_PC_LINK_DOWNED_F},
                                   Same{"PortRcvErrors", IB_PC_ERR_RCV_F},
                                   Same{"PortRcvRemotePhysicalErrors", IB_PC_ERR_PHYSRCV_F},
                                   Same{"PortRcvSwitchRelayErrors", IB_PC_ERR_SWITCH_REL_F},
                                   Same{"PortXmitDiscards", IB_PC_XMT_DISCARDS_F},
                                   Same{"PortXmitConstraintErrors", IB_PC_ERR_XMTCONSTR_F},
                                   Same{"PortRcvConstraintErrors", IB_PC_ERR_RCVCONSTR_F},
                                   Same{"CounterSelect2", IB_PC_COUNTER_SELECT2_F},
                                   Same{"LocalLinkIntegrityErrors", IB_PC_ERR_LOCALINTEG_F},
                                   Same{"ExcessiveBufferOverrunErrors", IB_PC_ERR_EXCESS_OVR_F},
                                   Same{"VL15Dropped", IB_PC_VL15_DROPPED_F},
                                   Same{"PortXmitData", IB_PC_XMT_BYTES_F},
                                   Same{"PortRcvData", IB_PC_RCV_BYTES_F},
                                   Same{"PortXmitPkts", IB_PC_XMT_PKTS_F},
                                   Same{"PortRcvPkts", IB_PC_RCV_PKTS_F},
                                   Same{"PortXmitWait", IB_PC_XMT_WAIT_F}};
  static constexpr std::array<Apart, 0> apart{};
};

template <>
struct Libibmad<wire::PortCountersExtended> {
  static constexpr std::array same{Same{"PortSelect", IB_PC_EXT_PORT_SELECT_F},
                                   Same{"CounterSelect", IB_PC_EXT_COUNTER_SELECT_F},
                                   Same{"PortXmitData", IB_PC_EXT_XMT_BYTES_F},
                                   Same{"PortRcvData", IB_PC_EXT_RCV_BYTES_F},
                                   Same{"PortXmitPkts", IB_PC_EXT_XMT_PKTS_F},
                                   Same{"PortRcvPkts", IB_PC_EXT_RCV_PKTS_F},
                                   Same{"PortUnicastXmitPkts", IB_PC_EXT_XMT_UPKTS_F},
                                   Same{"PortUnicastRcvPkts", IB_PC_EXT_RCV_UPKTS_F},
                                   Same{"PortMulticastXmitPkts", IB_PC_EXT_XMT_MPKTS_F},
                                   Same{"PortMulticastRcvPkts", IB_PC_EXT_RCV_MPKTS_F},
                                   Same{"CounterSelect2", IB_PC_EXT_COUNTER_SELECT2_F},
                                   Same{"SymbolErrorCounter", IB_PC_EXT_ERR_SYM_F},
                                   Same{"LinkErrorRecoveryCounter", IB_PC_EXT_LINK_RECOVERS_F},
                                   Same{"LinkDownedCounter", IB_PC_EXT_LINK_DOWNED_F},
                                   Same{"PortRcvErrors", IB_PC_EXT_ERR_RCV_F},
                                   Same{"PortRcvRemotePhysicalErrors", IB_PC_EXT_ERR_PHYSRCV_F},
                                   Same{"PortRcvSwitchRelayErrors", IB_PC_EXT_ERR_SWITCH_REL_F},
                                   Same{"PortXmitDiscards", IB_PC_EXT_XMT_DISCARDS_F},
                                   Same{"PortXmitConstraintErrors", IB_PC_EXT_ERR_XMTCONSTR_F},
                                   Same{"PortRcvConstraintErrors", IB_PC_EXT_ERR_RCVCONSTR_F},
                                   Same{"LocalLinkIntegrityErrors", IB_PC_EXT_ERR_LOCALINTEG_F},
                                   Same{"ExcessiveBufferOverrunErrors", IB_PC_EXT_ERR_EXCESS_OVR_F},
                                   Same{"VL15Dropped", IB_PC_EXT_VL15_DROPPED_F},
                                   Same{"PortXmitWait", IB_PC_EXT_XMT_WAIT_F},
                                   Same{"QP1Dropped", IB_PC_EXT_QP1_DROP_F}};
  static constexpr std::array<Apart, 0> apart{};
};

template <>
struct Libibmad<wire::PortReceiveErrorDetails> {
  static constexpr std::array same{Same{"PortSelect", IB_PC_PORT_SELECT_F},
                                   Same{"CounterSelect", IB_PC_COUNTER_SELECT_F},
                                   Same{"PortLocalPhysicalErrors", IB_PC_RCV_LOCAL_PHY_ERR_F},
                                   Same{"PortMalformedPktErrors", IB_PC_RCV_MALFORMED_PKT_ERR_F},
                                   Same{"PortBufferOverrunErrors", IB_PC_RCV_BUF_OVR_ERR_F},
                                   Same{"PortDLIDMappingErrors", IB_PC_RCV_DLID_MAP_ERR_F},
                                   Same{"PortVLMappingErrors", IB_PC_RCV_VL_MAP_ERR_F},
                                   Same{"PortLoopingErrors", IB_PC_RCV_LOOPING_ERR_F}};
  static constexpr std::array<Apart, 0> apart{};
};

template <>
struct Libibmad<wire::PortTransmitDiscardDetails> {
  static constexpr std::array same{Same{"PortSelect", IB_PC_PORT_SELECT_F},
                                   Same{"CounterSelect", IB_PC_COUNTER_SELECT_F},
                                   Same{"PortInactiveDiscards", IB_PC_XMT_INACT_DISC_F},
                                   Same{"PortNeighborMTUDiscards", IB_PC_XMT_NEIGH_MTU_DISC_F},
                                   Same{"PortSwLifetimeLimitDiscards", IB_PC_XMT_SW_LIFE_DISC_F},
                                   Same{"PortSwHOQLifetimeLimitDiscards", IB_PC_XMT_SW_HOL_DISC_F}};
  static constexpr std::array<Apart, 0> apart{};
};

inline constexpr std::string_view kLanes = "libibmad has a name for each: compared by them";

template <class Kind>
struct Libibmad<wire::CountersByLane<Kind>> {
  static constexpr std::array same{Same{"OpCode", IB_PSC_OPCODE_F}, Same{"PortSelect", IB_PC_PORT_SELECT_F},
                                   Same{"CounterSelect", IB_PC_COUNTER_SELECT_F}};
  static constexpr std::array apart{Apart{Kind::kCounter, kLanes}};
};

template <>
struct Libibmad<wire::PortOpReceiveCounters> {
  static constexpr std::array same{Same{"OpCode", IB_PSC_OPCODE_F}, Same{"PortSelect", IB_PC_PORT_SELECT_F},
                                   Same{"CounterSelect", IB_PC_COUNTER_SELECT_F},
                                   Same{"PortOpRcvPkts", IB_PC_PORT_OP_RCV_PKTS_F},
                                   Same{"PortOpRcvData", IB_PC_PORT_OP_RCV_DATA_F}};
  static constexpr std::array<Apart, 0> apart{};
};

template <>
struct Libibmad<wire::PortFlowControlCounters> {
  static constexpr std::array same{Same{"PortSelect", IB_PC_PORT_SELECT_F},
                                   Same{"CounterSelect", IB_PC_COUNTER_SELECT_F},
                                   Same{"PortXmitFlowPkts", IB_PC_PORT_XMIT_FLOW_PKTS_F},
                                   Same{"PortRcvFlowPkts", IB_PC_PORT_RCV_FLOW_PKTS_F}};
  static constexpr std::array<Apart, 0> apart{};
};

template <>
struct Libibmad<wire::PortReceiveCongestion> {
  static constexpr std::array same{Same{"PortSelect", IB_PC_PORT_SELECT_F},
                                   Same{"CounterSelect", IB_PC_COUNTER_SELECT_F},
                                   Same{"PortPktRcvFECN", IB_PC_RCV_CON_CTRL_PKT_RCV_FECN_F},
                                   Same{"PortPktRcvBECN", IB_PC_RCV_CON_CTRL_PKT_RCV_BECN_F}};
  static constexpr std::array<Apart, 0> apart{};
};

template <>
struct Libibmad<wire::PortTransmitCongestion> {
  static constexpr std::array same{Same{"PortSelect", IB_PC_PORT_SELECT_F},
                                   Same{"CounterSelect", IB_PC_COUNTER_SELECT_F},
                                   Same{"PortXmitTimeCong", IB_PC_XMIT_CON_CTRL_TIME_CONG_F}};
  static constexpr std::array<Apart, 0> apart{};
};

template <>
struct Libibmad<wire::PortExtendedSpeedsCounters> {
  static constexpr std::array same{Same{"PortSelect", IB_PESC_PORT_SELECT_F},
                                   Same{"CounterSelect", IB_PESC_COUNTER_SELECT_F},
                                   Same{"SyncHeaderErrorCounter", IB_PESC_SYNC_HDR_ERR_CTR_F},
                                   Same{"UnknownBlockCounter", IB_PESC_UNK_BLOCK_CTR_F}};
  static constexpr std::array apart{Apart{"ErrorDetectionCounterLane", kLanes},
                                    Apart{"FECCorrectableBlockCtrLane", kLanes},
                                    Apart{"FECUncorrectableBlockCtrLane", kLanes}};
};

template <>
struct Libibmad<wire::PortSamplesControl> {
  static constexpr std::array same{Same{"OpCode", IB_PSC_OPCODE_F},
                                   Same{"PortSelect", IB_PSC_PORT_SELECT_F},
                                   Same{"Tick", IB_PSC_TICK_F},
                                   Same{"CounterWidth", IB_PSC_COUNTER_WIDTH_F},
                                   Same{"SampleMechanisms", IB_PSC_SAMPLE_MECHS_F},
                                   Same{"SampleStatus", IB_PSC_SAMPLE_STATUS_F},
                                   Same{"OptionMask", IB_PSC_OPTION_MASK_F},
                                   Same{"VendorMask", IB_PSC_VENDOR_MASK_F},
                                   Same{"SampleStart", IB_PSC_SAMPLE_START_F},
                                   Same{"SampleInterval", IB_PSC_SAMPLE_INTVL_F}};
  static constexpr std::array<Apart, 0> apart{};
};

template <>
struct Libibmad<wire::NodeDescription> {
  static constexpr std::array<Same, 0> same{};
  static constexpr std::array apart{Apart{"NodeString", "text: compared by mad_get_array"}};
};

template <>
struct Libibmad<wire::SwitchInfo> {
  static constexpr std::array same{Same{"LinearFDBCap", IB_SW_LINEAR_FDB_CAP_F},
                                   Same{"RandomFDBCap", IB_SW_RANDOM_FDB_CAP_F},
                                   Same{"MulticastFDBCap", IB_SW_MCAST_FDB_CAP_F},
                                   Same{"LinearFDBTop", IB_SW_LINEAR_FDB_TOP_F},
                                   Same{"DefaultPort", IB_SW_DEF_PORT_F},
                                   Same{"DefaultMulticastPrimaryPort", IB_SW_DEF_MCAST_PRIM_F},
                                   Same{"DefaultMulticastNotPrimaryPort", IB_SW_DEF_MCAST_NOT_PRIM_F},
                                   Same{"LifeTimeValue", IB_SW_LIFE_TIME_F},
                                   Same{"PortStateChange", IB_SW_STATE_CHANGE_F},
                                   Same{"OptimizedSLtoVLMappingProgramming", IB_SW_OPT_SLTOVL_MAPPING_F},
                                   Same{"LIDsPerPort", IB_SW_LIDS_PER_PORT_F},
                                   Same{"PartitionEnforcementCap", IB_SW_PARTITION_ENFORCE_CAP_F},
                                   Same{"InboundEnforcementCap", IB_SW_PARTITION_ENF_INB_F},
                                   Same{"OutboundEnforcementCap", IB_SW_PARTITION_ENF_OUTB_F},
                                   Same{"FilterRawInboundCap", IB_SW_FILTER_RAW_INB_F},
                                   Same{"FilterRawOutboundCap", IB_SW_FILTER_RAW_OUTB_F},
                                   Same{"EnhancedPort0", IB_SW_ENHANCED_PORT0_F},
                                   Same{"MulticastFDBTop", IB_SW_MCAST_FDB_TOP_F}};
  static constexpr std::array<Apart, 0> apart{};
};

template <>
struct Libibmad<wire::PortInfo> {
  static constexpr std::array same{
      Same{"M_Key", IB_PORT_MKEY_F},
      Same{"GidPrefix", IB_PORT_GID_PREFIX_F},
      Same{"LID", IB_PORT_LID_F},
      Same{"MasterSMLID", IB_PORT_SMLID_F},
      Same{"CapabilityMask", IB_PORT_CAPMASK_F},
      Same{"DiagCode", IB_PORT_DIAG_F},
      Same{"M_KeyLeasePeriod", IB_PORT_MKEY_LEASE_F},
      Same{"LocalPortNum", IB_PORT_LOCAL_PORT_F},
      Same{"LinkWidthEnabled", IB_PORT_LINK_WIDTH_ENABLED_F},
      Same{"LinkWidthSupported", IB_PORT_LINK_WIDTH_SUPPORTED_F},
      Same{"LinkWidthActive", IB_PORT_LINK_WIDTH_ACTIVE_F},
      Same{"LinkSpeedSupported", IB_PORT_LINK_SPEED_SUPPORTED_F},
      Same{"PortState", IB_PORT_STATE_F},
      Same{"PortPhysicalState", IB_PORT_PHYS_STATE_F},
      Same{"LinkDownDefaultState", IB_PORT_LINK_DOWN_DEF_F},
      Same{"M_KeyProtectBits", IB_PORT_MKEY_PROT_BITS_F},
      Same{"LMC", IB_PORT_LMC_F},
      Same{"LinkSpeedActive", IB_PORT_LINK_SPEED_ACTIVE_F},
      Same{"LinkSpeedEnabled", IB_PORT_LINK_SPEED_ENABLED_F},
      Same{"NeighborMTU", IB_PORT_NEIGHBOR_MTU_F},
      Same{"MasterSMSL", IB_PORT_SMSL_F},
      Same{"VLCap", IB_PORT_VL_CAP_F},
      Same{"InitType", IB_PORT_INIT_TYPE_F},
      Same{"VLHighLimit", IB_PORT_VL_HIGH_LIMIT_F},
      Same{"VLArbitrationHighCap", IB_PORT_VL_ARBITRATION_HIGH_CAP_F},
      Same{"VLArbitrationLowCap", IB_PORT_VL_ARBITRATION_LOW_CAP_F},
      Same{"InitTypeReply", IB_PORT_INIT_TYPE_REPLY_F},
      Same{"MTUCap", IB_PORT_MTU_CAP_F},
      Same{"VLStallCount", IB_PORT_VL_STALL_COUNT_F},
      Same{"HOQLife", IB_PORT_HOQ_LIFE_F},
      Same{"OperationalVLs", IB_PORT_OPER_VLS_F},
      Same{"PartitionEnforcementInbound", IB_PORT_PART_EN_INB_F},
      Same{"PartitionEnforcementOutbound", IB_PORT_PART_EN_OUTB_F},
      Same{"FilterRawInbound", IB_PORT_FILTER_RAW_INB_F},
      Same{"FilterRawOutbound", IB_PORT_FILTER_RAW_OUTB_F},
      Same{"M_KeyViolations", IB_PORT_MKEY_VIOL_F},
      Same{"P_KeyViolations", IB_PORT_PKEY_VIOL_F},
      Same{"Q_KeyViolations", IB_PORT_QKEY_VIOL_F},
      Same{"GUIDCap", IB_PORT_GUID_CAP_F},
      Same{"ClientReregister", IB_PORT_CLIENT_REREG_F},
      Same{"MulticastPKeyTrapSuppressionEnabled", IB_PORT_MCAST_PKEY_SUPR_ENAB_F},
      Same{"SubnetTimeOut", IB_PORT_SUBN_TIMEOUT_F},
      Same{"RespTimeValue", IB_PORT_RESP_TIME_VAL_F},
      Same{"LocalPhyErrors", IB_PORT_LOCAL_PHYS_ERR_F},
      Same{"OverrunErrors", IB_PORT_OVERRUN_ERR_F},
      Same{"MaxCreditHint", IB_PORT_MAX_CREDIT_HINT_F},
      Same{"LinkRoundTripLatency", IB_PORT_LINK_ROUND_TRIP_F},
      Same{"CapabilityMask2", IB_PORT_CAPMASK2_F},
      Same{"LinkSpeedExtActive", IB_PORT_LINK_SPEED_EXT_ACTIVE_F},
      Same{"LinkSpeedExtSupported", IB_PORT_LINK_SPEED_EXT_SUPPORTED_F},
      Same{"LinkSpeedExtEnabled", IB_PORT_LINK_SPEED_EXT_ENABLED_F}};
  static constexpr std::array apart{Apart{"LinkSpeedExtActive2", kNone},
                                    Apart{"LinkSpeedExtSupported2", kNone},
                                    Apart{"LinkSpeedExtEnabled2", kNone}};
};

template <>
struct Libibmad<wire::SmInfo> {
  static constexpr std::array same{Same{"GUID", IB_SMINFO_GUID_F}, Same{"SM_Key", IB_SMINFO_KEY_F},
                                   Same{"ActCount", IB_SMINFO_ACT_F}, Same{"Priority", IB_SMINFO_PRIO_F},
                                   Same{"SMState", IB_SMINFO_STATE_F}};
  static constexpr std::array<Apart, 0> apart{};
};

template <>
struct Libibmad<wire::Notice> {
  static constexpr std::array same{
      Same{"IsGeneric", IB_NOTICE_IS_GENERIC_F},
      Same{"Type", IB_NOTICE_TYPE_F},
      Same{"ProducerTypeOrVendorID", IB_NOTICE_PRODUCER_F},
      Same{"TrapNumberOrDeviceID", IB_NOTICE_TRAP_NUMBER_F},
      Same{"IssuerLID", IB_NOTICE_ISSUER_LID_F},
      Same{"NoticeToggle", IB_NOTICE_TOGGLE_F},
      Same{"NoticeCount", IB_NOTICE_COUNT_F},
  };
  static constexpr std::array apart{Apart{"DataDetails", kBlock}};
};

template <>
struct Libibmad<wire::ClassPortInfo> {
  static constexpr std::array same{Same{"BaseVersion", IB_CPI_BASEVER_F},
                                   Same{"ClassVersion", IB_CPI_CLASSVER_F},
                                   Same{"CapabilityMask", IB_CPI_CAPMASK_F},
                                   Same{"CapabilityMask2", IB_CPI_CAPMASK2_F},
                                   Same{"RespTimeValue", IB_CPI_RESP_TIME_VALUE_F},
                                   Same{"RedirectTC", IB_CPI_REDIRECT_TC_F},
                                   Same{"RedirectSL", IB_CPI_REDIRECT_SL_F},
                                   Same{"RedirectFL", IB_CPI_REDIRECT_FL_F},
                                   Same{"RedirectLID", IB_CPI_REDIRECT_LID_F},
                                   Same{"RedirectP_Key", IB_CPI_REDIRECT_PKEY_F},
                                   Same{"RedirectQP", IB_CPI_REDIRECT_QP_F},
                                   Same{"RedirectQ_Key", IB_CPI_REDIRECT_QKEY_F},
                                   Same{"TrapTC", IB_CPI_TRAP_TC_F},
                                   Same{"TrapSL", IB_CPI_TRAP_SL_F},
                                   Same{"TrapFL", IB_CPI_TRAP_FL_F},
                                   Same{"TrapLID", IB_CPI_TRAP_LID_F},
                                   Same{"TrapP_Key", IB_CPI_TRAP_PKEY_F},
                                   Same{"TrapHL", IB_CPI_TRAP_HL_F},
                                   Same{"TrapQP", IB_CPI_TRAP_QP_F},
                                   Same{"TrapQ_Key", IB_CPI_TRAP_QKEY_F}};
  static constexpr std::array apart{Apart{"RedirectGID", kBlock}, Apart{"TrapGID", kBlock}};
};

inline constexpr std::string_view kSwapped =
    "libibmad's row lacks its conversion of bit order: tested as such";

template <>
struct Libibmad<wire::PortInfoExtended> {
  static constexpr std::array same{Same{"CapabilityMask", IB_PORT_EXT_CAPMASK_F},
                                   Same{"FECModeActive", IB_PORT_EXT_FEC_MODE_ACTIVE_F},
                                   Same{"FDRFECModeSupported", IB_PORT_EXT_FDR_FEC_MODE_SUPPORTED_F},
                                   Same{"FDRFECModeEnabled", IB_PORT_EXT_FDR_FEC_MODE_ENABLED_F},
                                   Same{"EDRFECModeSupported", IB_PORT_EXT_EDR_FEC_MODE_SUPPORTED_F},
                                   Same{"EDRFECModeEnabled", IB_PORT_EXT_EDR_FEC_MODE_ENABLED_F}};
  static constexpr std::array apart{
      Apart{"HDRFECModeSupported", kSwapped}, Apart{"HDRFECModeEnabled", kSwapped},
      Apart{"NDRFECModeSupported", kSwapped}, Apart{"NDRFECModeEnabled", kSwapped}};
};

template <>
struct Libibmad<wire::MlnxExtPortInfo> {
  static constexpr std::array same{Same{"StateChangeEnable", IB_MLNX_EXT_PORT_STATE_CHG_ENABLE_F},
                                   Same{"LinkSpeedSupported", IB_MLNX_EXT_PORT_LINK_SPEED_SUPPORTED_F},
                                   Same{"LinkSpeedEnabled", IB_MLNX_EXT_PORT_LINK_SPEED_ENABLED_F},
                                   Same{"LinkSpeedActive", IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F}};
  static constexpr std::array<Apart, 0> apart{};
};

template <>
struct Libibmad<wire::MadHeader> {
  static constexpr std::array same{
      Same{"BaseVersion", IB_MAD_BASEVER_F},      Same{"MgmtClass", IB_MAD_MGMTCLASS_F},
      Same{"ClassVersion", IB_MAD_CLASSVER_F},    Same{"Status", IB_MAD_STATUS_F},
      Same{"TransactionID", IB_MAD_TRID_F},       Same{"AttributeID", IB_MAD_ATTRID_F},
      Same{"AttributeModifier", IB_MAD_ATTRMOD_F}};
  static constexpr std::array apart{Apart{"Method", "libibmad has it as 7 bits and the response bit"},
                                    Apart{"ClassSpecific", "libibmad has it as hop pointer and hop count"}};
};

template <>
struct Libibmad<wire::GuidInfo> {
  static constexpr std::array<Same, 0> same{};
  static constexpr std::array apart{Apart{"GUID", "libibmad has eight fields: compared one by one"}};
};

template <>
struct Libibmad<wire::SlToVl> {
  static constexpr std::array<Same, 0> same{};
  static constexpr std::array apart{Apart{"VL", "compared by mad_dump_sltovl"}};
};

template <>
struct Libibmad<wire::VlArbitration> {
  static constexpr std::array<Same, 0> same{};
  static constexpr std::array apart{Apart{"VL", "compared by mad_dump_vlarbitration"},
                                    Apart{"Weight", "compared by mad_dump_vlarbitration"}};
};

template <>
struct Libibmad<wire::LinearForwardingTable> {
  static constexpr std::array<Same, 0> same{};
  static constexpr std::array apart{Apart{"Port", kBlock}};
};

template <>
struct Libibmad<wire::MulticastForwardingTable> {
  static constexpr std::array<Same, 0> same{};
  static constexpr std::array apart{Apart{"PortMask", kBlock}};
};

template <>
struct Libibmad<wire::PKeyTable> {
  static constexpr std::array<Same, 0> same{};
  static constexpr std::array apart{
      Apart{"P_Key", "libibmad has none; smpquery and the kernel read big-endian words: compared as such"}};
};

}  // namespace smd::conformance
