package watch

// orphan is memory that stayed when the process that held it had ended.
type orphan struct {
	pid   int
	name  string
	bytes float64 // MiB the process held
	rest  float64 // MiB nobody accounted for before
	since float64
	open  bool
}

const (
	// More than 1 GiB and 5 % of the GPU held by somebody else is the first thing to look
	// at after a failure, so that much is worth a word before one.
	orphanLeast = 1024
	orphanShare = 0.05
)
