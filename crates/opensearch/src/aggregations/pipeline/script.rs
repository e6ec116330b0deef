//! Scripts of arithmetic: numbers, `params.name`, `+ - * /`, parentheses, comparisons, `&& || !`.
//!
//! Whole numbers are calculated as in Painless: `7 / 2` is 3.

use crate::error::Refusal;

/// Parentheses and signs within each other, at most.
const DEPTH_MAX: usize = 64;

/// Operators of a script, at most.
const OPERATORS_MAX: usize = 256;

/// A script.
#[derive(Clone, Debug)]
pub(super) struct Script {
    text: String,
    value: Expression,
}

#[derive(Clone, Debug)]
enum Expression {
    Value(Value),
    /// The parameter at this place of the script's paths.
    Parameter(usize),
    Negated(Box<Expression>),
    Not(Box<Expression>),
    Both(&'static str, Box<(Expression, Expression)>),
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    Whole(i32),
    Float(f64),
    Truth(bool),
}

impl Value {
    fn float(self) -> Option<f64> {
        match self {
            Value::Whole(number) => Some(f64::from(number)),
            Value::Float(number) => Some(number),
            Value::Truth(_) => None,
        }
    }
}

/// Operators, those that bind weakly first.
const OPERATORS: [&[&str]; 6] =
    [&["||"], &["&&"], &["==", "!="], &["<=", ">=", "<", ">"], &["+", "-"], &["*", "/"]];

impl Script {
    /// Reads a script about parameters of these names.
    pub(super) fn read(text: &str, names: &[&str]) -> Result<Script, Refusal> {
        let body = text.trim().trim_end_matches(';');
        let body = body.strip_prefix("return ").unwrap_or(body);
        let mut parser = Parser { left: body, names, depth: 0, operators: 0 };
        let value = parser.binary(0).filter(|_| parser.left.trim_start().is_empty());
        let value = value.ok_or_else(|| {
            Refusal::unsupported(format_args!(
                "the script [{text}]. A script has numbers, params, + - * / ( ), comparisons, && || !; \
                 any other"
            ))
        })?;
        Ok(Script { text: text.to_owned(), value })
    }

    /// Returns its value as a number.
    pub(super) fn number(&self, parameters: &[f64]) -> Result<f64, Refusal> {
        let value = evaluate(&self.value, parameters).and_then(Value::float);
        value.ok_or_else(|| self.failed("a number"))
    }

    /// Returns its value as a truth.
    pub(super) fn truth(&self, parameters: &[f64]) -> Result<bool, Refusal> {
        match evaluate(&self.value, parameters) {
            Some(Value::Truth(truth)) => Ok(truth),
            _ => Err(self.failed("true or false")),
        }
    }

    /// Returns the error of a parameter that a bucket does not have.
    pub(super) fn unknown(&self) -> Refusal {
        self.failed("a value, since a bucket does not have one of its params")
    }

    fn failed(&self, expected: &str) -> Refusal {
        let reason = format!("runtime error: the script [{}] does not give {expected}", self.text);
        Refusal::new("script_exception", 400, reason)
    }
}

struct Parser<'s> {
    left: &'s str,
    names: &'s [&'s str],
    depth: usize,
    operators: usize,
}

impl<'s> Parser<'s> {
    /// Takes a token if it comes next.
    fn takes(&mut self, token: &str) -> bool {
        self.left = self.left.trim_start();
        match self.left.strip_prefix(token) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }

    /// Reads operators of a level and those that bind stronger. It ends: each round takes a token.
    fn binary(&mut self, level: usize) -> Option<Expression> {
        let Some(operators) = OPERATORS.get(level) else { return self.single() };
        let mut value = self.binary(level + 1)?;
        while let Some(operator) = operators.iter().copied().find(|name| self.takes(name)) {
            self.operators += 1;
            let right = self.binary(level + 1).filter(|_| self.operators <= OPERATORS_MAX)?;
            value = Expression::Both(operator, Box::new((value, right)));
        }
        Some(value)
    }

    fn single(&mut self) -> Option<Expression> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return None;
        }
        let value = self.single_within();
        self.depth -= 1;
        value
    }

    fn single_within(&mut self) -> Option<Expression> {
        if self.takes("(") {
            let value = self.binary(0)?;
            return self.takes(")").then_some(value);
        }
        if self.takes("-") {
            return Some(Expression::Negated(Box::new(self.single()?)));
        }
        if self.takes("!") {
            return Some(Expression::Not(Box::new(self.single()?)));
        }
        if self.takes("+") {
            return self.single();
        }
        if self.takes("params.") {
            let name = self.word(|char| char.is_alphanumeric() || char == '_');
            return self.parameter(name);
        }
        if self.takes("params[") {
            let name = self.word(|char| char != ']');
            let name = name.trim().trim_matches(['\'', '"']).to_owned();
            let parameter = self.parameter(&name);
            return parameter.filter(|_| self.takes("]"));
        }
        self.left = self.left.trim_start();
        let text = self.word(|char| char.is_ascii_digit() || char == '.');
        if text.contains('.') {
            let number = text.parse().ok().filter(|_| !text.ends_with('.'));
            return number.map(|number| Expression::Value(Value::Float(number)));
        }
        // A zero in front would make it octal.
        let is_plain = text.len() == 1 || !text.starts_with('0');
        let number = text.parse().ok().filter(|_| is_plain);
        number.map(|number| Expression::Value(Value::Whole(number)))
    }

    fn parameter(&self, name: &str) -> Option<Expression> {
        self.names.iter().position(|known| *known == name).map(Expression::Parameter)
    }

    /// Takes the characters that belong to a word.
    fn word(&mut self, belongs: impl Fn(char) -> bool) -> &'s str {
        let end = self.left.find(|char| !belongs(char)).unwrap_or(self.left.len());
        let (word, left) = self.left.split_at(end);
        self.left = left;
        word
    }
}

/// Returns the value of an expression; none if it has values that do not fit. It ends: the number of
/// operators is limited.
fn evaluate(expression: &Expression, parameters: &[f64]) -> Option<Value> {
    Some(match expression {
        Expression::Value(value) => *value,
        Expression::Parameter(place) => Value::Float(*parameters.get(*place)?),
        Expression::Negated(inner) => match evaluate(inner, parameters)? {
            Value::Whole(number) => Value::Whole(number.wrapping_neg()),
            Value::Float(number) => Value::Float(-number),
            Value::Truth(_) => return None,
        },
        Expression::Not(inner) => match evaluate(inner, parameters)? {
            Value::Truth(truth) => Value::Truth(!truth),
            _ => return None,
        },
        Expression::Both(operator, both) => {
            let [one, other] = [evaluate(&both.0, parameters)?, evaluate(&both.1, parameters)?];
            combined(operator, one, other)?
        }
    })
}

fn combined(operator: &str, one: Value, other: Value) -> Option<Value> {
    if let (Value::Truth(one), Value::Truth(other)) = (one, other) {
        return Some(Value::Truth(match operator {
            "&&" => one && other,
            "||" => one || other,
            "==" => one == other,
            "!=" => one != other,
            _ => return None,
        }));
    }
    if let (Value::Whole(one), Value::Whole(other)) = (one, other) {
        match operator {
            "+" => return Some(Value::Whole(one.wrapping_add(other))),
            "-" => return Some(Value::Whole(one.wrapping_sub(other))),
            "*" => return Some(Value::Whole(one.wrapping_mul(other))),
            // A division by zero is an error.
            "/" if other == 0 => return None,
            "/" => return Some(Value::Whole(one.wrapping_div(other))),
            _ => {}
        }
    }
    let (one, other) = (one.float()?, other.float()?);
    Some(match operator {
        "+" => Value::Float(one + other),
        "-" => Value::Float(one - other),
        "*" => Value::Float(one * other),
        "/" => Value::Float(one / other),
        "<" => Value::Truth(one < other),
        ">" => Value::Truth(one > other),
        "<=" => Value::Truth(one <= other),
        ">=" => Value::Truth(one >= other),
        "==" => Value::Truth(one == other),
        "!=" => Value::Truth(one != other),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Result<f64, String> {
        let script = Script::read(text, &["a", "b"]).map_err(|refusal| refusal.reason)?;
        script.number(&[6.0, 0.5]).map_err(|refusal| refusal.reason)
    }

    #[test]
    fn arithmetic_is_painless() {
        for (text, value) in [
            ("params.a / params.b", 12.0),
            ("7/2", 3.0),
            ("7/2 + 1.5", 4.5),
            ("-(params['a'] - 2) * 3", -12.0),
            ("2 - 1 - 1", 0.0),
            ("return 2 + 3 * 4;", 14.0),
        ] {
            assert_eq!(number(text), Ok(value), "{text}");
        }
        for text in ["", "params.c", "params.a *", "1 2", "010", "1/0", "true", "params.a > 1", "a"]
        {
            assert!(number(text).is_err(), "{text}");
        }
        let truth = |text: &str| Script::read(text, &["a", "b"]).unwrap().truth(&[6.0, 0.5]);
        assert_eq!(truth("params.a > 5 && !(params.b >= 1)"), Ok(true));
        assert_eq!(truth("params.a == 5 || params.b != 0.5"), Ok(false));
        let long = ["1"; 1000].join("+");
        let deep = "(".repeat(1000) + "1" + &")".repeat(1000);
        assert!(number(&long).is_err() && number(&deep).is_err());
    }
}
