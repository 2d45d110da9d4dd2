// Package browser shows pages in a headless Chromium, for tests. It uses the
// DevTools protocol over pipes (JSON objects, each followed by a zero byte).
package browser

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// Browser is a running browser with one tab. It ends with its test.
type Browser struct {
	t       testing.TB
	in      io.Writer
	out     *bufio.Reader
	id      int
	session string
	gone    error

	watchdog *time.Timer // kills the browser
}

// names are the commands of Chromium, in the order of preference.
var names = []string{"chromium", "chromium-browser", "google-chrome", "headless_shell"}

// Open starts a browser. It skips the test with -short or without a Chromium.
func Open(t testing.TB) *Browser {
	t.Helper()
	path := find()
	if path == "" || testing.Short() {
		t.Skip("no Chromium is installed, or -short")
	}
	return start(t, path)
}

// find returns the path of a Chromium, or "".
func find() string {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// start tries three times, because one start in some dozens hangs on a busy
// machine.
func start(t testing.TB, path string) *Browser {
	t.Helper()
	var err error
	for range 3 {
		b, end := launch(t, path)
		if err = b.openTab(); err == nil {
			t.Cleanup(func() {
				// The command is for the browser, not for the tab.
				b.session = ""
				_ = b.try("Browser.close", nil, nil)
				end()
			})
			return b
		}
		end()
	}
	t.Fatal(err)
	return nil
}

// slow limits the time to the first tab and each wait, lifetime the time to the
// end of the test.
const (
	slow     = time.Minute
	lifetime = 3 * time.Minute
)

// launch starts the process. end closes it and reads its output to the end.
func launch(t testing.TB, path string) (b *Browser, end func()) {
	t.Helper()
	cmd := exec.Command(path, "--headless", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
		"--remote-debugging-pipe", "--user-data-dir="+t.TempDir())
	if os.Geteuid() == 0 {
		cmd.Args = append(cmd.Args, "--no-sandbox") // the sandbox does not run as root
	}
	toRead, toWrite, errIn := os.Pipe()
	fromRead, fromWrite, errOut := os.Pipe()
	if errIn != nil || errOut != nil {
		t.Fatal(errIn, errOut)
	}
	// The protocol uses the file descriptors 3 and 4.
	cmd.ExtraFiles = []*os.File{toRead, fromWrite}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	// The child has its own copies. With ours open, the end of the child would be
	// invisible.
	toRead.Close()
	fromWrite.Close()
	b = &Browser{t: t, in: toWrite, out: bufio.NewReader(fromRead), watchdog: time.AfterFunc(slow, func() { _ = cmd.Process.Kill() })}
	return b, func() {
		toWrite.Close()
		_, _ = io.Copy(io.Discard, fromRead)
		fromRead.Close()
		_ = cmd.Wait()
		b.watchdog.Stop()
	}
}

// openTab makes the tab to which all further commands go.
func (b *Browser) openTab() error {
	var target struct{ TargetID string }
	if err := b.try("Target.createTarget", map[string]any{"url": "about:blank"}, &target); err != nil {
		return err
	}
	var attached struct{ SessionID string }
	err := b.try("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	// The browser has started; from now on the limit is for the test.
	b.watchdog.Reset(lifetime)
	return err
}

// call is try that fails the test on an error.
func (b *Browser) call(method string, params, result any) {
	b.t.Helper()
	if err := b.try(method, params, result); err != nil {
		b.t.Fatal(err)
	}
}

// try sends a command and waits for its answer. An error of the connection is final.
func (b *Browser) try(method string, params, result any) error {
	b.t.Helper()
	b.id++
	command := map[string]any{"id": b.id, "method": method}
	if params != nil {
		command["params"] = params
	}
	if b.session != "" {
		command["sessionId"] = b.session
	}
	text, err := json.Marshal(command)
	if err == nil {
		_, err = b.in.Write(append(text, 0))
	}
	if err != nil {
		b.gone = fmt.Errorf("%s: %w", method, err)
		return b.gone
	}
	for {
		text, err := b.out.ReadBytes(0)
		if err != nil {
			b.gone = fmt.Errorf("%s: the browser went away: %w", method, err)
			return b.gone
		}
		var answer struct {
			ID     int
			Error  *struct{ Message string }
			Result json.RawMessage
		}
		if err := json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &answer); err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
		// Events and answers to earlier commands.
		if answer.ID != b.id {
			continue
		}
		if answer.Error != nil {
			return fmt.Errorf("%s: %s", method, answer.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(answer.Result, result); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
		}
		return nil
	}
}

// Show opens a page in a window of a width and waits until it is loaded.
func (b *Browser) Show(url string, width int) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	// The answer to navigate comes before the page is loaded.
	b.Until(`document.readyState === "complete" && location.href !== "about:blank"`)
}

// Eval stores the value of a JavaScript expression in value.
func (b *Browser) Eval(expression string, value any) {
	b.t.Helper()
	if err := b.eval(expression, value); err != nil {
		b.t.Fatal(err)
	}
}

// eval returns an error if the page changes meanwhile.
func (b *Browser) eval(expression string, value any) error {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Exception struct{ Description string }
		}
	}
	if err := b.try("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &answer); err != nil {
		return err
	}
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, answer.ExceptionDetails.Exception.Description)
	}
	if err := json.Unmarshal(answer.Result.Value, value); err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return nil
}

// Until waits until an expression is true, on any page.
func (b *Browser) Until(expression string) {
	b.t.Helper()
	for deadline := time.Now().Add(slow); b.gone == nil && time.Now().Before(deadline); {
		var yes bool
		// An error means that the page is changing; the next try asks the new page.
		if err := b.eval(expression, &yes); err == nil && yes {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	if b.gone != nil {
		b.t.Fatal(b.gone)
	}
	b.t.Fatalf("%s did not come true", expression)
}

// Picture returns the whole page as PNG.
func (b *Browser) Picture() []byte {
	b.t.Helper()
	var picture struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &picture)
	data, err := base64.StdEncoding.DecodeString(picture.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	return data
}
