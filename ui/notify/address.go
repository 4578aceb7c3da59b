package notify

import (
	"net/netip"
	"slices"
)

// insidePrefixes are addresses of one machine, one network or nobody, which netip does not count as private
// (https://www.iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry).
var insidePrefixes = prefixes(
	"0.0.0.0/8",       // this network
	"100.64.0.0/10",   // carrier-grade NAT, private in all but name
	"192.0.0.0/24",    // IETF protocols, DS-Lite among them
	"198.18.0.0/15",   // benchmarks of devices
	"240.0.0.0/4",     // reserved, and broadcast
	"::/96",           // IPv4-compatible, given up
	"::ffff:0:0:0/96", // IPv4-translated, within one network
	"64:ff9b:1::/48",  // NAT64 of one network
	"fec0::/10",       // site-local, given up for fc00::/7 but still routed within
)

// carriers are IPv6 addresses that lead to an IPv4 address which stands in them.
var carriers = []struct {
	prefix netip.Prefix
	at     int  // of its first byte
	mask   byte // over each of them
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12, 0}, // NAT64
	{netip.MustParsePrefix("2002::/16"), 2, 0},     // 6to4
	{netip.MustParsePrefix("2001::/32"), 4, 0},     // Teredo, its server
	{netip.MustParsePrefix("2001::/32"), 12, 0xff}, // and its client, inverted
}

func prefixes(list ...string) (all []netip.Prefix) {
	for _, p := range list {
		all = append(all, netip.MustParsePrefix(p))
	}
	return all
}

// outside says whether an address is one of the public internet, whatever it is wrapped in.
func outside(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("") // no prefix contains an address with a zone
	if !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	if slices.ContainsFunc(insidePrefixes, func(p netip.Prefix) bool { return p.Contains(ip) }) {
		return false
	}
	for _, c := range carriers {
		if !c.prefix.Contains(ip) {
			continue
		}
		b := ip.As16()
		four := [4]byte(b[c.at:])
		for i := range four {
			four[i] ^= c.mask
		}
		if !outside(netip.AddrFrom4(four)) {
			return false
		}
	}
	return true
}
