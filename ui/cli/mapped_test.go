package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

const smaps = `00400000-00410000 r--p 00000000 fe:00 12                                 /opt/n v/nvpeak
Size:                 64 kB
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd mr mw me 
00410000-00df2000 r-xp 00010000 fe:00 12                                 /opt/n v/nvpeak
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd ex mr mw me 
00df2000-00df3000 r--p 009f2000 fe:00 12                                 /opt/n v/nvpeak
Anonymous:             4 kB
Swap:                  0 kB
VmFlags: rd mr mw me ac 
00df3000-00df4000 r--p 009f3000 fe:00 12                                 /opt/n v/nvpeak
Anonymous:             0 kB
Swap:                  4 kB
VmFlags: rd mr mw me ac 
01855000-0196f000 rw-p 01455000 fe:00 12                                 /opt/n v/nvpeak
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd wr mr mw me ac 
7f6b4ea47000-7f6b4eb9d000 r-xp 00026000 fe:00 13                         /usr/lib/libc.so.6
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd ex mr mw me 
7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0                          [vdso]
Anonymous:             0 kB
VmFlags: rd ex mr mw me de 
x-y r-xp 00000000 fe:00 12 /opt/n v/nvpeak
VmFlags: rd
00500000-00510000 r-xp 00000000 fe:00 12 /opt/n v/nvpeak
Anonymous:             0 kB
`

// Only what is in the file word for word may be given back: all else would be lost.
func TestAsInFile(t *testing.T) {
	want := []addresses{{0x400000, 0x410000}, {0x410000, 0xdf2000}}
	if got := asInFile(strings.NewReader(smaps), "/opt/n v/nvpeak"); !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
	if got := asInFile(strings.NewReader(smaps), "/opt/nvpeak"); len(got) != 0 {
		t.Errorf("of another file: %x", got)
	}
}

// The test program itself goes on after its code was given back.
func TestUnmapStart(t *testing.T) {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	if len(asInFile(strings.NewReader(string(maps)), exe)) == 0 {
		t.Error("nothing of the program's own file is given back")
	}
	unmapStart()
	if maps, err = os.ReadFile("/proc/self/smaps"); err != nil {
		t.Fatal(err)
	}
	for _, r := range asInFile(strings.NewReader(string(maps)), exe) {
		if r.to-r.from > 2*pieceBytes {
			t.Errorf("%d kB of the program's file can be mapped at once", (r.to-r.from)>>10)
		}
	}
}

// The first piece of a mapping and the last may be shorter, and none reaches beyond it.
func TestEveryOther(t *testing.T) {
	const p = pieceBytes
	for want, r := range map[string]addresses{
		"[]": {p, 2 * p}, "[{2p 3p}]": {p, 3 * p}, "[{p 2p} {3p 3p+1}]": {p / 2, 3*p + 1}, "[{p p+9}]": {p - 9, p + 9},
	} {
		text := strings.NewReplacer(fmt.Sprint(3*p+1), "3p+1", fmt.Sprint(p+9), "p+9", fmt.Sprint(3*p), "3p", fmt.Sprint(2*p), "2p", fmt.Sprint(p), "p").Replace(fmt.Sprint(everyOther(r)))
		if text != want {
			t.Errorf("%v: %s, want %s", r, text, want)
		}
	}
}
