// Package e2e_test tests the whole binary as its users meet it: AG-UI clients,
// scripts, browsers, and whoever pulls the plug. It runs with AGENTSTREAM_E2E=1.
package e2e_test
