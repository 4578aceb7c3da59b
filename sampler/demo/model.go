package demo

// A model is a kind of GPU with the limits that its data sheet and nvidia-smi give.
type model struct {
	name       string
	capability string
	totalMiB   uint64  // as nvidia-smi prints it
	keptMiB    uint64  // reserved by driver and firmware
	idleWatts  float64 // with no context on it
	limitWatts float64
	smMHz      [2]int // idle, boost
	memMHz     [2]int
	pcie       int     // generation of the link, 16 lanes
	busy, idle string  // performance states
	fan        bool    // false: cooled by the chassis
	hot        float64 // degrees Celsius under full load
}

// Sizes are those that nvidia-smi prints, what is kept is the difference to the capacity
// that CUDA programs print on such a GPU; limits are of the data sheets:
// https://www.nvidia.com/en-us/data-center/h200/
// https://www.nvidia.com/en-us/data-center/h100/
// https://www.nvidia.com/en-us/data-center/a100/
// https://www.nvidia.com/en-us/data-center/l40s/
// https://www.nvidia.com/en-us/products/workstations/rtx-6000/
// https://www.nvidia.com/en-us/geforce/graphics-cards/40-series/rtx-4090/
var (
	h200 = model{name: "NVIDIA H200", capability: "9.0", totalMiB: 143771, keptMiB: 604, idleWatts: 76, limitWatts: 700,
		smMHz: [2]int{345, 1980}, memMHz: [2]int{3201, 3201}, pcie: 5, busy: "P0", idle: "P0", hot: 66}
	h100 = model{name: "NVIDIA H100 80GB HBM3", capability: "9.0", totalMiB: 81559, keptMiB: 536, idleWatts: 70, limitWatts: 700,
		smMHz: [2]int{345, 1980}, memMHz: [2]int{2619, 2619}, pcie: 5, busy: "P0", idle: "P0", hot: 68}
	a100 = model{name: "NVIDIA A100-SXM4-80GB", capability: "8.0", totalMiB: 81920, keptMiB: 767, idleWatts: 58, limitWatts: 400,
		smMHz: [2]int{210, 1410}, memMHz: [2]int{1593, 1593}, pcie: 4, busy: "P0", idle: "P0", hot: 64}
	l40s = model{name: "NVIDIA L40S", capability: "8.9", totalMiB: 46068, keptMiB: 470, idleWatts: 34, limitWatts: 350,
		smMHz: [2]int{210, 2520}, memMHz: [2]int{405, 9001}, pcie: 4, busy: "P0", idle: "P8", hot: 71}
	// The 47.5 GiB of the story are what CUDA programs print for this GPU.
	ada6000 = model{name: "NVIDIA RTX 6000 Ada Generation", capability: "8.9", totalMiB: 48640, keptMiB: 466, idleWatts: 24, limitWatts: 300,
		smMHz: [2]int{210, 2505}, memMHz: [2]int{405, 10001}, pcie: 4, busy: "P0", idle: "P8", fan: true, hot: 78}
	rtx4090 = model{name: "NVIDIA GeForce RTX 4090", capability: "8.9", totalMiB: 24564, keptMiB: 356, idleWatts: 16, limitWatts: 450,
		smMHz: [2]int{210, 2520}, memMHz: [2]int{405, 10501}, pcie: 4, busy: "P2", idle: "P8", fan: true, hot: 72}
)
