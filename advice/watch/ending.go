package watch

// ending is a process that was gone seconds after it had taken more than ever before and
// the GPU had nothing left, or when its next spike did not fit: without a log that is all
// there is to see of an out-of-memory failure.
type ending struct {
	pid     int
	name    string
	user    string
	command string
	at      float64 // when it was last listed
	held    float64 // MiB
	free    float64 // MiB, the least of its last seconds; of a spike, the room that others left
	wanted  float64 // MiB, where its spikes end; 0: it was at its peak
	flushes flushes // where less was given back each time before; zero: nothing is known of that
}

const (
	maxEndings = 8
	// endingSeconds before its end a process must have reached its peak: one that is
	// steady at the limit and ends has done its work.
	endingSeconds = 10
	// endingShare of the used memory must be its own.
	endingShare = 0.5
	// endingSpan is how long endings of one command count together.
	endingSpan = 3600
	// printedSeconds: a traceback is printed that long before a program with workers and buffers is gone.
	printedSeconds = 60
	// failureSeconds is how long a failure stays open.
	failureSeconds = 600
)
