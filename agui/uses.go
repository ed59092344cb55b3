package agui

// uses remembers what the ids of a run stand for. A client that gets one id for
// two kinds of message, or a second name for a call, loses text and warns.
type uses struct {
	roles map[string]Role
	names map[string]string // of calls
}

func (u *uses) messages(list []Message) {
	for i := range list {
		u.role(list[i].ID, list[i].Role)
		for _, c := range list[i].ToolCalls {
			u.name(c.ID, c.Name)
		}
	}
}

func (u *uses) role(id string, r Role) {
	if u.roles == nil {
		u.roles = map[string]Role{}
	}
	u.roles[id] = r
}

func (u *uses) name(call, name string) {
	if u.names == nil {
		u.names = map[string]string{}
	}
	u.names[call] = name
}

// is reports whether id stands for nothing yet, or for this.
func (u *uses) is(id string, r Role) bool {
	known, ok := u.roles[id]
	return !ok || known == r
}

// free reports whether id stands for nothing yet: a result, and a message that
// a call makes for itself, are new ones each time.
func (u *uses) free(id string) bool { return u.roles[id] == "" }

// fits reports whether ev uses its ids as they were used before. It corrects
// what it may: the name of a call that comes again, a parent that is no
// assistant message.
func (u *uses) fits(ev Event) bool {
	switch e := ev.(type) {
	case *TextMessageStart:
		return u.is(e.MessageID, textRole(e))
	case *ReasoningStart:
		return u.is(e.MessageID, RoleReasoning)
	case *ReasoningMessageStart:
		return u.is(e.MessageID, RoleReasoning)
	case *ToolCallResult:
		return u.free(e.MessageID)
	case *ActivitySnapshot:
		return u.is(e.MessageID, RoleActivity)
	case *ActivityDelta:
		return u.is(e.MessageID, RoleActivity)
	case *ReasoningEncryptedValue:
		return e.EncryptedValue != ""
	case *ToolCallStart:
		if name, again := u.names[e.ToolCallID]; again {
			e.ToolCallName = name
			return true
		}
		if !u.is(e.ParentMessageID, RoleAssistant) {
			e.ParentMessageID = ""
		}
		return e.ParentMessageID != "" || u.free(e.ToolCallID)
	}
	return true
}

func (u *uses) note(ev Event) {
	switch e := ev.(type) {
	case *TextMessageStart:
		u.role(e.MessageID, textRole(e))
	case *ReasoningMessageStart:
		u.role(e.MessageID, RoleReasoning)
	case *ToolCallResult:
		u.role(e.MessageID, RoleTool)
	case *ActivitySnapshot:
		u.role(e.MessageID, RoleActivity)
	case *MessagesSnapshot:
		u.messages(e.Messages)
	case *ToolCallStart:
		if _, again := u.names[e.ToolCallID]; again {
			return
		}
		u.name(e.ToolCallID, e.ToolCallName)
		owner := e.ParentMessageID
		if owner == "" {
			owner = e.ToolCallID
		}
		u.role(owner, RoleAssistant)
	}
}

func textRole(e *TextMessageStart) Role {
	if e.Role == "" {
		return RoleAssistant
	}
	return e.Role
}
