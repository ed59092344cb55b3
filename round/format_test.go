package round

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream"
)

func ptr[T any](v T) *T { return &v }

// conversation has everything that a provider may write differently.
func conversation(t testing.TB) []*schema.Message {
	t.Helper()
	var rounds []Round
	b := NewBuilder(Config{Prefix: testPrefix, OnRound: func(r Round) { rounds = append(rounds, r) }})
	b.OnThoughtChunk("Look at it.")
	b.OnMessageChunk("I look.")
	b.OnToolCall("a", "look")
	b.OnToolCall("b", "ls")
	b.OnToolCallArgsSnapshot("a", `{"at":12345678901234567890}`)
	agentstream.Send(b, agentstream.Media{ID: "a", MIMEType: "image/png", Data: "AAAA"})
	agentstream.Send(b, agentstream.Media{ID: "a", MIMEType: "image/tiff", Data: "BBBB"})
	b.OnToolCallUpdate("b", "", completed)
	b.OnToolCallUpdate("a", "a cat", failed)
	b.OnThoughtChunk("Only a thought.")
	b.OnToolCall("c", "nothing")
	b.OnToolCallUpdate("c", " ", completed)
	b.OnThoughtChunk("The end.")
	b.Close("")
	messages := []*schema.Message{{Role: schema.User, UserInputMultiContent: []schema.MessageInputPart{
		{Type: schema.ChatMessagePartTypeText, Text: "What is it?"},
		{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageInputImage{MessagePartCommon: schema.MessagePartCommon{URL: ptr("https://x/y.png")}}},
		{Type: schema.ChatMessagePartTypeAudioURL, Audio: &schema.MessageInputAudio{MessagePartCommon: schema.MessagePartCommon{Base64Data: ptr("CCCC"), MIMEType: "audio/wav"}}},
		{Type: schema.ChatMessagePartTypeVideoURL, Video: &schema.MessageInputVideo{MessagePartCommon: schema.MessagePartCommon{URL: ptr("https://x/v.mp4")}}},
		{Type: schema.ChatMessagePartTypeFileURL, File: &schema.MessageInputFile{Name: "a.pdf", MessagePartCommon: schema.MessagePartCommon{Base64Data: ptr("DDDD"), MIMEType: "application/pdf"}}},
		{Type: schema.ChatMessagePartTypeFileURL, File: &schema.MessageInputFile{Name: "b.txt", MessagePartCommon: schema.MessagePartCommon{URL: ptr("file:///b.txt")}}},
	}}}
	for _, r := range latest(rounds) {
		messages = append(messages, r.Messages...)
	}
	return append(messages, schema.UserMessage("And now?"))
}

func TestFormat(t *testing.T) {
	messages := conversation(t)
	for provider, want := range map[string]string{
		OpenAI: `[
{"role":"user","content":[
 {"type":"text","text":"What is it?"},
 {"type":"image_url","image_url":{"url":"https://x/y.png"}},
 {"type":"input_audio","input_audio":{"data":"CCCC","format":"wav"}},
 {"type":"text","text":"https://x/v.mp4"},
 {"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,DDDD"}},
 {"type":"text","text":"[b.txt](file:///b.txt)"}]},
{"role":"assistant","content":"I look.","tool_calls":[
 {"id":"abcd1234-c3","type":"function","function":{"name":"look","arguments":"{\"at\":12345678901234567890}"}},
 {"id":"abcd1234-c4","type":"function","function":{"name":"ls","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"abcd1234-c3","content":"a cat\n[image image/png]\n[image image/tiff]"},
{"role":"tool","tool_call_id":"abcd1234-c4","content":""},
{"role":"assistant","content":null,"tool_calls":[{"id":"abcd1234-c9","type":"function","function":{"name":"nothing","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"abcd1234-c9","content":" "},
{"role":"user","content":"And now?"}]`,
		Anthropic: `[
{"role":"user","content":[
 {"type":"text","text":"What is it?"},
 {"type":"image","source":{"type":"url","url":"https://x/y.png"}},
 {"type":"text","text":"[audio audio/wav]"},
 {"type":"text","text":"https://x/v.mp4"},
 {"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"DDDD"}},
 {"type":"text","text":"[b.txt](file:///b.txt)"}]},
{"role":"assistant","content":[
 {"type":"text","text":"I look."},
 {"type":"tool_use","id":"abcd1234-c3","name":"look","input":{"at":12345678901234567890}},
 {"type":"tool_use","id":"abcd1234-c4","name":"ls","input":{}}]},
{"role":"user","content":[
 {"type":"tool_result","tool_use_id":"abcd1234-c3","is_error":true,"content":[
  {"type":"text","text":"a cat"},
  {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},
  {"type":"text","text":"[image image/tiff]"}]},
 {"type":"tool_result","tool_use_id":"abcd1234-c4"}]},
{"role":"assistant","content":[{"type":"tool_use","id":"abcd1234-c9","name":"nothing","input":{}}]},
{"role":"user","content":[
 {"type":"tool_result","tool_use_id":"abcd1234-c9"},
 {"type":"text","text":"And now?"}]}]`,
	} {
		t.Run(provider, func(t *testing.T) {
			if err := Validate(provider, messages); err != nil {
				t.Error(err)
			}
			got, err := Format(provider, messages)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(numbers(t, []byte(want)), numbers(t, got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// numbers parses JSON and keeps the digits of its numbers.
func numbers(t *testing.T, data []byte) any {
	t.Helper()
	v, ok := tree(data)
	if !ok {
		t.Fatalf("no JSON: %s", data)
	}
	return v
}

func TestFormatEinoReadsBack(t *testing.T) {
	messages := conversation(t)
	data, err := Format(Eino, messages)
	if err != nil {
		t.Fatal(err)
	}
	var back []*schema.Message
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(messages, back); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	for i := range messages {
		want, _ := InfoOf(messages[i])
		got, _ := InfoOf(back[i])
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("message %d (-written +read):\n%s", i, diff)
		}
	}
}

func TestFormatRefuses(t *testing.T) {
	robot := []*schema.Message{{Role: "robot"}}
	for provider, messages := range map[string][]*schema.Message{
		Gemini: nil, "mistral": nil, OpenAI: robot, Anthropic: {schema.SystemMessage("be brief")},
	} {
		if data, err := Format(provider, messages); err == nil {
			t.Errorf("%s: %s", provider, data)
		}
	}
	if data, err := Format(OpenAI, nil); err != nil || string(data) != "[]" {
		t.Errorf("nothing is %s, %v", data, err)
	}
	if data, err := Format(OpenAI, []*schema.Message{schema.SystemMessage("be brief")}); err != nil || string(data) != `[{"role":"system","content":"be brief"}]` {
		t.Errorf("system is %s, %v", data, err)
	}
}

func ExampleFormat() {
	data, err := Format(Anthropic, []*schema.Message{schema.UserMessage("Hi"), schema.AssistantMessage("Hello", nil)})
	fmt.Println(string(data), err)
	// Output: [{"role":"user","content":[{"text":"Hi","type":"text"}]},{"role":"assistant","content":[{"text":"Hello","type":"text"}]}] <nil>
}
