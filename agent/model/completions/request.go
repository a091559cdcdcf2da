package completions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	openai "github.com/sashabaranov/go-openai"

	"buddy/agent/model"
	"buddy/agent/model/endpoint"
)

// encode writes the messages array. Our own encoding is the authority: unknown fields
// and an explicit null content survive (M01, M02), and a message gives the same bytes
// in every request (C11).
func encode(msgs []model.Message) ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('[')
	for i, m := range msgs {
		if i > 0 {
			out.WriteByte(',')
		}
		b, err := m.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		out.Write(b)
	}
	out.WriteByte(']')
	return out.Bytes(), nil
}

// tools returns nil when there are none, so that the request has no such key (A07).
func tools(defs []model.ToolDef) []openai.Tool {
	var out []openai.Tool
	for _, d := range defs {
		if len(d.Parameters) == 0 {
			d.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out = append(out, openai.Tool{
			Type:     openai.ToolTypeFunction,
			Function: &openai.FunctionDefinition{Name: d.Name, Description: d.Description, Parameters: d.Parameters},
		})
	}
	return out
}

// sender is the SDK's HTTP client for one request: it puts the messages in.
type sender struct {
	call     *endpoint.Call
	messages []byte
}

// noMessages is how the SDK encodes a request without messages. Before it comes only
// the model's name, in which a quote is escaped.
var noMessages = []byte(`"messages":null`)

func (s sender) Do(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	head, tail, ok := bytes.Cut(body, noMessages)
	if !ok {
		return nil, errors.New("the request has no place for messages")
	}
	key := noMessages[:len(noMessages)-len("null")]
	body = bytes.Join([][]byte{head, key, s.messages, tail}, nil)
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, _ = req.GetBody()
	return s.call.Do(req)
}
