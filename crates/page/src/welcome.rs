//! What a newcomer sees where there is nothing yet. It must not know which view is empty.

use maud::{Markup, html};

const APPEND: &str = "oneiro append monday --create --text \"the tea is in the blue tin\"";

/// The ways to a first conversation.
pub fn first_steps() -> Markup {
    html! {
        section.welcome aria-labelledby="welcome" {
            h2 #welcome { "No conversation yet" }
            p { "Oneiro keeps every word your agents hear and say. Three ways to begin:" }
            ol {
                (step("Connect the agents on this machine", "oneiro setup"))
                (step("Look around in made-up conversations, on another page", "oneiro serve --demo --listen 127.0.0.1:0"))
                (step("Say something yourself", APPEND))
            }
            p { "This page shows the first and the last as soon as they are said." }
        }
    }
}

fn step(words: &str, command: &str) -> Markup {
    html! {
        li {
            p { (words) }
            (copyable(command))
        }
    }
}

/// A command, with a button that copies it.
pub fn copyable(command: &str) -> Markup {
    html! {
        div.command {
            code { (command) }
            button.scripted type="button" data-copy=(command) aria-label={ "Copy: " (command) } {
                "Copy"
            }
        }
    }
}
