// Drives a server with the official TypeScript SDK. Usage: client.mjs SERVER [ARGUMENT...]
//
// SERVER is a program, or the URL of a server, which is sent the token in GIT_BLUE_TOKEN and gets the folder as a root.
// The SDK itself validates every answer against the tool's output schema. Prints the results as JSON.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { pathToFileURL } from "node:url";

const [command, ...args] = process.argv.slice(2);
const isHttp = command.startsWith("http:");
const client = new Client({ name: "peers", version: "1" }, { capabilities: isHttp ? { roots: {} } : {} });
if (isHttp) {
  const roots = [{ uri: pathToFileURL(process.cwd()).href }];
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots }));
  const requestInit = { headers: { Authorization: `Bearer ${process.env.GIT_BLUE_TOKEN}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(command), { requestInit }));
} else {
  await client.connect(new StdioClientTransport({ command, args, env: process.env }));
}

const contract = { domain: "s3-access", contract: "s3-permissions" };
const calls = {
  realm_status: {},
  realm_check: {},
  realm_review: {},
  contract_get: contract,
  contract_list: {},
  notifications_list: {},
  contract_diff: contract,
  contract_impact: contract,
  realm_topology: {},
  realm_log: {},
};
const tools = (await client.listTools()).tools.map((tool) => tool.name);
const answers = {};
for (const [name, given] of Object.entries(calls)) {
  const result = await client.callTool({ name, arguments: given });
  if (result.isError) throw new Error(`${name}: ${JSON.stringify(result)}`);
  answers[name] = result.structuredContent;
}
const failed = await client.callTool({ name: "contract_get", arguments: { domain: "none", contract: "none" } });
await client.ping();
const resources = (await client.listResources()).resources.map((resource) => resource.uri);
const { contents } = await client.readResource({ uri: "blue://aperture/status" });
const { completion } = await client.complete({
  ref: { type: "ref/prompt", name: "prepare_contract_change" },
  argument: { name: "domain", value: "s3" },
});
console.log(
  JSON.stringify({
    tools,
    failed: failed.isError,
    told: answers.realm_status.notifications,
    resources,
    status: JSON.parse(contents[0].text).realm,
    completion: completion.values,
  }),
);
await client.close();
