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

// ErrExecution marks an error of Plan or Run that is not caused by the arguments: a missing
// file, a full disk.
var ErrExecution = errors.New("execution failed")

// Truncated ends a text that was cut.
const Truncated = "...[truncated]"

// TailLimit limits the output that a result keeps for the screen, in bytes.
const TailLimit = 64 << 10

// OutputBytes is about the size of a listing or search result, in bytes.
const OutputBytes = 20_000

// Success returns the result of a run that gave a text. remarks say what the text does not: they make one line in
// brackets behind it, and empty ones are left out.
func Success(text string, remarks ...string) Result { return Streams(text, "", remarks...) }

// Streams does what Success does for a program that wrote to two streams. The second stream begins with a line
// [stderr] if both have text. If a line of theirs could be taken for one in brackets, or their beginning for an error,
// the remarks state how many lines they have: what comes after those is ours.
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
	if strings.HasPrefix(r.Content, failure) { // it begins nothing but errors
		r.Content = "[output]\n" + r.Content
	}
	if said := JoinNotes(remarks...); said != "" {
		r.Tell("[" + texts.OneLine(said) + "]")
	}
	return r
}

// lineCount matches the line in brackets that has nothing but the number of lines.
var lineCount = texts.Regexp(`\n\[\d+ lines?\]\s*$`)

// Uncounted returns the content of a result without the number of its lines, for a text that is shown in a frame of its own.
func Uncounted(content string) string { return lineCount().ReplaceAllLiteralString(content, "") }

// poses reports whether a text has a line that could be taken for one in brackets, or begins like an error.
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

// ended returns a text, which ends with a line end if there is any.
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

// Failure returns a result whose one sentence tells the model why a run failed.
func Failure(err error) Result {
	r := Problem(Failed(err).Error())
	r.Missing = Missing(err)
	return r
}

// Problem returns a result whose text tells the model why a call failed, or did not run.
func Problem(why string) Result { return Result{Content: failure + why, IsError: true} }

// Again returns a Problem after which the model shall call again.
func Again(why string) Result { return Result{Content: failure + why, IsError: true, Retry: true} }

// Tell adds a line to a result for the model alone.
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

// failure begins what a model reads of a run that failed.
const failure = "Tool error: "

// Why returns why a run failed, for people.
func Why(r Result) string {
	text := strings.TrimSuffix(r.Content, r.Aside)
	return strings.TrimPrefix(strings.TrimPrefix(text, failure), ErrExecution.Error()+": ")
}

// Missing reports whether err says that there is no file of a name, or can be none.
func Missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

// Failed marks err as an ErrExecution unless it already is one or an ErrArguments. Plan uses
// it too, because its errors also go to the model.
func Failed(err error) error {
	if err == nil || errors.Is(err, ErrArguments) || errors.Is(err, ErrExecution) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrExecution, Sentence(err))
}

// Sentence rewrites an error of the os package, which names a system call, to say what is
// wrong with which file.
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

// JoinNotes joins the notes that are not empty.
func JoinNotes(notes ...string) string {
	var said []string
	for _, n := range notes {
		if n != "" {
			said = append(said, n)
		}
	}
	return strings.Join(said, "; ")
}

// Interrupted begins the result of a call whose outcome is unknown.
const Interrupted = "interrupted: outcome unknown, check before repeating"
