//! A fingerprint of several things together, whatever their order and however they are grouped.

use std::fmt;

const WORDS: usize = 4;
const BYTES: usize = 8;

/// The sum of hashes modulo 2²⁵⁶. Unlike an exclusive or, equal hashes do not cancel.
///
/// It tells data apart that differ by accident. It does not withstand an attacker who looks for other data with the same sum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct HashSum([u64; WORDS]);

impl HashSum {
    /// The sum of one hash.
    pub(crate) fn of(hash: blake3::Hash) -> Self {
        let mut sum = HashSum::default();
        for (word, bytes) in sum.0.iter_mut().zip(hash.as_bytes().as_chunks::<BYTES>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        sum
    }

    /// Reads a fingerprint. Texts of files that are none are hashed.
    pub(crate) fn read(fingerprint: &str) -> Self {
        let hash = blake3::Hash::from_hex(fingerprint);
        HashSum::of(hash.unwrap_or_else(|_| blake3::hash(fingerprint.as_bytes())))
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let mut carry = false;
        for (word, &theirs) in self.0.iter_mut().zip(&other.0) {
            let (sum, over) = word.overflowing_add(theirs);
            let (sum, over_again) = sum.overflowing_add(u64::from(carry));
            (*word, carry) = (sum, over || over_again);
        }
    }
}

/// Spelled as a hash.
impl fmt::Display for HashSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().flat_map(|word| word.to_le_bytes()).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_carry_commute_and_are_read_again() {
        let of = |text: &str| HashSum::of(blake3::hash(text.as_bytes()));
        let sum = |parts: &[HashSum]| {
            let mut sum = HashSum::default();
            parts.iter().for_each(|part| sum.add(part));
            sum
        };
        let (a, b, c) = (of("a"), of("b"), of("c"));
        assert_eq!(sum(&[a, b, c]), sum(&[sum(&[c, a]), b]));
        assert_ne!(sum(&[a, a]), HashSum::default());
        assert_eq!(HashSum::read(&sum(&[a, b]).to_string()), sum(&[a, b]));
        assert_eq!(a.to_string(), blake3::hash(b"a").to_hex().to_string());
        let mut most = HashSum([u64::MAX; WORDS]);
        most.add(&HashSum([2, 0, 0, 0]));
        assert_eq!(most, HashSum([1, 0, 0, 0]));
        assert_eq!(HashSum::read("no hash"), of("no hash"));
    }
}
