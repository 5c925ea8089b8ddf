//! Enums of words.

/// An enum whose variants are words: each is written once, for scripts and people alike.
#[macro_export]
macro_rules! words {
    ($(#[$meta:meta])* pub enum $Name:ident { $($(#[$doc:meta])* $Variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $Name {
            $($(#[$doc])* #[serde(rename = $word)] $Variant,)*
        }

        impl $Name {
            /// The word for it, in JSON and wherever a view names it.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$Variant => $word,)*
                }
            }
        }
    };
}
