package dashboard

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/satin-peer/satin/internal/report"
)

//go:generate go test -run TestTypesOfThePage -rewrite .

// An object is one of JSON.
type object = map[string]any

// describe makes the OpenAPI description of the API from the routes and the types that the replies are written from.
func describe(routes []route) object {
	schemas := object{}
	content := func(v any) object {
		return object{"content": object{jsonType: object{"schema": schemaOf(reflect.TypeOf(v), schemas)}}}
	}
	reply := func(what string, v any) object {
		o := content(v)
		o["description"] = what
		return o
	}
	paths := object{}
	for _, r := range routes {
		o := object{
			"summary":   r.summary,
			"responses": object{"200": reply("Done.", r.reply), "default": reply("Not done, and why.", Fault{})},
			"security":  []object{{"page": []string{}}, {string(r.level): []string{}}},
		}
		if r.level == View {
			o["security"] = append(o["security"].([]object), object{"cookie": []string{}})
		}
		if r.body != nil {
			b := content(r.body)
			b["required"] = true
			o["requestBody"] = b
		}
		var parameters []object
		if strings.Contains(r.path, "{run}") {
			parameters = append(parameters, object{"name": "run", "in": "path", "required": true,
				"schema": object{"type": "string", "maxLength": maxRunID}})
		}
		for _, p := range r.query {
			parameters = append(parameters, object{"name": p.name, "in": "query", "description": p.about,
				"schema": schemaOf(reflect.TypeOf(p.of), schemas)})
		}
		if parameters != nil {
			o["parameters"] = parameters
		}
		at, ok := paths[apiPath+r.path].(object)
		if !ok {
			at = object{}
			paths[apiPath+r.path] = at
		}
		at[strings.ToLower(r.method)] = o
	}
	token := func(file string) object {
		return object{"type": "http", "scheme": "bearer",
			"description": "What the file " + file + " in the daemon's directory holds."}
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "satin-peer", "version": "1",
			"description": "What the dashboard shows and does. Times are RFC 3339 in UTC, durations seconds. Names and texts may come from other peers and may contain anything.",
		},
		"paths": paths,
		"components": object{"schemas": schemas, "securitySchemes": object{
			"page": object{"type": "apiKey", "in": "header", "name": heldHeader,
				"description": "What the page holds that a link has opened; of a link to look it is good for looking."},
			"cookie": object{"type": "apiKey", "in": "cookie", "name": "satin_PORT",
				"description": "Comes with it, and is good for looking only."},
			string(View):    token(ViewFile + ", or that of " + ControlFile + ","),
			string(Control): token(ControlFile),
		}},
	}
}

// schemaOf gives the schema of a type as encoding/json writes it; structs with a name are put among the schemas.
func schemaOf(t reflect.Type, schemas object) object {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[report.Span]():
		return object{"type": "number", "minimum": 0}
	case reflect.TypeFor[json.RawMessage]():
		return object{}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem(), schemas) // only in fields that are left out when nil
	case reflect.Slice:
		return object{"type": "array", "items": schemaOf(t.Elem(), schemas)}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": schemaOf(t.Elem(), schemas)}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Uint64:
		return object{"type": "integer", "minimum": 0}
	case reflect.Struct:
		if _, ok := schemas[t.Name()]; !ok {
			schemas[t.Name()] = object{} // a type may hold itself
			schemas[t.Name()] = structSchema(t, schemas)
		}
		return object{"$ref": "#/components/schemas/" + t.Name()}
	}
	return object{"type": "string"}
}

func structSchema(t reflect.Type, schemas object) object {
	properties, required := object{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		properties[name] = schemaOf(f.Type, schemas)
		if !strings.Contains(options, "omit") {
			required = append(required, name)
		}
	}
	return object{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}
