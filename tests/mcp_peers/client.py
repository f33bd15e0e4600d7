"""Drives a server with the official Python SDK. Usage: client.py MODE SERVER [ARGUMENT...]

SERVER is a program, or a URL, which gets the token in GIT_BLUE_TOKEN and the folder as a root. The SDK validates every
answer against the tool's output schema. Prints the results as JSON.
"""

import asyncio
import json
import os
import sys

from pathlib import Path

from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from mcp.types import ListRootsResult, Root

CONTRACT = {"domain": "s3-access", "contract": "s3-permissions"}
CALLS = {
    "realm_status": {},
    "realm_check": {},
    "realm_review": {},
    "contract_get": CONTRACT,
    "contract_list": {},
    "notifications_list": {},
    "contract_diff": CONTRACT,
    "contract_impact": CONTRACT,
    "realm_topology": {},
    "realm_log": {},
}


async def roots(_context: object) -> ListRootsResult:
    return ListRootsResult(roots=[Root(uri=Path.cwd().as_uri())])


def client_of(mode: str, command: str, arguments: list[str]) -> Client:
    if command.startswith("http:"):
        headers = {"Authorization": f"Bearer {os.environ['GIT_BLUE_TOKEN']}"}
        transport = streamable_http_client(command, http_client=create_mcp_http_client(headers=headers))
        return Client(transport, mode=mode, list_roots_callback=roots)
    server = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
    return Client(stdio_client(server), mode=mode)


async def main(mode: str, command: str, arguments: list[str]) -> None:
    async with client_of(mode, command, arguments) as client:
        tools = (await client.list_tools()).tools
        answers = {}
        for name, given in CALLS.items():
            result = await client.call_tool(name, given)
            assert not result.is_error, result
            assert json.loads(result.content[0].text) == result.structured_content
            answers[name] = result.structured_content
        failed = await client.call_tool("contract_get", {"domain": "none", "contract": "none"})
        resources = (await client.list_resources()).resources
        contents = (await client.read_resource("blue://aperture/status")).contents
        prompts = (await client.list_prompts()).prompts
        prompt = await client.get_prompt("review_incoming_changes", {})
        print(
            json.dumps(
                {
                    "version": client.protocol_version,
                    "tools": [tool.name for tool in tools],
                    "failed": failed.is_error,
                    "told": answers["realm_status"]["notifications"],
                    "resources": [str(resource.uri) for resource in resources],
                    "status": json.loads(contents[0].text)["realm"],
                    "prompts": [prompt.name for prompt in prompts],
                    "prompt": prompt.messages[0].content.text,
                }
            )
        )


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
