package agui

// Capabilities is what an agent declares of itself, the answer of
// GET /agui/{agent}/capabilities. A field that is not set is not declared, which
// does not mean that the agent lacks it.
type Capabilities struct {
	Identity struct {
		Name             string `json:"name,omitzero"`
		Type             string `json:"type,omitzero"`
		Description      string `json:"description,omitzero"`
		Version          string `json:"version,omitzero"`
		Provider         string `json:"provider,omitzero"`
		DocumentationURL string `json:"documentationUrl,omitzero"`
	} `json:"identity,omitzero"`
	Transport struct {
		Streaming         bool `json:"streaming,omitzero"`
		WebSocket         bool `json:"websocket,omitzero"`
		HTTPBinary        bool `json:"httpBinary,omitzero"`
		PushNotifications bool `json:"pushNotifications,omitzero"`
		Resumable         bool `json:"resumable,omitzero"`
	} `json:"transport,omitzero"`
	Tools struct {
		Supported      bool `json:"supported,omitzero"`
		ParallelCalls  bool `json:"parallelCalls,omitzero"`
		ClientProvided bool `json:"clientProvided,omitzero"`
	} `json:"tools,omitzero"`
	State struct {
		Snapshots       bool `json:"snapshots,omitzero"`
		Deltas          bool `json:"deltas,omitzero"`
		Memory          bool `json:"memory,omitzero"`
		PersistentState bool `json:"persistentState,omitzero"`
	} `json:"state,omitzero"`
	MultiAgent struct {
		Supported  bool `json:"supported,omitzero"`
		Delegation bool `json:"delegation,omitzero"`
		Handoffs   bool `json:"handoffs,omitzero"`
	} `json:"multiAgent,omitzero"`
	Reasoning struct {
		Supported bool `json:"supported,omitzero"`
		Streaming bool `json:"streaming,omitzero"`
		Encrypted bool `json:"encrypted,omitzero"`
	} `json:"reasoning,omitzero"`
	Multimodal struct {
		Input struct {
			Image bool `json:"image,omitzero"`
			Audio bool `json:"audio,omitzero"`
			Video bool `json:"video,omitzero"`
			PDF   bool `json:"pdf,omitzero"`
			File  bool `json:"file,omitzero"`
		} `json:"input,omitzero"`
	} `json:"multimodal,omitzero"`
	Execution struct {
		CodeExecution bool `json:"codeExecution,omitzero"`
		Sandboxed     bool `json:"sandboxed,omitzero"`
	} `json:"execution,omitzero"`
	HumanInTheLoop struct {
		Supported        bool `json:"supported,omitzero"`
		Approvals        bool `json:"approvals,omitzero"`
		Interventions    bool `json:"interventions,omitzero"`
		Feedback         bool `json:"feedback,omitzero"`
		Interrupts       bool `json:"interrupts,omitzero"`
		ApproveWithEdits bool `json:"approveWithEdits,omitzero"`
	} `json:"humanInTheLoop,omitzero"`
}
