package agent

import (
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
)

// A call with a typo in its tool's name runs the intended tool: the event keeps the original name, the result belongs
// to the call's id and reports the correction, and a resumed session sends the same bytes.
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

// The same holds for a typo in the name of an argument: the event keeps both names, the conversation the original
// call, and the corrected call is judged.
func TestSlipInTheNameOfAnArgumentIsCorrected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, files := withFiles(t, map[string]string{"a.txt": "one\n"})
		const wrote = `{"file_pth":"a.txt"}`
		s := start(t, files, says("", "c1 read_file "+wrote), says("done"))
		s.do(event.Submit{Text: "go"})
		asked, _ := find[event.ToolRequested](s)
		got, n := find[event.ToolResult](s)
		if asked.Slips() != "file_pth → path" || asked.Arguments != `{"path":"a.txt"}` || !strings.HasSuffix(asked.Action.Path, "/a.txt") {
			t.Errorf("requested %+v", asked)
		}
		if n != 1 || got.IsError || !strings.Contains(got.Result, "one") || !strings.Contains(got.Result, `no argument "file_pth": it was taken for path`) {
			t.Errorf("result %+v", got)
		}
		said, _ := find[event.ModelMessage](s)
		for _, m := range s.Messages() {
			if len(m.ToolCalls) > 0 {
				said.Message = m
			}
		}
		if len(said.Message.ToolCalls) != 1 || said.Message.ToolCalls[0].Arguments != wrote {
			t.Errorf("the conversation has %+v", said.Message)
		}
		s.stop()
	})
}
