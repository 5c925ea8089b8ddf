//! Words of jobs that name one of a few things.

/// Gives an enumeration the words that are typed for it: `ALL`, `as_str`, and `FromStr` with an error that lists them.
macro_rules! words {
    ($type:ty, $key:literal, $($word:literal => $value:ident $(($inner:path))?),+) => {
        impl $type {
            /// All, in the order of tables.
            pub const ALL: &[Self] = &[$(Self::$value $(($inner))?),+];

            /// The word that is typed, and the level of the factor.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$value $(($inner))? => $word),+ }
            }
        }

        impl FromStr for $type {
            type Err = JobError;

            fn from_str(text: &str) -> Result<Self, JobError> {
                match text {
                    $($word => Ok(Self::$value $(($inner))?),)+
                    _ => Err(JobError::Argument(format!(
                        "{}={text}: expected one of {}", $key, [$($word),+].join(", ")
                    ))),
                }
            }
        }
    };
}
pub(super) use words;
