// Package plain writes snapshots and findings as text without a screen: tables, CSV with
// nvidia-smi's names, JSON, explanations.
package plain
