package dashboard

import (
	"net/http"
	"net/netip"
)

// headers are on every reply.
var headers = [...][2]string{
	{"Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
			"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"},
	{"X-Content-Type-Options", "nosniff"},
	{"X-Frame-Options", "DENY"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Cache-Control", "no-store"},
}

// guard lets through what was addressed to this server by a literal loopback address, and what acts only if
// no other site made the browser send it.
func (s *Server) guard(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusForbidden, "refused", "another site sent this request")
	}))
	next = cross.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, h := range headers {
			w.Header().Set(h[0], h[1])
		}
		if !s.isHost(r.Host) {
			refuse(w, http.StatusMisdirectedRequest, "refused",
				"this dashboard is at "+s.base()+
					" only: names and other addresses are not answered, so that no site can pose as it")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isHost says whether a Host is a literal loopback address in its usual form, with this server's port.
func (s *Server) isHost(host string) bool {
	at, err := netip.ParseAddrPort(host)
	return err == nil && at.Addr().IsLoopback() && !at.Addr().Is4In6() && at.Addr().Zone() == "" &&
		at.Port() == s.at.Port() && at.String() == host
}

// isOrigin says whether a request comes from a page of the very address it is for.
func isOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	return len(origins) == 1 && origins[0] == "http://"+r.Host
}

// need lets in sessions and tokens of the level. A browser's request by cookie must come from the page, or
// from the user.
func (s *Server) need(l Level, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		have, byToken := s.sessions.levelOf(r)
		switch site := r.Header.Get("Sec-Fetch-Site"); {
		case have == "" && byToken:
			refuse(w, http.StatusUnauthorized, "unauthorized",
				"the token is not the current one: each start of the daemon makes new ones")
		case have == "":
			refuse(w, http.StatusUnauthorized, "unauthorized",
				"no session: open the link that satin-peer dashboard prints")
		case site != "" && site != "same-origin" && site != "none":
			refuse(w, http.StatusForbidden, "refused", "another site sent this request")
		case !have.allows(l):
			refuse(w, http.StatusForbidden, "refused",
				"this session may only look: satin-peer dashboard prints a link to one that may act")
		default:
			s.door.passes(r)
			next(w, r)
		}
	}
}
