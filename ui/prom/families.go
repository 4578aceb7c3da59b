package prom

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"nvpeak/sampler"
)

// family is one metric with its series.
type family struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

func newFamily(kind prometheus.ValueType, name, help string, labels ...string) family {
	return family{prometheus.NewDesc(name, help, labels, nil), kind}
}

func gauge(name, help string, labels ...string) family {
	return newFamily(prometheus.GaugeValue, name, help, labels...)
}

func counter(name, help string, labels ...string) family {
	return newFamily(prometheus.CounterValue, name, help, labels...)
}

// send makes a series. Values of labels are text of drivers and of other people's programs: what is no text is replaced.
func (f family) send(ch chan<- prometheus.Metric, value float64, labels ...string) {
	for i, l := range labels {
		labels[i] = label(l)
	}
	m, err := prometheus.NewConstMetric(f.desc, f.kind, value, labels...)
	if err != nil {
		m = prometheus.NewInvalidMetric(f.desc, err)
	}
	ch <- m
}

// known makes a series of what is known.
func (f family) known(ch chan<- prometheus.Metric, value sampler.Opt[float64], labels ...string) {
	if v, ok := value.Value(); ok {
		f.send(ch, v, labels...)
	}
}

// maxLabel bounds the value of a label, in bytes.
const maxLabel = 128

// label is a text that a terminal, a page and a time series can bear.
func label(text string) string { return bounded(text, maxLabel) }

func bounded(text string, most int) string {
	text = sampler.Clean(text)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func bytesOf(o sampler.Opt[sampler.Bytes]) sampler.Opt[float64] {
	v, ok := o.Value()
	if !ok {
		return sampler.Opt[float64]{}
	}
	return sampler.Some(float64(v))
}

// scaled is a number in another unit.
func scaled[T int | uint64 | float64](o sampler.Opt[T], by float64) sampler.Opt[float64] {
	v, ok := o.Value()
	if !ok {
		return sampler.Opt[float64]{}
	}
	return sampler.Some(float64(v) * by)
}
