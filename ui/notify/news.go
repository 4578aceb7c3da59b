package notify

import "nvpeak/sampler"

// News finds the alerts that are to be passed on: each that is critical, once, when it is new
// or has become so.
type News struct{ told map[string]bool } // IDs of open alerts that were critical

// Take gets the alerts that are open now, and returns those that are news.
func (n *News) Take(alerts []sampler.Alert) (news []sampler.Alert) {
	told := make(map[string]bool, len(alerts))
	for _, a := range alerts {
		switch {
		case n.told[a.ID]:
			told[a.ID] = true
		case a.Level == sampler.LevelCritical:
			told[a.ID] = true
			news = append(news, a)
		}
	}
	n.told = told
	return news
}
