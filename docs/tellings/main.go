// Command tellings makes weights.bin of package hearsay from the passages in testdata/tellings, and says how good it is on those that it does not learn
// from. The same passages give the same weights.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"nvpeak/sampler/hearsay"
)

// passage is one with what it tells. Where its writer was asked for some tellings only, nothing is known of the others.
type passage struct {
	Labels   []string `json:"labels"`
	Asked    []string `json:"asked"`
	Text     string   `json:"text"`
	features []uint32
}

func (p *passage) tells(name string) bool { return slices.Contains(p.Labels, name) }

// known are the passages of which it is known whether they have a telling.
func known(list []*passage, name string) []*passage {
	return slices.DeleteFunc(slices.Clone(list), func(p *passage) bool { return p.Asked != nil && !slices.Contains(p.Asked, name) })
}

const (
	// rounds is how often each passage is learned from, by steps that begin with pace; decay of the weights keeps it from learning passages by heart.
	// Those that tell something are few: each counts as much as so many others. Chosen for the mean average precision on held-out passages.
	rounds  = 30
	pace    = 0.5
	decay   = 3e-3
	telling = 3
	// least passages have a feature that is learned from; a weight below that part of the largest is left out, and there are so many levels of others.
	least    = 3
	smallest = 0.06
	levels   = 15
	// precise is the share of what is said that must be right on passages that were not learned from: so sure must a telling be to count. That it came late
	// is told in the most ways, and is less often wrong than not said by who wrote it down.
	precise     = 0.9
	preciseLate = 0.85
)

// akin are tellings that often hold as well where a passage is only said to tell another: what is wrong there is not counted.
var akin = map[string][]string{
	"batch":     {"larger", "next", "more_gpus"},
	"larger":    {"batch", "models"},
	"late":      {"next", "varies", "growth", "keeps", "validation", "saving", "worked"},
	"loading":   {"start", "resume", "models", "ram"},
	"machine":   {"update", "worked", "more_gpus"},
	"models":    {"other", "loading"},
	"more_gpus": {"one_gpu", "machine"},
	"next":      {"growth", "late", "worked"},
	"start":     {"loading", "resume"},
	"update":    {"worked", "machine"},
	"varies":    {"late", "worked", "larger"},
	"worked":    {"update", "machine"},
}

var (
	dry   = flag.Bool("n", false, "say how good it is, and write nothing")
	only  = flag.String("only", "", "learn this `telling` alone, say how good it is, and write nothing")
	wrong = flag.String("wrong", "", "show the held-out passages with which this telling is wrong")
	dir   = flag.String("dir", "../../testdata/tellings", "where the passages are; those in files held-* are not learned from")
)

func main() {
	flag.Parse()
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "tellings:", err)
		os.Exit(1)
	}
}

func run() error {
	var learned, held []*passage
	files, _ := filepath.Glob(*dir + "/*.jsonl")
	for _, f := range files {
		list, err := read(f)
		if err != nil {
			return err
		}
		if strings.HasPrefix(filepath.Base(f), "held") {
			held = append(held, list...)
		} else {
			learned = append(learned, list...)
		}
	}
	names := namesOf(learned)
	if *only != "" {
		names = []string{*only}
	}
	tellings, features, weights := learn(learned, names)
	judge(learned, tellings, names)
	data := hearsay.Pack(tellings, features, weights)
	m, err := hearsay.Unpack(data)
	if err != nil {
		return err
	}
	report(m, held)
	fmt.Printf("%d passages, %d features, %d bytes\n", len(learned), len(features), len(data))
	if *dry || *only != "" {
		return nil
	}
	return os.WriteFile("weights.bin", data, 0o644)
}

func read(path string) (list []*passage, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		p := &passage{}
		if err := json.Unmarshal(in.Bytes(), p); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", path, err, in.Text())
		}
		p.features = hearsay.Features(p.Text)
		list = append(list, p)
	}
	return list, nil
}

func namesOf(list []*passage) (names []string) {
	for _, p := range list {
		for _, l := range p.Labels {
			if l != "none" && !slices.Contains(names, l) {
				names = append(names, l)
			}
		}
	}
	slices.Sort(names)
	return names
}

// one is what is learned for one telling: a weight of each feature, by its number in the passages that are learned from.
type one struct {
	bias float64
	by   []float64
}

func (o *one) sure(features []uint32) float64 {
	sum := 0.0
	for _, f := range features {
		sum += o.by[f]
	}
	return 1 / (1 + math.Exp(-(o.bias + sum/math.Sqrt(float64(max(len(features), 1))))))
}

// learnOne learns a telling by steps down the gradient, each feature at its own pace (AdaGrad). The features are numbers below n.
func learnOne(list []*passage, n int, name string) *one {
	list = known(list, name)
	o := &one{by: make([]float64, n)}
	seen, seenOfBias := make([]float64, n), 1e-8
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range rounds {
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, i := range order {
			p := list[i]
			off := o.sure(p.features)
			if p.tells(name) {
				off = (off - 1) * telling
			}
			step := off / math.Sqrt(float64(max(len(p.features), 1)))
			for _, f := range p.features {
				g := step + decay*o.by[f]
				seen[f] += g * g
				o.by[f] -= pace * g / (math.Sqrt(seen[f]) + 1e-8)
			}
			seenOfBias += off * off
			o.bias -= 0.1 * off / math.Sqrt(seenOfBias)
		}
	}
	return o
}

// learn learns all of them.
func learn(list []*passage, names []string) (tellings []hearsay.Telling, features []uint32, weights map[uint32][]float32) {
	list, of := numbered(list)
	weights = map[uint32][]float32{}
	all := each(names, func(name string) *one { return learnOne(list, len(of), name) })
	for i, name := range names {
		o, most := all[i], 0.0
		for _, w := range o.by {
			most = max(most, math.Abs(w))
		}
		tellings = append(tellings, hearsay.Telling{Name: name, Bias: float32(o.bias), Scale: float32(most / levels), Least: 0.5})
		for n, w := range o.by {
			if math.Abs(w) < most*smallest {
				continue
			}
			f := of[n]
			if weights[f] == nil {
				weights[f] = make([]float32, len(names))
				features = append(features, f)
			}
			weights[f][i] = float32(w)
		}
	}
	slices.Sort(features)
	return tellings, features, weights
}

// each asks about every name, on all processors.
func each[T any](names []string, ask func(string) T) []T {
	answers := make([]T, len(names))
	var wait sync.WaitGroup
	for i, name := range names {
		wait.Go(func() { answers[i] = ask(name) })
	}
	wait.Wait()
	return answers
}

// numbered are the passages with numbers from 0 for their features, and the features by number. Those that few passages have are left out.
func numbered(list []*passage) (out []*passage, features []uint32) {
	count, number := map[uint32]int{}, map[uint32]uint32{}
	for _, p := range list {
		for _, f := range p.features {
			count[f]++
		}
	}
	for _, p := range list {
		c := *p
		c.features = nil
		for _, f := range p.features {
			if count[f] < least {
				continue
			}
			n, seen := number[f]
			if !seen {
				n = uint32(len(features))
				number[f] = n
				features = append(features, f)
			}
			c.features = append(c.features, n)
		}
		out = append(out, &c)
	}
	return out, features
}

// judge decides how sure is enough: it learns from four fifths and asks about the last one, in turns.
func judge(list []*passage, tellings []hearsay.Telling, names []string) {
	const parts = 5
	type said struct {
		sure  float64
		right bool
	}
	all := make([][]said, len(names))
	list, of := numbered(list)
	for part := range parts {
		var from, about []*passage
		for i, p := range list {
			if i%parts == part {
				about = append(about, p)
			} else {
				from = append(from, p)
			}
		}
		for i, of := range each(names, func(name string) (list []said) {
			o := learnOne(from, len(of), name)
			for _, p := range known(about, name) {
				if p.tells(name) || !slices.ContainsFunc(akin[name], p.tells) {
					list = append(list, said{o.sure(p.features), p.tells(name)})
				}
			}
			return list
		}) {
			all[i] = append(all[i], of...)
		}
	}
	for i := range names {
		slices.SortFunc(all[i], func(a, b said) int { return cmp.Compare(b.sure, a.sure) })
		right, enough, precise := 0, 0.9, precise
		if names[i] == "late" {
			precise = preciseLate
		}
		for n, s := range all[i] {
			if s.right {
				right++
			}
			if s.right && float64(right) >= precise*float64(n+1) {
				enough = s.sure
			}
		}
		tellings[i].Least = float32(max(0.3, enough))
	}
}

// report says how many of what held-out passages tell are found, and how many of those that are said are told.
func report(m *hearsay.Model, held []*passage) {
	var all, found, said int
	for i, t := range m.Tellings {
		var n, hit, wrongly int
		with := map[string]int{}
		for _, p := range known(held, t.Name) {
			is := m.Sure(p.features)[i] >= t.Least
			if p.tells(t.Name) {
				n++
			}
			if p.tells(t.Name) && is {
				hit++
			} else if is {
				wrongly++
				with[p.Labels[0]]++
			}
			if t.Name == *wrong && is != p.tells(t.Name) {
				fmt.Printf("  %v %.2f %v %s\n", is, m.Sure(p.features)[i], p.Labels, p.Text)
			}
		}
		fmt.Printf("%-12s at %.2f: %3d of %3d found, %2d wrong %v\n", t.Name, t.Least, hit, n, wrongly, with)
		all, found, said = all+n, found+hit, said+hit+wrongly
	}
	fmt.Printf("of %d held out: %d of %d found, %d said, %d of them right\n", len(held), found, all, said, found)
}
