//! MCP over HTTP and nothing else, for the tests with a real client: takes the arguments of
//! `oneiro --store PATH serve --json` and lets everyone into that one space.

use oneiro::{Oneiro, Options, Target};
use oneiro_mcp::{Caller, TokenRole, http_service};

#[expect(clippy::print_stdout, reason = "whoever starts it reads where it listens")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip_while(|arg| arg != "--store").skip(1);
    let store = args.next().ok_or("give --store PATH")?;
    let oneiro = Oneiro::open(&Target::parse(&store, None)?, Options::default())?;
    let caller = Caller { oneiro: oneiro.clone(), role: TokenRole::Admin };
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async move {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", serde_json::json!({"url": format!("http://{}", listener.local_addr()?)}));
        let router = axum::Router::new()
            .route_service("/mcp", http_service())
            .layer(axum::Extension(caller));
        axum::serve(listener, router)
            .with_graceful_shutdown(async move {
                terminate.recv().await;
            })
            .await
    })?;
    drop(oneiro);
    Ok(())
}
