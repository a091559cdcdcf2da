package modeltest_test

import (
	"strings"
	"testing"

	"buddy/agent/model"
	"buddy/agent/model/modeltest"
)

// TestImagesLeftOut: a model that takes no pictures, by its name or after a refusal, gets a text in place of each,
// without further refusals.
func TestImagesLeftOut(t *testing.T) {
	const (
		text    = "[picture left out: the model takes no pictures]"
		gptOSS  = "openai/gpt-oss-120b"
		invalid = "unknown variant `image_url`, expected `text`"
	)
	for _, tt := range []struct {
		name, model string
		status      int
		body        string
		asks        int // requests for two prompts
	}{
		{"known", gptOSS, 0, "", 2},
		{"400", "", 400, `{"error":{"message":"Failed to deserialize the JSON body: messages[5]: ` + invalid + `"}}`, 3},
		{"404", "", 404, `{"error":{"message":"No endpoints found that support image input","code":404}}`, 3},
		{"422", "", 422, invalid, 3},
		{"500", "", 500, `{"error":{"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"}}`, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			modeltest.Each(t, func(t *testing.T, p modeltest.Protocol) {
				n := 0
				srv := modeltest.Start(t, func(modeltest.Request) modeltest.Answer {
					if n++; n == 1 && tt.status != 0 {
						return modeltest.Answer{modeltest.Status{Code: tt.status, Body: tt.body}}
					}
					return modeltest.Answer{modeltest.Text("ok")}
				})
				m := p.New(t, modeltest.Config{BaseURL: srv.URL, Model: tt.model})
				if m.Info().TextOnly != (tt.model != "") {
					t.Errorf("%+v", m.Info())
				}
				msgs := []model.Message{
					{Role: model.User, Content: "what is this?", Images: []model.Image{png}},
					{Role: model.Assistant, Content: "a cat"},
					{Role: model.User, Images: []model.Image{png, png}},
				}
				for range 2 {
					if r := modeltest.Collect(t.Context(), m, model.Request{Messages: msgs}); r.Err != nil {
						t.Fatal(r.Err)
					}
				}
				all := srv.Requests()
				last := all[len(all)-1]
				if len(all) != tt.asks || len(last.Messages) != 3 || last.Messages[0].Content != "what is this?\n\n"+text || last.Messages[2].Content != text+"\n"+text || strings.Contains(string(last.Body), "image/png") {
					t.Errorf("%d requests, the last %s", len(all), last.Body)
				}
				if !m.Info().TextOnly || msgs[0].Images == nil || msgs[0].Content != "what is this?" {
					t.Errorf("%+v, the history has %+v", m.Info(), msgs[0])
				}
			})
		})
	}
}

// TestImagesStayAfterOtherErrors: errors that are not about pictures, and requests without any, change nothing.
func TestImagesStayAfterOtherErrors(t *testing.T) {
	for _, tt := range []struct {
		message model.Message
		body    string
	}{
		{model.Message{Role: model.User, Content: "a", Images: []model.Image{png}}, "no such model"},
		{model.Message{Role: model.User, Content: "a"}, "image_url: no such model"},
	} {
		modeltest.Each(t, func(t *testing.T, p modeltest.Protocol) {
			srv := modeltest.Start(t, modeltest.Steps(modeltest.Answer{modeltest.Status{Code: 400, Body: tt.body}}))
			m := p.Connect(t, srv.URL)
			r := modeltest.Collect(t.Context(), m, model.Request{Messages: []model.Message{tt.message}})
			if r.Err == nil || len(srv.Requests()) != 1 || m.Info().TextOnly {
				t.Errorf("%v, %d requests, %+v", r.Err, len(srv.Requests()), m.Info())
			}
		})
	}
}
