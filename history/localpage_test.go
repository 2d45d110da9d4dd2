package history

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"handloom/internal/localpage"
)

// A site whose name points to this machine gets nothing, and neither does a page of another site.
func TestLocalpage_RefusesOtherHosts(t *testing.T) {
	for _, test := range []struct {
		page, host   string
		header, site string
		want         int
	}{
		{"127.0.0.1:0", "127.0.0.1:4000", "", "", http.StatusOK},
		{"127.0.0.1:0", "localhost:4000", "", "", http.StatusOK},
		{"127.0.0.1:0", "[::1]:4000", "", "", http.StatusOK},
		{"127.0.0.1:0", "[::1]", "", "", http.StatusOK},
		{"127.0.0.1:0", "evil.example:4000", "", "", http.StatusForbidden},
		{"127.0.0.1:0", "127.0.0.1.evil.example", "", "", http.StatusForbidden},
		{"127.0.0.1:0", "", "", "", http.StatusForbidden},
		{":4000", "evil.example:4000", "", "", http.StatusForbidden},
		{"game.example:4000", "game.example:4000", "", "", http.StatusOK},
		{"game.example:4000", "other.example:4000", "", "", http.StatusForbidden},
		{"127.0.0.1:0", "127.0.0.1:4000", "Sec-Fetch-Site", "same-origin", http.StatusOK},
		{"127.0.0.1:0", "127.0.0.1:4000", "Sec-Fetch-Site", "cross-site", http.StatusForbidden},
		{"127.0.0.1:0", "127.0.0.1:4000", "Origin", "http://127.0.0.1:4000", http.StatusOK},
		{"127.0.0.1:0", "127.0.0.1:4000", "Origin", "http://evil.example", http.StatusForbidden},
	} {
		r := httptest.NewRequest(http.MethodPost, "/kill/1", nil)
		r.Host = test.host
		if test.header != "" {
			r.Header.Set(test.header, test.site)
		}
		out := httptest.NewRecorder()
		localpage.Guard(test.page, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(out, r)
		if out.Code != test.want {
			t.Errorf("%+v: got %d", test, out.Code)
		}
	}
}
