package renew

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"

	"buddy/agent/model"
)

// server accepts one key and refuses the others.
type server struct {
	takes string
	asked []string // keys
}

type sender struct {
	key string
	to  *server
}

func (s sender) Info() model.Info { return model.Info{Profile: "work", BaseURL: "https://example.com"} }

func (s sender) Stream(context.Context, model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		s.to.asked = append(s.to.asked, s.key)
		if s.key != s.to.takes {
			yield(model.Delta{}, &model.Error{Kind: model.StatusError, Status: 401, What: "status 401", Hint: "check the key"})
			return
		}
		_ = yield(model.Delta{Kind: model.Text, Text: "hello"}, nil) && yield(model.Delta{Kind: model.Done}, nil)
	}
}

// TestStream: the key is requested before each request, and once more when it is refused; a second refusal returns the
// hint.
func TestStream(t *testing.T) {
	for _, tt := range []struct {
		name    string
		takes   string
		keys    []string // what Key returns, one after another
		fails   error
		asked   string
		refused string // what Key gets
		want    string // in the error
	}{
		{"taken", "a", []string{"a"}, nil, "a", "", ""},
		{"refused once", "b", []string{"a", "b"}, nil, "a b", "a", ""},
		{"refused twice", "c", []string{"a", "b"}, nil, "a b", "a", "The login was refused (401); log in again"},
		{"no key", "a", nil, errors.New("not logged in"), "", "", "not logged in; log in again"},
		{"no other key", "b", []string{"a"}, errors.New("offline"), "a", "a", "offline; log in again"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &server{takes: tt.takes}
			n, told := 0, ""
			m, err := New(Config{
				Key: func(_ context.Context, refused string) (string, error) {
					told += refused
					if n == len(tt.keys) {
						return "", tt.fails
					}
					n++
					return tt.keys[n-1], nil
				},
				Build: func(key string) (model.Model, error) { return sender{key, s}, nil },
				Hint:  "log in again",
			})
			if err != nil || m.Info().Profile != "work" {
				t.Fatal(err)
			}
			text := ""
			for d, e := range m.Stream(t.Context(), model.Request{}) {
				text, err = text+d.Text, e
			}
			if asked := strings.Join(s.asked, " "); asked != tt.asked || told != tt.refused {
				t.Errorf("asked with %q, told %q", asked, told)
			}
			if tt.want == "" && (err != nil || text != "hello") || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%q, %v; want %q", text, err, tt.want)
			}
		})
	}
}

// TestLeave: a reader may stop in the middle, and cancelling ends a request.
func TestLeave(t *testing.T) {
	s := &server{takes: "a"}
	m, err := New(Config{
		Key: func(ctx context.Context, _ string) (string, error) {
			if ctx.Err() != nil {
				return "", ctx.Err()
			}
			return "a", nil
		},
		Build: func(key string) (model.Model, error) { return sender{key, s}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	for range m.Stream(t.Context(), model.Request{}) {
		break
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	for _, err := range m.Stream(ctx, model.Request{}) {
		if err == nil || err.Error() != "enough" {
			t.Error(err)
		}
	}
	if _, err := New(Config{Build: func(string) (model.Model, error) { return nil, errors.New("bad") }}); err == nil {
		t.Error("built")
	}
}
