//! A local server that returns prepared responses in order, to test the requests and parsers of adapters. The
//! responses have the documented formats of the forges (`tests/fixtures/forge`).

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tiny_http::{Header, Response, Server};

use super::{Client, Comment, Forge, Issue, NewCommit, Secret};

pub(super) struct TestServer {
    client: Arc<Client>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl TestServer {
    pub(super) fn start<const N: usize>(answers: [(u16, Value); N]) -> Self {
        let server = Server::http("127.0.0.1:0").unwrap();
        let base = format!("http://{}", server.server_addr());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = asked.clone();
        std::thread::spawn(move || {
            // Further requests get the status 500.
            for (mut request, (status, answer)) in server.incoming_requests().zip(answers) {
                let mut body = String::new();
                request.as_reader().read_to_string(&mut body).unwrap();
                log.lock().unwrap().push(format!("{} {} HTTP/1.1 {body}", request.method(), request.url()));
                let answer = if status == 204 { String::new() } else { answer.to_string() };
                let kind: Header = "content-type: application/json".parse().unwrap();
                request.respond(Response::from_string(answer).with_status_code(status).with_header(kind)).unwrap();
            }
        });
        let client = Client::new("h", &base, Secret::of("t")).unwrap();
        Self { client: Arc::new(client), asked }
    }

    pub(super) fn client(&self) -> Arc<Client> {
        self.client.clone()
    }

    /// Returns the received requests: method, path and body.
    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

/// Creates the adapter under test.
type Connect = fn(&TestServer) -> Box<dyn Forge>;

/// Asserts that comments on pull request 9 are listed, written and edited with these requests. `note` is a comment with
/// the id 302 and the text B.
pub(super) fn comments_are_listed_written_and_edited(connect: Connect, note: &Value, requests: [&str; 3]) {
    let server = TestServer::start([(200, json!([note])), (201, note.clone()), (200, note.clone())]);
    let forge = connect(&server);
    let expected = Comment { id: 302, url: note["html_url"].as_str().map(str::to_owned), body: "B".into() };
    assert_eq!(forge.comments(9).unwrap().entries, std::slice::from_ref(&expected));
    assert_eq!(forge.comment(9, "B").unwrap(), expected);
    forge.edit_comment(9, 302, "C").unwrap();
    let asked = server.asked();
    assert_starts(&asked, &requests);
    assert!(asked[2].contains("\"body\":\"C\""), "{asked:?}");
}

/// Asserts that issues are listed, opened, edited and closed. `answer` is issue 7 with the title T, the text B and the
/// page https://forge.test/7, and `pull` is a pull request among the issues.
pub(super) fn issues_are_listed_opened_edited_and_closed(
    connect: Connect,
    [answer, pull]: [Value; 2],
    [edit, text, close]: [&str; 3],
) {
    let server =
        TestServer::start([(200, json!([answer, pull])), (201, answer.clone()), (200, answer.clone()), (200, answer)]);
    let forge = connect(&server);
    let issue = Issue {
        number: 7,
        author: None,
        is_open: true,
        url: "https://forge.test/7".into(),
        title: "T".into(),
        body: "B".into(),
    };
    assert_eq!(forge.issues().unwrap().entries, std::slice::from_ref(&issue));
    assert_eq!(forge.open_issue("T", "B").unwrap(), issue);
    forge.edit_issue(&issue).unwrap();
    forge.edit_issue(&Issue { is_open: false, ..issue }).unwrap();
    let asked = server.asked();
    assert!(asked[1].starts_with("POST ") && asked[1].contains(text), "{asked:?}");
    assert!(asked[2].starts_with(edit) && asked[2].contains("/issues/7 ") && !asked[2].contains("clos"), "{asked:?}");
    assert!(asked[3].contains(close), "{asked:?}");
}

/// Asserts that a file with the text "role\n" and this id is read from the branch main at c0ffee, and committed twice:
/// on a new branch, and on a branch that exists. Returns the requests.
pub(super) fn a_file_is_read_and_committed(
    connect: Connect,
    [file, done]: [Value; 2],
    id: &str,
    requests: [&str; 8],
) -> Vec<String> {
    let (branch, path) = ("git-blue/s3/paths", ".blue/bindings/s3.yaml");
    let main = json!({ "name": "main", "commit": { "id": "c0ffee", "message": "M\n" } });
    let missing = || (404, json!({ "message": "not found" }));
    let server = TestServer::start([
        (200, json!({ "id": 1, "default_branch": "main" })),
        (200, main),
        missing(),
        (200, file),
        missing(),
        (200, done.clone()),
        (200, done),
        (204, Value::Null),
    ]);
    let forge = connect(&server);
    assert_eq!(forge.default_branch().unwrap(), "main");
    let tip = forge.tip("main").unwrap().unwrap();
    assert_eq!((&*tip.id, &*tip.message), ("c0ffee", "M\n"));
    assert_eq!(forge.tip(branch).unwrap(), None);
    let file = forge.file("c0ffee", path).unwrap().unwrap();
    assert_eq!((&*file.id, &*file.text), (id, "role\n"));
    assert_eq!(forge.file("c0ffee", ".blue/bindings/s4.yaml").unwrap(), None);
    let commit = NewCommit { branch, start: Some("main"), parent: &tip, path, file: &file, text: "new", message: "M" };
    forge.commit(&commit).unwrap();
    forge.commit(&NewCommit { start: None, ..commit }).unwrap();
    forge.delete_branch(branch).unwrap();
    let asked = server.asked();
    assert_starts(&asked, &requests);
    asked
}

fn assert_starts(asked: &[String], starts: &[&str]) {
    assert_eq!(asked.len(), starts.len(), "{asked:?}");
    for (asked, start) in asked.iter().zip(starts) {
        assert!(asked.starts_with(start), "{asked}");
    }
}
