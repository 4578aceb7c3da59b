package sampler

// KeptName is what a program calls what it keeps on the GPU, where its log counts that: "sessions=216", "history 245/400". Where such a number
// rises, what it counts takes memory by design. What counts the work that is done, such as steps, files and batches, is none: a leak rises with that
// as well, and it begins again with the next epoch.
type KeptName struct {
	Word    string // lower case
	Bounded bool   // it counts only with its end: "cache 120/300"
	After   string // stands somewhere before it in the line; "" for nothing
}

// KeptAdded is what a program says of what it adds to what there is.
const KeptAdded = "added"

// KeptNames are what is open at the same time, what is kept up to a limit, and parts that are said to be added to what there is.
var KeptNames = []KeptName{
	{Word: "sessions"}, {Word: "streams"}, {Word: "connections"}, {Word: "conversations"}, {Word: "subscribers"},
	{Word: "actors"}, {Word: "envs"}, {Word: "clients"}, {Word: "players"},
	{Word: "history", Bounded: true}, {Word: "cache", Bounded: true}, {Word: "cached", Bounded: true}, {Word: "bank", Bounded: true}, {Word: "replay", Bounded: true},
	{Word: "buffer", Bounded: true}, {Word: "entries", Bounded: true}, {Word: "adapters", Bounded: true},
	{Word: "shard", Bounded: true, After: KeptAdded}, {Word: "shards", Bounded: true, After: KeptAdded}, {Word: "shard", Bounded: true, After: "indexed"}, {Word: "vectors", Bounded: true, After: KeptAdded},
	{Word: "expert", After: KeptAdded}, {Word: "layer", After: KeptAdded}, {Word: "block", After: KeptAdded}, {Word: "blocks", After: KeptAdded}, {Word: "task", After: KeptAdded},
}

// PartNames are what logs call the parts of a run of which they count how many there are: "layer 35 of 47". They end with the run, as does what grows with
// them.
var PartNames = []string{"level", "levels", "stage", "group", "groups", "layer", "layers", "experts", "tables", "blocks"}
