package fleet

import (
	"errors"
	"io"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/tape"
)

// readAll reads into a buffer that is kept.
func readAll(r io.Reader, b []byte) ([]byte, error) {
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):min(cap(b), mostPage+1)])
		b = b[:len(b)+n]
		switch {
		case err == io.EOF:
			return b, nil
		case err != nil:
			return b, err
		case len(b) > mostPage:
			return b[:0], errPageLong
		}
	}
}

var errNoAPI = errors.New("its answer is none of Prometheus' HTTP API")

// readAnswer reads {"status":"success","data":{"result":[…]}} and hands on each series.
func readAnswer(body []byte, each func(*tape.JSON)) error {
	j := tape.NewJSON(body)
	status, said, results := "", "", false
	j.Object(func(key []byte) {
		switch string(key) {
		case "status":
			status = string(j.Text())
		case "error":
			said = string(j.Text())
		case "data":
			j.Object(func(key []byte) {
				if string(key) == "result" {
					results = true
					j.Array(func() { each(j) })
				}
			})
		}
	})
	switch {
	case status == "error" && said != "":
		return errors.New("it answers: " + sampler.Clean(said[:min(len(said), mostRefusal)]))
	case status != "success" || !results || j.Bad():
		return errNoAPI
	}
	return nil
}

// apiError is what Prometheus says is wrong, which comes with a status of 400 or 422: {"status":"error","error":"…"}.
func apiError(body []byte) (said string, ok bool) {
	j := tape.NewJSON(body)
	j.Object(func(key []byte) {
		if string(key) == "error" {
			said = string(j.Text())
		}
	})
	return sampler.Clean(said), said != ""
}

// readLabels reads {"__name__":"…","instance":"…",…}.
func (s *sample) readLabels(j *tape.JSON) {
	j.Object(func(key []byte) {
		value := j.Text()
		switch {
		case string(key) == "__name__":
			s.name = value
		case len(s.labels) < mostLabels:
			s.labels = append(s.labels, label{key, value})
		}
	})
}

// readSeries reads one series: {"metric":{…},"value":[t,"v"]} or "values":[…].
func (s *server) readSeries(j *tape.JSON, groups map[string]*group) {
	var one sample
	var points [][2]float64
	raw := false
	point := func() {
		var p [2]float64
		n := 0
		j.Array(func() {
			if v, ok := j.Number(); ok && n < 2 {
				p[n] = v
				n++
			}
		})
		if n == 2 && p[1]-p[1] == 0 && p[0] > 0 && p[0] < 1e11 {
			points = append(points, p)
		}
	}
	j.Object(func(key []byte) {
		switch string(key) {
		case "metric":
			one.readLabels(j)
		case "value":
			point()
		case "values":
			raw = true
			j.Array(point)
		}
	})
	m := metrics()[string(one.name)]
	if m == nil || len(points) == 0 {
		return
	}
	if !raw {
		if g := groupOf(groups, &one, m.of, true); g != nil {
			one.value = points[0][1]
			g.take(&one)
		}
		return
	}
	g := groupOf(groups, &one, m.of, false)
	if g == nil || g.page(m.of).places[m.of.place(&one)] == nil {
		return // its exporter does not answer any more
	}
	unit := m.of.timed[string(one.name)]
	for _, p := range points {
		at := time.UnixMilli(int64(p[0] * 1000)).UTC()
		if at.After(g.newest) {
			g.newest = at
		}
		if b, ok := bytesOf(p[1], unit).Value(); ok && len(g.samples) < mostSamples {
			g.samples = append(g.samples, timed{at, m.of, m.of.place(&one), b})
		}
	}
}
