import { z } from 'zod';

/** What is known of a failed call, taken from whatever was thrown. */
export interface FailureFacts {
  readonly name: string;
  readonly message: string;
  /** HTTP status; null when no answer came. */
  readonly status: number | null;
  /** The provider's own error word, such as `context_length_exceeded`. */
  readonly type: string | null;
  /** Of the socket or of `fetch`, such as `ECONNREFUSED`. */
  readonly networkCode: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const Thrown = z.object({
  name: z.string().catch(''),
  message: z.string().catch(''),
  statusCode: z.number().nullable().catch(null),
  responseHeaders: z.record(z.string(), z.string()).catch({}),
  responseBody: z.string().catch(''),
  code: z.unknown().optional(),
  type: z.unknown().optional(),
  cause: z.unknown().optional(),
});

const ProviderWords = z.object({
  error: z.object({
    type: z.unknown().optional(),
    code: z.unknown().optional(),
    message: z.string().catch(''),
  }),
});

/** Codes of sockets, name lookup, certificates and `fetch`; a provider's own words look otherwise. */
const NETWORK_CODE =
  /^(ECONN|ENOTFOUND|EAI_|EHOST|ENET|EADDR|ETIMEDOUT|EPIPE|EPROTO|UND_ERR_|CERT_|ERR_TLS|ERR_SSL|DEPTH_|SELF_|UNABLE_)/;

/** How deep a chain of causes is followed; `fetch` nests two, the AI SDK adds up to two. */
const MAX_CAUSES = 6;

/** Reads facts out of anything thrown, by shape: loading the AI SDK's error classes would cost 100 ms. */
export function failureFacts(thrown: unknown): FailureFacts {
  const top = Thrown.safeParse(thrown);
  if (!top.success) {
    const message = typeof thrown === 'string' ? thrown : '';
    return { ...NOTHING_KNOWN, message };
  }
  const words = providerWords(top.data.responseBody);
  return {
    name: top.data.name,
    message: words?.message || top.data.message,
    status: top.data.statusCode,
    type: words?.type ?? wordOf(top.data.type) ?? wordOf(top.data.code),
    networkCode: networkCode(thrown),
    headers: top.data.responseHeaders,
    body: top.data.responseBody,
  };
}

const NOTHING_KNOWN: FailureFacts = {
  name: '',
  message: '',
  status: null,
  type: null,
  networkCode: null,
  headers: {},
  body: '',
};

function providerWords(body: string): { type: string | null; message: string } | null {
  if (!body.startsWith('{')) return null;
  try {
    const parsed = ProviderWords.safeParse(JSON.parse(body));
    if (!parsed.success) return null;
    const { code, type, message } = parsed.data.error;
    return { type: wordOf(code) ?? wordOf(type), message };
  } catch {
    // Not JSON after all: the caller still has the status and the body itself.
    return null;
  }
}

function networkCode(thrown: unknown): string | null {
  let current = thrown;
  for (let depth = 0; depth < MAX_CAUSES; depth += 1) {
    const link = Thrown.safeParse(current);
    if (!link.success) return null;
    const code = wordOf(link.data.code);
    if (code !== null && NETWORK_CODE.test(code)) return code;
    current = link.data.cause;
  }
  return null;
}

function wordOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
