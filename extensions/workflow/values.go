package workflow

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"buddy/texts"
)

// Values maps each input of a workflow to its value: a string, int, bool or []string.
type Values map[string]any

// Result is the outcome of a step. The zero value is a step that did not run and did not fail.
type Result struct {
	Ran      bool
	OK       bool
	Output   string   // output as text for a model: stdout and stderr, an answer, a report
	Stdout   string   // of a command; the same as Output for other tools
	ExitCode *int     // of a command: the first non-zero one of its items; nil if there is none
	Done     []string // items that succeeded
	Failed   []string // items that failed
}

// Scope holds the known values when a step starts.
type Scope struct {
	Inputs Values
	Steps  map[string]Result // by id; a missing one did not run
	Item   string            // current item of the step's list, "" without a list
}

// Values parses the inputs of a run, which are given as text; commas separate the items of lists. The error names every
// wrong input and its notation, all on one line.
func (w *Workflow) Values(given map[string]string) (Values, error) {
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if w.input(name) == nil {
			wrong = append(wrong, fmt.Errorf("%q is not an input (have: %s)", texts.Clip(name, 80), w.inputNames()))
		}
	}
	all := make(Values)
	for _, in := range w.Inputs {
		text, ok := given[in.Name]
		v, err := in.value(text, ok)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s %w: give %s", in.Name, err, in.usage()))
			continue
		}
		all[in.Name] = v
	}
	return all, oneLine(wrong)
}

// oneLine joins errors into one line, nil for none.
func oneLine(all []error) error {
	if len(all) == 0 {
		return nil
	}
	var lines []string
	for _, err := range all {
		lines = append(lines, texts.OneLine(err.Error()))
	}
	return errors.New(strings.Join(lines, "; "))
}

func (w *Workflow) inputNames() string {
	if len(w.Inputs) == 0 {
		return "none"
	}
	var names []string
	for _, in := range w.Inputs {
		names = append(names, in.Name)
	}
	return strings.Join(names, ", ")
}

// value returns the value of an input: the parsed text if given is true, else the default.
func (in Input) value(text string, given bool) (any, error) {
	switch {
	case given:
		return in.read(text)
	case in.Default != nil:
		return in.Default, nil
	case in.Optional:
		return in.empty(), nil
	}
	return nil, errors.New("needs a value")
}

// empty returns the value of an optional input for which the person gave none.
func (in Input) empty() any {
	switch {
	case in.Type.Many():
		return []string{}
	case in.Type == Int:
		return 0
	case in.Type == Bool:
		return false
	}
	return ""
}

// read parses the value of an input.
func (in Input) read(text string) (any, error) {
	if in.Type.Many() {
		items := []string{}
		for item := range strings.SplitSeq(text, ",") {
			if item = strings.TrimSpace(item); item != "" {
				items = append(items, item)
			}
		}
		return items, in.fits(items)
	}
	switch in.Type {
	case Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("is %q, which is not a whole number", texts.Clip(text, 80))
		}
		return n, in.fits(n)
	case Bool:
		switch strings.ToLower(text) {
		case "true", "yes", "on", "1":
			return true, nil
		case "false", "no", "off", "0":
			return false, nil
		}
		return nil, fmt.Errorf("is %q, which is neither true nor false", texts.Clip(text, 80))
	}
	return text, in.fits(text)
}

// fits checks a value of the input's type.
func (in Input) fits(v any) error {
	items, many := v.([]string)
	if !many {
		items = []string{textOf(v, "")}
	}
	switch {
	case many && len(items) == 0 && !in.Optional:
		return errors.New("needs at least one item")
	case len(items) > maxItems:
		return fmt.Errorf("has %d items (allowed: %d)", len(items), maxItems)
	}
	for _, item := range items {
		if err := in.fitsItem(item); err != nil {
			return err
		}
	}
	return nil
}

func (in Input) fitsItem(item string) error {
	short := texts.Clip(item, 80)
	switch {
	case item == "" && in.Optional && !in.Type.Many():
		return nil
	case item == "" && in.Type != String:
		return errors.New("is empty")
	case len(item) > maxValue:
		return fmt.Errorf("has %d bytes (allowed: %d)", len(item), maxValue)
	case strings.ContainsRune(item, 0) || !utf8.ValidString(item):
		return fmt.Errorf("is %q, which is not text", short)
	case in.Type != String && strings.ContainsAny(item, "\n\r"):
		return fmt.Errorf("is %q, which has more than one line", short)
	case in.Pattern != "":
		whole, err := regexp.Compile(`^(?:` + in.Pattern + `)$`)
		if err != nil {
			return err // Parse has reported it
		}
		if !whole.MatchString(item) {
			return fmt.Errorf("is %q, which does not match %s", short, in.Pattern)
		}
	}
	return nil
}

// textOf formats a value as text, with a separator between the items of a list.
func textOf(v any, between string) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case string:
		return v
	case []string:
		return strings.Join(v, between)
	default:
		return fmt.Sprint(v)
	}
}
