package login

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"buddy/config"
)

// beginCode starts the code flow with PKCE (RFC 6749, 7636, 8252) for issuers without the device flow: the browser has
// to be on this machine, because it returns to a port here.
func (c *Client) beginCode(l config.Login, conf *oauth2.Config) (*Flow, error) {
	back, err := listen(0, "")
	if err != nil {
		return nil, err
	}
	conf.RedirectURL = back.url
	verifier, state := oauth2.GenerateVerifier(), rand.Text()
	f := &Flow{
		URL: visible(conf.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier))), Expires: time.Now().Add(flowTimeout),
		client: c, login: l,
	}
	f.finish = func(ctx context.Context) error {
		defer back.close()
		got, err := back.wait(ctx)
		switch {
		case err != nil:
			return err
		case got.State != state:
			return errors.New("the browser came back from another login: log in again")
		case got.Iss != "" && strings.TrimRight(got.Iss, "/") != strings.TrimRight(l.Issuer, "/"):
			return fmt.Errorf("the browser came back from %q, not from %s", visible(got.Iss), l.Issuer)
		}
		token, err := conf.Exchange(c.in(ctx), got.Code, oauth2.VerifierOption(verifier))
		if err != nil {
			return fmt.Errorf("%s: %w", l.Issuer, explain(err))
		}
		return c.keep(ctx, l, token)
	}
	return f, nil
}

// maxAnswer limits the answer with a key, in bytes.
const maxAnswer = 64 << 10

// BeginKey starts a login in the browser at a provider that gives every program an API key for the user
// (openrouter.ai/docs/guides/overview/auth/oauth). The key is stored as the provider's key.
func (c *Client) BeginKey(provider string, at config.KeyPage) (*Flow, error) {
	if !safeURL(at.Page) || !safeURL(at.Exchange) {
		return nil, fmt.Errorf("%s: the login page is neither https nor on this machine", provider)
	}
	back, err := listen(0, rand.Text())
	if err != nil {
		return nil, err
	}
	verifier := oauth2.GenerateVerifier()
	page := at.Page + "?" + url.Values{
		"callback_url": {back.url}, "code_challenge": {oauth2.S256ChallengeFromVerifier(verifier)}, "code_challenge_method": {"S256"},
	}.Encode()
	f := &Flow{URL: visible(page), Expires: time.Now().Add(flowTimeout), client: c}
	f.finish = func(ctx context.Context) error {
		defer back.close()
		got, err := back.wait(ctx)
		if err != nil {
			return err
		}
		key, err := c.exchangeKey(ctx, at.Exchange, map[string]string{"code": got.Code, "code_verifier": verifier, "code_challenge_method": "S256"})
		if err != nil {
			return fmt.Errorf("%s: %w", provider, err)
		}
		_, err = c.store.SetKey(ctx, provider, key)
		return err
	}
	return f, nil
}

// exchangeKey exchanges a code for a key. Errors never contain the answer, which may hold the key.
func (c *Client) exchangeKey(ctx context.Context, at string, form map[string]string) (string, error) {
	body, err := json.Marshal(form)
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return "", explain(err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	var answer struct{ Key string }
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch {
	case resp.StatusCode != http.StatusOK:
		return "", fmt.Errorf("refused the login (status %d): log in again", resp.StatusCode)
	case err != nil:
		return "", err
	case json.Unmarshal(data, &answer) != nil || answer.Key == "":
		return "", errors.New("the answer contains no key")
	}
	return answer.Key, nil
}
