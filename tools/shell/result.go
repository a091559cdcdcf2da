package shell

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"buddy/agent/action"
	"buddy/tmux"
	"buddy/tmux/pane"
	"buddy/tools"
)

// output is the model's view of a command: limited parts of its output streams, and remarks on missing information.
type output struct {
	stdout, stderr string
	remarks        []string
	full           *action.FullOutput // nil if there is no output
	tail           string             // for the screen
	separate       *string            // the part of tail from stdout, if both streams have text
}

// finished returns the result of a command that has ended, with at most limit bytes of each output stream. more holds
// further remarks.
func finished(res tmux.Result, err error, limit int, more ...string) tools.Result {
	why := ""
	switch {
	case res.Cancelled && err != nil: // the target was lost, and the exit code with it
		why = fmt.Sprintf("%s; how the command ended is not known: %v", cancelled, err)
	case res.Cancelled:
		why = fmt.Sprintf("%s; exit code %d", cancelled, res.ExitCode)
	case err != nil:
		why = tools.Problem(err.Error()).Content
	}
	var out output
	if out.fill(res, limit); why == "" {
		out.remarks = append([]string{ended(res, out.stdout+out.stderr == "")}, out.remarks...)
	}
	r := tools.Streams(out.stdout, out.stderr, slices.Concat(out.remarks, remarks(res, out), more)...)
	r.Tail, r.Stdout = out.tail, out.separate
	r.ExitCode, r.Took = &res.ExitCode, res.Duration
	r.Full = out.full
	r.Stopped = why == "" && res.Confined && stopped(out.stderr+"\n"+out.stdout, res.ExitCode)
	if why != "" {
		r.Content, r.IsError = strings.TrimSpace(why+"\n"+r.Content), true
	}
	if err != nil {
		r.ExitCode = nil
	}
	return r
}

// Printed returns the result of a command that ran without a pane, with at most limit bytes of its output. more holds
// remarks for the model.
func Printed(output []byte, code int, took time.Duration, limit int, more ...string) tools.Result {
	p := newPrinted(limit/2, max(limit, tools.TailLimit))
	p.write(output)
	p.screen.Close()
	text, cut := p.edges(limit)
	remarks := append([]string{ended(tmux.Result{ExitCode: code, Duration: took}, text == "")}, more...)
	if cut {
		remarks = append(remarks, "a part of the output is left out")
	}
	r := tools.Streams(text, "", remarks...)
	r.ExitCode, r.Took = &code, took
	return r
}

// ended describes how a command ended. It returns "" for a successful command that printed something.
func ended(res tmux.Result, silent bool) string {
	switch {
	case res.ExitCode == 0 && silent:
		return "exit code 0, no output"
	case res.ExitCode == 0:
		return ""
	}
	text := fmt.Sprintf("exit code %d, %.1f s", res.ExitCode, res.Duration.Seconds())
	if silent {
		text += ", no output"
	}
	return text
}

// fill sets the texts of the output streams, limit bytes together, and the paths of the overflow.
func (out *output) fill(res tmux.Result, limit int) {
	var cutOut, cutErr bool
	stdout, stderr := read(res.Stdout, limit), read(res.Stderr, limit)
	forOut, forErrs := shares(limit, stdout.total, stderr.total)
	out.stdout, cutOut = stdout.edges(forOut)
	out.stderr, cutErr = stderr.edges(forErrs)
	out.full = fullOutput(res)
	out.show(res, stdout, stderr)
	if stdout.screen.Full || stderr.screen.Full {
		out.remarks = append(out.remarks, "full-screen output is left out; capture-pane shows it while the command runs")
	}
	where := strings.Join(paths(res), ", ")
	switch gap := res.Stdout.Gap + res.Stderr.Gap; {
	case gap > 0:
		out.remarks = append(out.remarks, fmt.Sprintf("the output is in %s, but %d bytes in its middle were not recorded", where, gap))
	case cutOut || cutErr:
		out.remarks = append(out.remarks, "the whole output is in "+where)
	}
}

// fullOutput returns the file of the first stream that is not empty.
func fullOutput(res tmux.Result) *action.FullOutput {
	for _, c := range []tmux.Captured{res.Stdout, res.Stderr} {
		if c.Total > 0 {
			return &action.FullOutput{Path: c.Path, Bytes: c.Size(), Missing: res.Stdout.Gap + res.Stderr.Gap}
		}
	}
	return nil
}

// read returns an output stream as a terminal shows it.
func read(c tmux.Captured, limit int) *printed {
	p := newPrinted(limit/2, max(limit, tools.TailLimit))
	c.Read(p.write)
	p.screen.Close()
	return p
}

// show sets what the screen shows: the end of the output, which part of that end is stdout (if both streams have text),
// and the total size. The output keeps its colours unless the command moved the cursor to overwrite text.
func (out *output) show(res tmux.Result, stdout, stderr *printed) {
	whole := int64(0)
	end := func(c tmux.Captured, p *printed) string {
		if res.Terminal || p.screen.Moved {
			whole += p.total
			return p.end()
		}
		whole += c.Total
		return string(ends(c))
	}
	first, second := end(res.Stdout, stdout), end(res.Stderr, stderr)
	if first != "" && second != "" {
		text := tools.End(first)
		out.separate = &text
	}
	out.tail = tools.End(first + second)
	if out.full != nil && whole != out.full.Bytes {
		out.full.Text = whole
	}
}

// remarks returns remarks about the end of a command that its output does not show.
func remarks(res tmux.Result, out output) []string {
	all := []string{res.Fault}
	if res.Renewed {
		all = append(all, "the pane before was lost: this ran in a new one, with the same folder and variables; jobs of the old shell have ended")
	}
	switch {
	case res.Cancelled: // no sandbox is the reason
	case res.Confined:
		all = append(all, explainConfined(out.stderr+"\n"+out.stdout, res.ExitCode))
	case res.Fenced:
		all = append(all, explainFenced(out.stderr+"\n"+out.stdout, res.ExitCode))
	}
	all = append(all, leftBehind(res.Left), endedWithIt(res.Ended))
	if res.Signal != 0 {
		all = append(all, fmt.Sprintf("the shell was ended by signal %d", res.Signal))
	}
	return all
}

// leftBehind lists the processes that a command left running, and how to end them; "" for none.
func leftBehind(left []pane.Left) string {
	if len(left) == 0 {
		return ""
	}
	var names, pids []string
	for _, p := range left {
		pids = append(pids, strconv.Itoa(p.Pid))
		names = append(names, fmt.Sprintf("%q (%d)", valid(p.Name), p.Pid))
	}
	return fmt.Sprintf("it left running: %s; to end: kill %s", strings.Join(names, ", "), strings.Join(pids, " "))
}

// endedWithIt lists the processes that the sandbox ended with the command; "" for none.
func endedWithIt(names []string) string {
	if len(names) == 0 {
		return ""
	}
	var all []string
	for _, name := range names {
		all = append(all, strconv.Quote(valid(name)))
	}
	return "ended with it, because nothing stays in a sandbox: " + strings.Join(all, ", ") + `; a server runs with "wait": false, without &`
}

// paths returns the files of the output streams that are not empty.
func paths(res tmux.Result) []string {
	var p []string
	for _, c := range []tmux.Captured{res.Stdout, res.Stderr} {
		if c.Total > 0 {
			p = append(p, c.Path)
		}
	}
	return p
}

// ends returns an output stream if all of it is in memory, else its end.
func ends(c tmux.Captured) []byte {
	if int64(len(c.Head)+len(c.Tail)) == c.Total {
		return append(bytes.Clone(c.Head), c.Tail...)
	}
	return c.Tail
}

// valid replaces invalid UTF-8: cut characters and binary output.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
