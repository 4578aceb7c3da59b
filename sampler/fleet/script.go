package fleet

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// What is run on another machine is one line for its login shell, whichever that is: sh -c with a text in single quotes. So the text has no
// single quote, no line end, and no exclamation mark but before a blank: shells of the csh family read others even there.
//
// Its standard input is a pipe that nothing is ever written to. When nvpeak here ends, be it by kill -9, the pipe closes, and what runs there is ended
// at once, not with the next line that it cannot write.
const (
	scriptHello = `exec 3<&0; (cat <&3; kill $$) >/dev/null 2>&1 & exec 3<&- </dev/null; LC_ALL=C; export LC_ALL; PATH="$PATH:/usr/local/bin:$HOME/.local/bin:$HOME/bin:$HOME/go/bin"; echo "` + lineHello + ` $(date +%s)"; `

	scriptPeak = `if command -v PROGRAM >/dev/null 2>&1; then NVPEAK_FROM=none; export NVPEAK_FROM; exec PROGRAM stream OPTIONS; fi; `

	// Field by field, for a driver refuses a query with a field that it does not know.
	scriptSMI = `command -v nvidia-smi >/dev/null 2>&1 || exit ` + codeNothingText + `; echo "` + lineSMI + `"; ` +
		`q=index,uuid,pci.bus_id,name,driver_version,memory.total,memory.used,memory.free,utilization.gpu,utilization.memory,temperature.gpu,fan.speed,power.draw,power.limit,clocks.sm,clocks.mem,pstate; ` +
		`nvidia-smi --query-gpu=memory.reserved --format=csv >/dev/null 2>&1 && q=$q,memory.reserved; ` +
		`s=; quit() { kill $s 2>/dev/null; exit; }; trap quit TERM; ` +
		`while :; do echo "` + lineSweep + ` $(date +%s.%N)" || exit; nvidia-smi SELECT --query-gpu=$q --format=csv || exit; echo "` + lineApps + `"; ` +
		`a=$(nvidia-smi SELECT --query-compute-apps=gpu_uuid,pid,used_memory,process_name --format=csv,noheader 2>/dev/null); echo "$a"; echo "` + lineWho + `"; ` +
		`p=$(echo "$a" | cut -d, -f2 | tr -cd "0-9\012" | tr "\012" ,); [ -z "${p%,}" ] || ps -o pid= -o user= -o args= -p "${p%,}" 2>/dev/null; ` +
		`echo "` + lineEnd + `" || exit; sleep SECONDS & s=$! ; wait $s; done`
)

// The lines of the script between those of the programs.
const (
	lineHello = "nvpeak-fleet 1"
	lineSMI   = "nvpeak-smi"
	lineSweep = "nvpeak-sweep"
	lineApps  = "nvpeak-apps"
	lineWho   = "nvpeak-who"
	lineEnd   = "nvpeak-end"
)

// codeNothing is the exit code of a machine that has neither program.
const (
	codeNothing     = 97
	codeNothingText = "97"
)

// remoteCommand is the line that ssh is given. smi: without a look for nvpeak.
func remoteCommand(s *Spec, o *Options, smi bool) string {
	program := s.Program
	if program == "" {
		program = "nvpeak"
	}
	options := fmt.Sprintf("--interval=%v", o.Interval)
	if o.PeakInterval > 0 {
		options += fmt.Sprintf(" --peak-interval=%v", o.PeakInterval)
	}
	selected := ""
	if len(o.GPUs) > 0 {
		options += " --gpu=" + strings.Join(o.GPUs, ",")
		selected = "-i " + strings.Join(o.GPUs, ",")
	}
	script := scriptHello
	if !smi {
		script += scriptPeak
	}
	script += scriptSMI
	script = strings.NewReplacer("PROGRAM", program, "OPTIONS", options, "SELECT", selected,
		"SECONDS", fmt.Sprint(int(math.Ceil(smiEvery(o).Seconds())))).Replace(script)
	return "exec sh -c '" + script + "'"
}

// smiEvery is how often nvidia-smi is called: a call takes tenths of a second, and sleep of POSIX knows whole ones.
func smiEvery(o *Options) time.Duration { return max(time.Second, o.Interval) }
