package cli

import (
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"nvpeak/advice/lang"
	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/ui/notify"
)

// passingOn are the options of the commands that make alerts; reporting are those that doctor can look at.
var (
	reporting = []string{"on-alert", "webhook", "webhook-private"}
	passingOn = append([]string{"notify"}, reporting...)
)

// lastSend is how long the end waits for alerts that are on their way.
const lastSend = 3 * time.Second

// messenger passes alerts on to --on-alert and --webhook; trouble is told what fails.
func (a *app) messenger(trouble func(string)) (*notify.Messenger, error) {
	var ways []notify.Way
	if a.opt.onAlert != "" {
		ways = append(ways, notify.Command(a.opt.onAlert))
	}
	if err := notify.Refused(string(a.opt.webhook), a.opt.webhookLocal); a.opt.webhook != "" && err != nil {
		if err := a.unusable("webhook", usageError{err}, func() { a.opt.webhook = "" }); err != nil {
			return nil, err
		}
	}
	if a.opt.webhook != "" {
		post, err := notify.Webhook(string(a.opt.webhook), a.opt.webhookLocal)
		if err != nil {
			return nil, err
		}
		ways = append(ways, post)
	}
	if ways == nil {
		return nil, nil
	}
	return notify.New(ways, notify.Options{Trouble: trouble, Ledger: notify.NewLedger(a.env)}), nil
}

// announcer announces the alerts of a command without a screen.
type announcer struct {
	news      notify.News
	messenger *notify.Messenger
	terminal  notify.Terminal
	to        io.Writer // standard error
	words     lang.Catalog
}

// announcer has no bell where nobody would hear it.
func (a *app) announcer() (*announcer, error) {
	if file, ok := a.err.(*os.File); a.opt.notify != (notifyFlag{}) && (!ok || !term.IsTerminal(int(file.Fd()))) {
		err := usagef("--notify needs a terminal on standard error; without one take --on-alert or --webhook")
		if err := a.unusable("notify", err, func() { a.opt.notify = notifyFlag{} }); err != nil {
			return nil, err
		}
	}
	m, err := a.messenger(a.say)
	return &announcer{terminal: notify.Terminal(a.opt.notify), messenger: m, to: a.err, words: a.words()}, err
}

// take announces what is new among the alerts that are open now. ahead is how far the time of
// day is ahead of that of the alerts.
func (n *announcer) take(alerts []sampler.Alert, ahead time.Duration) {
	n.pass(n.news.Take(alerts), ahead)
}

// pass announces what is new.
func (n *announcer) pass(news []sampler.Alert, ahead time.Duration) {
	for _, alert := range news {
		alert.Time = alert.Time.Add(ahead)
		n.messenger.Tell(alert)
	}
	for _, group := range watch.Groups(news, n.words) {
		if sequence := n.terminal.Sequence(group.Alert); sequence != "" {
			io.WriteString(n.to, sequence) //nolint:errcheck // a bell that does not ring has nobody to tell
		}
	}
}

func (n *announcer) close() { n.messenger.Close(lastSend) }
