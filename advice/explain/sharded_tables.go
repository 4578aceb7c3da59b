package explain

import (
	"slices"
	"strings"

	"nvpeak/advice/command"
)

// dividesTables: a model for recommendations keeps its tables of embeddings on different GPUs, so that each rank has a part of its own.
// https://docs.pytorch.org/torchrec/
func (f *job) dividesTables() bool {
	byTable := slices.ContainsFunc(f.command.Arguments(), func(a command.Argument) bool {
		return strings.Contains(a.Plain, "shard") && strings.Contains(strings.ReplaceAll(a.Value, "-", "_"), "table_wise")
	})
	return f.severalRanks() && !f.onHost() && (byTable || f.inFile("torchrec", "train_pipeline/train_pipelines.py", "embeddingbag.py", "embedding_sharding"))
}

// tablesGrow: the rank that has come to hold more than the others has tables that they have not. All run the same steps; its part grows, as a table does
// that takes in new users.
func (f *job) tablesGrow() bool { return f.dividesTables() && f.driftsFromPeers() > 0 }
