//! Listens on the two loopback addresses of this machine, and limits everything that a client can make the daemon hold:
//! connections, headers, time.

use std::{
    convert::Infallible,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use http_body_util::BodyExt as _;
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
};

use super::{
    Settings, catch_up,
    connections::{Connection, Connections, Socket, Streaming},
    context::Contexts,
    events::MAX_STREAMS,
    handler::Handler,
    notify,
    peer::Ends,
    sync, warm_up,
};
use crate::{
    env::Env,
    error::{ErrorCode, OpError},
    platform::{process, terminal::Stop},
    surface::mcp::AfterFlush,
};

/// The number of threads that serve connections.
const WORKERS: usize = 2;
/// The number of threads that run operations.
const ANSWERING: usize = 6;
/// The maximum number of connections, besides event streams.
const CONNECTIONS: usize = 512;
/// The number of files that the daemon has open besides its clients: stores, programs that it starts, and a reserve.
const OWN_FILES: usize = 256;
/// The time limit for a client to send the head of a request, and for being idle before that.
const HEAD_TIME: Duration = Duration::from_secs(15);
/// The maximum size of the head of a request, in bytes.
const HEAD_SIZE: usize = 16 << 10;
/// The time limit for finishing requests when the daemon stops.
const FAREWELL: Duration = Duration::from_secs(5);

/// The response to a client if there is no room for it.
const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// Serves clients that send the token, until the process is told to stop. Calls `ready` with the port once requests can
/// be answered; if that fails, it serves nobody.
///
/// # Errors
/// Returns an error if the port cannot be bound, and that of `ready`.
pub fn serve(
    env: &Env,
    settings: &Settings,
    token: String,
    ready: impl FnOnce(u16) -> Result<(), OpError>,
) -> Result<(), OpError> {
    let failed = |error: std::io::Error| OpError::cannot(ErrorCode::Io, format!("cannot start the server: {error}"));
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(WORKERS).max_blocking_threads(ANSWERING).enable_all().build();
    let runtime = runtime.map_err(failed)?;
    let outcome = runtime.block_on(async {
        let mut end = Stop::listen().map_err(failed)?;
        let (port, listeners) = listen(settings.port).await?;
        let (stop, stopping) = watch::channel(false);
        let streams = raise_file_limit();
        let handler = Arc::new(Handler::new(env, port, token, settings.rate_limit, streams, stopping.clone())?);
        catch_up::regularly(Contexts::new(env), settings.catch_up, stopping.clone());
        sync::regularly(Contexts::new(env), settings.sync_interval, stopping.clone());
        let (contexts, until) = (Contexts::new(env), stopping.clone());
        tokio::task::spawn_blocking(move || warm_up::read_realms(&contexts, &until));
        notify::regularly(Contexts::new(env), stopping.clone());
        let connections = Connections::new(CONNECTIONS);
        let accepting = listeners
            .into_iter()
            .map(|listener| tokio::spawn(accept(listener, handler.clone(), connections.clone(), stopping.clone())));
        let accepting: Vec<_> = accepting.collect();
        ready(port)?;
        end.requested().await;
        // Free the port before the connections are closed.
        for task in accepting {
            task.abort();
            let _ = task.await;
        }
        let _ = stop.send(true);
        let all_left = async {
            while connections.count() > 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let _ = tokio::time::timeout(FAREWELL, all_left).await;
        Ok(())
    });
    // Work that still waits for a remote is abandoned.
    runtime.shutdown_timeout(Duration::from_secs(1));
    outcome
}

/// Raises the limit on open files to what all clients need, if the system allows it. Returns the
/// number of event streams that fit, since each needs an open file.
fn raise_file_limit() -> usize {
    let others = CONNECTIONS + OWN_FILES;
    let open = process::raise_open_file_limit(MAX_STREAMS + others);
    MAX_STREAMS.min(open.saturating_sub(others)).max(1)
}

/// Binds the port. Returns it and the listening sockets.
async fn listen(port: u16) -> Result<(u16, Vec<TcpListener>), OpError> {
    let taken =
        |error: std::io::Error| OpError::cannot(ErrorCode::PortTaken, format!("cannot listen on port {port}: {error}"));
    let four = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await.map_err(taken)?;
    let port = four.local_addr().map_err(taken)?.port();
    match TcpListener::bind(SocketAddr::from((Ipv6Addr::LOCALHOST, port))).await {
        Ok(six) => Ok((port, vec![four, six])),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => Err(taken(error)),
        // This machine has no IPv6.
        Err(_) => Ok((port, vec![four])),
    }
}

async fn accept(
    listener: TcpListener,
    handler: Arc<Handler>,
    connections: Arc<Connections>,
    stopping: watch::Receiver<bool>,
) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // The file descriptors may be used up, for example. Some of them will be closed.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        match connections.admit() {
            Some(connected) => {
                drop(tokio::spawn(serve_connection(stream, connected, handler.clone(), stopping.clone())))
            }
            None => drop(stream.try_write(FULL)),
        }
    }
}

async fn serve_connection(
    stream: TcpStream,
    connected: Connection,
    handler: Arc<Handler>,
    mut stopping: watch::Receiver<bool>,
) {
    let _ = stream.set_nodelay(true);
    let ends = Ends::of(&stream);
    let connected = Arc::new(connected);
    let after = AfterFlush::default();
    let (asking, socket) = (connected.clone(), Socket::new(stream, connected.clone(), after.clone()));
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(after.clone());
        ends.and_then(|ends| request.extensions_mut().insert(ends));
        let (handler, asking, busy) = (handler.clone(), asking.clone(), asking.busy());
        async move {
            let response = handler.answer(request).await;
            if response.extensions().get::<Streaming>().is_some() {
                asking.listen();
            }
            Ok::<_, Infallible>(response.map(|body| busy.with(body).boxed()))
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_SIZE)
        .serve_connection(TokioIo::new(socket), service);
    let mut connection = pin!(connection);
    // A client that disconnects is not worth logging.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = connected.asked_to_close() => {}
        () = stop_requested(&mut stopping) => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

/// Waits until the daemon stops.
async fn stop_requested(stopping: &mut watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stop| *stop).await;
}
