// Package localpage guards the pages that programs serve on this machine. It is apart from
// internal/cli, whose users then need not compile net/http.
package localpage

import (
	"fmt"
	"net"
	"net/http"
	"strings"
)

// policy allows the files of the page and forms to it, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// Guard guards the pages of a program at address. It refuses requests for another host name than
// address has, because a site may let its name point to this machine, and requests that pages of
// other sites make. IP addresses and localhost belong to no site.
func Guard(address string, next http.Handler) http.Handler {
	guarded := http.NewCrossOriginProtection().Handler(next) // browsers without Sec-Fetch-Site
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		head := w.Header()
		head.Set("Cache-Control", "no-store")
		head.Set("Content-Security-Policy", policy)
		head.Set("Cross-Origin-Resource-Policy", "same-origin")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("X-Content-Type-Options", "nosniff")
		host, site := hostOf(r.Host), r.Header.Get("Sec-Fetch-Site")
		switch {
		case host != hostOf(address) && host != "localhost" && net.ParseIP(host) == nil:
			http.Error(w, fmt.Sprintf("host: got %q, want the address of the page", r.Host), http.StatusForbidden)
		case site != "" && site != "same-origin" && site != "none":
			http.Error(w, fmt.Sprintf("request from another site: got Sec-Fetch-Site %q, want same-origin", site), http.StatusForbidden)
		default:
			guarded.ServeHTTP(w, r)
		}
	})
}

func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return strings.Trim(address, "[]")
}
