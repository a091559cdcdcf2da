package completions_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"buddy/agent/model"
	"buddy/agent/model/completions"
)

// atOnce is a server whose answer arrives as a whole.
type atOnce string

func (a atOnce) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}},
		Body: io.NopCloser(strings.NewReader(string(a))),
	}, nil
}

// TestPiecesThatComeTogether: text read at once is emitted at once, in the order of its kinds, and none is lost if an
// error follows or the reader stops.
func TestPiecesThatComeTogether(t *testing.T) {
	var answer strings.Builder
	for _, e := range []string{
		delta(`"reasoning":"I "`), delta(`"reasoning":"think"`), delta(`"content":"so "`), delta(`"content":"I "`), delta(`"content":"am"`),
		delta(`"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{\"k\""}},{"index":1,"id":"b","function":{"name":"y","arguments":"{"}}]`),
		delta(`"tool_calls":[{"index":1,"function":{"arguments":"}"}}]`), delta(`"content":"now"`), `{"choices":7}`,
	} {
		answer.WriteString("data: " + e + "\n\n")
	}
	m := newModel(t, completions.Config{BaseURL: "http://x.invalid", HTTPClient: &http.Client{Transport: atOnce(answer.String())}})
	var got []string
	var failed error
	for d, err := range m.Stream(t.Context(), question) {
		if failed = err; err == nil && d.Text != "" {
			got = append(got, d.CallID+":"+d.Text)
		}
	}
	want := []string{":I think", ":so I am", `a:{"k"`, "b:{}", ":now"}
	if d := cmp.Diff(want, got); d != "" || failed == nil {
		t.Errorf("%s\nerror %v", d, failed)
	}
	for d := range m.Stream(t.Context(), question) {
		if d.Kind == model.Text {
			break
		}
	}
}
