package statement

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// An Origin is where browsers find a gateway: https://NAME:PORT or http://ADDRESS:PORT, as browsers write it
// themselves, so that two can be compared. It is one word: it may stand in a header between others.
type Origin string

// MaxOrigin bounds an Origin, in bytes.
const MaxOrigin = 128

// OriginOf reads where a page can be. A port that goes without saying is left out.
func OriginOf(text string) (Origin, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Path != "" && u.Path != "/" || u.RawQuery != "" ||
		u.Fragment != "" || u.User != nil || u.Opaque != "" || u.ForceQuery {
		return "", badOrigin(text)
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if n, err := strconv.ParseUint(port, 10, 16); port != "" && (err != nil || n == 0 || strconv.Itoa(int(n)) != port) {
		return "", badOrigin(text)
	}
	if port == "443" && u.Scheme == "https" || port == "80" && u.Scheme == "http" {
		port = ""
	}
	if at, err := netip.ParseAddr(host); err == nil && at.Zone() == "" {
		if host = at.String(); at.Is6() {
			host = "[" + host + "]"
		}
	} else if !isName(host) {
		return "", badOrigin(text)
	}
	if port != "" {
		host += ":" + port
	}
	o := Origin(u.Scheme + "://" + host)
	if len(o) > MaxOrigin {
		return "", badOrigin(text)
	}
	return o, nil
}

func badOrigin(text string) error {
	return fmt.Errorf("%.64q is not where a page can be: want https://NAME or https://NAME:PORT", text)
}

// isName says whether a host can be a name of the DNS, and nothing that browsers take for an address.
func isName(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if host == "" || strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return false
	}
	return strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-.") == "" && !strings.Contains(host, "..")
}

// URL is the origin in parts.
func (o Origin) URL() *url.URL {
	scheme, host, _ := strings.Cut(string(o), "://")
	return &url.URL{Scheme: scheme, Host: host}
}

// Address is the IP address in an origin; not valid if there is a name.
func (o Origin) Address() netip.Addr {
	at, _ := netip.ParseAddr(o.URL().Hostname())
	return at
}

// origin refuses what others could read as something else; "" is none.
func (b *bounds) origin(what string, o Origin) {
	if b.err != nil || o == "" {
		return
	}
	if same, err := OriginOf(string(o)); err != nil || same != o {
		b.err = fmt.Errorf("%s is %.64q, want one as browsers write it", what, string(o))
	}
}
