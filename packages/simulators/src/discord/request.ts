import type { IncomingMessage } from 'node:http';
import type { z } from 'zod';
import type { Json } from './wire.ts';

export class RestCall {
  readonly params: ReadonlyMap<string, string>;
  readonly query: URLSearchParams;
  readonly body: unknown;
  /** The files of a multipart body by field name: `files[0]`, `files[1]` and so on. */
  readonly files: ReadonlyMap<string, File>;

  constructor(
    params: ReadonlyMap<string, string>,
    query: URLSearchParams,
    content: { readonly body: unknown; readonly files: ReadonlyMap<string, File> },
  ) {
    this.params = params;
    this.query = query;
    this.body = content.body;
    this.files = content.files;
  }

  /** Returns a named parameter of the path. */
  param(name: string): string {
    const value = this.params.get(name);
    if (value === undefined) throw new Error(`The route has no :${name}`);
    return decodeURIComponent(value);
  }

  /**
   * Parses the body with the schema of the route.
   * @throws Refusal with code 50035 (invalid form body) naming the invalid fields
   */
  read<T>(form: z.ZodType<T>): T {
    const result = form.safeParse(this.body ?? {});
    if (result.success) return result.data;
    throw new Refusal(400, 50035, 'Invalid Form Body', describeFormErrors(result.error));
  }
}

function describeFormErrors(error: z.ZodError): Json {
  const errors: Record<string, unknown> = {};
  for (const { path, message } of error.issues) {
    errors[path.join('.') || 'body'] = { _errors: [{ code: 'BASE_TYPE_BAD', message }] };
  }
  return errors;
}

/** A parsed body: JSON, or multipart with `payload_json` and files. */
export interface ParsedBody {
  readonly body: unknown;
  readonly files: ReadonlyMap<string, File>;
}

/**
 * @throws Refusal with code 40005 when the body is too large, 50109 when it does not match its
 * content type
 */
export async function readBody(request: IncomingMessage): Promise<ParsedBody> {
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

async function readMultipart(raw: Buffer<ArrayBuffer>, type: string): Promise<ParsedBody> {
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

/** The largest request body that Discord's servers accept. */
const LARGEST_BYTES = 25 * 1024 * 1024;

/** An error response of the API; thrown by the routes and sent by the server. */
export class Refusal extends Error {
  readonly status: number;
  /** Discord's own error code, for example 10003; 0 when the error has no code. */
  readonly code: number;
  /** The errors by field, with the same nesting as the fields. */
  readonly errors: Json | undefined;

  constructor(status: number, code: number, message: string, errors?: Json) {
    super(message);
    this.status = status;
    this.code = code;
    this.errors = errors;
  }
}

/** Creates a refusal with status 404 for a missing object, with the error code of its type. */
export function createNotFoundRefusal(
  what:
    | 'Channel'
    | 'Guild'
    | 'Message'
    | 'User'
    | 'Webhook'
    | 'Interaction'
    | 'Application command',
): Refusal {
  const code = {
    Channel: 10003,
    Guild: 10004,
    Message: 10008,
    User: 10013,
    Webhook: 10015,
    Interaction: 10062,
    'Application command': 10063,
  }[what];
  return new Refusal(404, code, `Unknown ${what}`);
}

/** Creates a refusal with status 403 for a channel that the bot cannot see. */
export function createMissingAccessRefusal(): Refusal {
  return new Refusal(403, 50001, 'Missing Access');
}

/** Creates a refusal with status 403 for a visible channel where the bot lacks the permission. */
export function createMissingPermissionsRefusal(): Refusal {
  return new Refusal(403, 50013, 'Missing Permissions');
}

/**
 * Creates a refusal with status 400 naming the invalid field; `path` leads to the field, for
 * example `embeds.0.title`.
 */
export function createInvalidFormRefusal(path: string, code: string, message: string): Refusal {
  const leaf: Json = { _errors: [{ code, message }] };
  const errors = path.split('.').reduceRight<Json>((inner, name) => ({ [name]: inner }), leaf);
  return new Refusal(400, 50035, 'Invalid Form Body', errors);
}
