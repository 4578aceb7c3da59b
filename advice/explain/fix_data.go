package explain

import "nvpeak/sampler"

var fixesData = []fixRow{
	{id: "cap_sample_size", source: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		fits: map[string]float64{"data_spike": 1, "too_big": 0.35, "fragmentation": 0.4, "validation_spike": 0.35},
		when: func(f *failure) bool {
			return f.event.Framework != "llama.cpp" && f.event.Framework != "ollama" && f.bigRequest() || f.lateTraining() && f.flat() || f.total.Known() && f.requested.Or(0) > f.total.Or(0)
		},
		variant: func(f *failure) string {
			if f.total.Known() && f.requested.Or(0) > f.total.Or(0) {
				return "impossible"
			}
			return ""
		},
		saves: func(f *failure) (span, bool) {
			return span{partOf(f.requested.Or(0), 0.3), partOf(f.requested.Or(0), 0.9) + partOf(f.footprint.activations.mid(), 0.5)}, f.bigRequest()
		},
		reach: func(f *failure) float64 {
			if f.total.Known() && f.requested.Or(0) > f.total.Or(0) && !f.late() {
				return 2.4 // nothing that leaves the tensor as it is can help
			}
			return 0.95
		},
		pairs: func(f *failure) []any { return []any{"need", printed(f.requested.Or(0))} },
		do: func(f *failure) []string {
			for _, names := range [][]string{{"max_seq_length", "max_length", "max_seq_len", "cutoff_len", "model_max_length", "seq_length", "block_size"}, {"imgsz", "img_size", "image_size", "crop_size", "resolution"}} {
				half := func(v float64) float64 {
					if v >= 64 {
						return float64(int(v/2/32) * 32)
					}
					return v
				}
				if text, name, ok := f.command.WithNumber(half, names...); ok {
					return []string{text + "  " + f.comment("do.size_option", "name", name)}
				}
			}
			return []string{f.comment("do.log_size"), f.comment("do.bucket")}
		}},
	{id: "fix_leak", source: "https://docs.pytorch.org/docs/stable/notes/faq.html",
		fits:  map[string]float64{"leak": 1},
		when:  func(f *failure) bool { return true },
		reach: always(0.97),
		saves: func(f *failure) (span, bool) {
			first, last, steady := f.growth()
			if !steady {
				return span{}, false
			}
			return span{partOf(sampler.Bytes(last-first), 0.5), sampler.Bytes(last - first)}, true
		},
		do: func(f *failure) []string {
			return []string{"total_loss += loss.item()  " + f.comment("do.item"), "outputs.append(out.detach().cpu())  " + f.comment("do.detach"),
				`print(epoch, torch.cuda.memory_allocated() / 2**30)  ` + f.comment("do.watch")}
		}},
}
