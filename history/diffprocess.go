package history

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"handloom/journal"
	"handloom/store"
	"handloom/world"
)

// diffCommand is the command of Main that [Diff] starts. It reads requests from stdin and writes a
// reply to each to stdout, after a reply without request. Both are a frame: 4 bytes with the length,
// big endian, and JSON.
const (
	diffCommand  = "diff-serve"
	diffProtocol = 1
	maxFrame     = 1<<29 - 1 // text is longer
	helloTime    = 30 * time.Second
)

// A request is a question to a process.
type request struct {
	Do string // "about", "open", "begin", "run", "state", "rows", "item" or "why"

	Dir             string   `json:",omitempty"` // of open
	From, To, Every uint64   `json:",omitempty"` // of begin and run; To of state and why
	Ignore          []string `json:",omitempty"` // of begin
	Table           string   `json:",omitempty"` // of rows and item
	Item            store.ID `json:",omitzero"`  // of item and why
	Field           string   `json:",omitempty"` // of why
}

// A reply is the answer to a request.
type reply struct {
	Protocol        int          `json:",omitempty"` // only in the first reply
	Err             *remoteError `json:",omitempty"`
	Version, Schema string       `json:",omitempty"` // of about
	Ranges          []Range      `json:",omitempty"` // of open, without Err
	From            uint64       `json:",omitempty"` // of begin: the tick of the snapshot
	Sums            []uint64     `json:",omitempty"` // of begin, run and state
	Failed          *failedTick  `json:",omitempty"` // of run: after Sums
	Epoch           uint64       `json:",omitempty"` // of state
	Tables          []tableSum   `json:",omitempty"` // of state
	Rows            []byte       `json:",omitempty"` // of rows: see [appendRow]
	Leaves          []leaf       `json:",omitempty"` // of item
	Change          *Change      `json:",omitempty"` // of why
	NoChange        *remoteError `json:",omitempty"` // of why
}

type failedTick struct {
	Tick uint64
	Err  *remoteError
}

type tableSum struct {
	Name string
	Sum  uint64
}

// A remoteError is an error of another process.
type remoteError struct {
	Text  string
	Kinds []string // texts of sentinels
}

var sentinels = []error{
	ErrRange, ErrImpure, world.ErrVersion, world.ErrCorrupt, world.ErrTick, journal.ErrCorrupt, store.ErrSnapshot, fs.ErrNotExist, fs.ErrPermission,
}

func newRemoteError(err error) *remoteError {
	e := &remoteError{Text: err.Error()}
	for _, s := range sentinels {
		if errors.Is(err, s) {
			e.Kinds = append(e.Kinds, s.Error())
		}
	}
	return e
}

func (e *remoteError) Error() string { return e.Text }

func (e *remoteError) Is(target error) bool {
	return slices.Contains(sentinels, target) && slices.Contains(e.Kinds, target.Error())
}

func writeFrame(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(b) > maxFrame {
		return fmt.Errorf("message of %d bytes, want at most %d", len(b), maxFrame)
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...))
	return err
}

// errGarbage means that the bytes are not a frame.
var errGarbage = errors.New("not an answer of history.Main")

func readFrame(r *bufio.Reader, v any) error {
	head, err := r.Peek(4)
	if err != nil && (len(head) == 0 || !errors.Is(err, io.EOF)) {
		return err
	}
	if n := binary.BigEndian.Uint32(append(slices.Clone(head), 0, 0, 0, 0)); err != nil || n > maxFrame {
		text, _ := r.Peek(min(40, max(r.Buffered(), len(head))))
		return fmt.Errorf("%w: got output %q; Tick and New may print, code before main may not", errGarbage, text)
	}
	b := make([]byte, 0, 512)
	n := int64(binary.BigEndian.Uint32(head))
	_, _ = r.Discard(4)
	for into := io.LimitReader(r, n); int64(len(b)) < n; { // grows with the bytes that arrive
		b = slices.Grow(b, 1)
		k, err := into.Read(b[len(b):cap(b)])
		if b = b[:len(b)+k]; err != nil {
			return errors.Join(err, io.ErrUnexpectedEOF)
		}
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("%w: %w", errGarbage, err)
	}
	return nil
}

// A process is a program that answers requests.
type process struct {
	side, path string
	ctx        context.Context
	cmd        *exec.Cmd
	kill       context.CancelFunc
	in         io.WriteCloser
	out        *bufio.Reader
	stderr     tail
}

func (p *process) String() string { return p.side + " " + p.path }

// startProcess starts a program, and waits until it answers.
func startProcess(ctx context.Context, side, path string) (*process, error) {
	p := &process{side: side, path: path, ctx: ctx}
	whole, err := filepath.Abs(path) // a plain name is not one of $PATH
	if err != nil {
		return nil, fmt.Errorf("%v: %w", p, err)
	}
	ctx, p.kill = context.WithCancel(ctx)
	p.cmd = exec.CommandContext(ctx, whole, diffCommand)
	p.cmd.Env = append(os.Environ(), fmt.Sprint("GOMAXPROCS=", (runtime.GOMAXPROCS(0)+1)/2))
	p.cmd.Stderr, p.cmd.WaitDelay = &p.stderr, time.Second
	in, errIn := p.cmd.StdinPipe()
	out, errOut := p.cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut); err != nil {
		p.kill()
		return nil, fmt.Errorf("%v: %w", p, err)
	}
	p.in, p.out = in, bufio.NewReaderSize(out, 1<<16)
	if err := p.cmd.Start(); err != nil {
		p.kill()
		return nil, fmt.Errorf("%v does not start: %w", p, err)
	}
	if err := p.hello(); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *process) hello() error {
	timer := time.AfterFunc(helloTime, p.kill)
	var first reply
	err := readFrame(p.out, &first)
	late := !timer.Stop()
	const want = "want a program whose main calls history.Main of this version of the library"
	switch {
	case late && p.ctx.Err() == nil:
		return fmt.Errorf("%v: no answer in %v, %s", p, helloTime, want)
	case err != nil:
		return fmt.Errorf("%w; %s", p.failed(err), want)
	case first.Protocol != diffProtocol:
		return fmt.Errorf("%v: got protocol %d, want %d; build both programs with the same version of the library", p, first.Protocol, diffProtocol)
	}
	return nil
}

// ask sends a request and returns the reply.
func (p *process) ask(r request) (reply, error) {
	var answer reply
	err := writeFrame(p.in, r)
	if err == nil {
		err = readFrame(p.out, &answer)
	}
	if err != nil {
		return reply{}, p.failed(err)
	}
	if answer.Err != nil {
		return reply{}, fmt.Errorf("%v: %w", p, answer.Err)
	}
	if !answer.isFor(&r) {
		return reply{}, p.failed(fmt.Errorf("%w: incomplete answer to %q", errGarbage, r.Do))
	}
	return answer, nil
}

// isFor reports whether a reply has the parts that the request demands.
func (a *reply) isFor(r *request) bool {
	switch r.Do {
	case "begin", "state":
		return len(a.Sums) == 1
	case "run":
		n := (r.To - r.From + r.Every - 1) / r.Every
		return uint64(len(a.Sums)) == n || a.Failed != nil && a.Failed.Err != nil && uint64(len(a.Sums)) < n
	}
	return true
}

// failed returns the error of a process that did not answer. It ends the process.
func (p *process) failed(err error) error {
	if errors.Is(err, errGarbage) {
		p.close()
		return fmt.Errorf("%v: %w", p, err)
	}
	p.wait(endTime) // it ends by itself
	if p.ctx.Err() != nil {
		return context.Cause(p.ctx)
	}
	end := fmt.Sprint("ended: ", p.cmd.ProcessState)
	if text := p.stderr.String(); text != "" {
		end += ": " + text
	}
	return fmt.Errorf("%v %s", p, end)
}

// endTime is the time of a process between the end of its output and its exit.
const endTime = 2 * time.Second

// close kills the process, which changes nothing outside of itself.
func (p *process) close() {
	p.kill()
	p.wait(0)
}

// wait waits for the exit of the process, and then kills it. Only the first call has an effect.
func (p *process) wait(d time.Duration) {
	if p.cmd.ProcessState == nil {
		defer time.AfterFunc(d, p.kill).Stop()
		_ = p.cmd.Wait()
	}
}

// A tail keeps the last bytes that were written.
type tail struct{ b []byte }

const maxTail = 2 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.b = append(t.b, b...)
	if over := len(t.b) - maxTail; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return len(b), nil
}

// String returns the text in one line.
func (t *tail) String() string { return strings.ReplaceAll(strings.TrimSpace(string(t.b)), "\n", "; ") }
