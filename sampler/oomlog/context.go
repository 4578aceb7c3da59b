package oomlog

import "nvpeak/sampler"

var factWords = []string{"trainable params"}

func (p *Parser) context(m *message, st *stream) *sampler.LogContext { return &sampler.LogContext{} }
