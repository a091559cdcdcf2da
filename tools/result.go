package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"unicode/utf8"

	"buddy/texts"
)

// ErrExecution marks an error of Plan or Run whose cause is not the arguments: a missing file, a full disk.
var ErrExecution = errors.New("execution failed")

// Truncated ends a text that was cut.
const Truncated = "...[truncated]"

// TailLimit limits the output that a result keeps for the screen, in bytes.
const TailLimit = 64 << 10

// OutputBytes is the approximate size limit of a listing or search result, in bytes.
const OutputBytes = 20_000

// Success returns the result of a successful run. The non-empty remarks about the text follow it in one line, in
// brackets.
func Success(text string, remarks ...string) Result { return Streams(text, "", remarks...) }

// Streams is like Success for a program that wrote to two streams. If both have text, a line [stderr] starts the second
// one. If the output could be mistaken for a remark or an error of buddy, the remarks state its number of lines, so
// that the model can see where it ends.
func Streams(stdout, stderr string, remarks ...string) Result {
	both, counted := stdout != "" && stderr != "", texts.Plural(lines(stdout+stderr), "line")
	r := Result{Content: stdout + stderr, Tail: End(stdout + stderr)}
	if both {
		r.Content, r.Stdout = ended(stdout)+"[stderr]\n"+stderr, &stdout
		counted = texts.Plural(lines(stdout), "line") + " of stdout, " + texts.Plural(lines(stderr), "line") + " of stderr"
	}
	if poses(stdout) || poses(stderr) {
		remarks = append(remarks, counted)
	}
	if strings.HasPrefix(r.Content, failure) { // only errors start with this
		r.Content = "[output]\n" + r.Content
	}
	if line := JoinNotes(remarks...); line != "" {
		r.Tell("[" + texts.OneLine(line) + "]")
	}
	return r
}

// lineCount matches a remark that consists of the number of lines only.
var lineCount = texts.Regexp(`\n\[\d+ lines?\]\s*$`)

// Uncounted removes the remark with the number of lines from the content of a result. A display that puts a frame
// around the output does not need it.
func Uncounted(content string) string { return lineCount().ReplaceAllLiteralString(content, "") }

// poses reports whether a text has a line that looks like a remark, or starts like an error.
func poses(text string) bool {
	if strings.HasPrefix(text, failure) {
		return true
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			return true
		}
	}
	return false
}

// ended returns a non-empty text with a line end at its end.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}

func lines(text string) int { return strings.Count(ended(text), "\n") }

// End returns the last TailLimit bytes of a text, without a partial character.
func End(text string) string {
	cut := max(len(text)-TailLimit, 0)
	for cut > 0 && cut < len(text) && !utf8.RuneStart(text[cut]) {
		cut++
	}
	return text[cut:]
}

// Failure returns a failed result. It tells the model in one sentence why the run failed.
func Failure(err error) Result {
	r := Problem(Failed(err).Error())
	r.Missing = Missing(err)
	return r
}

// Problem returns a failed result whose text tells the model why a call failed, or did not run.
func Problem(why string) Result { return Result{Content: failure + why, IsError: true} }

// Again returns a Problem after which the model should repeat the call.
func Again(why string) Result { return Result{Content: failure + why, IsError: true, Retry: true} }

// Tell adds to a result a line that only the model sees.
func (r *Result) Tell(line string) {
	if r.Content != "" && !strings.HasSuffix(r.Content, "\n") {
		line = "\n" + line
	}
	r.Content, r.Aside = r.Content+line, r.Aside+line
}

// Change replaces the content of a result.
func (r *Result) Change(content string) {
	if r.Content = content; !strings.HasSuffix(content, r.Aside) {
		r.Aside = ""
	}
}

// failure is the prefix of the content of a failed result.
const failure = "Tool error: "

// Why returns the reason of a failed run, for display.
func Why(r Result) string {
	text := strings.TrimSuffix(r.Content, r.Aside)
	return strings.TrimPrefix(strings.TrimPrefix(text, failure), ErrExecution.Error()+": ")
}

// Missing reports whether err means that a file does not exist, or that no file can have that name.
func Missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

// Failed marks err as an ErrExecution, unless it already is an ErrExecution or an ErrArguments. Plan uses it too,
// because its errors also go to the model.
func Failed(err error) error {
	if err == nil || errors.Is(err, ErrArguments) || errors.Is(err, ErrExecution) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrExecution, Sentence(err))
}

// Sentence rewrites an error of the os package, which names a system call, into a sentence about the file.
func Sentence(err error) error {
	var p *fs.PathError
	switch {
	case !errors.As(err, &p) || err.Error() != p.Error():
		return err
	case errors.Is(p.Err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist: %w", p.Path, p.Err)
	}
	return fmt.Errorf("%s: %w", p.Path, p.Err)
}

// Head returns the first limit bytes of s, without a partial character.
func Head(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for back := 0; back < utf8.UTFMax && back <= limit; back++ {
		if utf8.RuneStart(s[limit-back]) {
			return s[:limit-back]
		}
	}
	return s[:limit] // not UTF-8
}

// JoinNotes joins the non-empty notes.
func JoinNotes(notes ...string) string {
	var kept []string
	for _, n := range notes {
		if n != "" {
			kept = append(kept, n)
		}
	}
	return strings.Join(kept, "; ")
}

// Interrupted starts the result of a call whose outcome is unknown.
const Interrupted = "interrupted: outcome unknown, check before repeating"
