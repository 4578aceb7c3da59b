package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"nvpeak/sampler"
	"nvpeak/ui/notify"
)

// reachTimeout is how long doctor waits for the host of a webhook.
const reachTimeout = 5 * time.Second

// checkAlerts looks at how alerts are passed on: what is set, whether the webhook's host can be
// reached, and what became of the alerts so far. Nothing is sent.
func checkAlerts(c *checkup) finding {
	opt, counted := &c.app.opt, c.counts()
	if opt.webhook != "" {
		limit, cancel := context.WithTimeout(context.Background(), reachTimeout)
		defer cancel()
		if err := notify.Reach(limit, string(opt.webhook), opt.webhookLocal); err != nil {
			return unavailable(c.say("doctor.fix_webhook"), strings.TrimPrefix(fmt.Sprintf("%s; --webhook: %v", counted, err), "; "))
		}
	}
	switch {
	case counted != "" && c.failing():
		return partial(c.say("doctor.fix_alerts"), counted)
	case counted != "":
		return ok(counted)
	case opt.webhook == "" && opt.onAlert == "":
		return ok(c.say("doctor.no_alerts"))
	}
	return ok(c.say("doctor.none_sent"))
}

// counts is what the ledger says of each way.
func (c *checkup) counts() string {
	var parts []string
	for _, d := range c.deliveries {
		text := c.say("doctor.sent", "way", "--"+d.Way, "sent", d.Sent, "failed", d.Failed)
		if at, known := d.LastFailure.Value(); known {
			text = c.say("doctor.last_failure", "text", text, "time", at.Local().Format("2006-01-02 15:04"), "error", d.LastError.Or(""))
		}
		parts = append(parts, sampler.Clean(text))
	}
	return strings.Join(parts, "; ")
}

// failing: the newest alert of some way was given up.
func (c *checkup) failing() bool {
	for _, d := range c.deliveries {
		if d.Failing() {
			return true
		}
	}
	return false
}
