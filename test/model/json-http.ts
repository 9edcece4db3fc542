import type { IncomingMessage, ServerResponse } from 'node:http';

/** Reads a whole body. */
export async function readBytes(request: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts);
}

/** Reads a JSON body; undefined when there is none. Throws on text that is not JSON. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const text = (await readBytes(request)).toString('utf8');
  return text === '' ? undefined : JSON.parse(text);
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}
