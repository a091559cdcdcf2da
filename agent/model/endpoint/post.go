package endpoint

import (
	"bytes"
	"maps"
	"net/http"
)

// Post sends a JSON body to a path below the base URL, such as "/messages", and returns when the answer starts; read it
// with Next. header may be nil. The errors are those of Do.
func (c *Call) Post(path string, header http.Header, body []byte) error {
	req, err := http.NewRequestWithContext(c.ctx, http.MethodPost, c.e.base+path, bytes.NewReader(body))
	if err != nil {
		return c.Refused(withoutURL(err), false)
	}
	maps.Copy(req.Header, header)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	_, err = c.Do(req) //nolint:bodyclose // Close does
	return err
}
