package workflow

import (
	"maps"
	"testing"
)

func TestInputsAsTyped(t *testing.T) {
	tests := []struct {
		line string
		want map[string]string // nil: an error
	}{
		{"", map[string]string{}},
		{"a=1  b=x,y", map[string]string{"a": "1", "b": "x,y"}},
		{`since='1 hour ago' b="it's"`, map[string]string{"since": "1 hour ago", "b": "it's"}},
		{`branch=;rm c=$(id)`, map[string]string{"branch": ";rm", "c": "$(id)"}},
		{`a=`, map[string]string{"a": ""}},
		{`a=b=c`, map[string]string{"a": "b=c"}},
		{`a='`, nil},
		{`a=1 a=2`, nil},
		{`word`, nil},
		{`=x`, nil},
	}
	for _, tt := range tests {
		words, err := Words(tt.line)
		var got map[string]string
		if err == nil {
			got, err = Given(words)
		}
		if (err != nil) != (tt.want == nil) || !maps.Equal(got, tt.want) && tt.want != nil {
			t.Errorf("%q: %v, %v; want %v", tt.line, got, err, tt.want)
		}
		if err != nil {
			continue
		}
		again, err := Words(Line(got))
		if err != nil {
			t.Errorf("%q: %v", Line(got), err)
		}
		if back, err := Given(again); err != nil || !maps.Equal(back, got) {
			t.Errorf("%q became %q: %v, %v", tt.line, Line(got), back, err)
		}
	}
	hard := map[string]string{"a": `both ' and " and a blank`, "b": "two\nlines"}
	words, _ := Words(Line(hard))
	if back, err := Given(words); err != nil || !maps.Equal(back, hard) {
		t.Errorf("%q: %v, %v", Line(hard), back, err)
	}
}
