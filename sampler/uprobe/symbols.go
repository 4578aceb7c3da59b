//go:build linux && (amd64 || arm64)

package uprobe

import (
	"bytes"
	"debug/elf"
	"regexp"
	"slices"

	"nvpeak/sampler/request"
)

// functionsOf are the functions that a library has, as a program that is linked with it would find them, and their places in the file; others: those that
// it has in the place of such.
func functionsOf(path string) (list []int, places map[int]uint64, others []string) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, nil, nil
	}
	defer f.Close() //nolint:errcheck // it was only read
	if f.Class != elf.ELFCLASS64 {
		return nil, nil, nil
	}
	symbols, err := f.DynamicSymbols()
	if err != nil { // sections are for linkers: what loads it needs none
		symbols = loadedSymbols(f)
	}
	has, twice := map[string]uint64{}, map[uint64]bool{}
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			has[s.Name] = s.Value
		}
	}
	places = map[int]uint64{}
	for n := range request.Functions {
		at, ok := has[request.Functions[n].Name]
		if ok && !twice[at] { // two names of one function are one
			list, twice[at] = append(list, n), true
			places[n] = placeOf(f, at)
		}
	}
	return list, places, otherVersions(has)
}

var version = regexp.MustCompile(`_v\d+(_ptsz)?$`)

// otherVersions are functions that give memory of a GPU or take it back and of which a library has only versions that are not known: other arguments may be in them, as of the first
// versions, whose sizes have 32 bits.
func otherVersions(has map[string]uint64) (names []string) {
	known := map[string]bool{}
	for i := range request.Functions {
		if f := &request.Functions[i]; f.Effect <= request.Unmaps && f.Memory != request.Host {
			_, ok := has[f.Name]
			base := version.ReplaceAllString(f.Name, "")
			known[base] = known[base] || ok
		}
	}
	for name := range has {
		if ok, asked := known[version.ReplaceAllString(name, "")]; asked && !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// placeOf is where in a file an address is loaded from.
func placeOf(f *elf.File, at uint64) uint64 {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && at >= p.Vaddr && at-p.Vaddr < p.Filesz {
			return at - p.Vaddr + p.Off
		}
	}
	return at
}

const (
	symbolSize  = 24
	dynamicSize = 16
	// mostSymbols and mostNames are more than any library has: libcuda has some 1,000.
	mostSymbols = 1 << 18
	mostNames   = 16 << 20 // bytes
)

// loadedSymbols are the symbols as what loads a library finds them, by its segments: of the tables that those name, that of the names
// follows that of the symbols. https://refspecs.linuxfoundation.org/elf/gabi4+/ch5.dynamic.html
func loadedSymbols(f *elf.File) (list []elf.Symbol) {
	var table, names, size uint64
	for _, p := range f.Progs {
		if p.Type != elf.PT_DYNAMIC {
			continue
		}
		b := loaded(f, p.Vaddr, min(p.Filesz, dynamicSize*mostSymbols))
		for ; len(b) >= dynamicSize; b = b[dynamicSize:] {
			switch value := f.ByteOrder.Uint64(b[8:]); elf.DynTag(f.ByteOrder.Uint64(b)) { //nolint:gosec // a number of few
			case elf.DT_SYMTAB:
				table = value
			case elf.DT_STRTAB:
				names = value
			case elf.DT_STRSZ:
				size = value
			}
		}
	}
	if table == 0 || names <= table || size > mostNames {
		return nil
	}
	text := loaded(f, names, size)
	for b := loaded(f, table, min(names-table, symbolSize*mostSymbols)); len(b) >= symbolSize; b = b[symbolSize:] {
		name := uint64(f.ByteOrder.Uint32(b))
		if name >= uint64(len(text)) {
			return list // the table has ended
		}
		word, _, _ := bytes.Cut(text[name:], []byte{0})
		list = append(list, elf.Symbol{Name: string(word), Info: b[4], Section: elf.SectionIndex(f.ByteOrder.Uint16(b[6:])), Value: f.ByteOrder.Uint64(b[8:])})
	}
	return list
}

// loaded are n bytes at an address; nil: the file does not have them.
func loaded(f *elf.File, at, n uint64) []byte {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && at >= p.Vaddr && at-p.Vaddr < p.Filesz && n <= p.Filesz-(at-p.Vaddr) {
			b := make([]byte, n)
			if _, err := p.ReadAt(b, int64(at-p.Vaddr)); err != nil { //nolint:gosec // below Filesz
				return nil
			}
			return b
		}
	}
	return nil
}
