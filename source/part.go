package source

// PartType says what a Part is.
type PartType string

// The types of parts.
const (
	PartText         PartType = "text"
	PartImage        PartType = "image"
	PartAudio        PartType = "audio"
	PartResourceLink PartType = "resource_link"
	PartResource     PartType = "resource"
)

// Part is a piece of a prompt. A source turns a part that its agent does not
// take into text.
type Part struct {
	Type     PartType
	Text     string // of text, and of a resource that is text
	URI      string // of a link or resource; of an image where it comes from
	Name     string // of a link, for people
	MIMEType string
	Data     string // base64: image, audio, or a resource that is not text
}
