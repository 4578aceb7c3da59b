package demo

// training is the run in which nobody finds the memory that ran out: 9 GiB in every
// batch, 47 GiB for a fifth of a second in validation. Looking once a second misses
// the two highest spikes of almost every epoch.
func training() script {
	return script{
		name:    "training",
		title:   "4 GPUs of 47.5 GiB: 9 GiB while training, peaks to 47 GiB in validation",
		hostGiB: 251.6, systemGiB: 9.5, asks: 240,
		gpus: []gpu{{model: ada6000}, {model: ada6000, hidden: 0.03}, {model: ada6000}, {model: ada6000}},
		jobs: []job{
			{
				user: "ann", framework: "pytorch", launcher: "torchrun", pid: 41210, on: []int{0, 1, 2, 3}, life: life{ago: 6165},
				command:     "python train.py --data coco.yaml --batch 64 --imgsz 1280 --device 0,1,2,3 --epochs 200",
				environment: map[string]string{"CUDA_VISIBLE_DEVICES": "0,1,2,3", "LOCAL_RANK": "{rank}", "WORLD_SIZE": "{ranks}"},
				memory:      func(rank int) curve { return epochMemory(uint64(rank), yoloRanks[rank]) },
				load:        epochLoad,
				hostGiB:     6.8, workersGiB: 11.2, cpu: 118, pcie: 1.9e9,
			},
			{
				user: "bob", framework: "pytorch", pid: 30977, on: []int{3}, life: life{ago: 93600},
				name:    "python3",
				command: "/opt/conda/bin/python3 -m ipykernel_launcher -f /home/bob/.local/share/jupyter/runtime/kernel-5c1e.json",
				flat:    2.5, hostGiB: 3.1, cpu: 1.2,
				load: func(int) curve { return beat(97, 3, 4) },
			},
		},
	}
}

// yoloRank is the memory of one rank of a detector in GiB, CUDA context (0.45) included.
type yoloRank struct {
	train float64 // with the cache that training fills
	clean float64 // after the cache was emptied: weights, optimizer, context
	reach float64 // highest spike of validation
}

// Rank 3 shares its GPU with somebody else and meets the limit at less memory.
var yoloRanks = []yoloRank{
	{train: 9.5, clean: 4.4, reach: 46.98},
	{train: 8.9, clean: 4.1, reach: 46.80},
	{train: 9.1, clean: 4.1, reach: 46.86},
	{train: 7.8, clean: 4.1, reach: 44.38},
}

// The epoch is short, so that whoever looks sees a validation within a minute.
const (
	epochTrain    = 34.6
	epochValidate = 9.4
	epochSave     = 2.0
)

// epochMemory is one epoch after another. The trainer empties the cache on both sides of
// validation, so that its spikes are seen from outside at all; between them the
// allocator only grows.
// https://github.com/ultralytics/ultralytics/blob/main/ultralytics/engine/trainer.py
func epochMemory(seed uint64, y yoloRank) curve {
	up := func(share float64) float64 { return share * (y.reach - 20) } // above a plateau of 20
	spikes := pulses(seed*64,
		pulse{at: 1.30, last: 0.70, height: up(0.28), loose: 2.0},
		pulse{at: 2.55, last: 0.44, height: up(0.47), loose: 2.5},
		pulse{at: 3.90 + 0.07*float64(seed), last: 0.52, height: up(0.63), loose: 3.0},
		pulse{at: 5.15, last: 0.36, height: up(0.80), loose: 2.5},
		pulse{at: 6.45 + 0.05*float64(seed), last: 0.20, height: up(1), loose: 0.25},
		pulse{at: 7.70, last: 0.30, height: up(0.72), loose: 4.0},
		pulse{at: 8.62 - 0.04*float64(seed), last: 0.20, height: up(0.985), loose: 0.9},
	)
	return cycle(
		// Images with many objects cost one more segment until the epoch is over.
		stage{epochTrain, sum(stairs(y.clean, y.train-0.3125, 2.4, 9), step(9, 0.3125), step(21, 0.1171875))},
		stage{epochValidate, sum(stairs(y.clean+4, 20, 1.1, 6), spikes)},
		stage{epochSave, sum(plateau(y.clean+1.5), step(1.5, -1.5))},
	)
}

// epochLoad is the load of one rank: full in training but for waits on the data
// loader, half in validation, next to nothing while the checkpoint is written.
func epochLoad(rank int) curve {
	seed := uint64(rank)*16 + 700
	wait := func(at, last float64) pulse { return pulse{at: at, last: last, height: -58, loose: -25} }
	return cycle(
		stage{epochTrain, sum(jitter(seed, 95, 99.4, 1), pulses(900, wait(0, 1.6), wait(12.4, 0.9), wait(25.1, 1.2)))},
		stage{epochValidate, jitter(seed+1, 38, 74, 0.8)},
		stage{epochSave, jitter(seed+2, 0, 9, 1)},
	)
}
