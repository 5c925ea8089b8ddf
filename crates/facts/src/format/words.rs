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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::ReasonKind;

    #[test]
    fn each_variant_is_its_word_wherever_it_stands() -> Result<(), serde_json::Error> {
        for word in [ReasonKind::NotMeasured, ReasonKind::Lost] {
            assert_eq!(serde_json::to_value(word)?, word.as_str());
            assert_eq!(serde_json::from_value::<ReasonKind>(json!(word.as_str()))?, word);
        }
        for wrong in [json!("NotMeasured"), json!("found"), json!(0), json!(null)] {
            assert!(serde_json::from_value::<ReasonKind>(wrong.clone()).is_err(), "{wrong}");
        }
        Ok(())
    }
}
