package cli

// checks has one row for everything that doctor looks at. Rows about the GPUs
// are unknown without the driver.
var checks = []struct {
	name  string
	probe func(*checkup) finding
}{
	{"driver library", checkLibrary},
	{"driver", checkDriver},
	{"versions", checkVersions},
	{"GPUs", checkGPUs},
	{"permissions", checkPermissions},
	{"memory", connected(checkMemory)},
	{"memory sampling", connected(checkSampling)},
	{"driver speed", connected(checkSpeed)},
	{"processes", connected(checkProcesses)},
	{"metrics", connected(checkMetrics)},
	{"SM per process", connected(checkSamples)},
	{"accounting", connected(checkAccounting)},
	{"persistence", connected(checkPersistence)},
	{"requests", checkRequests},
	{"Xid errors", connected(checkXID)},
	{"MIG", connected(checkMIG)},
	{"NVML functions", connected(checkSymbols)},
	{"/proc", checkHidepid},
	{"container", checkContainer},
	{"WSL", checkWSL},
	{"host memory", checkHostMemory},
	{"environment", checkEnvironment},
	{"terminal", checkTerminal},
	{"settings", checkSettings},
	{"alerts", checkAlerts},
}

// connected makes a check unknown without the driver.
func connected(probe func(*checkup) finding) func(*checkup) finding {
	return func(c *checkup) finding {
		if c.openError != nil {
			return c.unknown()
		}
		return probe(c)
	}
}
