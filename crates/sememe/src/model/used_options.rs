//! Which methods use which options. An option that a method does not use is an error, never ignored.

use super::{FitOptions, Method, Shrinkage};
use crate::error::{Error, Result};

/// The options that only some methods use, as the command spells them.
const USED_BY: [(&str, &[Method]); 10] = [
    ("exponent", &[Method::Ibfa]),
    ("dewhiten", &[Method::Ibfa, Method::Cca]),
    ("ridge", &[Method::LeastSquares]),
    ("pivot", &[Method::Svd, Method::Rcsls, Method::LeastSquares]),
    ("shrinkage", &[Method::Ibfa, Method::Cca, Method::CcaNipals, Method::LeastSquares, Method::Mbfa]),
    ("monolingual", &[Method::Mbfa]),
    ("init", &[Method::Mbfa]),
    ("solver", &[Method::Mbfa]),
    ("iterations", &[Method::Mbfa]),
    ("tolerance", &[Method::Mbfa]),
];

impl Method {
    /// Checks that this method uses all of the options with these names; other names are not checked.
    pub fn check_uses<'a>(self, options: impl IntoIterator<Item = &'a str>) -> Result<()> {
        for given in options {
            let unused = USED_BY.iter().find(|(name, methods)| *name == given && !methods.contains(&self));
            if let Some((name, methods)) = unused {
                let names: Vec<&str> = methods.iter().map(|method| method.name()).collect();
                let instead = format!("leave it out, or choose a method that has it ({})", names.join(", "));
                return Err(Error::argument(name, "set", format!("{self} has no such option; {instead}")));
            }
        }
        Ok(())
    }
}

impl FitOptions {
    /// The name of the shrinkage if it asks for something; no method is asked for anything by `auto` and `none`.
    pub(crate) fn asked_shrinkage(&self) -> Option<&'static str> {
        (!matches!(self.shrinkage, Shrinkage::Auto | Shrinkage::None)).then_some("shrinkage")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_that_a_method_does_not_use_is_refused_with_those_that_do() {
        let said = Method::Ibfa.check_uses(["latent", "iterations"]).unwrap_err().to_string();
        assert!(said.contains("iterations is set: ibfa has no such option") && said.contains("(mbfa)"), "{said}");
        assert!(Method::Svd.check_uses(["shrinkage"]).is_err());
        assert!(Method::LeastSquares.check_uses(["shrinkage", "ridge", "pivot"]).is_ok());
        assert!(Method::Mbfa.check_uses(["init", "solver", "iterations", "tolerance", "monolingual"]).is_ok());
    }
}
