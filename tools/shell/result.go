package shell

import (
	"bytes"
	"fmt"
	"strings"

	"buddy/tmux"
	"buddy/tools"
)

// shellResult is the payload of a finished command.
type shellResult struct {
	ExitCode   int      `json:"exit_code"`
	Stdout     string   `json:"stdout"`
	Stderr     string   `json:"stderr"`
	DurationMS int64    `json:"duration_ms"`
	Truncated  bool     `json:"truncated"`
	FullOutput string   `json:"full_output,omitempty"`
	Notices    []string `json:"notices,omitempty"`
}

// finished returns the result of a command that has ended, with limit bytes of each output
// stream.
func finished(res tmux.Result, err error, limit int) tools.Result {
	out := shellResult{ExitCode: res.ExitCode, DurationMS: res.Duration.Milliseconds()}
	out.take(res, limit)
	out.remark(res)
	shown := string(ends(res.Stdout)) + string(ends(res.Stderr))
	if res.Terminal { // terminal sequences only mattered while it ran
		shown, _ = TerminalText(ends(res.Stdout))
	}
	r := tools.Success(out, shown)
	r.ExitCode, r.Took = &res.ExitCode, res.Duration
	if p := paths(res); len(p) > 0 {
		r.Full = &tools.File{Path: p[0], Bytes: res.Stdout.Total + res.Stderr.Total}
	}
	switch {
	case res.Cancelled && err != nil: // the target was lost, and with it the exit code
		r.IsError, r.ExitCode = true, nil
		r.Content = fmt.Sprintf("%s; how the command ended is not known: %v%s", cancelled, err, soFar(out))
	case res.Cancelled:
		r.IsError = true
		r.Content = fmt.Sprintf("%s; exit code %d%s", cancelled, out.ExitCode, soFar(out))
	case err != nil:
		r.IsError, r.ExitCode = true, nil
		r.Content = fmt.Sprintf("Tool error: %v%s", err, soFar(out))
	}
	return r
}

// take fills in limit bytes of each output stream, and the paths of the overflow.
func (out *shellResult) take(res tmux.Result, limit int) {
	var cutOut, cutErr, full bool
	if res.Terminal {
		out.Stdout, cutOut, full = terminalEdges(res.Stdout, limit)
	} else {
		out.Stdout, cutOut = edges(res.Stdout, limit)
	}
	out.Stderr, cutErr = edges(res.Stderr, limit)
	if full {
		out.Notices = append(out.Notices, "what it drew on the full screen is left out; capture-pane shows that while it runs")
	}
	if out.Truncated = cutOut || cutErr; out.Truncated {
		out.FullOutput = strings.Join(paths(res), ", ")
	}
}

// remark adds notes on how a command ended that its output does not show.
func (out *shellResult) remark(res tmux.Result) {
	if res.Renewed {
		out.Notices = append(out.Notices, "the pane before was lost: this ran in a new one, with the same folder and variables; jobs of the old shell have ended")
	}
	if res.Fault != "" {
		out.Notices = append(out.Notices, res.Fault)
	}
	why := ""
	switch {
	case res.Confined:
		why = explainConfined(out.Stderr+"\n"+out.Stdout, res.ExitCode)
	case res.Fenced && !res.Cancelled:
		why = explainFenced(out.Stderr+"\n"+out.Stdout, res.ExitCode)
	}
	if why != "" {
		out.Notices = append(out.Notices, why)
	}
	if res.Signal != 0 {
		out.Notices = append(out.Notices, fmt.Sprintf("the shell was ended by signal %d", res.Signal))
	}
}

// soFar returns the output of a command that was interrupted.
func soFar(out shellResult) string {
	var b strings.Builder
	for _, s := range []struct{ name, text string }{{"stdout", out.Stdout}, {"stderr", out.Stderr}} {
		if s.text != "" {
			fmt.Fprintf(&b, "\n%s so far:\n%s", s.name, strings.TrimRight(s.text, "\n"))
		}
	}
	return b.String()
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

// ends returns the end of an output stream, as far as it is in memory.
func ends(c tmux.Captured) []byte {
	if int64(len(c.Head)+len(c.Tail)) == c.Total {
		return append(bytes.Clone(c.Head), c.Tail...)
	}
	return c.Tail
}

// edges returns the part of an output stream that the model gets: all of it, or its start and
// its end, limit bytes together, with a note on what is omitted.
func edges(c tmux.Captured, limit int) (text string, cut bool) {
	if c.Total <= int64(limit) && int64(len(c.Head)+len(c.Tail)) == c.Total {
		return valid(append(bytes.Clone(c.Head), c.Tail...)), false
	}
	whole := ends(c)
	first := c.Head[:min(len(c.Head), limit/2)]
	last := whole[max(0, len(whole)-limit/2):]
	between := c.Total - int64(len(first)+len(last))
	return fmt.Sprintf("%s\n%s %d bytes\n%s", valid(first), tools.Truncated, between, valid(last)), true
}

// terminalEdges does what edges does for terminal output, as a person would read it.
func terminalEdges(c tmux.Captured, limit int) (text string, cut, full bool) {
	if int64(len(c.Head)+len(c.Tail)) == c.Total {
		text, full = TerminalText(append(bytes.Clone(c.Head), c.Tail...))
		text, cut = cutMiddle(text, limit)
		return text, cut, full
	}
	first, full := TerminalText(c.Head)
	last, also := TerminalText(c.Tail)
	return fmt.Sprintf("%s\n%s\n%s", firstBytes(first, limit/2), tools.Truncated, lastBytes(last, limit/2)), true, full || also
}

// cutMiddle keeps the start and the end of a text of more than limit bytes.
func cutMiddle(text string, limit int) (string, bool) {
	if len(text) <= limit {
		return text, false
	}
	first, last := firstBytes(text, limit/2), lastBytes(text, limit/2)
	return fmt.Sprintf("%s\n%s %d bytes\n%s", first, tools.Truncated, len(text)-len(first)-len(last), last), true
}

// firstBytes and lastBytes return at most n bytes, without partial characters.
func firstBytes(s string, n int) string { return strings.ToValidUTF8(s[:min(n, len(s))], "") }
func lastBytes(s string, n int) string  { return strings.ToValidUTF8(s[max(0, len(s)-n):], "") }

// valid replaces what is not UTF-8: cut characters and binary output.
func valid(p []byte) string { return strings.ToValidUTF8(string(p), "\uFFFD") }
