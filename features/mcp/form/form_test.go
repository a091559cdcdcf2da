package form

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"buddy/tools"
)

// everyKind is a form with each kind of field in all spellings of the protocol.
const everyKind = `{"type":"object","required":["name","age"],"properties":{
	"name":{"type":"string","title":"Your name","minLength":2,"maxLength":20},
	"age":{"type":"integer","minimum":0,"maximum":150},
	"mail":{"type":"string","format":"email"},
	"ratio":{"type":"number","default":0.5},
	"fast":{"type":"boolean","default":true},
	"color":{"type":"string","enum":["r","g"],"enumNames":["Red","Green"],"default":"g"},
	"size":{"type":"string","oneOf":[{"const":"s","title":"Small"},{"const":"l","title":"Large"}]},
	"parts":{"type":"array","maxItems":2,"items":{"type":"string","enum":["a","b","c"]}},
	"more":{"type":"array","items":{"anyOf":[{"const":"x","title":"Ex"}]},"default":["x"]}}}`

func decode(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func fieldsOf(t *testing.T, text string) []Field {
	t.Helper()
	fields, err := Fields(decode(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return fields
}

// person answers questions in order and records them.
type person struct {
	answers []string
	asked   []tools.Question
}

func (p *person) ask(_ context.Context, q tools.Question) (string, error) {
	p.asked = append(p.asked, q)
	if len(p.answers) == 0 {
		return "", errors.New("the person was asked once more")
	}
	answer := p.answers[0]
	p.answers = p.answers[1:]
	return answer, nil
}

func TestFormIsFilledIn(t *testing.T) {
	p := &person{answers: []string{
		"Fill in", "Ann", "44",
		"mail: (left out)", "ann@example.com",
		"parts: (left out)", "1, 3",
		"size: (left out)", "Large",
		"fast: yes", "no",
		"ratio: 0.5", "-",
		"nothing that is offered",
		"Send",
	}}
	got, err := Ask(t.Context(), Form{Server: "shop", Message: "Who are you?", Fields: fieldsOf(t, everyKind)}, p.ask)
	want := Answer{Accept, map[string]any{
		"name": "Ann", "age": int64(44), "mail": "ann@example.com", "fast": false, "color": "g", "size": "l",
		"parts": []string{"a", "c"}, "more": []string{"x"},
	}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("answer %+v, %v", got, err)
	}
	first, last := p.asked[0], p.asked[len(p.asked)-1]
	if got := strings.Join(first.Choices, " | "); first.From != "shop" || first.Text != "Who are you?" ||
		got != "Fill in | Your name: (needed) | age: (needed) | color: Green | fast: yes | mail: (left out) | more: Ex | parts: (left out) | ratio: 0.5 | size: (left out) | Decline | Cancel" {
		t.Errorf("the form begins with %+v", first)
	}
	if got := strings.Join(last.Choices, " | "); got != "Send | Your name: Ann | age: 44 | color: Green | fast: no | mail: ann@example.com | more: Ex | parts: a, c | ratio: (left out) | size: Large | Decline | Cancel" {
		t.Errorf("the form ends with %+v", last)
	}
}

func TestFormIsDeclinedOrCancelled(t *testing.T) {
	fields := fieldsOf(t, `{"properties":{"a":{"type":"string"}}}`)
	for _, c := range []struct{ answer, want string }{{"Decline", Decline}, {"Cancel", Cancel}, {" Send ", Accept}} {
		p := &person{answers: []string{c.answer}}
		if got, err := Ask(t.Context(), Form{Fields: fields}, p.ask); err != nil || got.Action != c.want {
			t.Errorf("%q: %+v, %v", c.answer, got, err)
		}
	}
	if got, err := Ask(t.Context(), Form{Fields: fields}, nil); err != nil || got.Action != Decline {
		t.Errorf("without a person: %+v, %v", got, err)
	}
	nobody := func(context.Context, tools.Question) (string, error) { return "", tools.ErrNobody }
	if got, err := Ask(t.Context(), Form{Fields: fields}, nobody); err != nil || got.Action != Decline {
		t.Errorf("nobody answers: %+v, %v", got, err)
	}
	gone := func(context.Context, tools.Question) (string, error) { return "", context.Canceled }
	if got, err := Ask(t.Context(), Form{Fields: fields}, gone); !errors.Is(err, context.Canceled) || got.Action != Cancel {
		t.Errorf("cancelled: %+v, %v", got, err)
	}
}

// TestWrongValuesAreAskedAgain: the message about a wrong value describes values that fit, and earlier values are kept.
func TestWrongValuesAreAskedAgain(t *testing.T) {
	for _, c := range []struct{ property, wrong, hint, right string }{
		{`"type":"integer","minimum":1,"maximum":9`, "ten", `"ten" is not a number`, "2"},
		{`"type":"integer","minimum":1,"maximum":9`, "1.5", `"1.5" is not a whole number`, "2"},
		{`"type":"integer"`, "1e300", "is not a whole number", "2"},
		{`"type":"integer","minimum":1,"maximum":9`, "10", "10: it must be at most 9", "2"},
		{`"type":"number","minimum":1`, "0.5", "it must be at least 1", "2.5"},
		{`"type":"number"`, "NaN", `"NaN" is not a number`, "2.5"},
		{`"type":"boolean"`, "maybe", `"maybe" is neither yes nor no`, "Yes"},
		{`"type":"string","enum":["r","g"]`, "blue", `"blue" is none of the choices`, "r"},
		{`"type":"string","minLength":3`, "ab", "it has 2 characters: it must be at least 3", "abc"},
		{`"type":"string"`, "", "an answer is required", "x"},
		{`"type":"string"`, strings.Repeat("x", maxValue+1), "more than 10000", "x"},
		{`"type":"string","format":"email"`, "Ann <a@b.c>", "does not fit", "a@b.c"},
		{`"type":"string","format":"uri"`, "example", "does not fit", "https://example.com/x"},
		{`"type":"string","format":"date"`, "23.11.2026", "does not fit", "2026-11-23"},
		{`"type":"string","format":"date-time"`, "2026-11-23", "does not fit", "2026-11-23T15:04:05Z"},
		{`"type":"array","minItems":1,"items":{"enum":["a","b"]}`, "3", `"3" is none of the numbers 1 to 2`, "2"},
		{`"type":"array","minItems":1,"items":{"enum":["a","b"]}`, "0", "choose at least 1", "1"},
	} {
		fields := fieldsOf(t, `{"required":["v"],"properties":{"v":{`+c.property+`}}}`)
		p := &person{answers: []string{"Fill in", c.wrong, c.right, "Send"}}
		got, err := Ask(t.Context(), Form{Fields: fields}, p.ask)
		if err != nil || got.Action != Accept || got.Values["v"] == nil {
			t.Errorf("%s %q: %+v, %v", c.property, c.wrong, got, err)
			continue
		}
		if again := p.asked[2].Text; !strings.Contains(again, c.hint) {
			t.Errorf("%s %q: was asked again with %q, want %q", c.property, c.wrong, again, c.hint)
		}
	}
}

func TestFormsThatCantBeAsked(t *testing.T) {
	many := make(map[string]any)
	for i := range maxFields + 1 {
		many[fmt.Sprint(i)] = map[string]any{"type": "string"}
	}
	for _, c := range []struct {
		schema any
		hint   string
	}{
		{decode(t, `{"properties":{"a":{"type":"object","properties":{}}}}`), `field "a": type "object" can't be asked for`},
		{decode(t, `{"properties":{"a":{"type":"array","items":{"type":"string"}}}}`), "a list that has no options"},
		{decode(t, `{"properties":{"a":{}}}`), `type "" can't be asked for`},
		{decode(t, `{"properties":[]}`), "the form can't be read"},
		{map[string]any{"properties": many}, "the form has 31 fields, more than 30"},
	} {
		if _, err := Fields(c.schema); err == nil || !strings.Contains(err.Error(), c.hint) {
			t.Errorf("%v: %v, want %q", c.schema, err, c.hint)
		}
	}
}

// TestFormsThatAskForSecrets: they are declined without a question; forms that only seem to are asked.
func TestFormsThatAskForSecrets(t *testing.T) {
	for _, c := range []struct {
		name, title, about string
		secret             bool
	}{
		{name: "password", secret: true},
		{name: "x", title: "Your API key", secret: true},
		{name: "githubToken", secret: true},
		{name: "x", about: "the number of your credit card", secret: true},
		{name: "card", secret: true},
		{name: "PIN", secret: true},
		{name: "db_passwd", secret: true},
		{name: "x", about: "paste the client secret here", secret: true},
		{name: "x", title: "Private key (PEM)", secret: true},
		{name: "max_tokens", about: "how many tokens an answer may have"},
		{name: "sort", about: "the key to sort by"},
		{name: "keyboard"},
		{name: "secretary", about: "who takes the minutes"},
		{name: "business", about: "as on your business card"},
		{name: "spin"},
	} {
		fields := fieldsOf(t, fmt.Sprintf(`{"properties":{%q:{"type":"string","title":%q,"description":%q}}}`, c.name, c.title, c.about))
		p := &person{answers: []string{"Send"}}
		got, err := Ask(t.Context(), Form{Server: "shop", Fields: fields}, p.ask)
		var refused *ErrSecret
		if errors.As(err, &refused) != c.secret || len(p.asked) > 0 == c.secret || got.Action == Accept == c.secret {
			t.Errorf("%+v: %+v, %v, %d questions", c, got, err, len(p.asked))
		}
		if c.secret && !strings.Contains(err.Error(), `"shop" asked for a secret (field `) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	yes := fieldsOf(t, `{"properties":{"password":{"type":"boolean","title":"Set a password?"}}}`)
	if got, err := Ask(t.Context(), Form{Fields: yes}, (&person{answers: []string{"Send"}}).ask); err != nil || got.Action != Accept {
		t.Errorf("yes or no can't be a secret: %+v, %v", got, err)
	}
}

func TestVisit(t *testing.T) {
	opened := ""
	open := func(url string) error { opened = url; return nil }
	broken := func(string) error { return errors.New("there is no display") }
	for _, c := range []struct {
		url     string
		remote  bool
		open    func(string) error
		answers []string
		want    string
		hint    string // in the last question or the error
	}{
		{"https://example.com/a?b", true, open, []string{"Open it in the browser"}, Accept, "a page of example.com:\nhttps://example.com/a?b"},
		{"https://example.com:8443/", true, open, []string{"what?", "Decline"}, Decline, "a page of example.com:8443"},
		{"https://example.com/", true, broken, []string{"Open it in the browser", "I have opened it myself"}, Accept, "was not started: there is no display"},
		{"https://example.com/", true, open, []string{"Cancel"}, Cancel, "example.com"},
		{"https://аррle.com/", true, open, []string{"Cancel"}, Cancel, "xn--le-6kc8da.com (that is аррle.com, with letters of another alphabet)"},
		{"https://xn--le-6kc8da.com/", true, open, []string{"Cancel"}, Cancel, "(that is аррle.com"},
		{"http://localhost:3000/", false, open, []string{"Cancel"}, Cancel, "localhost:3000"},
		{"http://localhost:3000/", true, open, nil, Decline, `"localhost" is on this machine or its local network`},
		{"http://10.0.0.1/", true, open, nil, Decline, "on this machine or its local network"},
		{"http://[::1]/", true, open, nil, Decline, "on this machine or its local network"},
		{"http://[::ffff:192.168.0.1]/", true, open, nil, Decline, "on this machine or its local network"},
		{"file:///etc/passwd", false, open, nil, Decline, "is not an http or https address"},
		{"javascript:alert(1)", false, open, nil, Decline, "is not an http or https address"},
		{"https://example.com@evil.example/", true, open, nil, Decline, "hides the host"},
		{"https://" + strings.Repeat("x", maxURL), true, open, nil, Decline, "more than 4096"},
	} {
		opened = ""
		p := &person{answers: c.answers}
		got, err := Visit(t.Context(), Address{Server: "shop", URL: c.url, Remote: c.remote}, p.ask, c.open)
		text := fmt.Sprint(err)
		if len(p.asked) > 0 {
			text = p.asked[len(p.asked)-1].Text
		}
		if got.Action != c.want || !strings.Contains(text, c.hint) || errors.Is(err, ErrAddress) != (c.answers == nil) {
			t.Errorf("%s: %+v, %v, said %q", c.url, got, err, text)
		}
		if want := len(c.answers) > 0 && c.answers[0] == openIt && c.want == Accept && len(c.answers) == 1; (opened != "") != want {
			t.Errorf("%s: opened %q", c.url, opened)
		}
	}
	if got, err := Visit(t.Context(), Address{URL: "https://example.com"}, nil, open); err != nil || got.Action != Decline {
		t.Errorf("without a person: %+v, %v", got, err)
	}
}

// FuzzFields: no schema panics, and every accepted form shows each of its fields.
func FuzzFields(f *testing.F) {
	f.Add([]byte(everyKind))
	f.Add([]byte(`{"properties":{"a":{"type":"array","items":{"enum":["",""]}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var v any
		if json.Unmarshal(data, &v) != nil {
			return
		}
		fields, err := Fields(v)
		if err != nil {
			return
		}
		p := &person{answers: []string{"Decline"}}
		if _, err := Ask(t.Context(), Form{Message: "m", Fields: fields}, p.ask); err != nil {
			if _, ok := errors.AsType[*ErrSecret](err); !ok {
				t.Fatal(err)
			}
			return
		}
		if got := len(p.asked[0].Choices); got != len(fields)+3 {
			t.Errorf("%d choices for %d fields", got, len(fields))
		}
	})
}
