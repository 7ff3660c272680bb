// Renders the templates of a chart as Helm does: Go's text/template, the functions of sprig, and those that Helm adds.
// Usage: render-chart FOLDER < {"Values": …, "Release": …, "Chart": …}
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

func toYaml(value interface{}) (string, error) {
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	err := encoder.Encode(value)
	return strings.TrimSuffix(text.String(), "\n"), err
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	var data map[string]interface{}
	decoder := json.NewDecoder(os.Stdin)
	decoder.UseNumber()
	fail(decoder.Decode(&data))

	chart := template.New("chart").Option("missingkey=error")
	functions := sprig.TxtFuncMap()
	functions["toYaml"] = func(value interface{}) (string, error) { return toYaml(plain(value)) }
	functions["include"] = func(name string, data interface{}) (string, error) {
		var text bytes.Buffer
		err := chart.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	chart.Funcs(functions)

	files, err := filepath.Glob(filepath.Join(os.Args[1], "templates", "*"))
	fail(err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		fail(err)
		_, err = chart.New(filepath.Base(file)).Parse(string(text))
		fail(err)
	}
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "_") {
			continue
		}
		var text bytes.Buffer
		fail(chart.ExecuteTemplate(&text, filepath.Base(file), data))
		if filepath.Ext(file) == ".yaml" {
			fmt.Printf("---\n%s\n", text.String())
		}
	}
}

// Numbers as they were written: yaml does not know those of encoding/json.
func plain(value interface{}) interface{} {
	switch value := value.(type) {
	case json.Number:
		if whole, err := value.Int64(); err == nil {
			return whole
		}
		number, _ := value.Float64()
		return number
	case map[string]interface{}:
		result := map[string]interface{}{}
		for name, item := range value {
			result[name] = plain(item)
		}
		return result
	case []interface{}:
		result := []interface{}{}
		for _, item := range value {
			result = append(result, plain(item))
		}
		return result
	}
	return value
}
