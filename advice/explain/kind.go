package explain

// Classes of errors: how much a text of that kind can tell.
const (
	classAllocator = "allocator" // a request was refused, numbers may follow
	classNoNumbers = "no_numbers"
	classServing   = "serving" // a server that plans its memory at start
	classHost      = "host"
	classShm       = "shm"
	classMaps      = "maps"
)

// kindRow is what one error_kind means. cause and confidence are given where the kind alone
// decides; advice then names the fix to put first.
type kindRow struct {
	kind       string
	class      string
	cause      string
	confidence float64
	first      string
}
