package model

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Remedy names a change to a request. Without the change, the server has refused it.
type Remedy struct {
	Name string `json:"name"`
	// Until is a hash of the newest item that is left out; newer ones are sent. "" leaves out all items.
	Until string `json:"until,omitempty"`
}

// NoPictures is the name of the remedy that leaves out pictures. Without Until, it leaves out all of them.
const NoPictures = "no_pictures"

// TextOnly reports whether these remedies leave out all pictures.
func TextOnly(all []Remedy) bool { return slices.Contains(all, Remedy{Name: NoPictures}) }

// Needs holds the changes that requests to a model at an address need, because the server has refused requests without
// them. A session stores its Needs and applies them to all later requests.
type Needs struct {
	Model    string   `json:"model"`
	BaseURL  string   `json:"base_url"`
	Remedies []Remedy `json:"remedies,omitempty"` // all that the model needs
	Window   int      `json:"window,omitempty"`   // the window in tokens that the server reported; 0 = not reported
	Text     string   `json:"text"`               // what is new, for display: one line
}

// Of reports whether n belongs to the model i.
func (n Needs) Of(i Info) bool { return n.Model == i.Model && n.BaseURL == i.BaseURL }

// Refused reports whether the server refused the form of the request, so that it may accept another form. Refusals for
// other reasons, such as an account without credit or the content policy, do not count.
func (e *Error) Refused() bool {
	if e.Kind != StatusError && e.Kind != ReportedError {
		return false
	}
	return slices.Contains([]int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}, e.Status) && !e.final()
}

// accounts matches reasons for a refusal that no change to the request can avoid, because they concern the account, the
// key, the model or the region.
var accounts = regexp.MustCompile(`(?im)credit|billing|quota|balance|payment|overdue|arrears|spending|subscription` +
	`|api[ _-]?key|authenticat|unauthori[sz]ed|permission|access denied|(^|[^_])forbidden` +
	`|(no such|unknown|unsupported|invalid) model\b|model_not_found|model_not_supported|not a valid model|model\b[^.]{0,80}(not found|does ?n[o']t exist|does not exist)` +
	`|region\b|country|territory|location is not supported`)

// policies matches reasons for refusing the content of a request.
var policies = regexp.MustCompile(`(?i)content[ _-]?(filter|policy|management)|safety|moderation|flagged|policy[ _]violation|usage polic` +
	`|responsible ?ai|inspection|sensitive|inappropriate|prohibited|harmful|invalid_prompt`)

// labels matches the members of an error object that hold its type or code, but not its message.
var labels = regexp.MustCompile(`"(?:code|type|status|reason)"\s*:\s*"([^"]*)"`)

// final reports whether no change of the request can avoid the refusal.
func (e *Error) final() bool {
	why := e.why()
	return accounts.MatchString(why) || policies.MatchString(why)
}

// Policy reports whether the provider refused the content of the request, so that it would refuse the same content
// again.
func (e *Error) Policy() bool {
	if e.Kind != StatusError && e.Kind != ReportedError {
		return false
	}
	why := e.why()
	return slices.Contains([]int{http.StatusBadRequest, http.StatusForbidden, http.StatusUnprocessableEntity}, e.Status) &&
		policies.MatchString(why) && !accounts.MatchString(why)
}

// why returns the server's reasons for an error, without text that the server quotes from the request.
func (e *Error) why() string {
	said := []string{e.Said}
	for _, m := range labels.FindAllStringSubmatch(e.Body, 20) {
		said = append(said, m[1])
	}
	return strings.Join(said, "\n")
}
