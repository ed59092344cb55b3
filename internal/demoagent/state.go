package demoagent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
)

// A session's id becomes a file name, so nothing else may pass.
var validID = regexp.MustCompile(`^demo-[0-9a-f]{16}$`)

// save stores the session whole, or does nothing without a folder for it.
func (a *agent) save(v saved) error {
	if a.state == "" {
		return nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(a.state, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(a.state, "."+v.ID+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err := tmp.Write(data); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), filepath.Join(a.state, v.ID+".json"))
}

func (a *agent) load(id string) (saved, error) {
	var v saved
	if !validID.MatchString(id) {
		return v, os.ErrNotExist
	}
	data, err := os.ReadFile(filepath.Join(a.state, id+".json"))
	if err != nil {
		return v, err
	}
	return v, json.Unmarshal(data, &v)
}

// stored lists the sessions in the folder; what cannot be read is left out.
func (a *agent) stored() []saved {
	if a.state == "" {
		return nil
	}
	files, _ := filepath.Glob(filepath.Join(a.state, "demo-*.json"))
	var list []saved
	for _, f := range files {
		name := filepath.Base(f)
		if v, err := a.load(name[:len(name)-len(".json")]); err == nil {
			list = append(list, v)
		}
	}
	return list
}
