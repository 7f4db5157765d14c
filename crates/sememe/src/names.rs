//! Choices and options that are set by name, and how values are spelled in JSON.

use crate::error::{Error, Result};

/// The choice called `name`; the error lists all names.
pub(crate) fn find<T: Copy>(what: &'static str, name: &str, all: &[(&'static str, T)]) -> Result<T> {
    all.iter().find(|(known, _)| *known == name).map(|(_, choice)| *choice).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        Error::argument(what, name, format!("it must be one of {}", names.join(", ")))
    })
}

/// The name of a choice.
pub(crate) fn of<T: PartialEq>(choice: &T, all: &[(&'static str, T)]) -> &'static str {
    all.iter().find(|(_, known)| known == choice).map_or("", |(name, _)| name)
}

/// Serialises a count as an integer where it is one. Weighted tuples may have a fractional count.
pub(crate) fn serialize_count<S: serde::Serializer>(
    count: &f64,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    match count.fract() == 0.0 {
        true => serializer.serialize_u64(*count as u64),
        false => serializer.serialize_f64(*count),
    }
}

/// Serialises and deserialises a type by its `Display` and `FromStr`.
macro_rules! serde_as_spelled {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                let spelled = <String as serde::Deserialize>::deserialize(deserializer)?;
                spelled.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use serde_as_spelled;

/// Builder methods for the fields of options. Options are non-exhaustive, so other crates cannot write struct literals.
macro_rules! setters {
    ($type:ty { $($(#[$doc:meta])* $name:ident: $field:ident = $value:ty),+ $(,)? }) => {
        impl $type {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name(mut self, value: $value) -> Self {
                    self.$field = value;
                    self
                }
            )+
        }
    };
}
pub(crate) use setters;
