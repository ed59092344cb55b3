package term

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/agentstream-go/agentstream/source"
)

// field is one property of a form.
type field struct {
	name     string
	required bool

	Type        string          `json:"type"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Default     json.RawMessage `json:"default"`
	Enum        []string        `json:"enum"`
	OneOf       []titled        `json:"oneOf"`
	Items       struct {
		Enum  []string `json:"enum"`
		AnyOf []titled `json:"anyOf"`
	} `json:"items"`
}

// titled is a value with a name for people.
type titled struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// fill asks for the fields of a form one after another, or whether a page was
// dealt with. The end of input declines.
func (r *Renderer) fill(ctx context.Context, q source.Request, in *Input) source.Answer {
	e := q.Elicitation
	r.mu.Lock()
	r.heading(cmp.Or(e.Message, q.Title, "The agent asks for something."), "")
	if e.URL != "" {
		r.force(plain, "    "+oneLine(e.URL)+"\n")
	}
	r.mu.Unlock()
	content := map[string]any{}
	if e.Mode == "url" {
		line, err := r.prompt(ctx, in, "  done? [y/n] ")
		if yes, ok := boolean(line); err != nil || !ok || !yes {
			return source.Answer{Declined: true}
		}
		return source.Answer{Content: json.RawMessage("{}")}
	}
	fields, err := fieldsOf(e.Schema)
	if err != nil {
		r.mu.Lock()
		r.force(red, "  the form cannot be read: "+oneLine(err.Error())+"\n")
		r.mu.Unlock()
		return source.Answer{Declined: true}
	}
	for _, f := range fields {
		v, ok := r.field(ctx, f, in)
		if !ok {
			return source.Answer{Declined: true}
		}
		if v != nil {
			content[f.name] = v
		}
	}
	data, err := json.Marshal(content)
	if err != nil {
		return source.Answer{Declined: true}
	}
	return source.Answer{Content: data}
}

// field asks for one value; nil: left empty. It gives up after some tries.
func (r *Renderer) field(ctx context.Context, f field, in *Input) (any, bool) {
	sign := "  " + oneLine(cmp.Or(f.Title, f.name))
	if choices := f.choices(); len(choices) > 0 {
		var names []string
		for i, c := range choices {
			names = append(names, strconv.Itoa(i+1)+" "+oneLine(cmp.Or(c.Title, c.Const)))
		}
		sign += " (" + strings.Join(names, ", ") + ")"
	} else if f.Type == "boolean" {
		sign += " (y/n)"
	}
	if len(f.Default) > 0 && string(f.Default) != "null" {
		sign += " [" + oneLine(strings.Trim(string(f.Default), `"`)) + "]"
	}
	for range tries {
		line, err := r.prompt(ctx, in, sign+": ")
		if err != nil {
			return nil, false
		}
		if line = strings.TrimSpace(line); line == "" {
			switch {
			case len(f.Default) > 0 && string(f.Default) != "null":
				return f.Default, true
			case !f.required:
				return nil, true
			}
			continue
		}
		if v, ok := f.value(line); ok {
			return v, true
		}
	}
	return nil, false
}

// choices are the values that a field is limited to, none if it is not.
func (f field) choices() []titled {
	values, named := f.Enum, f.OneOf
	if f.Type == "array" {
		values, named = f.Items.Enum, f.Items.AnyOf
	}
	if len(named) > 0 {
		return named
	}
	var list []titled
	for _, v := range values {
		list = append(list, titled{Const: v})
	}
	return list
}

// value reads what was typed as the field's type.
func (f field) value(line string) (any, bool) {
	switch f.Type {
	case "boolean":
		return boolean(line)
	case "integer":
		n, err := strconv.ParseInt(line, 10, 64)
		return n, err == nil
	case "number":
		n, err := strconv.ParseFloat(line, 64)
		return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
	case "array":
		list := []string{}
		for part := range strings.SplitSeq(line, ",") {
			v, ok := f.choice(strings.TrimSpace(part))
			if !ok {
				return nil, false
			}
			list = append(list, v)
		}
		return list, true
	}
	if len(f.choices()) > 0 {
		return f.choice(line)
	}
	return line, true
}

// choice is a value by its number, itself or its title.
func (f field) choice(text string) (string, bool) {
	choices := f.choices()
	i := slices.IndexFunc(choices, func(c titled) bool {
		return strings.EqualFold(text, c.Const) || c.Title != "" && strings.EqualFold(text, c.Title)
	})
	if n, err := strconv.Atoi(text); i < 0 && err == nil {
		i = n - 1
	}
	if i < 0 || i >= len(choices) {
		return "", false
	}
	return choices[i].Const, true
}

func boolean(text string) (value, ok bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "y", "yes", "true", "1":
		return true, true
	case "n", "no", "false", "0":
		return false, true
	}
	return false, false
}

// fieldsOf reads a flat schema; the properties keep the order of the text.
func fieldsOf(schema json.RawMessage) ([]field, error) {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, err
	}
	if len(s.Properties) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(s.Properties))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, fmt.Errorf("properties is no object")
	}
	var list []field
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := key.(string)
		f := field{name: name, required: slices.Contains(s.Required, name)}
		if err := d.Decode(&f); err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}
