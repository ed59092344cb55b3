module github.com/agentstream-go/agentstream/bench

go 1.26.0

require (
	github.com/ag-ui-protocol/ag-ui/sdks/community/go v0.0.0-20260630145048-7479d97e25f6
	github.com/agentstream-go/agentstream v0.0.0
	github.com/coder/acp-go-sdk v0.13.5
)

require (
	github.com/go-json-experiment/json v1.27.2 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/sirupsen/logrus v1.9.3 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace github.com/agentstream-go/agentstream => ../
