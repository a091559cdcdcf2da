package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
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

// envelope wraps every successful result for the model.
type envelope struct {
	Timestamp timestamp `json:"harness_timestamp"`
	Result    any       `json:"result"`
}

type timestamp struct {
	Source     string `json:"source"`
	UnixMillis int64  `json:"unix_millis"`
}

// Success returns a result with payload in the common envelope. shown is the text for the
// screen, of which the last TailLimit bytes are kept.
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

// Failure returns a result whose one sentence tells the model why a run failed.
func Failure(err error) Result {
	return Result{Content: failure + Failed(err).Error(), IsError: true, Missing: Missing(err)}
}

// failure begins what a model reads of a run that failed.
const failure = "Tool error: "

// Why returns why a run failed, for people.
func Why(r Result) string {
	return strings.TrimPrefix(strings.TrimPrefix(r.Content, failure), ErrExecution.Error()+": ")
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

// FitJSON returns how many leading bytes of s take at most limit bytes in a JSON string.
func FitJSON[T string | []byte](s T, limit int) int {
	const longest = 6 // bytes of one escaped byte
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

// JSONSize returns the size of s in a JSON string, in bytes.
func JSONSize(s []byte) int {
	size := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRune(s[i:])
		size += escaped(r, n)
		i += n
	}
	return size
}

// escaped returns the size of a character of n bytes in a JSON string, in bytes.
func escaped(r rune, n int) int {
	switch {
	case r == '"', r == '\\', r == '\n', r == '\r', r == '\t':
		return 2
	case r < ' ', r == utf8.RuneError && n == 1, r == '\u2028', r == '\u2029':
		return len(`\u0000`)
	}
	return n
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
