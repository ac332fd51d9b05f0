package lsp

import (
	"context"
	"encoding/json"

	"go.lsp.dev/protocol"
)

// settings are what the user can choose. In every place where a client may put them
// they stand in an object "sandbox", or are the object itself.
type settings struct {
	// BuildOnSave says that saving a file builds the project that it belongs to.
	BuildOnSave bool
}

func defaultSettings() settings { return settings{BuildOnSave: true} }

// read takes over what is set in a JSON value and leaves the rest as it is. What it
// does not understand it ignores, since clients hand over other tools' settings too.
func (s *settings) read(raw []byte) {
	var section struct {
		Sandbox     json.RawMessage `json:"sandbox"`
		BuildOnSave *bool           `json:"buildOnSave"`
	}
	if json.Unmarshal(raw, &section) != nil {
		return
	}
	if section.BuildOnSave != nil {
		s.BuildOnSave = *section.BuildOnSave
	}
	if len(section.Sandbox) > 0 {
		s.read(section.Sandbox)
	}
}

// didChangeConfiguration takes over settings that the client pushes, or asks for
// them when it can be asked.
func (s *server) didChangeConfiguration(p *protocol.DidChangeConfigurationParams) error {
	if s.client.configuration {
		s.spawn("reading the configuration", s.pullConfiguration)
		return nil
	}
	s.settings.read(p.Settings)
	return nil
}

// pullConfiguration asks the client for the settings (LSP 3.18, "Configuration
// Request").
func (s *server) pullConfiguration(ctx context.Context) {
	params := &protocol.ConfigurationParams{Items: []protocol.ConfigurationItem{{Section: new("sandbox")}}}
	var items []protocol.LSPAny
	if err := s.conn.call(ctx, protocol.MethodWorkspaceConfiguration, params, &items); err != nil {
		if ctx.Err() == nil {
			s.log.Warn("working with the settings that are known", "error", err)
		}
		return
	}
	if len(items) == 1 {
		s.conn.post(ctx, func() { s.settings.read(items[0]) })
	}
}
