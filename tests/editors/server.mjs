// Talks to yaml-language-server as an editor does (LSP 3.17, over stdio), about the files of one repository.
// node server.mjs SERVER REPOSITORY
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [program, repository] = process.argv.slice(2);
const root = resolve(repository);
const server = spawn(process.execPath, [program, '--stdio'], { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] });
const answers = new Map();
const diagnostics = new Map();
let buffer = Buffer.alloc(0);
let last = 0;

function send(message) {
	const text = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
	server.stdin.write(`Content-Length: ${text.length}\r\n\r\n`);
	server.stdin.write(text);
}

function ask(method, params) {
	const id = ++last;
	send({ id, method, params });
	return new Promise((done) => answers.set(id, done));
}

function receive(message) {
	if (message.method === 'textDocument/publishDiagnostics') {
		diagnostics.get(message.params.uri)?.(message.params.diagnostics);
	} else if (message.method && message.id !== undefined) {
		// The server requests settings, and registers capabilities. It gets no settings.
		const settings = (message.params?.items ?? []).map(() => ({}));
		send({ id: message.id, result: message.method === 'workspace/configuration' ? settings : null });
	} else if (answers.has(message.id)) {
		answers.get(message.id)(message.result);
	}
}

server.stdout.on('data', (data) => {
	buffer = Buffer.concat([buffer, data]);
	for (;;) {
		const end = buffer.indexOf('\r\n\r\n');
		if (end < 0) return;
		const length = Number(/Content-Length: (\d+)/i.exec(buffer.subarray(0, end).toString())[1]);
		if (buffer.length < end + 4 + length) return;
		receive(JSON.parse(buffer.subarray(end + 4, end + 4 + length).toString()));
		buffer = buffer.subarray(end + 4 + length);
	}
});

// Opens a file with this text, or replaces the text of an open one. Returns the server's diagnostics.
const versions = new Map();
function open(path, text) {
	const uri = pathToFileURL(resolve(root, path)).href;
	const said = new Promise((done) => diagnostics.set(uri, done));
	const version = (versions.get(uri) ?? 0) + 1;
	versions.set(uri, version);
	if (version === 1) {
		send({ method: 'textDocument/didOpen', params: { textDocument: { uri, languageId: 'yaml', version, text } } });
	} else {
		send({ method: 'textDocument/didChange', params: { textDocument: { uri, version }, contentChanges: [{ text }] } });
	}
	return said.then((found) => ({ uri, found: found.map((one) => `${one.range.start.line}: ${one.message}`) }));
}

async function offered(uri, line) {
	const position = { line, character: 0 };
	const list = await ask('textDocument/completion', { textDocument: { uri }, position });
	return (list.items ?? list).map((item) => item.label);
}

function check(holds, what) {
	if (!holds) {
		console.log(`failed: ${what}`);
		process.exit(1);
	}
}

setTimeout(() => check(false, 'the server said nothing for 60 seconds'), 60_000).unref();
await ask('initialize', { processId: process.pid, rootUri: pathToFileURL(root).href, capabilities: {} });
send({ method: 'initialized', params: {} });

const contract = '.blue/contracts/editing/orders.yaml';
const written = readFileSync(resolve(root, contract), 'utf8');
const right = await open(contract, written);
check(right.found.length === 0, `${contract} as git blue wrote it: ${right.found}`);

const wrong = await open(contract, `${written}ownr: somebody\n`);
check(wrong.found.some((one) => one.includes('ownr')), `a wrong key is flagged: ${wrong.found}`);
const keys = await offered(wrong.uri, written.split('\n').length);
check(['deprecated', 'validation', 'flow'].every((key) => keys.includes(key)), `keys are offered: ${keys}`);
check(!keys.includes('yanked'), `what the realm keeps is not offered: ${keys}`);

const binding = '.blue/bindings/editing.yaml';
const bound = await open(binding, readFileSync(resolve(root, binding), 'utf8').replace('role: provider', 'role: owner'));
check(bound.found.some((one) => one.includes('consumer')), `a wrong role is flagged: ${bound.found}`);
server.kill();
process.exit(0);
