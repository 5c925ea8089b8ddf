//! The HTTP server, in a thread of its own: it reads what the sampling thread published, and can't hold that up.

mod auth;
mod limits;
mod routes;
mod timed;
mod tls;
mod web;

use std::convert::Infallible;
use std::io::ErrorKind;
use std::net::TcpListener as StdListener;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use self::limits::{Busy, Connections, HANDSHAKE_TIME, HEADER_BYTES, HEADER_TIME};
use self::timed::Timed;
use super::shared::Shared;

pub(super) use web::Web;

/// What every connection needs.
#[derive(Clone)]
struct Site {
    web: Arc<Web>,
    shared: Arc<Shared>,
    connections: Connections,
}

/// Serves until the process ends.
///
/// # Errors
/// Where the thread or its event loop can't be made.
pub(super) fn start(listeners: Vec<StdListener>, web: Web, shared: Arc<Shared>) -> Result<()> {
    // Passwords are worked out in a thread beside: one, as only one is worked out at a time.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .max_blocking_threads(1)
        .thread_name("hotset-password")
        .build()
        .context("the server's event loop")?;
    let listeners = {
        let _inside = runtime.enter();
        let listeners: std::io::Result<Vec<_>> =
            listeners.into_iter().map(TcpListener::from_std).collect();
        listeners.context("a socket")?
    };
    let site = Site { web: Arc::new(web), shared, connections: Connections::default() };
    std::thread::Builder::new()
        .name("hotset-http".to_owned())
        .spawn(move || {
            runtime.block_on(async {
                for listener in listeners {
                    tokio::spawn(accept(listener, site.clone()));
                }
                std::future::pending::<()>().await;
            });
        })
        .context("the server's thread")?;
    Ok(())
}

async fn accept(listener: TcpListener, site: Site) {
    /// Without descriptors one that waits has to give its own back, and that takes a moment.
    const BREATH: Duration = Duration::from_millis(100);
    loop {
        let accepted = listener.accept().await;
        if accepted.as_ref().is_err_and(|error| error.kind() == ErrorKind::ConnectionAborted) {
            continue;
        }
        let Ok((stream, _)) = accepted else {
            if site.connections.end_one() {
                site.shared.refused();
            }
            sleep(BREATH).await;
            continue;
        };
        if site.connections.make_room() {
            site.shared.refused();
        }
        let (busy, serial) = (Busy::default(), site.connections.next_serial());
        let place = Place { connections: site.connections.clone(), serial };
        let (mine, answering) = (site.clone(), busy.clone());
        let task = tokio::spawn(async move {
            let _place = place;
            connection(stream, mine, answering).await;
        });
        site.connections.add(serial, task.abort_handle(), busy);
    }
}

/// Its place among the connections, until it ends.
struct Place {
    connections: Connections,
    serial: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.remove(self.serial);
    }
}

async fn connection(stream: TcpStream, site: Site, busy: Busy) {
    // Answers are small and whole: waiting for more would only delay them.
    let _ = stream.set_nodelay(true);
    let stream = Timed::new(stream);
    let tls = site.web.current().tls.clone();
    match tls {
        None => serve(stream, site, busy).await,
        Some(tls) => {
            // Who can't speak TLS is gone: there is nobody to tell.
            if let Ok(Ok(stream)) = timeout(HANDSHAKE_TIME, tls.accept(stream)).await {
                serve(stream, site, busy).await;
            }
        }
    }
}

async fn serve<S: AsyncRead + AsyncWrite + Unpin>(stream: S, site: Site, busy: Busy) {
    let service = service_fn(|request| {
        let (site, busy) = (site.clone(), busy.clone());
        async move {
            let _answering = busy.begin();
            let loaded = site.web.current();
            Ok::<_, Infallible>(routes::answer(&request, &loaded, &site.shared).await)
        }
    });
    // A client that goes away or breaks the rules ends its own connection and nothing else.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME)
        .max_buf_size(HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}
