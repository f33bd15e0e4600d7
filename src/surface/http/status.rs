//! Maps failures to HTTP status codes.

use hyper::StatusCode;

use crate::error::{ErrorCode, Kind, OpError};

/// Returns the HTTP status code of a failure.
pub fn of(error: &OpError) -> StatusCode {
    use ErrorCode as Code;
    match error.code {
        Code::NoToken => StatusCode::UNAUTHORIZED,
        Code::LinkUsed | Code::ReadOnly | Code::WrongOrigin => StatusCode::FORBIDDEN,
        Code::BeforeRealm | Code::NoRoute | Code::NoSession | Code::NotInRealm | Code::RepoUndetermined => {
            StatusCode::NOT_FOUND
        }
        code if code.as_str().starts_with("unknown-") => StatusCode::NOT_FOUND,
        Code::WrongMethod => StatusCode::METHOD_NOT_ALLOWED,
        Code::Timeout => StatusCode::REQUEST_TIMEOUT,
        Code::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::WrongType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Code::WrongHost => StatusCode::MISDIRECTED_REQUEST,
        Code::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
        Code::WriteRace | Code::Damaged | Code::Git | Code::Io => StatusCode::INTERNAL_SERVER_ERROR,
        Code::Remote => StatusCode::BAD_GATEWAY,
        Code::Busy | Code::Locked => StatusCode::SERVICE_UNAVAILABLE,
        Code::Usage => StatusCode::BAD_REQUEST,
        // The request does not fit the state of the realm or of this machine.
        _ => match error.kind {
            Kind::Usage => StatusCode::BAD_REQUEST,
            Kind::No | Kind::Cannot => StatusCode::CONFLICT,
        },
    }
}
