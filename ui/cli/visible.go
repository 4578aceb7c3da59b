package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
)

// The forms in which wait and check print GPUs. Without one they are indices, where CUDA has the same.
const (
	formatIndex = "index"
	formatUUID  = "uuid"
	formatEnv   = "env"
)

func (f *fitFlags) checkFormat() error {
	switch {
	case f.format != "" && !slices.Contains([]string{formatIndex, formatUUID, formatEnv}, f.format):
		return usagef("--format %s: index, uuid or env", f.format)
	case f.format != "" && f.json:
		return usagef("--json and --format exclude each other")
	}
	return nil
}

// printGPUs prints the GPUs that were chosen, for CUDA_VISIBLE_DEVICES. unlike: the machine has several
// models. CUDA then puts the fastest first, nvidia-smi goes by the bus
// (https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#env-vars).
func (a *app) printGPUs(gpus []watch.Fit, format string, unlike bool) error {
	named := !slices.ContainsFunc(gpus, func(f watch.Fit) bool { return f.UUID == "" })
	parts := slices.ContainsFunc(gpus, func(f watch.Fit) bool { return f.MIG })
	order := ""
	if unlike && !parts && a.env("CUDA_DEVICE_ORDER") != "PCI_BUS_ID" {
		switch {
		case format == formatEnv:
			order = "CUDA_DEVICE_ORDER=PCI_BUS_ID "
		case format == "" && named:
			format = formatUUID
			a.say(a.words().Say("check.uuids"))
		case format != formatUUID:
			a.say(a.words().Say("check.indices"))
		}
	}
	_, err := fmt.Fprintln(a.out, order+visible(gpus, format))
	return err
}

// visible are GPUs as CUDA_VISIBLE_DEVICES takes them: an index says nothing of a MIG instance, and the two
// must not be mixed (https://docs.nvidia.com/datacenter/tesla/mig-user-guide/).
func visible(gpus []watch.Fit, format string) string {
	uuids := format == formatUUID || slices.ContainsFunc(gpus, func(f watch.Fit) bool { return f.MIG })
	var list []string
	for _, f := range gpus {
		if uuids && f.UUID != "" {
			list = append(list, sampler.Clean(f.UUID))
		} else {
			list = append(list, strconv.Itoa(f.GPU))
		}
	}
	text := strings.Join(list, ",")
	if format == formatEnv {
		text = "CUDA_VISIBLE_DEVICES=" + text
	}
	return text
}
