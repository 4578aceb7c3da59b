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

	"nvpeak/sampler/hearsay"
)

type passage struct {
	Labels   []string `json:"labels"`
	Text     string   `json:"text"`
	features []uint32
}

func (p *passage) tells(name string) bool { return slices.Contains(p.Labels, name) }

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
	// precise is the share of what is said that must be right on passages that were not learned from: so sure must a telling be to count.
	precise = 0.94
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
	var known, held []*passage
	files, _ := filepath.Glob(*dir + "/*.jsonl")
	for _, f := range files {
		list, err := read(f)
		if err != nil {
			return err
		}
		if strings.HasPrefix(filepath.Base(f), "held") {
			held = append(held, list...)
		} else {
			known = append(known, list...)
		}
	}
	names := namesOf(known)
	tellings, features, weights := learn(known, names)
	judge(known, tellings, names)
	data := hearsay.Pack(tellings, features, weights)
	m, err := hearsay.Unpack(data)
	if err != nil {
		return err
	}
	report(m, held)
	fmt.Printf("%d passages, %d features, %d bytes\n", len(known), len(features), len(data))
	if *dry {
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

// one is what is learned for one telling.
type one struct {
	bias float64
	by   map[uint32]float64
}

func (o *one) sure(features []uint32) float64 {
	sum := 0.0
	for _, f := range features {
		sum += o.by[f]
	}
	return 1 / (1 + math.Exp(-(o.bias + sum/math.Sqrt(float64(max(len(features), 1))))))
}

// learnOne learns a telling by steps down the gradient, each feature at its own pace (AdaGrad).
func learnOne(list []*passage, name string) *one {
	o := &one{by: map[uint32]float64{}}
	seen, seenOfBias := map[uint32]float64{}, 1e-8
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
	list = common(list)
	weights = map[uint32][]float32{}
	for i, name := range names {
		o := learnOne(list, name)
		most := 0.0
		for _, w := range o.by {
			most = max(most, math.Abs(w))
		}
		tellings = append(tellings, hearsay.Telling{Name: name, Bias: float32(o.bias), Scale: float32(most / levels), Least: 0.5})
		for f, w := range o.by {
			if math.Abs(w) < most*smallest {
				continue
			}
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

// common leaves out features that few passages have.
func common(list []*passage) []*passage {
	n := map[uint32]int{}
	for _, p := range list {
		for _, f := range p.features {
			n[f]++
		}
	}
	out := make([]*passage, len(list))
	for i, p := range list {
		c := *p
		c.features = slices.DeleteFunc(slices.Clone(p.features), func(f uint32) bool { return n[f] < least })
		out[i] = &c
	}
	return out
}

// judge decides how sure is enough: it learns from four fifths and asks about the last one, in turns.
func judge(list []*passage, tellings []hearsay.Telling, names []string) {
	const parts = 5
	type said struct {
		sure  float64
		right bool
	}
	all := make([][]said, len(names))
	for part := range parts {
		var from, about []*passage
		for i, p := range list {
			if i%parts == part {
				about = append(about, p)
			} else {
				from = append(from, p)
			}
		}
		from = common(from)
		for i, name := range names {
			o := learnOne(from, name)
			for _, p := range about {
				if !p.tells(name) && slices.ContainsFunc(akin[name], p.tells) {
					continue
				}
				all[i] = append(all[i], said{o.sure(p.features), p.tells(name)})
			}
		}
	}
	for i := range names {
		slices.SortFunc(all[i], func(a, b said) int { return cmp.Compare(b.sure, a.sure) })
		right, enough := 0, 0.9
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
		for _, p := range held {
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
