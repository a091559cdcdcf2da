package tmux

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	lineMax  = 1 << 20 // bytes per line of an answer
	replyMax = 8 << 20 // bytes per answer

	sendWait   = 5 * time.Second // until tmux accepts a command
	answerWait = 5 * time.Second // until tmux has answered the command
)

// control is a control-mode client of tmux. It sends commands, which tmux answers in order, and reports which panes
// have new output.
type control struct {
	proc    *exec.Cmd
	in      *os.File
	printed func(pane string) // a pane printed; called by the reader
	joined  func()            // a client was attached to a session; called by the reader
	ready   chan struct{}     // buffers one value, sent when this client is attached
	done    chan struct{}     // closed when the client has ended

	mu      sync.Mutex // guards the fields below, and the order of writing
	pending []*question
	err     error // the reason why no more commands are accepted
	output  bool  // tmux reports which panes print
}

// errEnded means that the client has ended, often together with the whole server.
var errEnded = errors.New("tmux: the control client ended")

// question is a command that tmux has not answered yet.
type question struct {
	// fence, if set, is a line that an additional command prints after the answer. It marks the end of the answer even
	// if the answer is a pane's text that imitates tmux's own end line.
	fence  string
	answer chan answer // buffers one value
}

type answer struct {
	lines []string
	err   error
}

// startControl starts cmd, a `tmux -C attach`, and waits until it is attached, five seconds at most. Without the wait,
// tmux could refuse commands about the client, and would then never report the output of panes. From then on, a
// goroutine reads tmux's output. It calls printed when a pane has new output, joined when any client attaches, and
// ended when cmd has ended.
func startControl(ctx context.Context, cmd *exec.Cmd, printed func(string), joined, ended func()) (*control, error) {
	c, err := launch(cmd, printed, joined, ended)
	if err != nil {
		return nil, err
	}
	if err := c.attached(ctx); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// launch starts cmd and its reader.
func launch(cmd *exec.Cmd, printed func(string), joined, ended func()) (*control, error) {
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer func() { _ = inR.Close() }()
	outR, outW, err := os.Pipe()
	if err != nil {
		_ = inW.Close()
		return nil, err
	}
	defer func() { _ = outW.Close() }()
	cmd.Stdin, cmd.Stdout = inR, outW
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C at our terminal must not reach it
	if err := cmd.Start(); err != nil {
		_ = inW.Close()
		_ = outR.Close()
		return nil, err
	}
	c := &control{proc: cmd, in: inW, printed: printed, joined: joined, ready: make(chan struct{}, 1), done: make(chan struct{})}
	go func() {
		err := c.read(bufio.NewReaderSize(outR, 64<<10))
		_ = outR.Close()
		c.fail(err)
		_ = cmd.Process.Kill() // no effect if it has ended
		_ = cmd.Wait()
		close(c.done)
		ended()
	}()
	return c, nil
}

// attached waits until the client is attached.
func (c *control) attached(ctx context.Context) error {
	limit := time.NewTimer(answerWait)
	defer limit.Stop()
	select {
	case <-c.ready:
		return nil
	case <-c.done:
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.err
	case <-ctx.Done():
		return ctx.Err()
	case <-limit.C:
		return fmt.Errorf("tmux: the control client was not attached within %v", answerWait)
	}
}

func (c *control) ended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err != nil
}

// close detaches the client and waits for its end.
func (c *control) close() {
	c.fail(errors.New("control client is closed"))
	select {
	case <-c.done:
	case <-time.After(time.Second):
		_ = c.proc.Process.Kill()
		<-c.done
	}
}

// fail answers all waiting commands and all later ones with err.
func (c *control) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	for _, q := range c.pending {
		q.answer <- answer{err: err}
	}
	c.pending = nil
	_ = c.in.Close() // makes tmux detach this client
}

// do runs one tmux command, which must be one line without `;` between commands, and
// returns the lines of its answer. It waits for five seconds at most.
func (c *control) do(ctx context.Context, command string) ([]string, error) {
	ctx, stop := context.WithTimeout(ctx, answerWait)
	defer stop()
	began := time.Now()
	lines, err := c.wait(ctx, c.ask(command))
	logged(ctx, command, began, err)
	return lines, err
}

// logged writes a tmux command to the debug log, without typed text, which may be a password.
func logged(ctx context.Context, command string, began time.Time, err error) {
	log := slog.Default()
	if !log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	if words := strings.Fields(command); len(words) > 3 && words[0] == "send-keys" {
		command = strings.Join(words[:3], " ") + " …"
	}
	log.Debug("tmux", "command", command, "ms", float64(time.Since(began).Microseconds())/1000, "error", err)
}

// order is a command to send. If fence is set, a second command follows, which prints the fence.
type order struct{ command, fence string }

// ask sends a command without a fence.
func (c *control) ask(command string) *question { return c.send(order{command: command})[0] }

// send sends commands in one write, and returns a question for each, which receives its answer.
func (c *control) send(orders ...order) []*question {
	var text strings.Builder
	asked := make([]*question, len(orders))
	for i, o := range orders {
		asked[i] = &question{fence: o.fence, answer: make(chan answer, 1)}
		text.WriteString(o.command + "\n")
		if o.fence != "" {
			text.WriteString("display-message -p " + o.fence + "\n")
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.err
	if err == nil {
		before := len(c.pending)
		c.pending = append(c.pending, asked...)
		_ = c.in.SetWriteDeadline(time.Now().Add(sendWait))
		_, err = c.in.WriteString(text.String())
		_ = c.in.SetWriteDeadline(time.Time{}) // otherwise the deadline's timer wakes an idle process
		if err == nil {
			return asked
		}
		err = fmt.Errorf("%w: %w", errEnded, err)
		c.pending = c.pending[:before]
		_ = c.in.Close() // half a line may have been sent: tmux detaches us, and the reader sees the end
	}
	for _, q := range asked {
		q.answer <- answer{err: err}
	}
	return asked
}

func (c *control) wait(ctx context.Context, q *question) ([]string, error) {
	select {
	case a := <-q.answer:
		return a.lines, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// capture returns the order for a capture-pane command. The answer is the text of a pane, row by row.
func capture(command string) order { return order{command, rand.Text()} }

// setOutputReports turns tmux's reports about panes with new output on or off.
func (c *control) setOutputReports(on bool) {
	c.mu.Lock()
	same := c.output == on
	c.output = on
	c.mu.Unlock()
	switch {
	case same:
	case on:
		c.ask("refresh-client -f '!no-output'")
	default:
		c.ask("refresh-client -f no-output")
	}
}

// read handles tmux's lines until the client ends.
func (c *control) read(in *bufio.Reader) error {
	for {
		line, err := readLine(in)
		if err != nil {
			return err
		}
		guard, isBegin := strings.CutPrefix(line, "%begin ")
		if !isBegin {
			c.notice(line)
			continue
		}
		var q *question
		if strings.HasSuffix(guard, " 1") { // the answer to a command of ours
			c.mu.Lock()
			if len(c.pending) > 0 {
				q, c.pending = c.pending[0], c.pending[1:]
			}
			c.mu.Unlock()
		}
		if err := c.collect(in, guard, q); err != nil {
			c.fail(err) // before the receiver of this answer checks for the error
			if q != nil {
				q.answer <- answer{err: err}
			}
			return err
		}
	}
}

// collect reads an answer up to its last line and passes it to q, which is nil if nobody waits for the answer.
func (c *control) collect(in *bufio.Reader, guard string, q *question) error {
	fence := ""
	if q != nil {
		fence = q.fence
	}
	lines, end, err := readAnswer(in, guard, fence)
	if err != nil || q == nil {
		return err
	}
	for _, l := range lines[end+1:] { // notices between the answer and the fence
		if !strings.HasPrefix(l, "%begin ") {
			c.notice(l)
		}
	}
	a := answer{lines: lines[:end]}
	if strings.HasPrefix(lines[end], "%error ") {
		a = answer{err: fmt.Errorf("tmux: %s", strings.Join(lines[:end], " "))}
	}
	q.answer <- a
	return nil
}

// readAnswer reads the lines of an answer. Without a fence, the answer ends at the first end line with this guard. With
// a fence, it ends at the last such line before the fence, because a pane's text may contain lines that look like an
// end; readAnswer then also reads the answer of the command that printed the fence. end is the index of the end line.
func readAnswer(in *bufio.Reader, guard, fence string) (lines []string, end int, err error) {
	size := 0
	end = -1
	for {
		line, err := readLine(in)
		if err != nil {
			return nil, 0, err
		}
		if fence != "" && line == fence && end >= 0 {
			_, err := readLine(in) // the end of the fence's own answer
			return lines, end, err
		}
		lines = append(lines, line)
		if line == "%end "+guard || line == "%error "+guard {
			end = len(lines) - 1
			if fence == "" {
				return lines, end, nil
			}
		}
		if size += len(line); size > replyMax {
			return nil, 0, fmt.Errorf("tmux: answer of more than %d bytes", replyMax)
		}
	}
}

// notice handles a line that tmux sends on its own, outside of an answer.
func (c *control) notice(line string) {
	switch {
	case strings.HasPrefix(line, "%client-session-changed "):
		c.joined()
		return
	case strings.HasPrefix(line, "%session-changed "):
		select {
		case c.ready <- struct{}{}:
		default: // the user moved this client to another session
		}
		return
	}
	for _, prefix := range []string{"%output ", "%extended-output "} {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			pane, _, _ := strings.Cut(rest, " ")
			c.printed(pane)
			return
		}
	}
}

// readLine reads a line of at most lineMax bytes. A longer line is an error, unless it reports a pane's output: then
// readLine drops the rest, which nobody needs.
func readLine(in *bufio.Reader) (string, error) {
	b, err := in.ReadSlice('\n')
	if err == nil {
		return string(b[:len(b)-1]), nil
	}
	line := string(b)
	for errors.Is(err, bufio.ErrBufferFull) {
		b, err = in.ReadSlice('\n')
		if strings.HasPrefix(line, "%output ") || strings.HasPrefix(line, "%extended-output ") {
			continue
		}
		if line += string(b); len(line) > lineMax {
			return "", fmt.Errorf("tmux: line of more than %d bytes", lineMax)
		}
	}
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = errEnded
		}
		return "", err
	}
	return strings.TrimSuffix(line, "\n"), nil
}
