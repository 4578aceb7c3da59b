package nvml

// The functions that are used by name of their purpose. A use is allowed when the
// library has one of the names: go-nvml and lists.go then take the newest. Names of
// metrics stand in their rows (metrics.go).
var (
	symInit          = []string{"nvmlInit_v2", "nvmlInit"}
	symCount         = []string{"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}
	symHandle        = []string{"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}
	symDriverVersion = []string{"nvmlSystemGetDriverVersion"}
	symCUDA2         = []string{"nvmlSystemGetCudaDriverVersion_v2"}
	symCUDA1         = []string{"nvmlSystemGetCudaDriverVersion"}
	symName          = []string{"nvmlDeviceGetName"}
	symUUID          = []string{"nvmlDeviceGetUUID"}
	symPCI           = []string{"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"}
	symCapability    = []string{"nvmlDeviceGetCudaComputeCapability"}
	symBusWidth      = []string{"nvmlDeviceGetMemoryBusWidth"}
	symAddressing    = []string{"nvmlDeviceGetAddressingMode"}

	symMigMode       = []string{"nvmlDeviceGetMigMode"}
	symMigCount      = []string{"nvmlDeviceGetMaxMigDeviceCount"}
	symMigHandle     = []string{"nvmlDeviceGetMigDeviceHandleByIndex"}
	symMigGI         = []string{"nvmlDeviceGetGpuInstanceId"}
	symMigCI         = []string{"nvmlDeviceGetComputeInstanceId"}
	symMigAttributes = []string{"nvmlDeviceGetAttributes_v2", "nvmlDeviceGetAttributes"}

	symMemory1 = []string{"nvmlDeviceGetMemoryInfo"}
	symMemory2 = []string{"nvmlDeviceGetMemoryInfo_v2"} // from driver 510 on

	symThroughput = []string{"nvmlDeviceGetPcieThroughput"}

	symAccountingMode  = []string{"nvmlDeviceGetAccountingMode"}
	symAccountingStats = []string{"nvmlDeviceGetAccountingStats"}

	symEventCreate   = []string{"nvmlEventSetCreate"}
	symEventWait     = []string{"nvmlEventSetWait_v2", "nvmlEventSetWait"}
	symEventFree     = []string{"nvmlEventSetFree"}
	symEventTypes    = []string{"nvmlDeviceGetSupportedEventTypes"}
	symEventRegister = []string{"nvmlDeviceRegisterEvents"}

	symShutdown = []string{"nvmlShutdown"}
)

// required are the functions without which a file is no NVML.
var required = [][]string{symInit, symShutdown, symCount, symHandle}

// optional are those that may be missing, apart from the metrics.
var optional = [][]string{
	symDriverVersion, symCUDA2, symCUDA1, symName, symUUID, symPCI, symCapability, symBusWidth, symAddressing,
	symMigMode, symMigCount, symMigHandle, symMigGI, symMigCI, symMigAttributes,
	symMemory1, symMemory2, symThroughput, symAccountingMode, symAccountingStats,
	symEventCreate, symEventWait, symEventFree, symEventTypes, symEventRegister,
}

// symbolSet says which functions the loaded library has. It is made once per Open and
// only read afterwards.
type symbolSet map[string]bool

// has says whether one of the names of each given function is there.
func (s symbolSet) has(functions ...[]string) bool {
	for _, names := range functions {
		if !s.any(names) {
			return false
		}
	}
	return true
}

func (s symbolSet) any(names []string) bool {
	for _, n := range names {
		if s[n] {
			return true
		}
	}
	return false
}
