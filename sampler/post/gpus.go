package post

import (
	"strconv"
	"strings"

	"nvpeak/sampler"
)

// gpus are how people name a GPU in a sentence: the words, and what stands before the name as the maker writes it. A bare number is a
// GPU only where it is counted, owned or called one: it can be a width, too.
var gpus = []struct {
	words *lazy // the model, and what is added to it
	brand string
}{
	{lazily(`(?i)\b(?:[gr]tx|geforce|nvidia)[ -]?((?:9|10|16|20|30|40|50)[5-9]0)(?:[ -]?(ti|super))?s?\b`), ""},
	{lazily(`(?i)\b[1-8] ?[x×*] ?((?:10|16|20|30|40|50)[5-9]0)(?:[ -]?(ti|super))?s?\b`), ""},
	{lazily(`(?i)\b(?:my|an?|single|one|two|three|four|dual|the) ((?:10|16|20|30|40|50)[5-9]0)(?:[ -]?(ti|super))?s?(?:[.,;:!?()\n]|\s*$|\s+(?:gpus?|cards?|graphics|laptop|with|and|but|on|which|\d+ ?G))`), ""},
	{lazily(`(?i)(?:\b|\b[1-8] ?[x×*] ?)(A100|A800|H100|H200|H800|V100S?|P100)()s?\b`), "-"},
	{lazily(`(?:\b|\b[1-8] ?[x×*] ?)(A10G?|A30|A40|K80|L40S?|M40|M60|P40|T4)()s?\b`), "-"},
	{lazily(`(?i)\b(?:rtx |quadro |nvidia )?(A[2456]000)()s?\b`), "RTX "},
	{lazily(`(?i)\bquadro ([KMPT]\d{3,4})()\b`), "Quadro "},
	{lazily(`(?i)\btitan ?(xp|x|v|rtx)()\b`), "TITAN "},
}

// gpuNamed is the GPU that a text names, where that is one kind; else "".
func gpuNamed(text string) string {
	found := ""
	for _, row := range gpus {
		for _, at := range row.words.FindAllStringSubmatch(text, 16) {
			name := strings.ToUpper(at[1])
			switch {
			case row.brand == "" && (name[0] == '9' || name[0] == '1'):
				name = "GTX " + name
			case row.brand == "":
				name = "RTX " + name
			case row.brand != "-":
				name = row.brand + name
			}
			switch strings.ToLower(at[2]) {
			case "ti":
				name += " Ti"
			case "super":
				name += " SUPER"
			}
			if found != "" && found != name {
				return ""
			}
			found = name
		}
	}
	return found
}

// addGPU puts it into a context whose log names none.
func addGPU(c *sampler.LogContext, text string) {
	if c.GPUName == "" {
		c.GPUName = gpuNamed(text)
	}
}

// migProfiles are profiles of MIG by the names that drivers have for them: https://docs.nvidia.com/datacenter/tesla/mig-user-guide/#supported-mig-profiles
var migProfiles = lazily(`(?i)\b[1-7]g\.(\d{1,3})gb\b`)

// addSlice puts the size of a slice into a context, where all that a text names of it agrees.
func addSlice(c *sampler.LogContext, text string) {
	found := ""
	for _, at := range migProfiles.FindAllStringSubmatch(text, 16) {
		if n := at[1]; found == "" || found == n {
			found = n
			continue
		}
		return
	}
	if found != "" {
		c.Told = append(c.Told, sampler.ToldSlice+found)
	}
}

// Makers other than NVIDIA as texts name them, and the boards of NVIDIA whose GPU has no memory of its own.
var (
	ofAMD  = lazily(`(?i)\bradeon\b|\badvanced micro devices\b|\brx ?(?:[45]\d0|vega ?\d\d|[5-9]\d00)(?: ?xtx?)?\b|\br[579] [23]\d0x?\b|\bryzen ai\b|\bDirectML\b|\btorch_directml\b|\b(?:ROCm|HIP)\b`)
	onROCm = lazily(`(?i)\brocm\w*|\bHIP\b|\bgfx(?:9|1[012])\w{2}\b`)
	onMac  = lazily(`(?i)\bmac ?os\b|\bos ?x\b|\bmac ?book\b|\b(?:mac|imac)(?:mini| mini| studio| pro)?\b[^.\n]{0,20}\bM[1-5]\b|\bapple (?:silicon|m[1-5])\b|` +
		`\bkIOGPUCommandBuffer|\[METAL\]|\bggml_metal|\bM[1-5] (?:pro|max|ultra)\b`)
	onJetson = lazily(`(?i)\bjetson\b|\btegra\b|\b(?:agx|orin nano|xavier nx) ?(?:orin|xavier)?\b|\bL4T\b|\bJetPack\b`)
	ofNVIDIA = lazily(`(?i)\bnvidia\b|\bgeforce\b|\b[gr]tx ?\d|\bquadro\b|\btesla\b`)
	byCUDA   = lazily(`(?i)\bcuda\b`)
)

// addMaker puts whose GPU it is into a context, where that is not NVIDIA's or has no memory of its own. CUDA is spoken of with ROCm, too.
func addMaker(c *sampler.LogContext, text string) {
	if onJetson.MatchString(text) {
		c.Told = append(c.Told, sampler.ToldJetson)
		return
	}
	if ofNVIDIA.MatchString(text) {
		return
	}
	rocm, cuda := onROCm.MatchString(text), byCUDA.MatchString(text)
	if rocm {
		c.Told = append(c.Told, sampler.ToldROCm)
	}
	if ofAMD.MatchString(text) && (rocm || !cuda) {
		c.Told = append(c.Told, sampler.ToldRadeon)
	}
	if onMac.MatchString(text) && !cuda {
		c.Told = append(c.Told, sampler.ToldApple)
	}
}

// ofLlama is a line of the list of GPUs that llama.cpp prints at start: https://github.com/ggml-org/llama.cpp/blob/master/ggml/src/ggml-cuda/ggml-cuda.cu
var ofLlama = lazily(`(?m)\bDevice (\d{1,2}): ([^\n,]{4,60}), compute capability`)

// addListed puts these into a context.
func addListed(c *sampler.LogContext, text string) {
	for _, at := range ofLlama.FindAllStringSubmatch(text, 16) {
		c.Told = append(c.Told, sampler.ToldListed+at[1]+" "+at[2])
	}
}

// devices is a list of GPUs with what is free of each, as CUDA.versioninfo() of Julia prints it: https://cuda.juliagpu.org/stable/usage/multigpu/
var devices = lazily(`(?m)^\W*(\d{1,2}): [^\n]*\(sm_\d+, (\d{1,5}(?:\.\d{1,3})?) ([MG]iB) / (\d{1,4}(?:\.\d{1,3})?) GiB available\)`)

// smiRow is the memory of one GPU in the table of nvidia-smi.
var smiRow = lazily(`(?m)^\|[^|\n]*\|\s*(\d{1,6})MiB / +(\d{1,6})MiB +\|`)

// addRoomy puts the first GPU of such a list of which more than half is free into a context, where the first of all is not, or of that table
// one that is next to empty beside a first one that is full (own thresholds: a tenth of either).
func addRoomy(c *sampler.LogContext, text string) {
	for i, at := range smiRow.FindAllStringSubmatch(text, 16) {
		used, _ := strconv.Atoi(at[1])
		total, _ := strconv.Atoi(at[2])
		if i == 0 && used < total/10*9 {
			break // a first one that is not full
		}
		if used < total/10 {
			c.Told = append(c.Told, sampler.ToldRoomy+strconv.Itoa(i))
			return
		}
	}
	for _, at := range devices.FindAllStringSubmatch(text, 16) {
		free, _ := strconv.ParseFloat(at[2], 64)
		total, _ := strconv.ParseFloat(at[4], 64)
		if at[3] == "GiB" && free > total/2 {
			if at[1] != "0" {
				c.Told = append(c.Told, sampler.ToldRoomy+at[1])
			}
			return
		}
	}
}

// lastsFor is after how many of what it ends.
var lastsFor = lazily(`(?i)\b(?:in|after|at|until|for|around) (?:about |around |the |~|≈)*(\d{1,7})(?:st|nd|rd|th)? ?(?:epochs?|iterations?|iters?|steps?|batch(?:es)?)\b`)

// outlives: on two GPUs it ends after different numbers of epochs or steps, so that memory grows on both.
func outlives(all []sentence) bool {
	lasts := map[string]string{}
	for _, s := range all {
		gpu, at := gpuNamed(s.text), lastsFor.FindStringSubmatch(s.text)
		if gpu == "" || at == nil || !ranOut.MatchString(s.text) {
			continue
		}
		for other, n := range lasts {
			if other != gpu && n != at[1] {
				return true
			}
		}
		lasts[gpu] = at[1]
	}
	return false
}
