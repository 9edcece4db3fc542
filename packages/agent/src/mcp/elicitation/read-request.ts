import { z } from 'zod';
import { type FormField, parseFormFields, UnsupportedFormError } from './field.ts';

/** A server's question to a person during a call. */
export type Elicitation =
  | { readonly kind: 'form'; readonly message: string; readonly fields: readonly FormField[] }
  | { readonly kind: 'url'; readonly message: string; readonly url: URL }
  /** A request that cannot be presented to a person; the reason is for the model. */
  | { readonly kind: 'unfit'; readonly reason: string };

/** The maximum length of an address, in characters. */
const MAX_URL = 2_000;

const Request = z.object({
  method: z.literal('elicitation/create'),
  params: z.object({
    mode: z.string().default('form').catch('form'),
    message: z.string().default('').catch(''),
    url: z.string().optional().catch(undefined),
    requestedSchema: z.unknown().optional(),
  }),
});

/**
 * Parses one request from a server. Null if it is not a question to a person, the only kind that
 * Parley supports.
 */
export function parseElicitation(said: unknown): Elicitation | null {
  const parsed = Request.safeParse(said);
  if (!parsed.success) return null;
  const { mode, message, url, requestedSchema } = parsed.data.params;
  if (mode === 'url') return parseUrlElicitation(message, url ?? '');
  if (mode !== 'form')
    return { kind: 'unfit', reason: 'it asks in a way that Parley does not support' };
  try {
    return { kind: 'form', message, fields: parseFormFields(requestedSchema) };
  } catch (error) {
    if (!(error instanceof UnsupportedFormError)) throw error;
    return { kind: 'unfit', reason: error.message };
  }
}

/**
 * Accepts only addresses that a person can judge: web addresses without user info before the host,
 * which could pass for the host.
 */
function parseUrlElicitation(message: string, text: string): Elicitation {
  const url = text.length <= MAX_URL && URL.canParse(text) ? new URL(text) : null;
  const isWeb = url !== null && ['https:', 'http:'].includes(url.protocol);
  if (!isWeb || url.username !== '' || url.password !== '')
    return {
      kind: 'unfit',
      reason: 'it asks the person to open an address that is not safe to show',
    };
  return { kind: 'url', message, url };
}
