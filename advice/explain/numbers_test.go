package explain

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"nvpeak/sampler/oomlog"
	"nvpeak/sampler/post"
	"nvpeak/sampler/tools"
)

// setNumbers are sentences that set a number, and what advice calls that number: nothing that is advised may set it to as much or more.
var setNumbers = []struct {
	sentence string
	number   float64
	named    *regexp.Regexp // the number that a line of advice sets
}{
	{"The batch size is 2.", 2, batchNumber},
	{"I have already set batch_size=1 and it fails.", 1, batchNumber},
	{"Batch size已经调整到2，还是不行。", 2, batchNumber},
	{"I run it with 4 gpu layers.", 4, layersNumber},
	{"The context size is 1024 tokens.", 1024, contextNumber},
	{"I run it with a 1k context.", 1000, contextNumber},
	{"I set num_ctx to 2,048.", 2048, contextNumber},
	{"I already reduced num_workers to 1.", 1, workersNumber},
	{"The number of workers is 2.", 2, workersNumber},
	{"I tried batch sizes of 32, 16 and 8.", 8, batchNumber},
	{"--batch_size {4,8,16} I have tried these values.", 4, batchNumber},
	{"batch size 试过 16、8、4 都不行。", 4, batchNumber},
	{"I tried num_workers 8, 4 and 2, but it still fails.", 2, workersNumber},
	{"-ngl 20, 10, 5: I tried all of these.", 5, layersNumber},
	{"I have tried --ctx-size 8192, 4096 and 1024 without success.", 1024, contextNumber},
}

var (
	batchNumber   = regexp.MustCompile(`(?i)(?:^|[\s"(.-])(?:[a-z]+_)?(?:batch[-_ ]?size|train_batch_size|micro_batch_size|samples_per_gpu|ims_per_batch)["']?(?: ?[=:] ?| )(\d+)\b(?: to (\d+))?`)
	layersNumber  = regexp.MustCompile(`(?i)(?:num_gpu|n[-_]gpu[-_]layers|-ngl|gpulayers)[ =](\d+)\b()`)
	workersNumber = regexp.MustCompile(`(?i)(?:num_workers|n_workers|workers)[ =](\d+)\b()`)
	validates     = regexp.MustCompile(`(?i)val|eval|test`)
	contextNumber = regexp.MustCompile(`(?i)(?:num_ctx|ctx[-_]size|n_ctx)[ =](\d+)\b()`)
)

// No advice sets a number that is told to as much or more.
func TestOnlyLess(t *testing.T) {
	var texts []string
	for _, file := range []string{"threads.txt", "kinds.txt"} {
		for i, one := range threads(t, file) {
			if one.command == "" && i%4 == 0 {
				texts = append(texts, one.log)
			}
		}
	}
	for _, tool := range tools.All() {
		texts = append(texts, "I train a model with "+tool.Words[0]+" and get CUDA out of memory.\n", "I run "+tool.Words[0]+" on a picture and get CUDA out of memory.\n")
	}
	for i, text := range texts {
		for k, row := range setNumbers {
			if k != i%len(setNumbers) || len(text) > 1<<12 || row.named.MatchString(text) || row.named == batchNumber && strings.Contains(strings.ToLower(text), "batch") || row.named == contextNumber && strings.Contains(text, "context") {
				continue // each text with one of them, where it says nothing else of it
			}
			onlyLess(t, row.sentence+"\n\n"+text, row.number, row.named)
		}
	}
}

func onlyLess(t *testing.T, text string, least float64, named *regexp.Regexp) {
	t.Helper()
	events, err := oomlog.Scan(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	got := Explain(Incident{Events: post.Read(text, events, oomlog.Scan)})
	for _, a := range got.Advice {
		for _, line := range append(strings.Split(strings.Join(a.Do, "\n"), "\n"), a.Title) {
			for _, at := range named.FindAllStringSubmatch(line, -1) {
				number := at[1]
				if at[2] != "" {
					number = at[2]
				}
				if v, err := strconv.ParseFloat(number, 64); err == nil && v == 1 && validates.MatchString(line) {
					continue // it may be larger there
				}
				if v, err := strconv.ParseFloat(number, 64); err == nil && v >= least {
					t.Errorf("%s advises %q where %v is set:\n%s", a.ID, line, least, text[:min(len(text), 400)])
				}
			}
		}
	}
}
