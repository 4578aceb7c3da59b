package nvmltest

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"time"
)

// Stats is what the fake driver counted. It is written every second, at Shutdown and at
// a normal exit: of a program that was killed the last second may be missing.
type Stats struct {
	Start   time.Time // time 0 of the scenario
	Elapsed time.Duration
	Calls   map[string]Calls // by function
}

// Calls of one function: their number and the time spent in them, waiting included.
type Calls struct {
	Count int
	Busy  time.Duration
}

// ReadStats reads the file that FAKENVML_STATS named.
func ReadStats(path string) (Stats, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Stats{}, err
	}
	s, err := parseStats(text)
	if err != nil {
		return Stats{}, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

func parseStats(text []byte) (Stats, error) {
	s := Stats{Calls: map[string]Calls{}}
	lines := bufio.NewScanner(bytes.NewReader(text))
	var start int64
	for lines.Scan() {
		line := lines.Text()
		if line == "" || line == "# function calls busy_ns" {
			continue
		}
		if line[0] == '#' {
			if _, err := fmt.Sscanf(line, "# start_unix_ns=%d elapsed_ns=%d", &start, &s.Elapsed); err != nil {
				return Stats{}, fmt.Errorf("%q: %w", line, err)
			}
			continue
		}
		var name string
		var c Calls
		if _, err := fmt.Sscan(line, &name, &c.Count, &c.Busy); err != nil {
			return Stats{}, fmt.Errorf("%q: %w", line, err)
		}
		s.Calls[name] = c
	}
	if start == 0 {
		return Stats{}, fmt.Errorf("no line with start_unix_ns")
	}
	s.Start = time.Unix(0, start)
	return s, lines.Err()
}

// Total of the calls of all functions.
func (s Stats) Total() Calls {
	var sum Calls
	for _, c := range s.Calls {
		sum.Count += c.Count
		sum.Busy += c.Busy
	}
	return sum
}
