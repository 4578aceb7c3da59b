package tape

import (
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"time"

	"nvpeak/sampler"
)

// A plan knows the fields of a struct by their JSON keys, found by reflection once: a new
// metric is recorded without a change here.
type plan struct {
	fields []field
	byKey  map[string]int
}

type field struct {
	key    string
	quoted string // as it is written: "key":
	index  []int
	kind   fieldKind
	codec  codec // of scalars and wholes
	time   bool  // a time
	omit   bool  // left out when it is empty
	inner  *plan // of all but scalars
	opt    optAccess
}

type fieldKind int

const (
	scalarField fieldKind = iota
	structField           // an object
	pointField            // an object, or null
	listField             // of GPUs or processes
	optField              // a sampler.Opt of a struct: an object, or null
)

var plans sync.Map // reflect.Type → *plan

func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p := &plan{byKey: map[string]int{}}
	p.collect(t, nil)
	plans.Store(t, p)
	return p
}

func (p *plan) collect(t reflect.Type, index []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(append([]int{}, index...), i)
		if f.Anonymous {
			p.collect(f.Type, at)
			continue
		}
		key, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || key == "" || key == "-" {
			continue
		}
		p.byKey[key] = len(p.fields)
		made := newField(f.Type, key, at)
		made.omit = options == "omitempty"
		p.fields = append(p.fields, made)
	}
}

func newField(t reflect.Type, key string, index []int) field {
	f := field{key: key, quoted: `"` + key + `":`, index: index}
	if c, ok := scalarCodec(t, key); ok {
		f.codec, f.time = c, t == reflect.TypeFor[time.Time]() || t == reflect.TypeFor[sampler.Opt[time.Time]]()
		return f
	}
	switch {
	case t.Kind() == reflect.Struct && !t.Implements(marshaler) && !reflect.PointerTo(t).Implements(marshaler):
		f.kind, f.inner = structField, planOf(t)
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct:
		f.kind, f.inner = pointField, planOf(t.Elem())
	case t == reflect.TypeFor[[]sampler.GPU]() || t == reflect.TypeFor[[]sampler.Process]():
		f.kind, f.inner = listField, planOf(t.Elem())
	case t == reflect.TypeFor[sampler.Opt[sampler.HostMemory]]():
		f.kind, f.inner, f.opt = optField, planOf(reflect.TypeFor[sampler.HostMemory]()), accessOpt[sampler.HostMemory]()
	case t == reflect.TypeFor[sampler.Opt[sampler.Sampling]]():
		f.kind, f.inner, f.opt = optField, planOf(reflect.TypeFor[sampler.Sampling]()), accessOpt[sampler.Sampling]()
	default:
		f.codec = wholeCodec(t)
	}
	return f
}

// optAccess reaches into a sampler.Opt of a struct.
type optAccess struct {
	get func(v reflect.Value) (reflect.Value, bool) // the zero value where it is not known
	set func(v, x reflect.Value)
}

func accessOpt[T comparable]() optAccess {
	at := func(v reflect.Value) *sampler.Opt[T] { return v.Addr().Interface().(*sampler.Opt[T]) }
	return optAccess{
		get: func(v reflect.Value) (reflect.Value, bool) {
			x, ok := at(v).Value()
			return reflect.ValueOf(&x).Elem(), ok
		},
		set: func(v, x reflect.Value) { *at(v) = sampler.Some(*x.Addr().Interface().(*T)) },
	}
}

var marshaler = reflect.TypeFor[json.Marshaler]()

func (p *plan) equal(a, b reflect.Value) bool {
	for i := range p.fields {
		f := &p.fields[i]
		if !f.equal(a.FieldByIndex(f.index), b.FieldByIndex(f.index)) {
			return false
		}
	}
	return true
}

func (f *field) equal(a, b reflect.Value) bool {
	switch f.kind {
	case scalarField:
		return f.codec.equal(a, b)
	case optField:
		x, ok := f.opt.get(a)
		y, ok2 := f.opt.get(b)
		return ok == ok2 && f.inner.equal(x, y)
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

// snapshotPlan is the form of complete snapshots. A monitor that neither records nor replays needs none.
var snapshotPlan = sync.OnceValue(func() *plan { return planOf(reflect.TypeFor[sampler.Snapshot]()) })
