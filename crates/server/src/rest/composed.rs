//! What an index is made with whose name matches the patterns of templates.
//!
//! Of index templates, the one with the highest priority counts, with its component templates in front.
//! Without one, all legacy templates count, in their order. What a request says counts most.

use serde_json::{Value, json};
use spirit_opensearch::error::Refusal;
use spirit_opensearch::json::Json;

use crate::pattern::matches;
use crate::registry::Registered;

/// What an index is made with.
#[derive(Debug)]
pub(super) struct Composed {
    /// As the body of a request that makes an index.
    pub(super) body: Json,
    /// The template that makes data streams only.
    pub(super) stream: Option<String>,
}

/// Returns what an index of a name is made with.
pub(super) fn compose(
    registered: &Registered,
    name: &str,
    own: Option<&Json>,
) -> Result<Composed, Refusal> {
    let (mut body, mut stream) = (json!({}), None);
    let best = registered.index_templates.iter().filter(|(_, template)| has_name(template, name));
    match best.max_by_key(|(_, template)| number(template, "priority")) {
        Some((template_name, template)) => {
            merge(&mut body, &of_template(registered, template));
            if template["data_stream"].is_object() {
                stream = Some(template_name.clone());
                let fields = &mut body["mappings"]["properties"];
                if fields["@timestamp"].is_null() {
                    fields["@timestamp"] = json!({"type": "date"});
                }
            }
        }
        None => {
            let mut legacy: Vec<_> = registered.templates.values().collect();
            legacy.retain(|template| has_name(template, name));
            legacy.sort_by_key(|template| number(template, "order"));
            for template in legacy {
                for part in ["mappings", "settings", "aliases"] {
                    merge(&mut body, &json!({ part: template[part] }));
                }
            }
        }
    }
    if let Some(own) = own {
        merge(&mut body, &value(own)?);
    }
    Ok(Composed { body: Json::parse(body.to_string().as_bytes())?, stream })
}

/// Returns what a template and its component templates say together.
pub(super) fn of_template(registered: &Registered, template: &Value) -> Value {
    let mut body = json!({});
    let components = template["composed_of"].as_array().into_iter().flatten();
    for component in components.filter_map(Value::as_str) {
        let component = registered.component_templates.get(component);
        merge(&mut body, component.map_or(&Value::Null, |component| &component["template"]));
    }
    merge(&mut body, &template["template"]);
    body
}

/// Returns a whole number of a template; 0 without one.
pub(super) fn number(template: &Value, name: &str) -> i64 {
    template[name].as_i64().unwrap_or(0)
}

/// True if a template is for indexes of a name.
pub(super) fn has_name(template: &Value, name: &str) -> bool {
    patterns(template).iter().any(|pattern| matches(pattern, name))
}

/// Returns the patterns of a template.
pub(super) fn patterns(template: &Value) -> Vec<&str> {
    match &template["index_patterns"] {
        Value::String(pattern) => vec![pattern],
        Value::Array(patterns) => patterns.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Merges objects. A field that both have is that of the second, as a whole.
fn merge(into: &mut Value, other: &Value) {
    match (into, other) {
        (_, Value::Null) => {}
        (Value::Object(into), Value::Object(other))
            if !other.get("type").is_some_and(Value::is_string) =>
        {
            for (name, value) in other {
                merge(into.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (into, other) => *into = other.clone(),
    }
}

/// Returns JSON in its other form.
pub(super) fn value(json: &Json) -> Result<Value, Refusal> {
    serde_json::to_value(json).map_err(|error| Refusal::json(error.to_string()))
}
