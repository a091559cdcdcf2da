package agent

import (
	"strings"
	"testing"
	"testing/synctest"

	"buddy/agent/event"
	"buddy/agent/model"
)

// TestPicturesLeftOutAreToldOnce: a session with a picture continues with a model that accepts none, with one
// warning; a picture in a new prompt is still rejected.
func TestPicturesLeftOutAreToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		img := model.Image{MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\nrest")}
		s := start(t, func(o *Options) {
			answers := o.Model.(*script)
			o.Model = described{answers, model.Info{Profile: "p-sees", Model: "sees", Window: 100_000}}
			o.Models = func(string, string) (model.Model, error) {
				return described{answers, model.Info{Profile: "p-blind", Model: "blind", Window: 100_000, TextOnly: true}}, nil
			}
		}, says("a cat"), says("one"), says("two"))
		told := func() (all []event.Warning) {
			s.mu.Lock()
			defer s.mu.Unlock()
			for _, env := range s.seen {
				if w, ok := env.Payload.(event.Warning); ok && w.Code == "pictures" {
					all = append(all, w)
				}
			}
			return all
		}
		s.do(event.Submit{Text: "what is it?", Images: []model.Image{img}})
		if got := told(); len(got) != 0 {
			t.Errorf("a model that takes pictures: %+v", got)
		}
		s.do(event.SwitchModel{Profile: "p-blind"})
		s.do(event.Submit{Text: "one"})
		s.do(event.Submit{Text: "two"})
		if got := told(); len(got) != 1 || !strings.HasPrefix(got[0].Text, "blind doesn't accept pictures") {
			t.Errorf("told %+v", got)
		}
		s.do(event.Submit{Text: "and this?", Images: []model.Image{img}})
		if e, _ := find[event.Error](s); e.Text != "prompt not sent: blind doesn't accept images" {
			t.Errorf("error %+v", e)
		}
		s.stop()
	})
}
