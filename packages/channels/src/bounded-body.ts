/** Parses JSON; undefined when the text is invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The text of a request body, or the reason why it was refused. */
export type RequestBody =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'not-utf8' };

/**
 * Reads a request of at most `limit` bytes, whether or not it declares its length. Bytes that are
 * not UTF-8 are refused, because replacing them would change the message.
 */
export async function readBody(request: Request, limit: number): Promise<RequestBody> {
  if (Number(request.headers.get('content-length') ?? 0) > limit) return { kind: 'too-large' };
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let size = 0;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength;
      if (size > limit) return { kind: 'too-large' };
      text += decoder.decode(chunk, { stream: true });
    }
    return { kind: 'text', text: text + decoder.decode() };
  } catch (error) {
    if (error instanceof TypeError) return { kind: 'not-utf8' };
    throw error;
  }
}

/**
 * Reads at most `limit` bytes; undefined when the body is longer, in which case the connection is
 * closed.
 */
export async function readWithLimit(
  body: AsyncIterable<Uint8Array>,
  limit: number,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
