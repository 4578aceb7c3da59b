package explain

import (
	"math/rand/v2"
	"strconv"

	"nvpeak/advice/command"
	"nvpeak/sampler"
)

// simRun is a training run as its memory sees it, in GiB. The simulator plays it step by step
// against one card and stops where an allocation is refused.
type simRun struct {
	seed            uint64
	total           float64
	states          float64 // weights, gradients, optimizer
	perSample       float64 // activations of one sample
	batch           int
	layers          int     // allocations per step
	backwardExtra   float64 // share of the activations that comes on top in backward
	valPerSample    float64 // of one sample of validation, in one request
	valBatch        int
	valKeepsGraph   bool
	leak            float64 // per epoch
	others          float64 // by another process, from epoch othersFrom
	othersFrom      int
	contexts        int // other ranks with a context on this card
	context         float64
	holes           float64 // share of the allocated memory that ends up in holes, after a few epochs
	holeSize        float64 // largest request that a hole serves
	spikeEpoch      int     // epoch with one large sample; 0: none
	spike           float64 // its size in samples' worth of activations
	limit           float64 // 0: none
	epochs          int
	checkpointKeeps float64 // what the measures would really leave on this model
	ampKeeps        float64
	outside         float64
	checkpoint, amp bool
	parameters      uint64
}

// simDeath is the moment an allocation was refused.
type simDeath struct {
	epoch, step                    int
	phase                          string
	first, backward                bool
	request, allocated, holes      float64
	others, free                   float64
	peaks                          []float64 // of the process, per epoch done
	othersArrived, limited, spiked bool
	optimizer                      bool
}

// simMemory is the card while a run plays.
type simMemory struct {
	run       simRun
	allocated float64
	holes     float64
	others    float64
	peak      float64
}

// refuses tries an allocation. Small ones are served from holes, others need room on the card.
func (m *simMemory) refuses(request float64) bool {
	if request <= m.run.holeSize && m.holes >= request {
		m.holes -= request
		m.allocated += request
		return false
	}
	capacity := m.run.total - m.others - m.run.outside
	if m.run.limit > 0 {
		capacity = min(capacity, m.run.limit)
	}
	if m.allocated+m.holes+request > capacity {
		return true
	}
	m.allocated += request
	m.peak = max(m.peak, m.allocated+m.holes)
	return false
}

// play runs to the end (nil) or to the first refusal.
func (r simRun) play() *simDeath {
	rng := rand.New(rand.NewPCG(r.seed, 7))
	m := &simMemory{run: r, others: float64(r.contexts) * r.context}
	if r.othersFrom == 0 {
		m.others += r.others
	}
	var peaks []float64
	die := func(epoch, step int, phase string, request float64, backward, spiked bool) *simDeath {
		free := r.total - m.others - r.outside - m.allocated - m.holes
		return &simDeath{epoch: epoch, step: step, phase: phase, first: epoch == 1 && step == 1 && phase == "training", request: request,
			allocated: m.allocated, holes: m.holes, others: m.others, free: max(0, free), peaks: peaks, backward: backward,
			othersArrived: r.others > 0 && r.othersFrom > 0 && epoch >= r.othersFrom, spiked: spiked,
			limited: r.limit > 0 && free > request}
	}
	for range 8 { // weights; gradients and optimizer state come in the first step
		if m.refuses(r.states / 4 / 8) {
			return die(0, 0, "loading", r.states/4/8, false, false)
		}
	}
	base := m.allocated
	for epoch := 1; epoch <= r.epochs; epoch++ {
		if epoch == r.othersFrom {
			m.others += r.others
		}
		m.peak = 0
		settle := min(1, float64(epoch)/4) // holes grow over the first epochs
		for step := 1; step <= 4; step++ {
			base += r.leak / 4
			m.allocated, m.holes = base, r.holes*settle*base
			need := float64(r.batch) * r.perSample * (0.97 + 0.06*rng.Float64())
			spiked := epoch == r.spikeEpoch && step == 3
			if spiked {
				need += r.spike * r.perSample
			}
			if r.checkpoint {
				need *= r.checkpointKeeps
			}
			if r.amp {
				need *= r.ampKeeps
			}
			m.holes += r.holes * settle * need
			for range r.layers {
				if m.refuses(need / float64(r.layers)) {
					return die(epoch, step, "training", need/float64(r.layers), false, spiked)
				}
			}
			if m.refuses(need * r.backwardExtra) {
				return die(epoch, step, "training", need*r.backwardExtra, true, spiked)
			}
			if epoch == 1 && step == 1 {
				m.allocated, m.holes = base, 0
				for range 24 {
					if m.refuses(r.states * 3 / 4 / 24) {
						d := die(epoch, step, "training", r.states*3/4/24, false, false)
						d.optimizer = true
						return d
					}
				}
				base = m.allocated
			}
		}
		m.allocated, m.holes = base, r.holes*settle*base
		request := float64(r.valBatch) * r.valPerSample
		if r.valKeepsGraph {
			for i := range 6 {
				if m.refuses(request) {
					return die(epoch, 1000+i, "validation", request, false, false)
				}
			}
		} else if m.refuses(request) {
			return die(epoch, 1000, "validation", request, false, false)
		}
		peaks = append(peaks, m.peak)
	}
	return nil
}

// apply is the true effect of an advice on the run: what its text says, not what it hopes.
func (r simRun) apply(a sampler.Advice) simRun {
	c := command.Line{}
	if len(a.Do) > 0 {
		c = command.Parse(a.Do[0])
	}
	if _, n, ok := c.BatchArgument(); ok && c.Runs("train.py") {
		r.batch = n
	}
	switch a.ID {
	case "halve_batch_accumulate":
		if len(a.Do) == 0 || !c.Known || !c.Runs("train.py") {
			r.batch = max(1, r.batch/2)
		}
	case "gradient_checkpointing":
		r.checkpoint = true
	case "amp_bf16":
		r.amp = true
	case "expandable_segments":
		r.holes = 0.01
	case "shrink_validation_batch":
		if v, found := c.Find("val_batch_size"); found {
			n, _ := strconv.Atoi(v.Value)
			r.valBatch = n
		} else {
			r.valPerSample, r.valBatch = r.valPerSample/2, max(1, r.valBatch/2)
		}
	case "no_grad_validation":
		r.valKeepsGraph = false
	case "stop_other_process":
		r.others = 0
	case "rebalance_ranks":
		r.contexts = 0
	case "fix_leak":
		r.leak = 0
	case "cap_sample_size":
		r.spike = 0
	case "raise_limit":
		r.limit = 0
	case "smaller_optimizer":
		r.states *= 10.0 / 16
	case "shard_or_offload":
		r.states *= 0.4
	case "smaller_model":
		r.states, r.perSample = r.states/2, r.perSample/2
	}
	return r
}

// command is how the run was started.
func (r simRun) command() string {
	return "python train.py --batch-size " + strconv.Itoa(r.batch) + " --val-batch-size " + strconv.Itoa(r.valBatch) + " --epochs 50"
}

// incident is what people would hand to nvpeak: the message of PyTorch in one of its forms, and
// a part of the context, as the dice fall.
func (r simRun) incident(d *simDeath, rng *rand.Rand) Incident {
	e := pytorch(gibs(d.request), gibs(r.total), gibs(d.free))
	own := gibs(d.allocated + d.holes + r.outside)
	e.Allocated, e.ReservedUnallocated = gibs(d.allocated), gibs(d.holes)
	if d.limited {
		e.MemoryLimit = &sampler.MemoryLimit{Kind: "fraction", Allowed: gibs(r.limit)}
	}
	if r.contexts > 0 {
		e.Rank = sampler.Some(rng.IntN(8))
	}
	form := rng.IntN(10)
	if form < 8 { // the driver lists processes
		e.ProcessInUse = own
		if r.others > 0 && d.others > float64(r.contexts)*r.context {
			e.OtherProcesses = append(e.OtherProcesses, sampler.OtherProcess{PID: 5521, Bytes: gibs(r.others).Or(0)})
		}
		for i := range r.contexts {
			e.OtherProcesses = append(e.OtherProcesses, sampler.OtherProcess{PID: 7000 + i, Bytes: gibs(r.context).Or(0)})
		}
		if form < 2 { // in a container: the process itself is one of the list
			e.ProcessInUse, e.SelfUnknown = amount{}, true
			e.OtherProcesses = append(e.OtherProcesses, sampler.OtherProcess{PID: 4242, Bytes: own.Or(0)})
		}
	} else if form == 9 { // torch 1.4 to 2.0
		e.Reserved, e.ReservedUnallocated = gibs(d.allocated+d.holes), amount{}
	}
	c := &sampler.LogContext{FirstStep: d.first, BatchSize: sampler.Some(r.batch)}
	if rng.Float64() < 0.85 {
		c.Phase = d.phase
	} else {
		c.Functions = map[string][]string{"training": {"main", "train_epoch", "forward"}, "validation": {"main", "validate", "forward"}, "loading": {"main", "load_model"}}[d.phase]
	}
	if d.epoch > 0 && rng.Float64() < 0.9 {
		c.Epoch = sampler.Some(d.epoch)
	}
	if d.step > 0 {
		c.Step = sampler.Some((d.epoch-1)*400 + []int{1, 2, 150, 390}[min(d.step, 4)-1])
	}
	if d.backward {
		c.Functions = append(c.Functions, "train_epoch", "backward", "_engine_run_backward")
	}
	if d.optimizer && c.Functions == nil && rng.Float64() < 0.8 {
		c.Functions = []string{"main", "train_epoch", "step", "_init_group"}
	}
	if rng.Float64() < 0.5 {
		c.Parameters = sampler.Some(r.parameters)
	}
	if rng.Float64() < 0.3 { // the log prints its own memory figures
		for _, p := range d.peaks {
			c.GPUMemory = append(c.GPUMemory, gibs(p).Or(0))
		}
	}
	e.Context = c
	in := Incident{Events: []sampler.OOMEvent{e}, Command: r.command(), GPUName: "NVIDIA A100-SXM4-80GB"}
	if rng.Float64() < 0.4 && d.epoch > 0 {
		h := &History{Total: gibs(r.total), Free: gibs(d.free), Process: own}
		for _, p := range d.peaks {
			h.Peaks = append(h.Peaks, gibs(p+r.outside).Or(0))
		}
		if r.others > 0 && d.others > 0 {
			h.Others = []Neighbour{{PID: 5521, Bytes: gibs(r.others).Or(0), Name: "jupyter", User: "bob", Arrived: d.othersArrived}}
		}
		for i := range r.contexts {
			h.Others = append(h.Others, Neighbour{PID: 7000 + i, Bytes: gibs(r.context).Or(0), Name: "python"})
		}
		in.History = h
	}
	return in
}
