package agent

import (
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
)

// A call with a slip in its tool's name runs as the tool that it means: the event keeps the name that the model
// wrote, the result belongs to the call's own id and says so, and a resumed session sends the same bytes.
func TestSlipInTheNameOfAToolIsCorrected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, files := withFiles(t, map[string]string{"a.txt": "one\n"})
		s := start(t, files, says("", `c1 readfile {"path":"a.txt"}`), says("done"))
		s.do(event.Submit{Text: "go"})
		asked, _ := find[event.ToolRequested](s)
		got, n := find[event.ToolResult](s)
		if asked.Name != "read_file" || asked.Corrected != "readfile" || asked.Action.Path == "" {
			t.Errorf("requested %+v", asked)
		}
		if n != 1 || got.IsError || got.CallID != asked.CallID || got.CallID != "c1" || !strings.Contains(got.Result, "one") || !strings.Contains(got.Result, `no tool "readfile": read_file was called`) {
			t.Errorf("result %+v", got)
		}
		if err := validate(s.request()); err != nil {
			t.Error(err)
		}
		before := s.Messages()
		s.stop()
		again := start(t, func(o *Options) { files(o); o.Replay = s.mem.events })
		if got := again.Messages(); !reflect.DeepEqual(got, before) {
			t.Errorf("resumed with\n%v\nwant\n%v", got, before)
		}
		again.stop()
	})
}
