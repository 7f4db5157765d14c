//! The modules of the page as one script.
//!
//! Each module becomes a function that returns what it exports, after those that it imports. The modules keep to a form
//! that makes this simple: an import is one line of names from a file beside it, and what is exported is declared there.

use crate::error::{Error, Result};

/// The module that starts the page.
const MAIN: &str = "app.js";
const DECLARATIONS: [&str; 4] = ["const ", "function ", "async function ", "class "];

/// All modules that the page needs; `file` finds them.
pub(super) fn script<'a>(file: &impl Fn(&str) -> Result<&'a str>) -> Result<String> {
    let mut modules = Vec::new();
    add(MAIN, file, &mut Vec::new(), &mut modules)?;
    let script: String = modules.into_iter().map(|(_, text)| text).collect();
    match script.contains("</script") {
        true => Err(Error::Page("a module would end its script")),
        false => Ok(script),
    }
}

/// Adds a module after those that it imports.
fn add<'a>(
    name: &str,
    file: &impl Fn(&str) -> Result<&'a str>,
    importing: &mut Vec<String>,
    modules: &mut Vec<(String, String)>,
) -> Result<()> {
    if modules.iter().any(|(known, _)| known == name) {
        return Ok(());
    }
    if importing.iter().any(|other| other == name) {
        return Err(Error::Page("its modules import each other in a circle"));
    }
    importing.push(name.to_owned());
    let (mut body, mut exported) = (String::new(), Vec::new());
    for line in file(name)?.lines() {
        if line.starts_with("import ") {
            let (names, from) = imported(line).ok_or(Error::Page("a module has an import of another form"))?;
            add(from, file, importing, modules)?;
            body += &format!("const {names} = {};\n", variable(from));
        } else if let Some(declaration) = line.strip_prefix("export ") {
            exported.push(declared(declaration).ok_or(Error::Page("a module has an export of another form"))?);
            body += &format!("{declaration}\n");
        } else {
            body += &format!("{line}\n");
        }
    }
    importing.pop();
    let text = format!("const {} = (() => {{\n{body}return {{ {} }};\n}})();\n", variable(name), exported.join(", "));
    modules.push((name.to_owned(), text));
    Ok(())
}

/// The names in braces and the file of `import { a, b } from './file.js';`.
fn imported(line: &str) -> Option<(&str, &str)> {
    let (names, from) = line.strip_prefix("import ")?.split_once(" from './")?;
    let is_plain = names.starts_with('{') && names.ends_with('}') && !names.contains(" as ");
    is_plain.then_some((names, from.strip_suffix("';")?))
}

/// The name that a declaration declares.
fn declared(declaration: &str) -> Option<&str> {
    let rest = DECLARATIONS.iter().find_map(|kind| declaration.strip_prefix(kind))?;
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_')?;
    (end > 0).then(|| &rest[..end])
}

fn variable(file: &str) -> String {
    format!("module_{}", file.trim_end_matches(".js").replace(|letter: char| !letter.is_alphanumeric(), "_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundled(files: &[(&str, &'static str)]) -> std::result::Result<String, String> {
        let file = |name: &str| {
            let found = files.iter().find(|(known, _)| *known == name);
            found.map(|(_, text)| *text).ok_or(Error::Page("a file of it is missing"))
        };
        script(&file).map_err(|error| error.to_string())
    }

    #[test]
    fn modules_come_after_those_that_they_import() {
        let main = "import { b } from './b.js';\nimport { a } from './a.js';\na(b);\n";
        let b = "import { a } from './a.js';\nexport const b = a;\n";
        let a = "export function a() {}\n";
        let script = bundled(&[("app.js", main), ("a.js", a), ("b.js", b)]).unwrap();
        let expected = "const module_a = (() => {\nfunction a() {}\nreturn { a };\n})();\n\
                        const module_b = (() => {\nconst { a } = module_a;\nconst b = a;\nreturn { b };\n})();\n\
                        const module_app = (() => {\nconst { b } = module_b;\nconst { a } = module_a;\na(b);\nreturn {  };\n})();\n";
        assert_eq!(script, expected);
    }

    #[test]
    fn what_is_no_such_module_is_refused() {
        for (main, said) in [
            ("import { a } from './app.js';\n", "circle"),
            ("import * as a from './a.js';\n", "import of another form"),
            ("import { a as b } from './a.js';\n", "import of another form"),
            ("export { a };\n", "export of another form"),
            ("export default 1;\n", "export of another form"),
            ("import { a } from './missing.js';\n", "missing"),
            ("const a = '</script>';\n", "end its script"),
        ] {
            assert!(bundled(&[("app.js", main)]).unwrap_err().contains(said), "{main}");
        }
    }
}
