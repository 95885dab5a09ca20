//! First steps, shown where a space has no conversations.

use maud::{Markup, html};

const APPEND: &str = "oneiro append monday --create --text \"the tea is in the blue tin\"";

/// Commands that lead to a first conversation.
pub fn first_steps() -> Markup {
    html! {
        section.welcome aria-labelledby="welcome" {
            h2 #welcome { "No conversations yet" }
            p { "Oneiro stores every message of your agents. Three ways to start:" }
            ol {
                (step("Connect the agents on this machine", "oneiro setup"))
                (step("Explore a demo with made-up conversations", "oneiro serve --demo --listen 127.0.0.1:0"))
                (step("Add a message yourself", APPEND))
            }
            p { "This page updates live." }
        }
    }
}

fn step(label: &str, command: &str) -> Markup {
    html! {
        li {
            p { (label) }
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
