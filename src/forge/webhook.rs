//! Sends one message to a URL that the user chose, signed as in [Standard Webhooks], so that the receiver can verify
//! the sender and the time, and recognize duplicates.
//!
//! [Standard Webhooks]: https://www.standardwebhooks.com/

use std::time::Duration;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use ureq::http::{Request, Uri};

use super::{
    Message, Secret, bounded,
    client::{agent, run},
    is_private,
};

/// The prefix of a base64-encoded secret.
const PREFIX: &str = "whsec_";

/// Sends a message once, within a time limit. Redirects are not followed.
///
/// # Errors
/// Returns the reason why it was not delivered, without the secret and the path of the URL.
pub fn post(url: &str, message: &Message<'_>, secret: Option<&Secret>, limit: Duration) -> Result<(), String> {
    if !is_private(url) {
        return Err("its URL is not https, and events are only sent encrypted".to_owned());
    }
    let mut request = Request::post(url)
        .header("content-type", message.content_type)
        .header("webhook-id", message.id)
        .header("webhook-timestamp", message.time);
    if let Some(secret) = secret {
        request = request.header("webhook-signature", signature(message, secret)?);
    }
    let uri: Uri = url.parse().map_err(|error| format!("its URL is not valid: {error}"))?;
    let host = uri.host().unwrap_or_default().to_owned();
    let failed = |error: ureq::Error| format!("{host} cannot be reached: {}", bounded(&error.to_string(), 200));
    let sent = run(&agent(), request.body(message.body.to_owned()), limit);
    match sent.map_err(|error| failed(error).replace(url, &host))?.status().as_u16() {
        200..=299 => Ok(()),
        status @ 300..=399 => Err(format!("{host} redirects ({status}), and redirects are not followed")),
        status => Err(format!("{host} responded with {status}")),
    }
}

/// Returns `v1,` and the base64-encoded HMAC-SHA-256 of id, time and body.
fn signature(message: &Message<'_>, secret: &Secret) -> Result<String, String> {
    let text = secret.expose();
    let key = match text.strip_prefix(PREFIX) {
        Some(text) => BASE64_STANDARD.decode(text).map_err(|_| format!("its secret has no base64 after {PREFIX}"))?,
        None => text.as_bytes().to_vec(),
    };
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap_or_else(|_| unreachable!("keys have any length"));
    mac.update(format!("{}.{}.{}", message.id, message.time, message.body).as_bytes());
    Ok(format!("v1,{}", BASE64_STANDARD.encode(mac.finalize().into_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example from the specification and its libraries.
    #[test]
    fn messages_are_signed_as_in_the_standard() {
        let message = Message {
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            time: 1_614_265_330,
            content_type: "application/json",
            body: r#"{"test": 2432232314}"#,
        };
        let secret = Secret::of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        assert_eq!(signature(&message, &secret).unwrap(), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        // The libraries refuse it too. Its bytes would be a key that no receiver has.
        let secret = Secret::of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS!").unwrap();
        assert_eq!(signature(&message, &secret).unwrap_err(), "its secret has no base64 after whsec_");
    }

    #[test]
    fn nothing_is_sent_without_tls() {
        let message = Message { id: "i", time: 0, content_type: "text/plain", body: "" };
        let said = post("http://example.com/secret", &message, None, Duration::from_secs(1)).unwrap_err();
        assert!(said.contains("not https") && !said.contains("secret"), "{said}");
        let said = post("https://example.com/a secret", &message, None, Duration::from_secs(1)).unwrap_err();
        assert_eq!(said, "its URL is not valid: invalid uri character");
    }
}
