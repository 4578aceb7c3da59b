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

// numpyMakes is a line that makes an array in RAM at once, of a shape that it names or of a list.
var numpyMakes = sampler.Pattern{Source: `\b(?:np|numpy)\.(?:ndarray|empty|zeros|ones|full|concatenate|stack|vstack|hstack|array|asarray|tile|repeat)\(`}

// makesArray: a line of Python that makes one array in RAM was refused without an amount.
func (f *facts) makesArray() bool {
	n := len(f.context.Code)
	return f.event.Kind == sampler.KindHostAlloc && !f.requested.Known() && n > 0 && numpyMakes.Get().MatchString(f.context.Code[n-1])
}

// fewBits are types of numbers that need not be halved first.
var fewBits = sampler.Pattern{Source: `(?i)data type (?:u?int(?:8|16)|float(?:16|32)|bool|\|[uib]1)\b`}

// smallerArray are words for how an array that NumPy was refused gets smaller.
func (f *facts) smallerArray() string {
	if fewBits.Get().MatchString(f.event.Text) {
		return "do.array_in_parts"
	}
	return "do.smaller_array"
}
