package nvml

// functions is what the loaded library has of what this package calls.
type functions struct {
	symbols symbolSet
	lists   [len(listKinds)]function
	samples function
	memory  [2]function // as Sweep calls them: nvmlDeviceGetMemoryInfo, and its version 2
	rows    []metric    // the metrics this library can answer
}

// findFunctions looks up what is called by pointer, once the library is loaded.
func findFunctions(symbols symbolSet) functions {
	f := functions{symbols: symbols, samples: findFunction([]string{"nvmlDeviceGetProcessUtilization"}, sampleSlot)}
	for i, name := range []string{"nvmlDeviceGetMemoryInfo", "nvmlDeviceGetMemoryInfo_v2"} {
		f.memory[i] = findFunction([]string{name}, 0)
	}
	for i, k := range listKinds {
		f.lists[i] = findFunction([]string{k.symbol + "_v3", k.symbol + "_v2", k.symbol}, 24, 24, 16)
	}
	for _, m := range metrics {
		if symbols.any(m.symbols) && !symbols.any(m.unless) {
			f.rows = append(f.rows, m)
		}
	}
	return f
}

// findSymbols asks lookup for every function this package may call.
func findSymbols(lookup func(name string) error) symbolSet {
	set := symbolSet{}
	add := func(names []string) {
		for _, n := range names {
			if _, asked := set[n]; !asked {
				set[n] = lookup(n) == nil
			}
		}
	}
	for _, group := range [][][]string{required, optional} {
		for _, names := range group {
			add(names)
		}
	}
	for _, m := range metrics {
		add(m.symbols)
		add(m.unless)
	}
	return set
}
