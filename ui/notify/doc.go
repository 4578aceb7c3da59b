// Package notify passes new critical alerts on to people who do not look at the screen: to
// a command, to a webhook, to the terminal's bell and desktop. What fails is tried again,
// counted, and said.
//
// news.go finds the alerts to pass on; messenger.go carries them, lane.go one way each;
// command.go, webhook.go and terminal.go are the ways; ledger.go remembers across processes how
// they fared, for doctor.
package notify
