package retry

import (
	"strings"
	"syscall"

	"nvpeak/advice/explain"
	"nvpeak/sampler"
)

// ending are exit codes of programs that died of an exception or an abort; others are their own words for something.
func ending(code int) bool {
	switch code {
	case 1, 2, 255, 128 + int(syscall.SIGABRT), 128 + int(syscall.SIGSEGV), 128 + int(syscall.SIGBUS):
		return true
	}
	return false
}

// Died says whether a run with this end died of GPU memory: nil, or why it is not tried again. after is what was
// printed after the failure.
func Died(e explain.Explanation, code int, after string) *Refusal {
	v := e.Verdict
	switch {
	case code > 128 && !ending(code):
		return refuse("retry.signal", "code", code)
	case code == 126 || code == 127:
		return refuse("retry.not_started")
	case v.Event < 0 || v.Recovered:
		return refuse("retry.not_memory", "code", code)
	}
	for _, event := range e.Events {
		if !event.Recovered && (event.MemoryKind == sampler.MemoryHost || host(event.Causes)) {
			return refuse("retry.host")
		}
	}
	if line := lastWords(after, ending(code)); line != "" {
		return refuse("retry.other_end", "line", line)
	}
	return nil
}

func host(causes []sampler.Cause) bool {
	top := explain.TopCause(causes)
	return top == explain.CauseHostMemory || top == explain.CauseSharedMemory
}

var (
	// exception is the last line of a traceback.
	exception = sampler.Pattern{Source: `^(?:\[?rank ?\d+\]?:? ?)?(?:[A-Za-z_]\w*\.)*([A-Z]\w*(?:Error|Exception|Interrupt|Exit|Failure)|KeyboardInterrupt|SystemExit|StopIteration)\b(?::|$)`}
	// follows are exceptions that other processes raise when one has died, and those of memory themselves.
	follows = sampler.Pattern{Source: `(?i)out ?of ?memory|OutOfMemory|RESOURCE_EXHAUSTED|ResourceExhausted|ChildFailedError|CalledProcessError|ProcessRaisedException|` +
		`ProcessExitedException|DistBackendError|DistNetworkError|DistStoreError|TaskError|RayTaskError|ActorDied|WorkerCrashed|BrokenPipe|ConnectionReset|` +
		`ConnectionRefused|EOFError|BrokenProcessPool|NCCL|CUBLAS_STATUS|CUDNN_STATUS|CUDA error`}
	// chained: the next exception was raised because of the one before, and stands for it.
	chained = sampler.Pattern{Source: `^(?:The above exception was the direct cause of|During handling of the above exception)`}
	// otherEnds are ends that are printed without a traceback.
	otherEnds = sampler.Pattern{Source: `(?i)no space left on device|disk quota exceeded|permission denied|^killed$|^terminated$|keyboardinterrupt|^\^C`}
	// complaint is an error that a program tells in its own words, and aftermath what others say when it has died.
	complaint = sampler.Pattern{Source: `(?i)^(?:\w*error|fatal|panic|abort\w*)\b|\b(?:failed|cannot|can't|could not|unable to|no such|not found|missing|invalid|giving up|is full|disk full|corrupt\w*|refused|timed? ?out|assertion)\b`}
	aftermath = sampler.Pattern{Source: `(?i)memory|exit ?codes?|exited|exit status|returned non-zero|error \d+$|see above|^wandb:|^srun:|^slurmstepd|^make|^conda|^\[?[EWI]\d{4}|^\[rank|` +
		`^rank ?\d|elastic|torchrun|mpirun|mpiexec|primary job|^sending process|exception ignored|resource_tracker|leaked|process group|cuda|nccl|core dumped|` +
		`aborted`}
	// progress is how far a training is, as it prints it.
	progress = sampler.Pattern{Source: `(?i)\b(?:step|iter(?:ation)?|epoch|global_step)\b\W{0,3}\d+`}
)

// wentOnLines of progress after a failure show that a program went on: a few may be read after a traceback that was printed
// after them, where standard output and standard error are two files.
const wentOnLines = 10

// WithoutProgress leaves out the lines that say how far a training is: of two outputs they may be older than what stands before them.
func WithoutProgress(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(text, "\r", "\n")) {
		if !progress.Get().MatchString(line) {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// lastWords is the line that shows that a program went on after a failure of memory and died of something else; empty:
// it did not. Where its exit code is one of its own, whatever it says then counts.
func lastWords(after string, usual bool) (line string) {
	went, chain, told := map[string]bool{}, false, false
	for text := range strings.Lines(strings.ReplaceAll(after, "\r", "\n")) {
		text = strings.TrimSpace(text)
		switch raised := exception.Get().MatchString(text); {
		case chained.Get().MatchString(text):
			chain = true
		case raised && chain:
			chain = false
		case raised && follows.Get().MatchString(text):
			line, went, told = "", map[string]bool{}, true
		case raised, otherEnds.Get().MatchString(text):
			line = text
		case progress.Get().MatchString(text) && !strings.HasPrefix(text, "wandb:"):
			if went[text] = true; len(went) >= wentOnLines && line == "" {
				line = text
			}
		case line == "" && text != "" && !told && (!usual || complaint.Get().MatchString(text) && !aftermath.Get().MatchString(text)):
			line = text
		}
	}
	return sampler.Clean(line[:min(len(line), 120)])
}
