package explain

import (
	"strings"

	"nvpeak/sampler"
)

// sourceArrays is what tf.data says of NumPy arrays: they become constants, whole.
const sourceArrays = "https://www.tensorflow.org/guide/data#consuming_numpy_arrays"

// copiesArray: Keras makes one tensor of an array that fit, evaluate or predict is given, on the GPU, whatever the batch is.
func (f *facts) copiesArray() bool {
	return !f.onHost() && f.event.Kind == sampler.KindTensorFlow &&
		(strings.Contains(f.event.Text, "_EagerConst") || f.inFunction("convert_to_eager_tensor")) && f.inCode("fit(", "evaluate(", "predict(")
}

// copiesValidation: that is the array of validation, since steps of training were done.
func (f *facts) copiesValidation() bool {
	return f.copiesArray() && f.inCode("validation_data=") && f.context.Step.Known() && !f.context.FirstStep
}

var causesArray = []causeRow{
	{id: "array", cause: CauseTooBig, reason: sourceArrays,
		when:       func(f *failure) bool { return f.copiesArray() && !f.copiesValidation() },
		confidence: always(0.9),
		evidence:   func(f *failure) string { return f.words.Say("why.array") }},
	{id: "array", cause: CauseValidationSpike, reason: sourceArrays,
		when:       func(f *failure) bool { return f.copiesValidation() },
		confidence: always(0.92),
		evidence:   func(f *failure) string { return f.words.Say("why.array") }},
}

var fixesArray = []fixRow{
	{id: FixLoadOnCPU, source: sourceArrays, kinds: training | evaluation | inference | undecided, cost: 0,
		lives:   map[string]float64{CauseTooBig: 0.95},
		when:    func(f *failure) bool { return f.copiesArray() && !f.copiesValidation() },
		reach:   always(1),
		variant: func(*failure) string { return "array" },
		do:      func(f *failure) []string { return f.arrayInBatches("train", "(x_train, y_train)") }},
	{id: FixShrinkValidationBatch, source: sourceArrays, kinds: training | undecided, cost: 0,
		lives:   map[string]float64{CauseValidationSpike: 0.97},
		when:    func(f *failure) bool { return f.copiesValidation() },
		reach:   always(1),
		variant: func(*failure) string { return "array" },
		do:      func(f *failure) []string { return f.arrayInBatches("val", "(x_val, y_val)") }},
}

// arrayInBatches makes a dataset of arrays that stay in RAM.
func (f *failure) arrayInBatches(name, arrays string) []string {
	use := "model.fit(" + name + ", …)"
	if name == "val" {
		use = "model.fit(…, validation_data=val)"
	}
	return []string{"with tf.device(\"CPU:0\"):  " + f.comment("do.array_in_ram") + "\n    " + name + " = tf.data.Dataset.from_tensor_slices(" + arrays + ").batch(32)\n" + use,
		f.comment("do.array_files")}
}
