package endpoint

import (
	"bytes"
	"net/http"

	"buddy/agent/model/sse"
)

// Post sends a JSON body to a path below the base URL, such as "/messages", and returns
// the events of the answer, which are closed with the Call. header may be nil. Its
// errors are those of Do.
func (c *Call) Post(path string, header http.Header, body []byte) (*sse.Reader, error) {
	req, err := http.NewRequestWithContext(c.ctx, http.MethodPost, c.e.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, c.Refused(withoutURL(err), false)
	}
	for k, v := range header {
		req.Header[k] = v
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	if _, err := c.Do(req); err != nil { //nolint:bodyclose // Close does
		return nil, err
	}
	return c.body, nil
}
