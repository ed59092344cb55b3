package acp

import "github.com/agentstream-go/agentstream/source"

type promptBlock struct {
	Type     string    `json:"type"`
	Text     *string   `json:"text,omitempty"`
	Data     string    `json:"data,omitempty"`
	MIMEType string    `json:"mimeType,omitempty"`
	URI      string    `json:"uri,omitempty"`
	Name     string    `json:"name,omitempty"`
	Resource *resource `json:"resource,omitempty"`
}

type resource struct {
	URI      string  `json:"uri"`
	MIMEType string  `json:"mimeType,omitempty"`
	Text     *string `json:"text,omitempty"`
	Blob     string  `json:"blob,omitempty"`
}

// prompt gives the parts as content blocks. What the agent did not say it
// takes becomes text, or a link if it has an address.
func (c *capabilities) prompt(parts []source.Part) []promptBlock {
	out := []promptBlock{}
	for _, p := range parts {
		out = append(out, c.one(p))
	}
	return out
}

func (c *capabilities) one(p source.Part) promptBlock {
	switch p.Type {
	case source.PartImage:
		if c.image && p.Data != "" {
			return promptBlock{Type: "image", Data: p.Data, MIMEType: p.MIMEType, URI: p.URI}
		}
	case source.PartAudio:
		if c.audio && p.Data != "" {
			return promptBlock{Type: "audio", Data: p.Data, MIMEType: p.MIMEType}
		}
	case source.PartResourceLink:
		return linkBlock(p)
	case source.PartResource:
		if c.embed && p.URI != "" {
			r := &resource{URI: p.URI, MIMEType: p.MIMEType, Blob: p.Data}
			if p.Data == "" {
				r.Text = &p.Text
			}
			return promptBlock{Type: "resource", Resource: r}
		}
	default:
		return textBlock(p.Text)
	}
	return fallback(p)
}

func textBlock(text string) promptBlock { return promptBlock{Type: "text", Text: &text} }

func linkBlock(p source.Part) promptBlock {
	name := p.Name
	if name == "" {
		name = p.URI
	}
	return promptBlock{Type: "resource_link", URI: p.URI, Name: name, MIMEType: p.MIMEType}
}

// fallback gives a part in a form that every agent takes.
func fallback(p source.Part) promptBlock {
	switch {
	case p.Text != "" && p.URI != "":
		return textBlock("<resource uri=\"" + p.URI + "\">\n" + p.Text + "\n</resource>")
	case p.Text != "":
		return textBlock(p.Text)
	case p.URI != "":
		return linkBlock(p)
	}
	label := string(p.Type)
	if p.MIMEType != "" {
		label += " " + p.MIMEType
	}
	return textBlock("[" + label + ", which this agent does not take]")
}
