package trainlog

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// stamp is a time as a line prints it, in UTC as far as nothing says otherwise.
type stamp struct {
	time  time.Time
	zoned bool // it names its zone
	year  bool // it names its year
	date  bool // it names its day
}

// stampForm is one way in which loggers print the time. Groups: y, mon (name), m, d, t
// (hh:mm:ss), frac, zone, year.
type stampForm struct{ re *regexp.Regexp }

func stampRow(pattern string) stampForm { return stampForm{regexp.MustCompile(pattern)} }

const clockPart = `(?P<t>\d\d:\d\d:\d\d)(?:[.,](?P<frac>\d{1,9}))?`

// stampForms, the more telling ones first.
var stampForms = sync.OnceValue(func() []stampForm {
	return []stampForm{
		stampRow(`(?P<y>\d{4})[-/](?P<m>\d\d)[-/](?P<d>\d\d)[T _]` + clockPart + `(?: ?(?P<zone>Z|UTC|[+-]\d\d:?\d\d))?`),        // ISO, Python, log4j
		stampRow(`(?:[A-Z][a-z]{2} )?(?P<mon>[A-Z][a-z]{2}) {1,2}(?P<d>\d{1,2}) ` + clockPart + ` (?:[A-Z]{3,4} )?(?P<y>\d{4})`), // ctime
		stampRow(`^\W?(?P<y>\d\d)[/-](?P<m>\d\d)[/-](?P<d>\d\d) ` + clockPart),                                                   // Spark
		stampRow(`^[IWEF](?P<m>\d\d)(?P<d>\d\d) ` + clockPart),                                                                   // glog
		stampRow(`(?:^|[\s\[(])(?P<m>\d\d)[-/](?P<d>\d\d) ` + clockPart),                                                         // vLLM, detectron2
		stampRow(`^\W?(?P<mon>[A-Z][a-z]{2}) {1,2}(?P<d>\d{1,2}) ` + clockPart),                                                  // syslog
		stampRow(`^[\[(]?` + clockPart + `(?:[\])]|\s)`),                                                                         // time alone
	}
})

// headBytes of a line can hold its time.
const headBytes = 160

// clockAt says whether the text may hold hh:mm:ss, without a regular expression.
func clockAt(s string) bool {
	for i := 2; i+6 <= len(s); i++ {
		if s[i] == ':' && s[i+3] == ':' && digit(s[i-1]) && digit(s[i-2]) && digit(s[i+1]) && digit(s[i+2]) && digit(s[i+4]) && digit(s[i+5]) {
			return true
		}
	}
	return false
}

func digit(b byte) bool { return b >= '0' && b <= '9' }

// stamps reads the times of lines; most lines of a log have the same form.
type stamps struct{ usual int }

func (s *stamps) of(line string) (stamp, bool) {
	if len(line) > headBytes {
		line = line[:headBytes]
	}
	if !clockAt(line) {
		return stamp{}, false
	}
	if st, ok := stampForms()[s.usual].read(line); ok {
		return st, true
	}
	for i, f := range stampForms() {
		if st, ok := f.read(line); ok {
			s.usual = i
			return st, true
		}
	}
	return stamp{}, false
}

func (f stampForm) read(line string) (stamp, bool) {
	m := f.re.FindStringSubmatch(line)
	if m == nil {
		return stamp{}, false
	}
	field := func(name string) string {
		if i := f.re.SubexpIndex(name); i >= 0 {
			return m[i]
		}
		return ""
	}
	st := stamp{year: field("y") != "", date: field("d") != "", zoned: field("zone") != ""}
	year, month, day := number(field("y")), time.Month(number(field("m"))), number(field("d"))
	if year > 0 && year < 100 {
		year += 2000
	}
	if name := field("mon"); name != "" {
		t, err := time.Parse("Jan", name)
		if err != nil {
			return stamp{}, false
		}
		month = t.Month()
	}
	if !st.date {
		month, day = time.January, 1
	}
	t := strings.Split(field("t"), ":")
	frac, _ := strconv.ParseFloat("0."+field("frac")+"0", 64)
	h, minute, sec := number(t[0]), number(t[1]), number(t[2])
	if month < 1 || month > 12 || day < 1 || day > 31 || h > 23 || minute > 59 || sec > 60 {
		return stamp{}, false
	}
	if !st.year {
		year = 2000 // a leap year; the real one comes later
	}
	st.time = time.Date(year, month, day, h, minute, sec, int(frac*1e9), zoneOf(field("zone")))
	return st, true
}

func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}

func zoneOf(s string) *time.Location {
	if s == "" || s == "Z" || s == "UTC" {
		return time.UTC
	}
	digits := strings.Replace(s[1:], ":", "", 1)
	offset := number(digits[:2])*3600 + number(digits[2:])*60
	if s[0] == '-' {
		offset = -offset
	}
	return time.FixedZone("", offset)
}
