/**
 * A request's body as text. Bytes are put together before they are read as UTF-8: a character may be
 * cut by the edge of a chunk. Undefined when there is more than `limit` bytes, or no UTF-8 in them.
 */
export async function readBody(
  request: Pick<Request, 'body'>,
  limit: number,
): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body ?? []) {
    length += chunk.byteLength;
    if (length > limit) return undefined;
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks, length));
  } catch {
    return undefined;
  }
}
