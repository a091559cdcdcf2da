package model

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Remedy is a change of requests that a server takes after it has refused them as they were.
type Remedy struct {
	Name string `json:"name"`
	// Until is a hash of the newest thing that is left out: what comes after it is sent. "" means all.
	Until string `json:"until,omitempty"`
}

// NoPictures is the name of the remedy that leaves out pictures; without an Until the model takes none.
const NoPictures = "no_pictures"

// TextOnly reports whether a model with these remedies takes no pictures at all.
func TextOnly(all []Remedy) bool { return slices.Contains(all, Remedy{Name: NoPictures}) }

// Needs says what requests to a model at an address need, learnt from what its server refused. The
// session stores it, and each later request carries it.
type Needs struct {
	Model    string   `json:"model"`
	BaseURL  string   `json:"base_url"`
	Remedies []Remedy `json:"remedies,omitempty"` // all that the model needs
	Window   int      `json:"window,omitempty"`   // tokens that the server says it takes; 0 = it did not say
	Text     string   `json:"text"`               // what is new, for people: one line
}

// Of reports whether they are those of a model.
func (n Needs) Of(i Info) bool { return n.Model == i.Model && n.BaseURL == i.BaseURL }

// Refused reports whether the server refused the request as it was written, so that another form of it may be
// taken: not for what no form changes, such as an account without credit or the provider's content policy.
func (e *Error) Refused() bool {
	if e.Kind != StatusError && e.Kind != ReportedError {
		return false
	}
	return slices.Contains([]int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}, e.Status) && !e.final()
}

// accounts match what providers say of requests that no change heals: the account, the key, the model, the region.
var accounts = regexp.MustCompile(`(?im)credit|billing|quota|balance|payment|overdue|arrears|spending|subscription` +
	`|api[ _-]?key|authenticat|unauthori[sz]ed|permission|access denied|(^|[^_])forbidden` +
	`|(no such|unknown|unsupported|invalid) model\b|model_not_found|model_not_supported|not a valid model|model\b[^.]{0,80}(not found|does ?n[o']t exist|does not exist)` +
	`|region\b|country|territory|location is not supported`)

// policies match what providers say of a request whose content they do not take.
var policies = regexp.MustCompile(`(?i)content[ _-]?(filter|policy|management)|safety|moderation|flagged|policy[ _]violation|usage polic` +
	`|responsible ?ai|inspection|sensitive|inappropriate|prohibited|harmful|invalid_prompt`)

// labels match the type or code of an error object, which is not its message.
var labels = regexp.MustCompile(`"(?:code|type|status|reason)"\s*:\s*"([^"]*)"`)

// final reports whether a refusal is one that no change of the request heals.
func (e *Error) final() bool {
	why := e.why()
	return accounts.MatchString(why) || policies.MatchString(why)
}

// Policy reports whether the provider refused the content of the request, so that it would refuse the same again.
func (e *Error) Policy() bool {
	if e.Kind != StatusError && e.Kind != ReportedError {
		return false
	}
	why := e.why()
	return slices.Contains([]int{http.StatusBadRequest, http.StatusForbidden, http.StatusUnprocessableEntity}, e.Status) &&
		policies.MatchString(why) && !accounts.MatchString(why)
}

// why returns what a server says of the reasons of an error. What it quotes of the request is not in it.
func (e *Error) why() string {
	said := []string{e.Said}
	for _, m := range labels.FindAllStringSubmatch(e.Body, 20) {
		said = append(said, m[1])
	}
	return strings.Join(said, "\n")
}
