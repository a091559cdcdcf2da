package form

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"buddy/texts"
)

// parse turns an answer into a value; nil skips the field. The error tells the person what is wrong.
func (f Field) parse(answer string) (any, error) {
	answer = strings.TrimSpace(answer)
	if answer == leaveOut && !f.Required && f.Kind != SomeOf {
		return nil, nil //nolint:nilnil // no value is a valid answer
	}
	switch f.Kind {
	case YesNo:
		switch strings.ToLower(answer) {
		case "yes", "y", "true":
			return true, nil
		case "no", "n", "false":
			return false, nil
		}
		return nil, fmt.Errorf("%q is neither yes nor no", texts.Clip(answer, maxText))
	case Number, Integer:
		return f.fit(json.Number(answer))
	case OneOf:
		for _, o := range f.Options {
			if answer == o.Title || answer == o.Value {
				return o.Value, nil
			}
		}
		return nil, fmt.Errorf("%q is none of the choices", texts.Clip(answer, maxText))
	case SomeOf:
		return f.some(answer)
	case Text:
	}
	return f.fit(answer)
}

// some parses the numbers of options.
func (f Field) some(answer string) (any, error) {
	chosen := []any{}
	for _, word := range strings.FieldsFunc(answer, func(r rune) bool { return r == ' ' || r == ',' }) {
		n, err := strconv.Atoi(word)
		if word == "0" {
			continue
		}
		if err != nil || n < 1 || n > len(f.Options) {
			return nil, fmt.Errorf("%q is none of the numbers 1 to %d", texts.Clip(word, maxText), len(f.Options))
		}
		if v := f.Options[n-1].Value; !slices.Contains(chosen, any(v)) {
			chosen = append(chosen, v)
		}
	}
	return f.fit(chosen)
}

// fit converts a decoded or typed value to the Go type of the field's kind, or returns why it does not fit. nil means
// no value and always fits.
func (f Field) fit(value any) (any, error) {
	if value == nil {
		return nil, nil //nolint:nilnil // no value is no error
	}
	switch f.Kind {
	case YesNo:
		if b, ok := value.(bool); ok {
			return b, nil
		}
	case OneOf:
		if s, ok := value.(string); ok && slices.ContainsFunc(f.Options, func(o Option) bool { return o.Value == s }) {
			return s, nil
		}
	case SomeOf:
		return f.fitSome(value)
	case Number, Integer:
		return f.fitNumber(fmt.Sprint(value))
	case Text:
		if s, ok := value.(string); ok {
			return f.fitText(s)
		}
	}
	return nil, errors.New("it does not fit")
}

func (f Field) fitSome(value any) (any, error) {
	items, ok := value.([]any)
	chosen := []string{}
	for _, item := range items {
		v, is := item.(string)
		ok = ok && is && slices.ContainsFunc(f.Options, func(o Option) bool { return o.Value == v })
		chosen = append(chosen, v)
	}
	if !ok {
		return nil, errors.New("it does not fit")
	}
	if why := outside(float64(len(chosen)), f.Min, f.Max); why != "" {
		return nil, fmt.Errorf("choose %s", why)
	}
	return chosen, nil
}

func (f Field) fitNumber(text string) (any, error) {
	n, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || math.IsNaN(n) || math.IsInf(n, 0):
		return nil, fmt.Errorf("%q is not a number", texts.Clip(text, maxText))
	case f.Kind == Integer && (n != math.Trunc(n) || math.Abs(n) >= 1<<53):
		return nil, fmt.Errorf("%q is not a whole number", texts.Clip(text, maxText))
	}
	if why := outside(n, f.Min, f.Max); why != "" {
		return nil, fmt.Errorf("%s: it must be %s", texts.Clip(text, maxText), why)
	}
	if f.Kind == Integer {
		return int64(n), nil
	}
	return n, nil
}

func (f Field) fitText(text string) (any, error) {
	length := utf8.RuneCountInString(text)
	if length > maxValue {
		return nil, fmt.Errorf("it has %d characters, more than %d", length, maxValue)
	}
	if length == 0 && f.Required {
		return nil, errors.New("an answer is required")
	}
	if why := outside(float64(length), f.Min, f.Max); why != "" {
		return nil, fmt.Errorf("it has %d characters: it must be %s", length, why)
	}
	if !fitsFormat(text, f.Format) {
		return nil, fmt.Errorf("%q does not fit", texts.Clip(text, maxText))
	}
	return text, nil
}

// outside describes the numbers that fit if n does not, else it returns "".
func outside(n float64, least, most *float64) string {
	switch {
	case least != nil && n < *least:
		return "at least " + number(*least)
	case most != nil && n > *most:
		return "at most " + number(*most)
	}
	return ""
}

// fitsFormat checks the formats that the protocol defines.
func fitsFormat(text, format string) bool {
	var err error
	switch format {
	case "email":
		var a *mail.Address
		a, err = mail.ParseAddress(text)
		return err == nil && a.Address == text
	case "uri":
		var u *url.URL
		u, err = url.Parse(text)
		return err == nil && u.Scheme != ""
	case "date":
		_, err = time.Parse(time.DateOnly, text)
	case "date-time":
		_, err = time.Parse(time.RFC3339, text)
	}
	return err == nil
}
