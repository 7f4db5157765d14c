//! Which methods use which options. An option that a method does not use is an error, never ignored.

use super::{FinishSteps, FitOptions, Method, Shrinkage, SpellingUse};
use crate::error::{Error, Result};

/// The options that only some methods use, as the command spells them.
const USED_BY: [(&str, &[Method]); 10] = [
    ("exponent", &[Method::Ibfa, Method::Mbfa]),
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
    /// Checks that a finish and spelling that were asked for by these names may be chosen. What is chosen automatically, as
    /// by default, is nothing for models that are neither generative nor shrunk.
    pub(crate) fn check_automatic(&self, method: Method, given: &[&str]) -> Result<()> {
        let finish = self.finish == FinishSteps::Auto && self.finish_for(method, 1) == FinishSteps::None;
        let spelling = self.spelling == SpellingUse::Auto && !self.may_spell(method);
        for (name, is_unused) in [("finish", finish), ("spelling", spelling)] {
            if is_unused && given.contains(&name) {
                let expected = "only shrunk models of ibfa and mbfa have it, and for spelling without weights and dewhitening; \
                                leave it out";
                return Err(Error::argument(name, "auto", expected));
            }
        }
        Ok(())
    }

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
        let automatic = |method, given: &[&str]| FitOptions::default().check_automatic(method, given);
        assert!(
            automatic(Method::Svd, &["latent"]).is_ok() && automatic(Method::Ibfa, &["finish", "spelling"]).is_ok()
        );
        assert!(automatic(Method::Svd, &["spelling"]).is_err() && automatic(Method::Cca, &["finish"]).is_err());
        assert!(Method::Mbfa.check_uses(["init", "solver", "iterations", "tolerance", "monolingual"]).is_ok());
    }
}
