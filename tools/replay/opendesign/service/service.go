// Package service reads error texts as OpenDesign v0.19.2 does before it
// classifies a failure: is this about sign-in, limits, or a provider in
// trouble? (Report on OpenDesign v0.19.2, sections 4, 5.3 and 1.3.) The
// readings are only as good as OpenDesign's: numbers and words in unrelated
// text mislead them, and that is kept.
package service

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign/jstext"
)

// The error codes that a text can lead to.
const (
	AuthRequired        = "AGENT_AUTH_REQUIRED"
	RateLimited         = "RATE_LIMITED"
	UpstreamUnavailable = "UPSTREAM_UNAVAILABLE"
	ConnectionDropped   = "AGENT_CONNECTION_DROPPED"
	ExecutionFailed     = "AGENT_EXECUTION_FAILED"
	RoleMarker          = "ROLE_MARKER_HALLUCINATION"
	InsufficientBalance = "AMR_INSUFFICIENT_BALANCE"
	TierUpgrade         = "AMR_TIER_UPGRADE_REQUIRED"
	AccountAuth         = "AMR_AUTH_REQUIRED"
)

// status returns expressions for an HTTP status number with context: "exit
// code 401" and "line 500" have none, "error 503" and "code: 429" do.
func status(number string) []string {
	var list []string
	for _, context := range [...]string{
		`\bhttp(?:[ /]?\d(?:\.\d)?)?\b[\s:=#-]*`,
		`\bstatus(?:[ _-]?code)?\b[\s:=#-]*`,
		`\berror(?:[ _-]?code)?\b[\s:=#-]*`,
		`\bresponse(?:[ _-]?code)?\b[\s:=#-]*`,
		`\bcode\s*[:=#][\s:=#-]*`,
		`\b(?:server|http)[ _-]?error\b[\s:=#-]*`,
	} {
		list = append(list, context+number+`\b`)
	}
	return list
}

var (
	authWords = jstext.Words(
		`unauthori[zs]ed`, `authenticate`, `authenticated`, `authentication`,
		`invalid[ _-]?(?:api[ _-]?)?key`, `incorrect api key`, `no api key`, `x-api-key`, `missing[ _-]?credentials?`,
		`not authenticated`, `not logged[ _-]?in`, `please (?:sign|log)[ _-]?in`, `oauth token (?:has )?expired`,
		`session expired`, `credentials? (?:are )?(?:missing|invalid|required)`)
	authStatus = jstext.Any(append(status("401"), `/login\b`)...)

	rateWords = jstext.Words(
		`rate[ _-]?limit`, `too many requests`, `quota`, `insufficient[ _-]?(?:quota|balance|credit|funds)`,
		`credit balance is too low`, `exceeded your current quota`, `usage limit`, `session limit`, `limit reached`,
		`billing (?:hard )?limit`)
	rateStatus = jstext.Any(status("429")...)

	upstreamWords = jstext.Words(
		`overloaded`, `overloaded_error`, `service (?:is )?(?:temporarily )?unavailable`, `bad gateway`, `gateway timeout`,
		`internal server error`, `upstream (?:error|unavailable)`, `provider (?:error|unavailable)`, `temporarily unavailable`,
		`model is currently overloaded`, `5xx`)
	upstreamStatus = jstext.Any(append(status(`5\d\d`),
		`\b5\d\d\s+(?:bad gateway|service unavailable|internal server error|gateway timeout)`)...)
)

// Code returns the error code that a text of any agent leads to: AuthRequired,
// RateLimited, UpstreamUnavailable, or "". Sign-in words win over limits,
// limits over provider trouble.
func Code(text string) string {
	switch t := jstext.Fold(text); {
	case authWords.Match(t) || authStatus.Match(t):
		return AuthRequired
	case rateWords.Match(t) || rateStatus.Match(t):
		return RateLimited
	case upstreamWords.Match(t) || upstreamStatus.Match(t):
		return UpstreamUnavailable
	}
	return ""
}

var accountBalance = []string{
	"insufficient_balance", "insufficient balance", "insufficient wallet balance", "insufficient credit",
	"insufficient funds", "not enough balance", "not enough credits", "balance is empty", "balance too low",
	"billing balance", "预扣费额度失败", "余额不足", "额度不足",
}

var accountAuth = []string{
	"auth_required", "authentication required", "not authenticated", "unauthenticated", "not logged in", "login missing",
	"sign in again", "sign-in required", "signin required", "token has expired", "expired token", "invalid session",
	"session expired",
}

var moneyWords = jstext.Words("wallet", "balance", "credit", "billing", "funds?")

// AccountCode returns the account error that a text leads to, for whatever
// agent: InsufficientBalance, TierUpgrade, AccountAuth, or "".
func AccountCode(text string) string {
	t := jstext.Lower(text)
	switch {
	case has(t, accountBalance) || strings.Contains(t, "quota") && moneyWords.Match(jstext.Text(t)):
		return InsufficientBalance
	case strings.Contains(t, "tier_model_not_entitled"), strings.Contains(t, "tier_request_kind_not_entitled"):
		return TierUpgrade
	case has(t, accountAuth):
		return AccountAuth
	}
	return ""
}

func has(t string, literals []string) bool {
	for _, l := range literals {
		if strings.Contains(t, l) {
			return true
		}
	}
	return false
}
