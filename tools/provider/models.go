package provider

// models answers GET /v1/models for both vendors: each reads its own members.
type models struct {
	Object  string      `json:"object"`
	Data    []modelInfo `json:"data"`
	Models  []any       `json:"models"` // Codex reads this one
	HasMore bool        `json:"has_more"`
}

type modelInfo struct {
	ID          string `json:"id"`
	Object      string `json:"object"`
	Type        string `json:"type"`
	DisplayName string `json:"display_name"`
	Created     int    `json:"created"`
	OwnedBy     string `json:"owned_by"`
}

func modelList(model string) models {
	return models{
		Object: "list", Models: []any{},
		Data: []modelInfo{{ID: model, Object: "model", Type: "model", DisplayName: model, Created: created, OwnedBy: "system"}},
	}
}
