//! Options of an alignment.

use serde::{Deserialize, Serialize};

use super::Alignment;
use crate::error::{Error, Result};
use crate::model::{Exponent, FinishSteps, FitOptions, Method, Shrinkage};
use crate::moments::EvidenceOptions;
use crate::names::setters;
use crate::retrieve::TunedCriterion;

/// Whether a fit calibrates confidences, which takes a part of its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Confidences {
    /// Held-out translations calibrate them.
    #[default]
    Calibrated,
    /// There are none: translations are only ranked.
    None,
}

/// Options of [`align`](super::align()).
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AlignOptions {
    /// How the evidence is gathered.
    pub evidence: EvidenceOptions,
    /// How the model is fitted.
    pub fit: FitOptions,
    /// Whether confidences are calibrated.
    #[serde(default)]
    pub confidences: Confidences,
    /// The criterion whose parameter is chosen, and which translations of the space are ranked by unless another one is asked for.
    #[serde(default)]
    pub criterion: Option<TunedCriterion>,
    /// Continue this earlier fit, which must be of the same evidence. Not serialised.
    #[serde(skip)]
    pub resume: Option<Alignment>,
}

impl AlignOptions {
    /// Checks the options before long work, and returns the method. An option that the method does not use is an error.
    /// `given` are the names of options that were set explicitly, as the command spells them: options of iteration have
    /// values in any case, so that only their names tell whether they were asked for.
    pub fn check(&self, views: &[&str], given: &[&str]) -> Result<Method> {
        let resumed = self.resume.as_ref().map(|before| before.model.method);
        let fit = FitOptions { method: self.fit.method.or(resumed), ..self.fit.clone() };
        let method = fit.check_for(views)?;
        // No shrinkage is what methods without it do.
        let is_asked = |name: &&str| *name != "shrinkage" || fit.shrinkage != Shrinkage::None;
        method.check_uses(given.iter().copied().filter(is_asked))?;
        method.check_uses(fit.asked_shrinkage())?;
        fit.check_automatic(method, given)?;
        method.check_uses(self.evidence.monolingual.map(|_| "monolingual"))?;
        Ok(method)
    }

    /// Checks that nothing is asked for that moments alone do not allow.
    pub(super) fn check_without_rows(&self) -> Result<()> {
        let needed = "it needs the vectors of training pairs, which moments do not have; give vectors and dictionaries";
        match (self.fit.method, self.fit.finish) {
            _ if self.criterion.is_some() => Err(Error::argument(
                "criterion",
                self.criterion.map_or_else(String::new, |tuned| tuned.to_string()),
                needed,
            )),
            _ if self.fit.exponent == Exponent::Auto => Err(Error::argument("exponent", Exponent::Auto, needed)),
            (Some(method @ Method::Rcsls), _) => Err(Error::argument("method", method, needed)),
            (_, finish @ FinishSteps::Of(1..)) => Err(Error::argument("finish", finish, needed)),
            _ => Ok(()),
        }
    }
}

setters!(AlignOptions {
    /// Sets [`AlignOptions::evidence`].
    with_evidence: evidence = EvidenceOptions,
    /// Sets [`AlignOptions::fit`].
    with_fit: fit = FitOptions,
    /// Sets [`AlignOptions::confidences`].
    with_confidences: confidences = Confidences,
    /// Sets [`AlignOptions::criterion`].
    with_criterion: criterion = Option<TunedCriterion>,
    /// Sets [`AlignOptions::resume`].
    with_resume: resume = Option<Alignment>,
});
