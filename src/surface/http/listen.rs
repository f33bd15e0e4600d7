//! The sockets: this machine's two loopback addresses, and a bound on everything that a client can
//! make us hold: connections, headers, time.

use std::{
    convert::Infallible,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};

use super::{Settings, route::House};
use crate::{env::Env, error::OpError};

/// How many threads wait for clients.
const WORKERS: usize = 2;
/// How many threads answer.
const ANSWERING: usize = 4;
/// How long a client may take for the head of a request, and be silent before it.
const HEAD_TIME: Duration = Duration::from_secs(15);
/// How long the head of a request may be.
const HEAD_SIZE: usize = 16 << 10;

/// Serves until the process is told to stop. `ready` hears where, once requests are answered.
///
/// # Errors
/// Where the port cannot be had.
pub fn serve(env: &Env, settings: &Settings, ready: impl FnOnce(&str)) -> Result<(), OpError> {
    let built = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .max_blocking_threads(ANSWERING)
        .enable_all()
        .build();
    let runtime = built.map_err(|error| OpError::cannot("io", format!("cannot start the server: {error}")))?;
    runtime.block_on(async {
        let (port, listeners) = listen(settings.port).await?;
        let house = Arc::new(House::new(env, port, settings));
        for listener in listeners {
            tokio::spawn(accept(listener, house.clone()));
        }
        ready(&format!("http://127.0.0.1:{port}/"));
        let _ = tokio::signal::ctrl_c().await;
        Ok(())
    })
}

/// Returns the port, and who listens there.
async fn listen(port: u16) -> Result<(u16, Vec<TcpListener>), OpError> {
    let taken = |error: std::io::Error| OpError::cannot("port-taken", format!("cannot listen on port {port}: {error}"));
    let four = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await.map_err(taken)?;
    let port = four.local_addr().map_err(taken)?.port();
    match TcpListener::bind(SocketAddr::from((Ipv6Addr::LOCALHOST, port))).await {
        Ok(six) => Ok((port, vec![four, six])),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => Err(taken(error)),
        // A machine without it.
        Err(_) => Ok((port, vec![four])),
    }
}

async fn accept(listener: TcpListener, house: Arc<House>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(converse(stream, house.clone()))),
            // Out of descriptors, for one: those in use come back.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn converse(stream: TcpStream, house: Arc<House>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let house = house.clone();
        async move { Ok::<_, Infallible>(house.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_SIZE)
        .serve_connection(TokioIo::new(stream), service);
    // A client that went away is nothing to say anything about.
    let _ = connection.await;
}
