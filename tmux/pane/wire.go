package pane

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"buddy/tmux/pane/confine"
	"buddy/tmux/pane/fence"
)

// protocol is the version of the wire format. A client that finds another version starts a new supervisor.
const protocol = 4

// frameMax limits a frame: an environment may have some megabytes.
const frameMax = 8 << 20

// The kinds of frames: a byte, four bytes of length, the payload.
const (
	frameRequest = 'q' // client: a request, the first frame of a connection
	frameCancel  = 'c' // client: cancel the command of this connection
	frameAnswer  = 'a' // client: the decision about a host
	frameInfo    = 'i' // server: the answer to a greeting
	frameStarted = 's' // server: the command runs
	frameOutput  = 'o' // server: a byte for the stream, eight for the total, the bytes
	frameHost    = 'h' // server: a Host that the command asks to reach and waits for
	frameEnd     = 'e' // server: an Exit
	frameError   = 'x' // server: the request was refused; with the reason
)

// request is a client's first frame.
type request struct {
	Op       string    `json:"op"` // greet, look, run, attach
	Version  int       `json:"v"`
	Dir      string    `json:"dir,omitempty"`
	Mode     Mode      `json:"mode,omitempty"`
	Within   Sandboxed `json:"within,omitempty"`
	Greeting *Greeting `json:"greeting,omitempty"`
}

// Greeting holds a client's settings for a supervisor. The supervisor uses Cwd and Env of the first client, but Reach,
// Fence and Unattended of the latest one.
type Greeting struct {
	Cwd   string        `json:"cwd"`
	Env   []string      `json:"env"`
	Reach confine.Reach `json:"reach"` // of confined commands
	// Fence configures the workspace sandbox; nil means that there is none.
	Fence *fence.Settings `json:"fence,omitempty"`
	// Whole limits the recorded bytes of an output stream, see [Record]; 0 means WholeMax.
	Whole int64 `json:"whole,omitempty"`
	// Unattended, if not 0, means that nobody types into the pane, and limits how long a command may wait for keys.
	Unattended time.Duration `json:"unattended,omitempty"`
}

// Sandboxed is the sandbox of a command.
type Sandboxed string

// The sandboxes. A command runs within its sandbox or not at all.
const (
	Unheld   Sandboxed = ""
	ReadOnly Sandboxed = "read-only" // the read-only sandbox, see package confine
	Fenced   Sandboxed = "fence"     // the workspace sandbox, see package fence
)

// Info describes a supervisor.
type Info struct {
	Pid  int    `json:"pid"`
	Pane string `json:"pane"` // tmux's id such as %3, "" without tmux
	Busy bool   `json:"busy"` // a command runs, or a background job still holds its output
}

// RefusedError means that a supervisor did not start or find the command.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// wire sends and receives frames. Sending is serialised, receiving is for one goroutine.
type wire struct {
	conn net.Conn
	in   *bufio.Reader
	mu   sync.Mutex // guards sending
	out  []byte
}

func newWire(c net.Conn) *wire { return &wire{conn: c, in: bufio.NewReaderSize(c, 16<<10)} }

func (w *wire) send(kind byte, parts ...[]byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	w.out = append(w.out[:0], kind)
	w.out = binary.BigEndian.AppendUint32(w.out, uint32(n))
	for _, p := range parts {
		w.out = append(w.out, p...)
	}
	_, err := w.conn.Write(w.out)
	return err
}

func (w *wire) sendJSON(kind byte, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(b) > frameMax {
		return fmt.Errorf("message of %d bytes (at most %d)", len(b), frameMax)
	}
	return w.send(kind, b)
}

func (w *wire) receive() (kind byte, payload []byte, err error) {
	var h [5]byte
	if _, err := io.ReadFull(w.in, h[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(h[1:])
	if n > frameMax {
		return 0, nil, fmt.Errorf("frame of %d bytes (at most %d)", n, frameMax)
	}
	payload = make([]byte, n)
	_, err = io.ReadFull(w.in, payload)
	return h[0], payload, err
}

// expect receives one frame of the given kind into v, which may be nil.
func (w *wire) expect(kind byte, v any) error {
	k, p, err := w.receive()
	switch {
	case err != nil:
		return err
	case k == frameError:
		return &RefusedError{string(p)}
	case k != kind:
		return fmt.Errorf("supervisor: unexpected message %q", k)
	case v == nil:
		return nil
	}
	return json.Unmarshal(p, v)
}

// Greet introduces a client to the supervisor at the other end of conn. The connection stays
// open until the supervisor ends. Greeting again on a new connection is harmless and returns a
// new [Info].
func Greet(conn net.Conn, g Greeting) (Info, error) {
	defer func() { _ = conn.SetDeadline(time.Time{}) }()
	return askInfo(conn, request{Op: "greet", Version: protocol, Greeting: &g})
}

// Look asks for an [Info] without becoming a client.
func Look(conn net.Conn) (Info, error) { return askInfo(conn, request{Op: "look", Version: protocol}) }

// askInfo sends a request that an [Info] answers, within 5 seconds.
func askInfo(conn net.Conn, r request) (info Info, err error) {
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	w := newWire(conn)
	if err := w.sendJSON(frameRequest, r); err != nil {
		return Info{}, err
	}
	err = w.expect(frameInfo, &info)
	return info, err
}

// Job is a client's view of a running command.
type Job struct {
	w     *wire
	hosts func(Host) error // nil: nobody is asked
}

// Run starts the command in dir/cmd and returns when it runs. It waits while other commands run; if ctx ends meanwhile,
// the request is withdrawn, and the command is cancelled if it has just started. A [RefusedError] means that the
// command did not start. The Job owns conn.
func Run(ctx context.Context, conn net.Conn, dir string, mode Mode, within Sandboxed) (*Job, error) {
	return ask(ctx, conn, request{Op: "run", Version: protocol, Dir: dir, Mode: mode, Within: within})
}

// Attach returns the running command of dir. A [RefusedError] means that the supervisor knows no such command. The Job
// owns conn.
func Attach(conn net.Conn, dir string) (*Job, error) {
	return ask(context.Background(), conn, request{Op: "attach", Version: protocol, Dir: dir})
}

func ask(ctx context.Context, conn net.Conn, r request) (*Job, error) {
	j := &Job{w: newWire(conn)}
	stop := context.AfterFunc(ctx, func() {
		_ = j.Cancel()
		_ = conn.Close()
	})
	err := j.w.sendJSON(frameRequest, r)
	if err == nil {
		err = j.w.expect(frameStarted, nil)
	}
	if !stop() {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return j, nil
}

// Hosts sets the function that decides whether the command may reach a host outside the settings: it returns nil to
// allow it, or [fence.ErrNobody] if nobody was asked. Call Hosts before Wait; Wait does not wait for the function.
func (j *Job) Hosts(decide func(Host) error) { j.hosts = decide }

// decide answers a question about a host.
func (j *Job) decide(payload []byte) {
	var a hostAnswer
	if json.Unmarshal(payload, &a.Host) != nil {
		return
	}
	err := fence.ErrNobody
	if j.hosts != nil {
		err = j.hosts(a.Host)
	}
	if a.Nobody = errors.Is(err, fence.ErrNobody); err != nil && !a.Nobody {
		a.Refused = err.Error()
	}
	_ = j.w.sendJSON(frameAnswer, a) // fails when the command has ended
}

// Wait passes output to the function, which may be nil, until the command ends. An error means
// that the supervisor is gone; [ReadExit] may still find the end.
func (j *Job) Wait(output func(Chunk)) (Exit, error) {
	defer func() { _ = j.w.conn.Close() }()
	for {
		kind, p, err := j.w.receive()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return Exit{}, err
		}
		switch kind {
		case frameOutput:
			if c, ok := parseOutput(p); ok && output != nil {
				output(c)
			}
		case frameHost:
			go j.decide(p)
		case frameEnd:
			var e Exit
			return e, json.Unmarshal(p, &e)
		}
	}
}

// Cancel asks the supervisor to end the command, see [Command.Cancel].
func (j *Job) Cancel() error { return j.w.send(frameCancel) }

func outputHead(c Chunk) []byte {
	h := []byte{0}
	switch c.Stream {
	case Stderr:
		h[0] = 1
	case Keys:
		h[0] = 2
	}
	return binary.BigEndian.AppendUint64(h, uint64(c.Total))
}

func parseOutput(p []byte) (Chunk, bool) {
	if len(p) < 9 {
		return Chunk{}, false
	}
	c := Chunk{Stream: Stdout, Total: int64(binary.BigEndian.Uint64(p[1:])), Bytes: p[9:]}
	switch p[0] {
	case 1:
		c.Stream = Stderr
	case 2:
		c.Stream = Keys
	}
	return c, true
}
