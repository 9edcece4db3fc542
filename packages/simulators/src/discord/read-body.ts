import type { IncomingMessage } from 'node:http';
import { Refusal } from './refusal.ts';

/** The largest request the servers take. */
const LARGEST_BYTES = 25 * 1024 * 1024;

/** A body: JSON, or multipart with `payload_json` and files. */
export interface ReadBody {
  readonly body: unknown;
  readonly files: ReadonlyMap<string, File>;
}

/** @throws Refusal 40005 when it is too large, 50109 when it is not what its type says. */
export async function readBody(request: IncomingMessage): Promise<ReadBody> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > LARGEST_BYTES) throw new Refusal(413, 40005, 'Request entity too large');
    chunks.push(bytes);
  }
  const raw = Buffer.concat(chunks);
  const type = request.headers['content-type'] ?? '';
  if (raw.length === 0) return { body: undefined, files: new Map() };
  if (type.startsWith('multipart/form-data')) return readMultipart(raw, type);
  return { body: parseJson(raw.toString()), files: new Map() };
}

async function readMultipart(raw: Buffer<ArrayBuffer>, type: string): Promise<ReadBody> {
  const form = await new Response(raw, { headers: { 'content-type': type } }).formData();
  const files = new Map<string, File>();
  for (const [name, value] of form) if (value instanceof File) files.set(name, value);
  const payload = form.get('payload_json');
  return { body: typeof payload === 'string' ? parseJson(payload) : undefined, files };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, 50109, 'The request body contains invalid JSON.');
  }
}
