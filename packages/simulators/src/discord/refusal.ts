import type { Json } from './wire.ts';

/** An answer of the API other than success; thrown by the routes, written by the server. */
export class Refusal extends Error {
  readonly status: number;
  /** Discord's own number, for example 10003; 0 where it has none. */
  readonly code: number;
  /** Which fields are wrong, nested as the fields are. */
  readonly errors: Json | undefined;

  constructor(status: number, code: number, message: string, errors?: Json) {
    super(message);
    this.status = status;
    this.code = code;
    this.errors = errors;
  }
}

/** 404 for something that is not there, with the number of its kind. */
export function unknown(
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

/** 403, the bot does not see the channel. */
export function missingAccess(): Refusal {
  return new Refusal(403, 50001, 'Missing Access');
}

/** 403, the bot sees the channel and may not do this there. */
export function missingPermissions(): Refusal {
  return new Refusal(403, 50013, 'Missing Permissions');
}

/** 400 with the field that is wrong; `path` leads to it, for example `embeds.0.title`. */
export function invalidForm(path: string, code: string, message: string): Refusal {
  const leaf: Json = { _errors: [{ code, message }] };
  const errors = path.split('.').reduceRight<Json>((inner, name) => ({ [name]: inner }), leaf);
  return new Refusal(400, 50035, 'Invalid Form Body', errors);
}
