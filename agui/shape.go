package agui

import "strings"

// shapes is what the clients' schemas say, in a small notation: a shape a line,
// its fields as name:kind, "!" for required, "!1" for required by 1.0.0 only.
// "&x" takes in the fields of x. A kind in brackets is an array of shapes, a
// kind that names a shape is an object of it. "a|b" after the name of a shape
// is a union, told apart by the field given first.
var shapes = parseShapes(`
base       timestamp:time metadata:object rawEvent:any
tagged     &base subagentRunId:string
message    &tagged messageId:string!
call       &tagged toolCallId:string!

RUN_STARTED    &base threadId:string! runId:string! protocolVersion:string parentRunId:string input:input
RUN_FINISHED   &base threadId:string! runId:string! result:any outcome:outcome usage:[usage]
RUN_ERROR      &base message:string! code:string usage:[usage]
STEP_STARTED   &tagged stepName:string!
STEP_FINISHED  &tagged stepName:string!

TEXT_MESSAGE_START    &message role:textrole name:string
TEXT_MESSAGE_CONTENT  &message delta:string!
TEXT_MESSAGE_END      &message
TEXT_MESSAGE_CHUNK    &tagged messageId:string role:textrole name:string delta:string
TOOL_CALL_START       &call toolCallName:string! parentMessageId:string
TOOL_CALL_ARGS        &call delta:string!
TOOL_CALL_END         &call
TOOL_CALL_CHUNK       &tagged toolCallId:string toolCallName:string parentMessageId:string delta:string
TOOL_CALL_RESULT      &message toolCallId:string! content:newcontent! role:=tool

REASONING_START            &message
REASONING_END              &message
REASONING_MESSAGE_START    &message role:=reasoning!
REASONING_MESSAGE_CONTENT  &message delta:string!
REASONING_MESSAGE_END      &message
REASONING_MESSAGE_CHUNK    &tagged messageId:string delta:string
REASONING_ENCRYPTED_VALUE  &tagged subtype:=message,tool-call! entityId:string! encryptedValue:string!

STATE_SNAPSHOT     &tagged snapshot:value!1
STATE_DELTA        &tagged delta:patch!
MESSAGES_SNAPSHOT  &base messages:[role]!
ACTIVITY_SNAPSHOT  &message activityType:string! content:object! replace:bool
ACTIVITY_DELTA     &message activityType:string! patch:patch!
RAW                &tagged event:value!1 source:string
CUSTOM             &tagged name:string! value:value!1

SUBAGENT_STARTED   &base subagentRunId:string! name:string! description:string parentSubagentRunId:string parentToolCallId:string parentMessageId:string
SUBAGENT_FINISHED  &base subagentRunId:string! result:any outcome:suboutcome
SUBAGENT_ERROR     &base subagentRunId:string! message:string! code:string

input      threadId:string! runId:string! protocolVersion:string parentRunId:string state:value messages:[role]! tools:[tool]!0 context:[context]!0 forwardedProps:any resume:[resume]
tool       name:string! description:string! parameters:any metadata:object
context    description:string! value:string!
resume     interruptId:string! status:=resolved,cancelled! payload:any metadata:object
usage      provider:string model:string inputTokens:count outputTokens:count totalTokens:count reasoningTokens:count cachedInputTokens:count cacheWriteInputTokens:count

outcome/type     success|interrupt|cancelled
success          pendingToolCallIds:strings
interrupt        interrupts:[question]!
cancelled        
question         id:string! reason:string! message:string toolCallId:string responseSchema:object expiresAt:string metadata:object subagentRunId:string
suboutcome/type  success|suspended
suspended        interruptIds:strings

common     id:string! name:string encryptedValue:string metadata:object subagentRunId:string
role/role  developer|system|user|assistant|tool-message|activity|reasoning
developer  &common content:string!
system     &common content:string!
user       &common content:content!
assistant  &common content:string toolCalls:[toolcall]
toolcall   id:string! type:=function! function:function! encryptedValue:string metadata:object
function   name:string! arguments:string!
tool-message  id:string! content:newcontent! toolCallId:string! error:string encryptedValue:string metadata:object subagentRunId:string
activity   id:string! activityType:string! content:object! metadata:object subagentRunId:string
reasoning  id:string! content:string! encryptedValue:string metadata:object subagentRunId:string

part/type  text|image|audio|video|document
text       id:string text:string! metadata:any
image      id:string source:source! metadata:any
audio      &image
video      &image
document   &image
source/type  data|url|file
data       value:string! mimeType:string!
url        value:string! mimeType:string
file       value:string! provider:string mimeType:string

op/op      add|remove|replace|move|copy|test
add        path:pointer! value:value!
replace    &add
test       &add
remove     path:pointer!
move       from:pointer! path:pointer!
copy       &move
`)

type shape struct {
	fields   map[string]rule
	required []string // in the order of the notation
	union    string   // the field that tells the variants apart
	variants map[string]string
}

type rule struct {
	kind    string
	literal []string // of a kind "=a,b"
	of      string   // the shape of the value, or of each element
	needed  string   // "" no, "!" always, "!0", "!1" by that client
}

func parseShapes(text string) map[string]*shape {
	all := map[string]*shape{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		name, union, _ := strings.Cut(words[0], "/")
		s := &shape{fields: map[string]rule{}, union: union}
		if union != "" {
			s.variants = map[string]string{}
			for v := range strings.SplitSeq(words[1], "|") {
				tag, _, _ := strings.Cut(v, "-message")
				s.variants[tag] = v
			}
			all[name] = s
			continue
		}
		for _, word := range words[1:] {
			s.add(word, all)
		}
		all[name] = s
	}
	return all
}

func (s *shape) add(word string, all map[string]*shape) {
	if from, ok := strings.CutPrefix(word, "&"); ok {
		for name, r := range all[from].fields {
			s.fields[name] = r
		}
		s.required = append(s.required, all[from].required...)
		return
	}
	name, kind, _ := strings.Cut(word, ":")
	r := rule{kind: kind}
	if i := strings.IndexByte(kind, '!'); i >= 0 {
		r.kind, r.needed = kind[:i], kind[i:]
		s.required = append(s.required, name)
	}
	if list, ok := strings.CutPrefix(r.kind, "="); ok {
		r.kind, r.literal = "literal", strings.Split(list, ",")
	}
	if of, ok := strings.CutPrefix(r.kind, "["); ok {
		r.kind, r.of = "array", strings.TrimSuffix(of, "]")
	}
	s.fields[name] = r
}

func (r rule) requiredBy(v Version) bool {
	return r.needed == "!" || r.needed == "!0" && v == V0 || r.needed == "!1" && v == V1
}
