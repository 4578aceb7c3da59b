package hearsay

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/binary"
	"io"
	"math"
	"slices"
	"sync"
)

//go:generate go run ../../docs/tellings

//go:embed weights.bin
var packed []byte

// Model is what was learned. weights are those of each feature, by the number of the telling.
type Model struct {
	Tellings []Telling
	weights  map[uint32][]weight
}

// Telling is one of those that are known. Least is how sure it must be to count, from 0 to 1; Bias and Scale are of its weights.
type Telling struct {
	Name               string
	Bias, Scale, Least float32
}

type weight struct {
	telling uint8
	by      int8
}

// mostTellings fit into the set of those that a feature speaks for or against.
const mostTellings = 32

// learned is the model, which is unpacked when it is first asked.
var learned = sync.OnceValue(func() *Model {
	m, err := Unpack(packed)
	if err != nil {
		return &Model{} // it is part of the program: a test would say so
	}
	return m
})

// Said is a telling of a passage, and how sure that is, from 0 to 1.
type Said struct {
	Name string
	Sure float32
}

// Of are the tellings of a passage of one to three sentences. The words are the text alone: what a program printed is no telling.
func Of(passage string) (list []Said) {
	m := learned()
	for i, p := range m.Sure(Features(passage)) {
		if p >= m.Tellings[i].Least {
			list = append(list, Said{m.Tellings[i].Name, p})
		}
	}
	return list
}

// SureOf is how sure a telling of a passage is, from 0 to 1, also where that is too little for Of; 0 for one that is not known.
func SureOf(passage, telling string) float32 {
	m := learned()
	i := slices.IndexFunc(m.Tellings, func(t Telling) bool { return t.Name == telling })
	if i < 0 {
		return 0
	}
	return m.Sure(Features(passage))[i]
}

// Sure is how sure each telling is for a passage with those features, from 0 to 1.
func (m *Model) Sure(features []uint32) []float32 {
	sums := make([]float32, len(m.Tellings))
	for _, f := range features {
		for _, w := range m.weights[f] {
			sums[w.telling] += float32(w.by)
		}
	}
	norm := float32(math.Sqrt(float64(max(len(features), 1))))
	for i, t := range m.Tellings {
		sums[i] = float32(1 / (1 + math.Exp(-float64(t.Bias+sums[i]*t.Scale/norm))))
	}
	return sums
}

// Pack is a model as weights.bin holds it. Weights are for each telling those of features, which become whole multiples of its scale.
func Pack(tellings []Telling, features []uint32, weights map[uint32][]float32) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	put := func(v any) { binary.Write(z, binary.LittleEndian, v) } //nolint:errcheck // memory
	put(uint8(len(tellings)))
	for _, t := range tellings {
		put(uint8(len(t.Name)))
		put([]byte(t.Name))
		put([3]float32{t.Bias, t.Scale, t.Least})
	}
	put(uint32(len(features)))
	for _, f := range features {
		var of uint32
		var by []int8
		for i, w := range weights[f] {
			if n := int8(math.Round(float64(w / tellings[i].Scale))); n != 0 {
				of |= 1 << i
				by = append(by, n)
			}
		}
		put(f)
		put(of)
		put(by)
	}
	z.Close() //nolint:errcheck // memory
	return b.Bytes()
}

// Unpack reads what Pack made.
func Unpack(data []byte) (*Model, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	r := bytes.NewReader(raw)
	get := func(v any) {
		if err == nil {
			err = binary.Read(r, binary.LittleEndian, v)
		}
	}
	var n, length uint8
	get(&n)
	m := &Model{weights: map[uint32][]weight{}}
	for range min(n, mostTellings) {
		get(&length)
		name, of := make([]byte, length), [3]float32{}
		get(name)
		get(&of)
		m.Tellings = append(m.Tellings, Telling{string(name), of[0], of[1], of[2]})
	}
	var count, feature, set uint32
	get(&count)
	for i := uint32(0); i < count && err == nil; i++ {
		get(&feature)
		get(&set)
		var list []weight
		for t := range m.Tellings {
			if set&(1<<t) != 0 {
				var by int8
				get(&by)
				list = append(list, weight{uint8(t), by})
			}
		}
		m.weights[feature] = list
	}
	return m, err
}
