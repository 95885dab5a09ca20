//! Enumerations that have one name each, in JSON, SQL and on the command line alike.

/// The schema of a type that is written as one of a few words.
macro_rules! word_schema {
    ($name:ident $words:expr) => {
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": "string", "enum": $words})
            }
        }
    };
}

/// The schema of a type that is written as text.
macro_rules! text_schema {
    ($name:ident $($key:literal: $value:expr),*) => {
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"type": "string", "x-parsed": true, $($key: $value),*})
            }
        }
    };
}

/// A type that is read from text by its `parse`.
macro_rules! parsed_from_text {
    ($name:ident) => {
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<$name, D::Error> {
                let text =
                    <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
                $name::parse(&text).map_err($crate::contract::as_serde_error)
            }
        }
    };
}

/// Declares an enumeration whose values are named.
macro_rules! json_name {
    ($(#[$doc:meta])* $name:ident $field:literal {
        $($(#[$value_doc:meta])* $value:ident $text:literal,)*
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$value_doc])* $value,)*
        }

        impl $name {
            /// Every name there is.
            pub const NAMES: &'static [&'static str] = &[$($text),*];

            /// Reads a name.
            pub fn parse(name: &str) -> $crate::Result<$name> {
                match name {
                    $($text => Ok($name::$value),)*
                    _ => Err($crate::Error::field($field, format!("{name:?} is none of {}",
                        $name::NAMES.join(", ")))),
                }
            }

            /// The name.
            pub fn as_str(self) -> &'static str {
                match self {
                    $($name::$value => $text,)*
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                let name = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
                $name::parse(&name).map_err($crate::contract::as_serde_error)
            }
        }

        word_schema!($name $name::NAMES);

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}
