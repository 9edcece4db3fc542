import type { IncomingMessage } from 'node:http';
import { z } from 'zod';

/**
 * The parameters of one call in any encoding; clients may send numbers as text and objects as JSON
 * text.
 */
export class RequestParams {
  readonly values: Readonly<Record<string, unknown>>;

  constructor(values: Readonly<Record<string, unknown>>) {
    this.values = values;
  }

  text(name: string): string | undefined {
    const value = this.values[name];
    if (value === undefined || value === null) return undefined;
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
  }

  integer(name: string): number | undefined {
    const text = this.text(name);
    return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : undefined;
  }

  flag(name: string): boolean {
    return this.values[name] === true || this.values[name] === 'true' || this.values[name] === '1';
  }

  /** Returns an object or array parameter, possibly encoded as JSON text. */
  json(name: string): unknown {
    const value = this.values[name];
    if (typeof value !== 'string') return value;
    try {
      return JSON.parse(value);
    } catch {
      throw createBadRequestRefusal(`can't parse ${name.replaceAll('_', ' ')} JSON object`);
    }
  }

  /** The fields of an object parameter; empty when the parameter is absent. */
  inside(name: string): RequestParams {
    const value = this.json(name);
    return new RequestParams(isRecord(value) ? value : {});
  }
}

/**
 * Reads the query and the body, which may be JSON, urlencoded or multipart (files remain `File`
 * objects).
 * @throws Refusal when the body does not match its content type or is not UTF-8
 */
export async function parseRequestParams(
  request: IncomingMessage,
  query: URLSearchParams,
): Promise<RequestParams> {
  const body = await readBody(request);
  const fromQuery = Object.fromEntries(query);
  if (body.length === 0) return new RequestParams(fromQuery);
  const type = request.headers['content-type'] ?? '';
  if (type.startsWith('application/json')) {
    return new RequestParams({ ...fromQuery, ...parseObject(decodeBody(body)) });
  }
  if (type.startsWith('multipart/form-data')) {
    const form = await new Response(body, { headers: { 'content-type': type } }).formData();
    return new RequestParams({ ...fromQuery, ...Object.fromEntries(form.entries()) });
  }
  return new RequestParams({
    ...fromQuery,
    ...Object.fromEntries(new URLSearchParams(decodeBody(body))),
  });
}

/** The machine-readable parameters of a refusal. */
export const RefusalParameters = z.strictObject({
  /** The number of seconds to wait before the next attempt. */
  retry_after: z.number().optional(),
  migrate_to_chat_id: z.number().optional(),
});
export type RefusalParameters = z.infer<typeof RefusalParameters>;

/** An error response of the Bot API; the methods throw it and the server sends it. */
export class Refusal extends Error {
  readonly code: number;
  readonly parameters: RefusalParameters | undefined;

  constructor(code: number, description: string, parameters?: RefusalParameters) {
    super(description);
    this.code = code;
    this.parameters = parameters;
  }
}

/** Creates a refusal with status 400 and the server's usual prefix. */
export function createBadRequestRefusal(reason: string, parameters?: RefusalParameters): Refusal {
  return new Refusal(400, `Bad Request: ${reason}`, parameters);
}

/** Creates a refusal with status 409 for a second poller, or for polling while a webhook is set. */
export function createConflictRefusal(reason: string): Refusal {
  return new Refusal(409, `Conflict: ${reason}`);
}

/** Creates a refusal with status 403 when the bot may no longer write to the chat. */
export function createForbiddenRefusal(reason: string): Refusal {
  return new Refusal(403, `Forbidden: ${reason}`);
}

/** Whether a value is an object other than an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function readBody(request: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function decodeBody(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw createBadRequestRefusal('strings must be encoded in UTF-8');
  }
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // Invalid JSON is reported below like any other body that is not an object.
  }
  throw createBadRequestRefusal("can't parse request: expected a JSON object");
}
