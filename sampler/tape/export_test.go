package tape

// What tests need that import packages which import this one.
var (
	Kept      = kept
	CreateFor = create
	OpenFor   = open
	ToJSON    = toJSON
)
