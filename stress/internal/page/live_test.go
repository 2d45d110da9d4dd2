package page

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"handloom/stress/internal/feed"
)

// serve returns a live page that is closed at the end of the test.
func serve(t *testing.T) *Live {
	t.Helper()
	l, err := Serve("127.0.0.1:0", false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return l
}

func get(t *testing.T, url, host string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// stream reads server-sent events.
type stream struct{ *bufio.Reader }

// next returns the next event, its name and its data.
func (s stream) next(t *testing.T) (name, data string) {
	t.Helper()
	for {
		line, err := s.ReadString('\n')
		if err != nil {
			t.Fatalf("%v within an event of %q, %q", err, name, data)
		}
		line = strings.TrimSuffix(line, "\n")
		field, value, ok := strings.Cut(line, ": ")
		switch {
		case line == "":
			return name, data
		case strings.ContainsRune(line, '\r'), !ok && line != "data:":
			t.Fatalf("the stream has a line %q", line)
		case field == "event":
			name = value
		case field == "data", field == "data:":
			data += value + "\n"
		default:
			t.Fatalf("the stream has a line %q", line)
		}
	}
}

func TestEveryEventReachesTheViewer(t *testing.T) {
	l := serve(t)
	follow(l, 1)
	resp := get(t, l.URL()+"events", "")
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s, %s", resp.Status, resp.Header)
	}
	s := stream{bufio.NewReader(resp.Body)}
	if name, data := s.next(t); name != "" || !strings.Contains(data, "<dd>15</dd>") || strings.Count(data, "<svg ") < 10 {
		t.Errorf("the first event is %q, %s", name, structure([]byte(data)))
	}
	l.Event(feed.Event{Kind: feed.KindSample, Elapsed: time.Second, Sample: sample(1)})
	if name, data := s.next(t); name != "" || !strings.Contains(data, "<dd>30</dd>") {
		t.Errorf("the second event is %q, %s", name, structure([]byte(data)))
	}
	l.Event(feed.Event{Kind: feed.KindVerdict, Verdict: &passing})
	go l.Close()
	data := ""
	for {
		name, more := s.next(t)
		if name == "end" {
			break
		}
		data = more
	}
	if !strings.Contains(data, "verdict: passed (exit code 0)") {
		t.Errorf("the last event is %s", structure([]byte(data)))
	}
	if rest, err := io.ReadAll(s); len(rest) > 0 || err != nil {
		t.Errorf("behind the end are %q, %v", rest, err)
	}
}

func TestTextCannotBreakTheStream(t *testing.T) {
	l := serve(t)
	evilRun(l)
	s := stream{bufio.NewReader(get(t, l.URL()+"events", "").Body)}
	if name, data := s.next(t); name != "" || strings.Contains(data, "<script") || !strings.Contains(data, "Failures") {
		t.Errorf("the event is %q, %s", name, structure([]byte(data)))
	}
}

func TestThePageHasItsStateItsScriptAndItsPolicy(t *testing.T) {
	l := serve(t)
	follow(l, 2)
	resp := get(t, l.URL(), "")
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<h1>scenario test: three tables &amp; a &lt;limit&gt;</h1>", "so far: running", "new EventSource(", "<dd>30</dd>", "<td>12.5 %</td>", `role="status"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in the page:\n%s", want, structure(text))
		}
	}
	policy := resp.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "connect-src 'self'", "script-src 'sha256-", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy is %s", policy)
		}
	}
	if strings.Contains(policy, "script-src 'unsafe") || resp.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("the headers are %v", resp.Header)
	}
}

func TestOtherPathsAndMethodsAreRefused(t *testing.T) {
	l := serve(t)
	if resp := get(t, l.URL()+"../etc/passwd", ""); resp.StatusCode != http.StatusNotFound {
		t.Errorf("another path: %s", resp.Status)
	}
	resp, err := http.Post(l.URL(), "text/plain", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %s", resp.Status)
	}
}

func TestAddressesThatOthersReachAreRefused(t *testing.T) {
	for _, address := range []string{":0", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "[2001:db8::1]:0", "[::ffff:192.0.2.1]:0"} {
		if l, err := Serve(address, false); err == nil || !strings.Contains(err.Error(), "is not a loopback address") {
			t.Errorf("%s: %v", address, err)
			if err == nil {
				l.Close()
			}
		}
	}
	for _, address := range []string{"127.0.0.1:0", "127.1.2.3:0", "localhost:0", "[::1]:0", "[::ffff:127.0.0.1]:0"} {
		if _, err := resolve(address, false); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"127.0.0.1", "127.0.0.1:x", "127.0.0.1:99999"} {
		if _, err := resolve(address, true); err == nil {
			t.Errorf("%q is taken for an address", address)
		}
	}
	l, err := Serve("0.0.0.0:0", true)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestAPortThatIsTakenIsAnError(t *testing.T) {
	l := serve(t)
	if other, err := Serve(l.listener.Addr().String(), false); err == nil {
		other.Close()
		t.Error("two pages have one port")
	}
}

func TestAForeignNameOfThisMachineIsRefused(t *testing.T) {
	l := serve(t)
	for host, want := range map[string]int{
		"evil.example": 403, "evil.example:80": 403, "192.0.2.1": 403, "127.0.0.1.evil.example": 403, "[2001:db8::1]:80": 403,
		"localhost:1": 200, "127.0.0.1": 200, "[::1]:5": 200, "127.9.9.9:5": 200, "[::1]": 200,
	} {
		if resp := get(t, l.URL(), host); resp.StatusCode != want {
			t.Errorf("under the name %s: %s; want %d", host, resp.Status, want)
		}
	}
}

func TestViewersAreBounded(t *testing.T) {
	l := serve(t)
	for range maxViewers {
		s := stream{bufio.NewReader(get(t, l.URL()+"events", "").Body)}
		s.next(t)
	}
	if resp := get(t, l.URL()+"events", ""); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one viewer too many: %s", resp.Status)
	}
}

func TestCloseWaitsForNobodyLong(t *testing.T) {
	l := serve(t)
	silent, err := net.Dial("tcp", l.listener.Addr().String()) // asks nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	deaf, err := net.Dial("tcp", l.listener.Addr().String()) // reads nothing
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	io.WriteString(deaf, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
	follow(l, 40)
	l.patience = 100 * time.Millisecond
	closed := make(chan error)
	go func() { closed <- l.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute): // both stay for as long as the test
		t.Fatal("Close waits for viewers")
	}
	silent.SetReadDeadline(time.Now().Add(time.Minute))
	if n, err := silent.Read(make([]byte, 1)); n > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a connection outlives the page: %d, %v", n, err)
	}
}

func TestCloseTellsAViewerThatWaits(t *testing.T) {
	l := serve(t)
	s := stream{bufio.NewReader(get(t, l.URL()+"events", "").Body)}
	s.next(t)
	time.AfterFunc(restBetween+50*time.Millisecond, func() { l.Close() }) // when it has rested and waits
	s.next(t)
	if name, data := s.next(t); name != "end" || data != "end\n" {
		t.Errorf("the last event is %q, %q", name, data)
	}
}
