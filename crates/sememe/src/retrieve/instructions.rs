//! Detection of the processor's vector instructions (SIMD).

/// A set of instructions that this processor supports. Values are only created by detection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Instructions(Set);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Set {
    /// The baseline of the target architecture.
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Instructions {
    /// The largest supported set.
    #[inline(always)]
    pub(super) fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        {
            if has_avx512() {
                return Instructions(Set::Avx512);
            }
            if has_avx2() {
                return Instructions(Set::Avx2);
            }
        }
        Instructions(Set::Plain)
    }

    #[inline(always)]
    pub(super) fn set(self) -> Set {
        self.0
    }

    /// All supported sets, so that tests can compare their results. Prints the unsupported ones to standard error.
    #[cfg(test)]
    pub(super) fn all() -> Vec<Self> {
        let mut all = vec![Instructions(Set::Plain)];
        #[cfg(target_arch = "x86_64")]
        for (name, is_there, set) in [("AVX2", has_avx2(), Set::Avx2), ("AVX-512", has_avx512(), Set::Avx512)] {
            match is_there {
                true => all.push(Instructions(set)),
                false => eprintln!("NOT TESTED: this processor has no {name}; run this test on one that has it"),
            }
        }
        all
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}
