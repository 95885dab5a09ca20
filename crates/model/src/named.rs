//! Enumerations that have one name each, in JSON, SQL and on the command line alike.

/// Declares an enumeration whose values are named.
macro_rules! json_name {
    ($(#[$doc:meta])* $name:ident $field:literal {
        $($(#[$value_doc:meta])* $value:ident $text:literal,)*
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}
