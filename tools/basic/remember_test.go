package basic

import (
	"context"
	"errors"
	"strings"
	"testing"

	"buddy/agent/action"
	"buddy/tools"
	"buddy/tools/toolstest"
)

// The tool only makes a proposal, so it needs no approval.
func TestRememberProposes(t *testing.T) {
	b := toolstest.Bench{T: t, Tools: tools.NewRegistry(NewRemember())}
	call, err := b.Plan("remember", toolstest.Args{"text": "Use pnpm.", "kind": "correction", "scope": "person"})
	if err != "" || call.Planned.Kind != action.Internal || call.Planned.Mutation {
		t.Fatal(call.Planned, err)
	}
	if res := b.Run(call); !res.IsError || !strings.Contains(res.Content, "there is no memory here") {
		t.Errorf("without a memory: %+v", res)
	}
	var got tools.Lesson
	call.Remember = func(_ context.Context, l tools.Lesson) (string, error) { got = l; return "p-9x1a2b", nil }
	if res := b.Run(call); res.IsError || !strings.Contains(res.Content, "[as p-9x1a2b; ") || !strings.Contains(res.Content, "only if the user accepts") {
		t.Errorf("%+v", res)
	}
	if want := (tools.Lesson{Text: "Use pnpm.", Kind: "correction", Scope: "person"}); got != want {
		t.Errorf("proposed %+v, want %+v", got, want)
	}
	call.Remember = func(context.Context, tools.Lesson) (string, error) {
		return "", errors.New("memory has that already: r-81qp")
	}
	if res := b.Run(call); !res.IsError || !strings.Contains(res.Content, "memory has that already: r-81qp") {
		t.Errorf("%+v", res)
	}
}
