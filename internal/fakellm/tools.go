package fakellm

import (
	"encoding/json"
	"slices"
	"sort"
	"strings"
)

// schema is what of a JSON schema decides a call's arguments.
type schema struct {
	Type       any               `json:"type"` // a name, in either case, or a list of names
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Enum       []any             `json:"enum"`
	Items      *schema           `json:"items"`
	AnyOf      []schema          `json:"anyOf"`
	Minimum    *float64          `json:"minimum"`
}

// UnmarshalJSON keeps what it understands: schemas may be true, false, or have
// forms that do not matter here.
func (s *schema) UnmarshalJSON(data []byte) error {
	type plain schema
	_ = json.Unmarshal(data, (*plain)(s))
	return nil
}

func (s schema) kind() string {
	switch t := s.Type.(type) {
	case string:
		return strings.ToLower(t)
	case []any:
		for _, one := range t {
			if name, ok := one.(string); ok && name != "null" {
				return strings.ToLower(name)
			}
		}
	}
	if s.Properties != nil {
		return "object"
	}
	if len(s.AnyOf) > 0 {
		return s.AnyOf[0].kind()
	}
	return ""
}

// maxDepth bounds made-up values: a schema may be of any depth.
const maxDepth = 8

// smallest returns a small value that the schema allows. Among choices "user"
// is taken if it is one: asked who speaks next, the answer has to be that.
func (s schema) smallest(depth int) any {
	if len(s.Enum) > 0 {
		if i := slices.Index(s.Enum, any("user")); i >= 0 {
			return s.Enum[i]
		}
		return s.Enum[0]
	}
	if s.Type == nil && len(s.AnyOf) > 0 && depth < maxDepth {
		return s.AnyOf[0].smallest(depth + 1)
	}
	switch s.kind() {
	case "boolean":
		return false
	case "integer", "number":
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 1
	case "array":
		return []any{}
	case "object":
		o := object{}
		for _, name := range s.Required {
			if depth < maxDepth {
				o[name] = s.Properties[name].smallest(depth + 1)
			}
		}
		return o
	}
	return "scripted"
}

// call is a tool call of the answer.
type call struct {
	id   string
	tool tool
	args object
}

func (c call) json() string {
	b, err := json.Marshal(c.args)
	if err != nil {
		return "{}"
	}
	return string(b)
}

// Names by which agents offer their tools, in order of preference, and the
// parameters that matter.
var (
	readers = []string{"read_file", "read", "view", "read_files", "read_text_file", "readfile"}
	shells  = []string{"bash", "shell", "run_shell_command", "shell_command", "exec_command", "local_shell", "execute_command", "run_command", "run_commands", "run_terminal_cmd"}
	writers = []string{"write_file", "write", "create", "write_to_file", "create_file"}

	pathNames    = []string{"absolute_path", "file_path", "filepath", "path", "target_file", "filename", "file", "paths", "files", "file_paths"}
	commandNames = []string{"command", "cmd", "script", "commands"}
	contentNames = []string{"content", "contents", "file_text", "text"}
)

func (r *request) find(names []string) (tool, bool) {
	for _, want := range names {
		for _, t := range r.tools {
			if strings.EqualFold(t.Name, want) {
				return t, true
			}
		}
	}
	return tool{}, false
}

// fill makes the arguments: what the script wants where the schema has a place
// for it, and the smallest value for all else that is required.
func (t tool) fill(wanted map[string]string, places map[string][]string) object {
	args := object{}
	if o, ok := t.Schema.smallest(0).(object); ok {
		args = o
	}
	keys := make([]string, 0, len(wanted))
	for what := range wanted {
		keys = append(keys, what)
	}
	sort.Strings(keys)
	for _, what := range keys {
		name, s := t.place(places[what])
		args[name] = s.holding(wanted[what], what == "command" && !strings.HasSuffix(name, "s"))
	}
	return args
}

func (t tool) place(names []string) (string, schema) {
	for _, want := range names {
		for name, s := range t.Schema.Properties {
			if strings.EqualFold(name, want) {
				return name, s
			}
		}
	}
	return names[0], schema{}
}

// holding puts a string where the schema has one: plain, in a list, or in a list of
// objects. A command given as a list of words goes through a shell.
func (s schema) holding(value string, words bool) any {
	if s.kind() != "array" {
		return value
	}
	if words {
		return []any{"bash", "-lc", value}
	}
	if s.Items != nil && s.Items.kind() == "object" {
		o, ok := s.Items.smallest(0).(object)
		if ok {
			inner := tool{Schema: *s.Items}
			name, _ := inner.place(append(slices.Clone(pathNames), commandNames...))
			o[name] = value
			return []any{o}
		}
	}
	return []any{value}
}

var places = map[string][]string{"path": pathNames, "command": commandNames, "content": contentNames}

func (r *request) read(path string) (call, bool) {
	if t, ok := r.find(readers); ok {
		return call{tool: t, args: t.fill(map[string]string{"path": path}, places)}, true
	}
	return r.shell("cat " + quote(path))
}

func (r *request) write(path, content string) (call, bool) {
	if t, ok := r.find(writers); ok {
		return call{tool: t, args: t.fill(map[string]string{"path": path, "content": content}, places)}, true
	}
	return r.shell("printf %s " + quote(content) + " > " + quote(path))
}

func (r *request) shell(command string) (call, bool) {
	t, ok := r.find(shells)
	if !ok {
		return call{}, false
	}
	return call{tool: t, args: t.fill(map[string]string{"command": command}, places)}, true
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
