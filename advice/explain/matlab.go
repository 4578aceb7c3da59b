package explain

import "nvpeak/sampler"

// sourceMATLAB is the form that MATLAB's train wants its samples in, all of them at once.
const sourceMATLAB = "https://www.mathworks.com/help/deeplearning/ref/nndata2gpu.html"

// trainsWhole: MATLAB's train, which has no batch.
func (f *failure) trainsWhole() bool { return f.told(sampler.ToldTrainsWhole) && !f.onHost() }

var fixesMATLAB = []fixRow{
	{id: FixSmallerInput, source: sourceMATLAB,
		kinds: ownCode, cost: 0.02,
		lives:   map[string]float64{CauseTooBig: 0.95, CauseUnknown: 0.8},
		when:    func(f *failure) bool { return f.trainsWhole() },
		reach:   always(1),
		variant: func(*failure) string { return "trains_whole" },
		do: func(f *failure) []string {
			return []string{"gpuDevice  " + f.comment("do.available_memory"), f.comment("do.train_parts"), "nndata2gpu(x, 'single')  " + f.comment("do.single")}
		}},
}
