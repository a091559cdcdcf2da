package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
	"unicode/utf8"
)

// ErrExecution marks an error of Plan or Run that lies in the world and not in the
// arguments: a missing file, a full disk.
var ErrExecution = errors.New("execution failed")

// Truncated ends a text that was cut.
const Truncated = "...[truncated]"

// TailLimit is how much of an output a result keeps for the screen.
const TailLimit = 64 << 10

// OutputBytes is about how much a listing or a search gives, whatever the names and lines.
const OutputBytes = 20_000

// envelope is what the model reads on success.
type envelope struct {
	Timestamp timestamp `json:"harness_timestamp"`
	Result    any       `json:"result"`
}

type timestamp struct {
	Source     string `json:"source"`
	UnixMillis int64  `json:"unix_millis"`
}

// Success returns a result with payload in the envelope that all results share. shown is the same for
// the screen, as text; its end is kept.
func Success(payload any, shown string) Result {
	content := JSON(envelope{timestamp{"harness", time.Now().UnixMilli()}, payload})
	if cut := len(shown) - TailLimit; cut > 0 {
		for cut < len(shown) && !utf8.RuneStart(shown[cut]) {
			cut++
		}
		shown = shown[cut:]
	}
	return Result{Content: string(content), Tail: shown}
}

// Failure returns a result that tells the model in a sentence why a run failed.
func Failure(err error) Result {
	return Result{Content: "Tool error: " + Failed(err).Error(), IsError: true}
}

// Failed marks err as an ErrExecution unless it is one or an ErrArguments already.
// Plan uses it too, because the text of its errors goes to the model as well.
func Failed(err error) error {
	if err == nil || errors.Is(err, ErrArguments) || errors.Is(err, ErrExecution) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrExecution, Sentence(err))
}

// Sentence says what is wrong with which file, where the os package would name a system call.
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

// Clip returns s, or its first limit bytes of whole characters and an ellipsis. It is
// for quoting foreign text in errors.
func Clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return Head(s, limit) + "…"
}

// Head returns the first limit bytes of s, less where that would cut a character.
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

// FitJSON returns how many of the first bytes of s have at most limit bytes in a JSON string.
func FitJSON[T string | []byte](s T, limit int) int {
	const longest = 6 // bytes for one
	if len(s)*longest <= limit {
		return len(s)
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
		if limit -= escaped(r, n); limit < 0 {
			return i
		}
		i += n
	}
	return len(s)
}

// JSONSize returns how many bytes s has in a JSON string.
func JSONSize(s []byte) int {
	size := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRune(s[i:])
		size += escaped(r, n)
		i += n
	}
	return size
}

// escaped returns how many bytes a character of n bytes has in a JSON string.
func escaped(r rune, n int) int {
	switch {
	case r == '"', r == '\\', r == '\n', r == '\r', r == '\t':
		return 2
	case r < ' ', r == utf8.RuneError && n == 1, r == '\u2028', r == '\u2029':
		return len(`\u0000`)
	}
	return n
}

// JoinNotes makes one text of the remarks that are not empty.
func JoinNotes(notes ...string) string {
	var said []string
	for _, n := range notes {
		if n != "" {
			said = append(said, n)
		}
	}
	return strings.Join(said, "; ")
}

// Interrupted begins the result of a call of which nobody knows what became.
const Interrupted = "interrupted: outcome unknown, check before repeating"
