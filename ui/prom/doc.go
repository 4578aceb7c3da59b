// Package prom is the Prometheus face of nvpeak: what GPUs hold now, and the most that they held since the one who asks
// asked before, which no gauge that is read every half minute shows.
//
// Answers take nothing away from anybody. Each connection is told the peak since its own scrape before; who comes anew, or
// through a proxy, is told that of the last minutes, so that a peak may be told twice and is never lost. See scrapers.go.
//
//	exporter.go ◄─ collect.go ◄─ gpus.go, dcgm.go, processes.go, alerts.go ◄─ families.go
//	            ◄─ scrapers.go, place.go, driver.go
//	web.go ◄─ webconfig.go, weberrors.go, passwords.go
package prom
