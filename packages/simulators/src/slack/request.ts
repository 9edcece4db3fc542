import type { IncomingMessage } from 'node:http';
import { isRecord, type Json } from './wire.ts';

/** An error response of the Web API, usually an error code in a body with status 200. */
export class Refusal extends Error {
  readonly status: number;
  /** Further fields of the response body. */
  readonly details: Json;
  /** The value of the `retry-after` header, in seconds. */
  readonly retryAfter: number | undefined;

  constructor(code: string, details: Json = {}, status = 200, retryAfter?: number) {
    super(code);
    this.details = details;
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

export function createRefusal(code: string, details?: Json): Refusal {
  return new Refusal(code, details);
}

/** Creates the refusal for a rate-limited call. */
export function createRateLimitRefusal(seconds: number): Refusal {
  return new Refusal('ratelimited', {}, 429, seconds);
}

/** Creates the refusal for invalid blocks, with the reasons in both fields that Slack uses. */
export function createInvalidBlocksRefusal(errors: readonly string[]): Refusal {
  return createRefusal('invalid_blocks', {
    errors,
    response_metadata: { messages: errors.map((error) => `[ERROR] ${error}`) },
  });
}

/** The arguments of one call in any encoding; forms contain lists and objects as JSON text. */
export class RequestArguments {
  readonly values: Json;

  constructor(values: Json) {
    this.values = values;
  }

  /** Returns a text or number argument; undefined when absent or empty. */
  text(name: string): string | undefined {
    const value = this.values[name];
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    return typeof value === 'string' && value !== '' ? value : undefined;
  }

  /** Returns a required argument. */
  required(name: string): string {
    const value = this.text(name);
    if (value === undefined) {
      const message = `[ERROR] missing required field: ${name}`;
      throw createRefusal('invalid_arguments', { response_metadata: { messages: [message] } });
    }
    return value;
  }

  number(name: string, otherwise: number): number {
    const value = Number(this.text(name) ?? otherwise);
    return Number.isFinite(value) ? value : otherwise;
  }

  flag(name: string): boolean {
    return ['true', '1'].includes(this.text(name) ?? '');
  }

  has(name: string): boolean {
    return this.values[name] !== undefined;
  }

  /**
   * Returns a list or object argument, possibly encoded as JSON text; undefined when absent.
   * @throws Refusal with `code` when the text is not JSON
   */
  json(name: string, code = 'invalid_arguments'): unknown {
    const value = this.values[name];
    if (typeof value !== 'string') return value;
    if (value === '') return undefined;
    try {
      return JSON.parse(value);
    } catch {
      throw createRefusal(code);
    }
  }
}

/**
 * Reads the query and the body, which may be JSON, urlencoded or multipart (files remain `File`
 * objects).
 */
export async function parseArguments(
  body: Buffer<ArrayBuffer>,
  type: string,
  query: URLSearchParams,
): Promise<RequestArguments> {
  const fromQuery = Object.fromEntries(query);
  if (body.length === 0) return new RequestArguments(fromQuery);
  if (type.startsWith('application/json')) {
    const value = parseJson(body.toString());
    if (!isRecord(value)) throw createRefusal('invalid_json');
    return new RequestArguments({ ...fromQuery, ...value });
  }
  if (type.startsWith('multipart/form-data')) {
    const form = await new Response(body, { headers: { 'content-type': type } }).formData();
    return new RequestArguments({ ...fromQuery, ...Object.fromEntries(form.entries()) });
  }
  if (!type.startsWith('application/x-www-form-urlencoded'))
    throw createRefusal('invalid_form_data');
  const form = Object.fromEntries(new URLSearchParams(body.toString()));
  return new RequestArguments({ ...fromQuery, ...form });
}

export async function readBody(request: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
