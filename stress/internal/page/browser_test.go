package page

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

var screenshots = flag.String("screenshots", "", "a folder for pictures of what the browser shows")

// browser is a headless Chromium that is told what to do through a pipe (the
// DevTools protocol, a JSON object between two zero bytes).
type browser struct {
	t       *testing.T
	in      io.Writer
	out     *bufio.Reader
	id      int
	session string // of the one tab
}

// openBrowser starts one; the test is skipped where none is installed.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless_shell"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" || testing.Short() {
		t.Skip("no Chromium is installed, or -short")
	}
	cmd := exec.Command(path, "--headless", "--disable-gpu", "--no-first-run", "--hide-scrollbars", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir())
	if os.Geteuid() == 0 {
		cmd.Args = append(cmd.Args, "--no-sandbox") // which refuses to work for root
	}
	toRead, toWrite, errIn := os.Pipe()
	fromRead, fromWrite, errOut := os.Pipe()
	if errIn != nil || errOut != nil {
		t.Fatal(errIn, errOut)
	}
	cmd.ExtraFiles = []*os.File{toRead, fromWrite}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	toRead.Close()
	fromWrite.Close()
	watchdog := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	b := &browser{t: t, in: toWrite, out: bufio.NewReader(fromRead)}
	t.Cleanup(func() {
		b.call("Browser.close", nil, nil)
		toWrite.Close()
		io.Copy(io.Discard, fromRead) // until it has ended
		fromRead.Close()
		cmd.Wait()
		watchdog.Stop()
	})
	b.openTab()
	return b
}

func (b *browser) openTab() {
	b.t.Helper()
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
}

// call sends a command and reads its result into result, events aside.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	b.id++
	command := map[string]any{"id": b.id, "method": method}
	if params != nil {
		command["params"] = params
	}
	if b.session != "" && method != "Browser.close" {
		command["sessionId"] = b.session
	}
	text, err := json.Marshal(command)
	if err == nil {
		_, err = b.in.Write(append(text, 0))
	}
	if err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		text, err := b.out.ReadBytes(0)
		if err != nil {
			b.t.Fatalf("%s: the browser went away: %v", method, err)
		}
		var answer struct {
			ID     int
			Error  *struct{ Message string }
			Result json.RawMessage
		}
		if err := json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &answer); err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
		if answer.ID != b.id {
			continue
		}
		if answer.Error != nil {
			b.t.Fatalf("%s: %s", method, answer.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(answer.Result, result); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
		}
		return
	}
}

// open shows an address in a window of that width.
func (b *browser) open(url string, width int) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	b.until(`document.readyState === "complete" && location.href !== "about:blank"`)
}

// eval evaluates an expression in the page and reads its value into value.
func (b *browser) eval(expression string, value any) {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Exception struct{ Description string }
		}
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, answer.ExceptionDetails.Exception.Description)
	}
	if err := json.Unmarshal(answer.Result.Value, value); err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
}

// until waits for an expression to be true.
func (b *browser) until(expression string) {
	b.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		var yes bool
		if b.eval(expression, &yes); yes {
			return
		}
		time.Sleep(20 * time.Millisecond) // another process has to get there
	}
	var text string
	b.eval("document.documentElement.outerHTML", &text)
	b.t.Fatalf("%s did not come true; the page is\n%s", expression, structure([]byte(text)))
}

// shot keeps a picture of the whole page, if they are asked for.
func (b *browser) shot(name string) {
	b.t.Helper()
	if *screenshots == "" {
		return
	}
	var picture struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &picture)
	data, err := base64.StdEncoding.DecodeString(picture.Data)
	if err == nil {
		err = os.WriteFile(filepath.Join(*screenshots, name+".png"), data, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// reading is what the page looks like to somebody who reads it.
type reading struct {
	Window, Content int      // widths
	Charts          []string // titles of those that are visible
	Class           []string // of their drawings
	Texts           int
	Smallest        float64 // height of the lowest line of text in a chart
	Legends         int     // samples of lines in charts
	Units           int     // labels with a unit
	Overlaps        []string
	Outside         []string
}

const readPage = `(() => {
	const r = {Window: innerWidth, Content: document.documentElement.scrollWidth, Charts: [], Class: [], Texts: 0, Smallest: 1e9, Legends: 0, Units: 0, Overlaps: [], Outside: []};
	for (const svg of document.querySelectorAll("svg")) {
		const frame = svg.getBoundingClientRect();
		if (frame.width === 0) continue;
		r.Charts.push(svg.querySelector("title").textContent);
		r.Class.push(svg.getAttribute("class"));
		const texts = [...svg.querySelectorAll("text")].map(e => ({text: e.textContent, box: e.getBoundingClientRect()}));
		r.Texts += texts.length;
		r.Units += texts.filter(t => /^[\d.,]+ ?(us|ms|s|MiB|k|M|x)$/.test(t.text)).length;
		r.Legends += texts.filter(t => /^(p50|p99|p99\.9|max|limit.*|all tables|commands|bullet|heap)$/.test(t.text)).length;
		texts.forEach((a, i) => {
			r.Smallest = Math.min(r.Smallest, a.box.height);
			if (a.box.left < frame.left || a.box.right > frame.right || a.box.top < frame.top || a.box.bottom > frame.bottom) r.Outside.push(a.text);
			for (const b of texts.slice(0, i))
				if (a.box.left < b.box.right && b.box.left < a.box.right && a.box.top + 2 < b.box.bottom - 2 && b.box.top + 2 < a.box.bottom - 2)
					r.Overlaps.push(a.text + " and " + b.text);
		});
	}
	for (const e of document.querySelectorAll("td + td")) {
		const range = document.createRange();
		range.selectNodeContents(e);
		if (range.getClientRects().length > 1) r.Overlaps.push("a broken figure: " + e.textContent);
	}
	for (const e of document.querySelectorAll("h1, h2, p, pre, dd, dt, figure")) {
		const box = e.getBoundingClientRect();
		if (box.left < 0 || box.right > innerWidth + 1) r.Outside.push(e.textContent.slice(0, 40));
	}
	return r;
})()`

// check holds what the browser shows to what can be read well.
func (b *browser) check(name string, width int) {
	b.t.Helper()
	var r reading
	b.eval(readPage, &r)
	b.shot(fmt.Sprintf("%s-%d", name, width))
	class := "wide"
	if width < 600 {
		class = "narrow"
	}
	if r.Window != width || r.Content > width {
		b.t.Errorf("%s at %d: the window is %d wide, the page %d", name, width, r.Window, r.Content)
	}
	if len(r.Charts) != 7 {
		b.t.Errorf("%s at %d: the charts are %q", name, width, r.Charts)
	}
	for _, c := range r.Class {
		if c != class {
			b.t.Errorf("%s at %d: the drawings are %q", name, width, r.Class)
			break
		}
	}
	if len(r.Overlaps) > 0 || len(r.Outside) > 0 {
		b.t.Errorf("%s at %d: texts overlap: %q; leave their place: %q", name, width, r.Overlaps, r.Outside)
	}
	if r.Legends < 15 || r.Units < 30 || r.Smallest < 11 {
		b.t.Errorf("%s at %d: of %d texts %d are in legends, %d have units; the lowest is %.1f pixels", name, width, r.Texts, r.Legends, r.Units, r.Smallest)
	}
}

var widths = []int{1280, 400}
