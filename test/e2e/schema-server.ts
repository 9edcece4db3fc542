import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { z } from 'zod';

/*
 * A stdio test server that offers tools with the schemas from a file. The protocol is implemented
 * by hand because no library sends such schemas. The server runs as a separate program: `node
 * schema-server.ts FILE`.
 */

const [, , file = ''] = process.argv;
const schemas = z.array(z.unknown()).parse(JSON.parse(readFileSync(file, 'utf8')));
const tools = schemas.map((inputSchema, nth) => ({
  name: `tool${nth}`,
  description: 'Does nothing.',
  inputSchema,
  annotations: { readOnlyHint: true },
}));

const Request = z.object({
  id: z.unknown().optional(),
  method: z.string().optional(),
  params: z.looseObject({ protocolVersion: z.string().optional() }).default({}),
});

function createResult({ method, params }: z.infer<typeof Request>): object {
  switch (method) {
    case 'initialize': {
      const { protocolVersion } = params;
      const serverInfo = { name: 'schemas', version: '1' };
      return { protocolVersion, capabilities: { tools: {} }, serverInfo };
    }
    case 'tools/list':
      return { tools };
    default:
      return { content: [{ type: 'text', text: 'done' }] };
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const request = Request.parse(JSON.parse(line));
  if (request.id === undefined) return;
  const response = { jsonrpc: '2.0', id: request.id, result: createResult(request) };
  process.stdout.write(`${JSON.stringify(response)}\n`);
});
